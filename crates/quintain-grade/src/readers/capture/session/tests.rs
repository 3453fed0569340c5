use serde_json::json;

use super::super::entry::{self, Entry};
use super::*;

fn read(lines: &[Value]) -> Trace {
    let mut session = Session::new(None, Position { line: 1, column: 1 }, false);
    for line in lines {
        match entry::of_value(line.clone()) {
            Some(Entry::Frame(frame)) => session.add(*frame),
            _ => panic!("{line}"),
        }
    }
    session.finish()
}

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn result(id: i64, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn handshake() -> Vec<Value> {
    vec![
        request(0, "initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}})),
        result(
            0,
            json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "sums", "version": "1.0"}}),
        ),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]
}

fn with(more: &[Value]) -> Trace {
    let mut lines = handshake();
    lines.extend_from_slice(more);
    read(&lines)
}

fn rules(trace: &Trace) -> Vec<(&str, Option<usize>)> {
    trace.protocol.iter().map(|fault| (fault.rule.as_str(), fault.call)).collect()
}

#[test]
fn a_sound_session_has_no_faults() {
    let trace = with(&[
        request(1, "tools/list", json!({})),
        result(1, json!({"tools": [{"name": "add", "inputSchema": {"type": "object"}}]})),
        request(2, "tools/call", json!({"name": "add", "arguments": {"a": 1}})),
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}),
        result(2, json!({"content": [{"type": "text", "text": "1"}]})),
        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
        request(3, "tools/list", json!({})),
        result(3, json!({"tools": [{"name": "mul"}]})),
        request(4, "tools/call", json!({"name": "mul"})),
        json!({"jsonrpc": "2.0", "id": 4, "error": {"code": -32602, "message": "no"}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    ]);
    assert_eq!(rules(&trace), []);
    assert!(trace.is_capture);
    let calls: Vec<&Call> = trace.calls().collect();
    assert_eq!(calls[0].text(), "1");
    assert!(calls[1].is_error());
    assert_eq!(calls[0].server.as_deref(), Some("sums"));
    let names = |step: usize| {
        let tools = trace.servers[0].tools_at(step).unwrap();
        tools.iter().filter_map(|tool| tool.name()).collect::<Vec<_>>()
    };
    assert_eq!((names(0), names(1)), (vec!["add"], vec!["mul"]));
}

#[test]
fn responses_must_belong_to_a_request() {
    let trace = with(&[
        request(1, "tools/call", json!({"name": "add"})),
        result(1, json!({"content": []})),
        result(1, json!({"content": []})),
        result(77, json!({})),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "x"}}),
    ]);
    assert_eq!(rules(&trace), [("unknown-response", None), ("unknown-response", None)]);
}

#[test]
fn a_cancelled_request_may_be_answered_or_not() {
    let trace = with(&[
        request(1, "tools/call", json!({"name": "slow"})),
        request(2, "tools/call", json!({"name": "slower"})),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}),
        result(1, json!({"content": []})),
        request(3, "ping", json!({})),
        result(3, json!({})),
    ]);
    assert_eq!(rules(&trace), []);
}

#[test]
fn an_id_is_used_once() {
    let call = request(1, "tools/call", json!({"name": "add"}));
    let trace = with(&[
        call.clone(),
        result(1, json!({"content": []})),
        request(1, "tools/call", json!({"name": "mul"})),
        result(1, json!({"content": []})),
    ]);
    assert_eq!(rules(&trace), [("duplicate-id", Some(1))]);
    // Over HTTP, a request that got no answer is sent again.
    let over_http =
        |message: Value| json!({"direction": "client", "transport": "http", "frame": message});
    let trace = read(&[over_http(call.clone()), over_http(call)]);
    assert_eq!((rules(&trace), trace.calls().count()), (vec![], 1));
}

#[test]
fn calls_wait_for_the_handshake() {
    let mut lines =
        vec![request(9, "tools/call", json!({"name": "add"})), request(8, "ping", json!({}))];
    assert_eq!(rules(&read(&lines)), [], "the capture may have started late");
    lines.extend(handshake());
    assert_eq!(rules(&read(&lines))[0], ("before-initialize", Some(0)));
    let modern =
        json!({"name": "add", "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
    assert_eq!(rules(&read(&[request(1, "tools/call", modern)])), []);
}

#[test]
fn capabilities_are_declared() {
    let trace = with(&[
        request(1, "prompts/get", json!({"name": "p"})),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "x"}}),
        request(2, "prompts/list", json!({})),
        json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32601, "message": "x"}}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "roots/list"}),
    ]);
    assert_eq!(
        rules(&trace),
        [("undeclared-capability", Some(0)), ("undeclared-capability", None)]
    );
}

#[test]
fn a_request_that_the_server_skips_has_no_response() {
    let trace = with(&[
        request(1, "tools/call", json!({"name": "lost"})),
        request(2, "tools/call", json!({"name": "add"})),
        result(2, json!({"content": []})),
        request(3, "tools/call", json!({"name": "cut off"})),
    ]);
    assert_eq!(rules(&trace), [("no-response", Some(0))]);
}

#[test]
fn malformed_messages_are_faults_of_their_call() {
    let trace = with(&[
        request(1, "tools/call", json!({"name": "add"})),
        json!({"jsonrpc": "2.0", "id": 1, "result": "text"}),
        json!({"direction": "server", "transport": "stdio", "frame": "Server started"}),
        json!({"direction": "server", "transport": "http", "frame": "Accepted"}),
        json!([{"jsonrpc": "2.0", "method": "notifications/message"}]),
    ]);
    assert_eq!(rules(&trace), [("malformed", Some(0)), ("malformed", None), ("malformed", None)]);
}

#[test]
fn a_call_that_needs_input_or_a_task_is_one_call() {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let trace = read(&[
        request(1, "tools/call", json!({"name": "book", "arguments": {"n": 1}, "_meta": meta})),
        result(1, json!({"resultType": "input_required", "inputRequests": {}})),
        request(
            2,
            "tools/call",
            json!({"name": "book", "arguments": {"n": 1}, "inputResponses": {}, "_meta": meta}),
        ),
        result(2, json!({"content": [{"type": "text", "text": "booked"}]})),
        request(3, "tools/call", json!({"name": "long", "_meta": meta})),
        result(3, json!({"task": {"taskId": "t1", "status": "working"}})),
        request(4, "tasks/result", json!({"taskId": "t1"})),
        result(4, json!({"content": [{"type": "text", "text": "done"}]})),
    ]);
    let texts: Vec<String> = trace.calls().map(|call| call.text().into_owned()).collect();
    assert_eq!((texts, rules(&trace)), (vec!["booked".into(), "done".into()], vec![]));
}

#[test]
fn the_inspector_exports_requests_with_their_responses() {
    let exported = json!({"id": "1", "timestamp": "2025-11-14T22:13:20Z", "direction": "request", "origin": "client",
        "message": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add"}},
        "response": {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}, "duration": 12});
    let Some(Entry::Exported { at, frames }) = entry::of_value(exported) else { panic!() };
    assert!(at.is_some());
    let mut session = Session::new(None, Position { line: 1, column: 1 }, false);
    frames.into_iter().for_each(|frame| session.add(frame));
    let trace = session.finish();
    let call = trace.calls().next().unwrap();
    assert_eq!(call.took_ms.map(f64::round), Some(12.0));
    assert!(call.result().is_some());
    let older = json!({"request": "{\"method\": \"tools/call\", \"params\": {\"name\": \"add\"}}", "response": "{\"content\": []}"});
    assert!(
        matches!(entry::of_value(older), Some(Entry::Exported { frames, .. }) if frames.len() == 2)
    );
}

#[test]
fn lines_of_logs_are_read_with_their_prefix() {
    let message = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    for (prefix, sender) in [
        ("", None),
        ("<-- ", Some(Side::Server)),
        ("2025-11-14T22:13:20Z [server] ", Some(Side::Server)),
        ("client -> server: ", Some(Side::Client)),
        ("[stdin] ", Some(Side::Client)),
    ] {
        let frame = entry::of_line(&format!("{prefix}{message}")).unwrap();
        assert_eq!(frame.sender, sender, "{prefix}");
    }
    assert!(entry::of_line("listening on {port}").is_none());
    assert!(entry::of_line("{}").is_none());
}
