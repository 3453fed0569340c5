//! Captures as `quintain record` writes them.

use super::*;

fn traces(text: &str) -> Vec<Trace> {
    let (format, records) = read_all(text);
    assert_eq!(format, "capture");
    let traces = records.into_iter().map(|record| match record {
        Record::Trace(trace, _) => *trace,
        Record::Bad(bad) => panic!("{bad}"),
    });
    traces.collect()
}

const START: &str =
    r#"{"quintain_capture":1,"t":1794981623.2,"note":"start","transport":"stdio","command":["x"]}"#;

fn frame(direction: &str, message: serde_json::Value) -> serde_json::Value {
    json!({"t": 1_794_981_623.5, "direction": direction, "transport": "stdio", "frame": message})
}

fn session() -> String {
    let lines = [
        frame(
            "client",
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}}),
        ),
        frame(
            "server",
            json!({"jsonrpc": "2.0", "id": 0, "result": {"capabilities": {"tools": {}}, "serverInfo": {"name": "s"}}}),
        ),
        frame(
            "client",
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add"}}),
        ),
        frame("server", json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})),
    ];
    format!("{START}\n{}\n", lines.map(|line| line.to_string()).join("\n"))
}

#[test]
fn the_last_line_of_a_killed_recorder_is_ignored() {
    let text = format!("{}{{\"t\":1794981624.0,\"direction\":\"cli", session());
    let found = traces(&text);
    assert_eq!((found.len(), found[0].calls().count(), found[0].protocol.len()), (1, 1, 0));
    let (_, records) = read_all(&format!(
        "{text}\n{}\n",
        frame("client", json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}))
    ));
    assert!(
        matches!(&records[0], Record::Bad(bad) if bad.place.line == 6),
        "a cut line in the middle is reported"
    );
}

#[test]
fn a_continued_file_has_a_trace_per_start() {
    let found = traces(&format!("{}{{\"t\":17949\n{}", session(), session()));
    assert_eq!(found.iter().map(|trace| trace.calls().count()).collect::<Vec<_>>(), [1, 1]);
    assert!(found.iter().all(|trace| trace.protocol.is_empty()));
}

#[test]
fn sessions_over_http_are_kept_apart() {
    let http = |direction: &str,
                exchange: u64,
                session: Option<u64>,
                message: serde_json::Value| {
        let mut line = json!({"t": 1_794_981_623.5, "direction": direction, "transport": "http", "exchange": exchange, "frame": message});
        if let Some(session) = session {
            line["session"] = session.into();
        }
        line.to_string()
    };
    let open = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}});
    let opened = json!({"jsonrpc": "2.0", "id": 0, "result": {"capabilities": {"tools": {}}, "serverInfo": {"name": "s"}}});
    let call = |name: &str| json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name}});
    let done = |text: &str| json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}});
    let lines = [
        http("client", 1, None, open.clone()),
        http("client", 2, None, open),
        http("server", 1, Some(1), opened.clone()),
        json!({"t": 1, "note": "response", "exchange": 1, "status": 200}).to_string(),
        http("server", 2, Some(2), opened),
        http("client", 3, Some(1), call("a")),
        http("client", 4, Some(2), call("b")),
        http("server", 4, Some(2), done("B")),
        http("server", 3, Some(1), done("A")),
        http("server", 3, Some(1), json!("Accepted")),
    ];
    let found = traces(&lines.join("\n"));
    let calls: Vec<String> = found
        .iter()
        .flat_map(Trace::calls)
        .map(|call| format!("{} -> {}", call.name, call.text()))
        .collect();
    assert_eq!(calls, ["a -> A", "b -> B"]);
    assert!(found.iter().all(|trace| trace.server("s").is_some()));
    assert!(found.iter().all(|trace| trace.protocol.is_empty()), "{:?}", found[0].protocol);
}

#[test]
fn clients_without_sessions_may_use_the_same_ids() {
    let http = |direction: &str, exchange: u64, message: serde_json::Value| {
        json!({"t": 1, "direction": direction, "transport": "http", "exchange": exchange, "frame": message}).to_string()
    };
    let call = |name: &str| json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}});
    let done = |text: &str| json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}});
    let lines = [
        http("client", 1, call("a")),
        http("client", 2, call("b")),
        http("server", 2, done("B")),
        http("server", 1, done("A")),
    ];
    let found = traces(&lines.join("\n"));
    let texts: Vec<String> = found[0].calls().map(|call| call.text().into_owned()).collect();
    assert_eq!((texts, found[0].protocol.len()), (vec!["A".to_owned(), "B".to_owned()], 0));
}

#[test]
fn a_frame_of_which_only_the_start_is_recorded_is_no_fault() {
    let cut = |text: &str| {
        json!({"t": 1, "direction": "server", "transport": "stdio", "truncated": true, "bytes": 99, "frame": text}).to_string()
    };
    let call = frame(
        "client",
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "big"}}),
    );
    let text = format!(
        "{}{call}\n{}\n",
        session(),
        cut(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"AAA"#)
    );
    let found = traces(&text);
    assert_eq!(found[0].protocol, []);
    assert_eq!(found[0].calls().nth(1).unwrap().text(), "AAA");
    let text = format!(
        "{}{call}\n{}\n",
        session(),
        cut(r#"{"result":{"content":[{"type":"text","text":"AAA"#)
    );
    assert_eq!(traces(&text)[0].protocol, []);
}

#[test]
fn frames_beyond_the_limits_of_the_parser_are_read() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let call = |id: usize, args: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add","arguments":{args}}}}}"#
        )
    };
    let result =
        |id: usize| frame("server", json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}));
    let large = format!(
        r#"{{"t":1794981625.0,"direction":"client","transport":"stdio","frame":{}}}"#,
        call(2, r#"{"n":1e400}"#)
    );
    let nested = frame("client", json!(call(3, &format!(r#"{{"d":{deep}}}"#))));
    let text = format!("{}{large}\n{}\n{nested}\n{}\n", session(), result(2), result(3));
    let found = traces(&text);
    assert_eq!((found.len(), found[0].calls().count()), (1, 3));
    assert_eq!(found[0].protocol, []);
}
