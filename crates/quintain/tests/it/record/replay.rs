//! A capture served as a mock server.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use super::{Listening, ensure, folder, post, read_until};
use crate::budgets::quintain;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("record::replay_answers_in_recorded_order", in_order),
        Trial::test("record::replay_sends_notifications_and_requests_with_new_tokens", tokens),
        Trial::test("record::replay_refuses_what_was_not_recorded", not_recorded),
        Trial::test("record::replay_answers_batches_garbage_and_pings", batches),
        Trial::test("record::replay_negotiates_the_version", versions),
        Trial::test("record::replay_matches_masked_parameters", masked),
        Trial::test("record::replay_serves_streamable_http", over_http),
        Trial::test("record::replay_serves_the_older_transport", over_sse),
        Trial::test("record::replay_can_be_inspected", inspected),
        Trial::test("record::replay_reads_damaged_captures", damaged),
    ]
}

/// A capture of these frames; `>` is the client.
fn written(place: &Path, frames: &[&str]) -> Result<(), Failed> {
    use std::fmt::Write as _;

    let mut text = String::new();
    for (number, frame) in frames.iter().enumerate() {
        let (side, frame) = frame.split_at(1);
        let side = if side == ">" { "client" } else { "server" };
        writeln!(
            text,
            "{{\"t\":{number},\"direction\":\"{side}\",\"transport\":\"stdio\",\"unknown\":[],\"frame\":{frame}}}"
        )?;
    }
    Ok(fs::write(place.join("c.jsonl"), text)?)
}

/// Sends all lines, and returns what comes back until the end.
fn replayed(place: &Path, lines: &[&str]) -> Result<Vec<String>, Failed> {
    let mut child = quintain(place, &["record", "-q", "--replay", "c.jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().ok_or("no input")?;
    for line in lines {
        writeln!(stdin, "{line}")?;
    }
    drop(stdin);
    let output = child.wait_with_output()?;
    ensure(output.status.success() && output.stderr.is_empty(), &output)?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

const CALLS: &[&str] = &[
    r#">{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#,
    r#"<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    r#">{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#">{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{"n":12345678901234567890123},"_meta":{"progressToken":1}}}"#,
    r#"<{"jsonrpc":"2.0","id":1,"result":{"content":[],"n":1.50}}"#,
    r#">{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count","arguments":{"n":12345678901234567890123},"_meta":{"progressToken":2}}}"#,
    r#"<{"jsonrpc":"2.0","id":2,"result":{"content":[],"n":2}}"#,
    r#">{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"count","arguments":{"n":12345678901234567890124}}}"#,
    r#"<{"jsonrpc":"2.0","id":3,"result":{"content":[],"n":3}}"#,
    r#">{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#,
    r#"<{"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"count","inputSchema":{"type":"object"}}],"nextCursor":"p2"}}"#,
    r#">{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":"p2"}}"#,
    r#"<{"jsonrpc":"2.0","id":5,"result":{"tools":[]}}"#,
];

fn in_order() -> Result<(), Failed> {
    let folder = folder()?;
    written(folder.path(), CALLS)?;
    let call = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"_meta":{{"progressToken":"{}"}},"arguments":{{ "n":12345678901234567890123.0 }},"name":"count"}}}}"#,
            id.trim_matches('"')
        )
    };
    let other = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"count","arguments":{"n":12345678901234567890124}}}"#;
    let page = r#"{"jsonrpc":"2.0","id":10,"method":"tools/list","params":{"cursor":"p2"}}"#;
    let lines = replayed(folder.path(), &[&call("\"a\""), &call("8"), &call("8.5"), other, page])?;
    let expected = [
        r#"{"jsonrpc":"2.0","id":"a","result":{"content":[],"n":1.50}}"#,
        r#"{"jsonrpc":"2.0","id":8,"result":{"content":[],"n":2}}"#,
        r#"{"jsonrpc":"2.0","id":8.5,"result":{"content":[],"n":2}}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{"content":[],"n":3}}"#,
        r#"{"jsonrpc":"2.0","id":10,"result":{"tools":[]}}"#,
    ];
    ensure(lines == expected, lines)
}

const TALK: &[&str] = &[
    r#"<"a banner""#,
    r#">{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"<{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
    r#">{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
    r#"<{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"roots read"}}"#,
    r#">{"jsonrpc":"2.0","id":1,"method":"work","params":{"_meta":{"progressToken":"old"}}}"#,
    r#"<{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"old","progress":1}}"#,
    r#"<{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{}}"#,
    r#">{"jsonrpc":"2.0","id":2,"result":{"model":"m"}}"#,
    r#"<{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"inside"}}"#,
    r#"<{"jsonrpc":"2.0","id":1,"result":{"done":true}}"#,
    r#"<{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
];

fn tokens() -> Result<(), Failed> {
    let folder = folder()?;
    written(folder.path(), TALK)?;
    let mut child = quintain(folder.path(), &["record", "-q", "--replay", "c.jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().ok_or("no input")?;
    let mut stdout = std::io::BufReader::new(child.stdout.take().ok_or("no output")?);
    let mut next = || -> Result<String, Failed> {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut stdout, &mut line)?;
        Ok(line.trim_end().to_owned())
    };
    ensure(next()? == "a banner", "the banner")?;
    writeln!(stdin, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#)?;
    let asked: Value = serde_json::from_str(&next()?)?;
    ensure(asked["method"] == "roots/list", &asked)?;
    writeln!(stdin, r#"{{"jsonrpc":"2.0","id":{},"result":{{"roots":[]}}}}"#, asked["id"])?;
    ensure(next()?.contains("roots read"), "after the roots")?;
    for (id, token) in [("10", "7"), ("11", "\"new\""), ("12", "")] {
        let meta = if token.is_empty() {
            String::new()
        } else {
            format!(r#""_meta":{{"progressToken":{token}}}"#)
        };
        writeln!(stdin, r#"{{"jsonrpc":"2.0","id":{id},"method":"work","params":{{{meta}}}}}"#)?;
        if !token.is_empty() {
            let progress: Value = serde_json::from_str(&next()?)?;
            let token: Value = serde_json::from_str(token)?;
            ensure(progress["params"]["progressToken"] == token, &progress)?;
        }
        let asked: Value = serde_json::from_str(&next()?)?;
        ensure(asked["method"] == "sampling/createMessage", &asked)?;
        // The answer waits for the response.
        writeln!(stdin, r#"{{"jsonrpc":"2.0","id":{},"result":{{"model":"m"}}}}"#, asked["id"])?;
        ensure(next()?.contains("inside"), "inside")?;
        let answer = next()?;
        ensure(
            answer == format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"done":true}}}}"#),
            &answer,
        )?;
        ensure(next()?.contains("list_changed"), "after the answer")?;
    }
    drop(stdin);
    ensure(child.wait()?.success(), "the exit code")
}

fn not_recorded() -> Result<(), Failed> {
    let folder = folder()?;
    written(folder.path(), CALLS)?;
    let lines = replayed(
        folder.path(),
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count","arguments":{"n":5}}}"#,
        ],
    )?;
    let first: Value = serde_json::from_str(&lines[0])?;
    ensure(first["error"]["code"] == -32601, &first)?;
    ensure(
        first["error"]["data"]["recorded"] == json!(["initialize", "tools/call", "tools/list"]),
        &first,
    )?;
    let second: Value = serde_json::from_str(&lines[1])?;
    ensure(second["error"]["code"] == -32602 && second["id"] == 2, &second)?;
    ensure(lines[1].contains("12345678901234567890124"), &second)
}

fn batches() -> Result<(), Failed> {
    let folder = folder()?;
    written(folder.path(), CALLS)?;
    let lines = replayed(
        folder.path(),
        &[
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
            "{not json",
            r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#,
            "",
            "[]",
        ],
    )?;
    let batch: Value = serde_json::from_str(&lines[0])?;
    ensure(
        batch[0]["result"]["nextCursor"] == "p2"
            && batch[1] == json!({"jsonrpc": "2.0", "id": 2, "result": {}}),
        &batch,
    )?;
    ensure(lines[1].contains("-32700"), &lines)?;
    ensure(lines[2] == r#"{"jsonrpc":"2.0","id":3,"result":{}}"#, &lines)?;
    ensure(lines.len() == 4 && lines[3].contains("-32600"), &lines)
}

fn versions() -> Result<(), Failed> {
    let folder = folder()?;
    written(folder.path(), CALLS)?;
    for (asked, answered) in
        [("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-06-18")]
    {
        let hello = json!({"jsonrpc": "2.0", "id": 5, "method": "initialize", "params": {"protocolVersion": asked, "capabilities": {"roots": {}}, "clientInfo": {"name": "other", "version": "2"}}});
        let lines = replayed(folder.path(), &[&hello.to_string()])?;
        let answer: Value = serde_json::from_str(&lines[0])?;
        ensure(answer["result"]["protocolVersion"] == answered, &answer)?;
    }
    Ok(())
}

fn masked() -> Result<(), Failed> {
    let folder = folder()?;
    let frames = [
        r#">{"id":1,"method":"login","params":{"user":"a","password":"***"}}"#,
        r#"<{"id":1,"result":"in"}"#,
    ];
    written(folder.path(), &frames)?;
    let lines = replayed(
        folder.path(),
        &[
            r#"{"id":7,"method":"login","params":{"user":"a","password":"the real one"}}"#,
            r#"{"id":8,"method":"login","params":{"user":"b","password":"the real one"}}"#,
        ],
    )?;
    ensure(lines[0] == r#"{"id":7,"result":"in"}"# && lines[1].contains("-32602"), lines)
}

fn started(place: &Path, frames: &[&str]) -> Result<Listening, Failed> {
    written(place, frames)?;
    Listening::start(place, &["record", "--replay", "c.jsonl", "--listen", "127.0.0.1:0"])
}

const HELLO: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;

fn over_http() -> Result<(), Failed> {
    let folder = folder()?;
    let both: Vec<&str> = CALLS.iter().chain(TALK).copied().collect();
    let server = started(folder.path(), &both)?;
    ensure(server.path == "/mcp", &server.path)?;
    for _ in 0..2 {
        let (head, body) = post(&server.address, "/mcp", "", HELLO)?;
        ensure(body.contains("\"serverInfo\""), &body)?;
        let session = head
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "))
            .ok_or("no session")?;
        let session = format!("Mcp-Session-Id: {session}\r\n");
        let (head, _) = post(
            &server.address,
            "/mcp",
            &session,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        )?;
        ensure(head.starts_with("HTTP/1.1 202 "), &head)?;
        // Every session starts with the first answer.
        let call = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"count","arguments":{"n":12345678901234567890123}}}"#;
        for answer in ["1.50", "2", "2"] {
            let (_, body) = post(&server.address, "/mcp", &session, call)?;
            ensure(
                body == format!(
                    r#"{{"jsonrpc":"2.0","id":5,"result":{{"content":[],"n":{answer}}}}}"#
                ),
                body,
            )?;
        }
        let mut stream = super::connect(&server.address)?;
        let work =
            r#"{"jsonrpc":"2.0","id":6,"method":"work","params":{"_meta":{"progressToken":"w"}}}"#;
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\n{session}Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{work}",
            server.address,
            work.len()
        )?;
        let seen = read_until(&mut stream, "sampling/createMessage\",\"params\":{}}\n\n")?;
        ensure(seen.contains("\"progressToken\":\"w\""), &seen)?;
        let asked =
            seen.rsplit("data: ").next().and_then(|data| serde_json::from_str::<Value>(data).ok());
        let id = asked.map(|asked| asked["id"].to_string()).ok_or("no id")?;
        post(
            &server.address,
            "/mcp",
            &session,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
        )?;
        let seen = read_until(&mut stream, "\"done\":true}}\n\n")?;
        ensure(seen.contains("inside"), &seen)?;
        let mut stream = super::connect(&server.address)?;
        write!(
            stream,
            "DELETE /mcp HTTP/1.1\r\nHost: {}\r\n{session}Connection: close\r\n\r\n",
            server.address
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        ensure(answer.starts_with("HTTP/1.1 200 "), &answer)?;
        let (head, _) = post(&server.address, "/mcp", &session, call)?;
        ensure(head.starts_with("HTTP/1.1 404 "), &head)?;
    }
    Ok(())
}

fn over_sse() -> Result<(), Failed> {
    let folder = folder()?;
    let server = started(folder.path(), CALLS)?;
    let mut stream = server.connect()?;
    write!(
        stream,
        "GET /sse HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n\r\n",
        server.address
    )?;
    let seen = read_until(&mut stream, "\n\n")?;
    let endpoint =
        seen.lines().find_map(|line| line.strip_prefix("data: ")).ok_or("no endpoint")?.to_owned();
    ensure(seen.contains("event: endpoint\n"), &seen)?;
    for body in [HELLO, r#"[{"jsonrpc":"2.0","id":"x","method":"tools/list"}]"#] {
        let (head, _) = post(&server.address, &endpoint, "", body)?;
        ensure(head.starts_with("HTTP/1.1 202 "), &head)?;
    }
    let seen = read_until(&mut stream, "\"nextCursor\":\"p2\"}}]\n\n")?;
    ensure(
        seen.contains("\"serverInfo\"")
            && seen.contains("data: [{\"jsonrpc\":\"2.0\",\"id\":\"x\""),
        seen,
    )
}

fn inspected() -> Result<(), Failed> {
    let folder = folder()?;
    written(folder.path(), CALLS)?;
    let program = env!("CARGO_BIN_EXE_quintain");
    let args = ["inspect", "--json", "--", program, "record", "--replay", "c.jsonl"];
    let output = quintain(folder.path(), &args).output()?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    ensure(output.status.success(), &output)?;
    ensure(report["servers"][0]["tools"][0]["name"] == "count", report)
}

fn damaged() -> Result<(), Failed> {
    let folder = folder()?;
    written(folder.path(), CALLS)?;
    let path = folder.path().join("c.jsonl");
    let mut text = fs::read_to_string(&path)?;
    text.insert_str(0, "not a line\n");
    text.push_str("{\"t\":1,\"direction\":\"ser");
    fs::write(&path, text)?;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let mut child = quintain(folder.path(), &["record", "--replay", "c.jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    writeln!(child.stdin.take().ok_or("no input")?, "{ping}")?;
    let output = child.wait_with_output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure(stderr.contains("line 1 is not a line of a capture"), &stderr)?;
    ensure(stderr.matches("warning").count() == 1, &stderr)?;
    ensure(output.stdout.starts_with(br#"{"jsonrpc":"2.0","id":1,"result""#), &output)?;
    fs::write(&path, "")?;
    let output = quintain(folder.path(), &["record", "--replay", "c.jsonl"]).output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure(output.status.code() == Some(2) && stderr.contains("contains no request"), stderr)
}
