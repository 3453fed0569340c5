//! The recorder in front of a URL.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use super::upstream::Upstream;
use super::{
    CANARY, Listening, capture, connect, ensure, folder, frames, post, read_until, wait_until,
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("record::http_passes_requests_and_responses_byte_for_byte", byte_for_byte),
        Trial::test("record::http_passes_events_at_once_and_records_each_first", events),
        Trial::test("record::http_closes_the_upstream_connection_with_the_client", disconnect),
        Trial::test("record::http_does_not_complete_a_truncated_body", truncated),
        Trial::test("record::http_retries_when_an_idle_connection_was_closed", idle),
        Trial::test("record::http_reports_an_unreachable_server_as_a_json_rpc_error", unreachable),
        Trial::test("record::http_refuses_other_hosts", other_hosts),
        Trial::test("record::http_answers_for_a_response_that_is_not_valid", not_valid),
        Trial::test("record::http_notes_a_request_that_the_client_gives_up", given_up),
        Trial::test("record::http_rewrites_only_the_origin_of_an_absolute_endpoint", endpoint),
        Trial::test("record::http_decodes_compressed_bodies_for_the_capture_only", compressed),
        Trial::test("record::http_captures_contain_no_secret", secrets),
        Trial::test("record::http_large_events_pass_in_linear_time", large_event),
        Trial::test("record::http_stops_with_open_streams", stops),
        Trial::test("record::http_keeps_the_order_of_a_document_beyond_the_limit", long_document),
        Trial::test("record::http_usage_errors_create_no_file", usage_errors),
    ]
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 36\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";

fn recorder(place: &std::path::Path, url: &str) -> Result<Listening, Failed> {
    Listening::start(
        place,
        &["record", "-o", "capture.jsonl", "--url", url, "--listen", "127.0.0.1:0"],
    )
}

/// What the client receives on a connection of its own, up to its end.
fn exchange(address: &str, request: &str) -> Result<Vec<u8>, Failed> {
    let mut stream = connect(address)?;
    stream.write_all(request.replace("{host}", address).as_bytes())?;
    let mut answer = Vec::new();
    // A cut connection may also be reset.
    let _ = stream.read_to_end(&mut answer);
    Ok(answer)
}

fn byte_for_byte() -> Result<(), Failed> {
    const RESPONSE: &[u8] = b"HTTP/1.1 299 Odd Reason\r\nX-ODD-case: 1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nx-between: 2\r\nContent-Type: text/Plain; q=1\r\nContent-Length: 5\r\n\r\nhello";
    let server = Upstream::fixed(RESPONSE)?;
    let folder = folder()?;
    let recorder = recorder(folder.path(), &format!("http://{}/mcp", server.address))?;
    ensure(recorder.path == "/mcp", &recorder.path)?;
    let requests = [
        "POST /a/%2e%2e/b//c;d?x=%20&y=[1]&&z HTTP/1.1\r\nHost: {host}\r\nuser-AGENT: odd\r\nAccept: a\r\nX-Twice: 1\r\nx-other:\r\nContent-Length: 7\r\n\r\n{ \"a\":1",
        "DELETE /mcp HTTP/1.1\r\nHost: {host}\r\nMcp-Session-Id: s\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ];
    for request in requests {
        let close = request.replacen("\r\nHost", "\r\nConnection: close\r\nHost", 1);
        let recorded = exchange(&recorder.address, &close)?;
        let recorded = String::from_utf8_lossy(&recorded)
            .replace("connection: close\r\n", "")
            .replace("Connection: close\r\n", "");
        ensure(recorded.as_bytes() == RESPONSE, (&recorded, request))?;
        let seen = server.seen().pop().ok_or("nothing arrived")?;
        let expected = request.replace("{host}", &server.address);
        let (expected, body) = expected.split_once("\r\n\r\n").ok_or("no head")?;
        ensure(sorted(&seen.head) == sorted(expected), (&seen.head, expected))?;
        ensure(seen.body == body.as_bytes(), &seen)?;
    }
    let head = exchange(
        &recorder.address,
        "HEAD /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
    )?;
    ensure(
        String::from_utf8_lossy(&head).contains("Content-Length: 5\r\n"),
        String::from_utf8_lossy(&head),
    )
}

/// The lines of a head. The names of headers and their order among equal names matter, `Transfer-Encoding` may move.
fn sorted(head: &str) -> Vec<String> {
    let mut lines: Vec<String> = head.trim_end().lines().map(str::to_owned).collect();
    lines[1..].sort();
    for line in &mut lines {
        if line.to_ascii_lowercase().starts_with("transfer-encoding") {
            *line = line.to_ascii_lowercase();
        }
    }
    lines
}

fn events() -> Result<(), Failed> {
    let (proceed, wait) = mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let server = Upstream::start(move |_, _, stream| {
        let wait = wait.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        for piece in [
            "data: {\"id\":1,",
            "\"result\":{}}\r\n\r\n",
            ": ping\n\n",
            "event: message\ndata: {\"method\":\"n\"}\n\n",
        ] {
            let _ = wait.recv();
            let _ = write!(stream, "{:x}\r\n{piece}\r\n", piece.len());
        }
        let _ = wait.recv();
        false
    })?;
    let folder = folder()?;
    let recorder = recorder(folder.path(), &format!("http://{}/mcp", server.address))?;
    let mut stream = recorder.connect()?;
    write!(
        stream,
        "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n\r\n",
        recorder.address
    )?;
    // The headers come before the first event.
    read_until(&mut stream, "\r\n\r\n")?;
    let path = folder.path().join("capture.jsonl");
    let count = || capture(&path).map(|lines| frames(&lines, "server").len());
    for (end, recorded) in
        [("{\"id\":1,", 0), ("{}}\r\n\r\n", 1), (": ping\n\n", 1), ("\"n\"}\n\n", 2)]
    {
        proceed.send(())?;
        read_until(&mut stream, end)?;
        let count = count()?;
        ensure(count == recorded, (end, count))?;
    }
    proceed.send(())?;
    Ok(())
}

fn disconnect() -> Result<(), Failed> {
    let (report, ended) = mpsc::channel::<&str>();
    let server = Upstream::start(move |_, request, stream| {
        if request.head.starts_with("GET") {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        }
        // The server is silent, and reads only to notice the end.
        let mut byte = [0; 1];
        let end = stream.read(&mut byte);
        let _ = report.send(if matches!(end, Ok(0) | Err(_)) { "closed" } else { "more" });
        false
    })?;
    let folder = folder()?;
    let recorder = recorder(folder.path(), &format!("http://{}/mcp", server.address))?;
    for method in ["GET", "POST"] {
        let mut stream = recorder.connect()?;
        write!(
            stream,
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\n\r\n",
            recorder.address
        )?;
        if method == "GET" {
            read_until(&mut stream, "\r\n\r\n")?;
        } else {
            let before = server.seen().len();
            wait_until("the request arrives", || server.seen().len() >= before.max(2))?;
        }
        drop(stream);
        let end = ended.recv_timeout(super::SOON)?;
        ensure(end == "closed", (method, end))?;
    }
    Ok(())
}

fn truncated() -> Result<(), Failed> {
    let folder = folder()?;
    for response in [
        &b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n"[..],
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{\"id\":1",
    ] {
        let server = Upstream::start(move |_, _, stream| {
            let _ = stream.write_all(response);
            false
        })?;
        let recorder = recorder(folder.path(), &format!("http://{}/mcp", server.address))?;
        let answer = exchange(&recorder.address, "GET /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
        let answer = String::from_utf8_lossy(&answer);
        // What came before the end is passed on, and nothing that looks like an end.
        let end = if answer.contains("Content-Length: 50") { "{\"id\":1" } else { "data: 1\n\n\r\n" };
        ensure(answer.ends_with(end), &answer)?;
        let text = fs::read_to_string(folder.path().join("capture.jsonl"))?;
        ensure(text.contains("cut by the server"), text)?;
    }
    Ok(())
}

fn idle() -> Result<(), Failed> {
    // The first connection closes after its first response.
    let server = Upstream::start(|number, _, stream| {
        let _ = stream.write_all(OK);
        number > 0
    })?;
    let folder = folder()?;
    let recorder = recorder(folder.path(), &format!("http://{}/mcp", server.address))?;
    let mut stream = recorder.connect()?;
    for _ in 0..3 {
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: 2\r\n\r\n{{}}",
            recorder.address
        )?;
        let answer = read_until(&mut stream, "\"result\":{}}")?;
        ensure(answer.starts_with("HTTP/1.1 200 OK\r\n"), &answer)?;
    }
    ensure(server.seen().len() == 3, server.seen())
}

fn unreachable() -> Result<(), Failed> {
    let folder = folder()?;
    let closed = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let recorder = recorder(folder.path(), &format!("http://{closed}/mcp"))?;
    let (head, body) =
        post(&recorder.address, "/mcp", "", r#"{"jsonrpc":"2.0","id":"x7","method":"ping"}"#)?;
    ensure(head.starts_with("HTTP/1.1 502 "), &head)?;
    let body: Value = serde_json::from_str(&body)?;
    ensure(body["id"] == "x7", &body)?;
    let message = body["error"]["message"].as_str().unwrap_or_default();
    ensure(message.contains("cannot connect to http://127.0.0.1"), &body)
}

fn not_valid() -> Result<(), Failed> {
    for (response, why) in [
        (
            &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"[..],
            "both `Content-Length` and `Transfer-Encoding`",
        ),
        (b"HTTP/1.1 200 OK\r\nX-A: \x1b[2J\r\nContent-Length: 2\r\n\r\n{}", "sent an invalid response"),
        (b"HTTP/1.1 abc\r\nContent-Length: 2\r\n\r\n{}", "sent an invalid response"),
    ] {
        let server = Upstream::fixed(response)?;
        let folder = folder()?;
        let recorder = recorder(folder.path(), &format!("http://{}/mcp", server.address))?;
        let (head, body) = post(&recorder.address, "/mcp", "", r#"{"id":1,"method":"ping"}"#)?;
        ensure(head.starts_with("HTTP/1.1 502 ") && body.contains(why), (head, body))?;
        let text = fs::read_to_string(folder.path().join("capture.jsonl"))?;
        let noted = text.contains("response of the recorder") && text.contains(why);
        ensure(noted && !text.contains("\"note\":\"response\""), text)?;
    }
    Ok(())
}

fn given_up() -> Result<(), Failed> {
    let (asked, was_asked) = mpsc::channel();
    let (end, ends) = mpsc::channel::<()>();
    let (asked, ends) = (std::sync::Mutex::new(asked), std::sync::Mutex::new(ends));
    let server = Upstream::start(move |_, _, _| {
        let _ = asked.lock().map(|asked| asked.send(()));
        let _ = ends.lock().map(|ends| ends.recv());
        false
    })?;
    let folder = folder()?;
    let recorder = recorder(folder.path(), &format!("http://{}/mcp", server.address))?;
    let mut stream = recorder.connect()?;
    let host = &recorder.address;
    write!(stream, "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\n\r\n{{}}")?;
    was_asked.recv_timeout(super::SOON)?;
    drop(stream);
    let file = folder.path().join("capture.jsonl");
    let noted = || fs::read_to_string(&file).is_ok_and(|text| text.contains("end of exchange"));
    wait_until("the end is noted", noted)?;
    drop(end);
    Ok(())
}

fn other_hosts() -> Result<(), Failed> {
    let server = Upstream::fixed(OK)?;
    let folder = folder()?;
    let recorder = recorder(folder.path(), &format!("http://{}/mcp", server.address))?;
    let request = "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
    let answer = exchange(&recorder.address, request)?;
    ensure(answer.starts_with(b"HTTP/1.1 403 "), String::from_utf8_lossy(&answer))?;
    ensure(server.seen().is_empty(), "the request was passed on")
}

fn endpoint() -> Result<(), Failed> {
    let server = Upstream::start(|_, request, stream| {
        if request.head.starts_with("POST") {
            let _ = stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted");
            return true;
        }
        let host =
            request.head.lines().find_map(|line| line.strip_prefix("Host: ")).unwrap_or_default();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        let event = format!(
            ": hi\r\n\r\ndata: http://{host}/other/message?id=5\r\nevent: endpoint\r\n\r\ndata: {{\"url\":\"http://{host}/x\"}}\n\n"
        );
        for piece in event.as_bytes().chunks(7) {
            let _ = write!(stream, "{:x}\r\n", piece.len());
            let _ = stream.write_all(piece);
            let _ = stream.write_all(b"\r\n");
        }
        let _ = stream.write_all(b"0\r\n\r\n");
        true
    })?;
    let folder = folder()?;
    let recorder = recorder(folder.path(), &format!("http://{}/sse", server.address))?;
    let answer = exchange(
        &recorder.address,
        "GET /sse HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
    )?;
    let (_, body) = std::str::from_utf8(&answer)?.split_once("\r\n\r\n").ok_or("no body")?;
    let expected = format!(
        ": hi\r\n\r\ndata: http://{}/other/message?id=5\r\nevent: endpoint\r\n\r\ndata: {{\"url\":\"http://{}/x\"}}\n\n",
        recorder.address, server.address
    );
    ensure(unchunked(body) == expected, (body, &expected))?;
    let (head, body) =
        post(&recorder.address, "/other/message?id=5", "", r#"{"id":1,"method":"a"}"#)?;
    ensure(head.starts_with("HTTP/1.1 202 ") && body == "Accepted", (head, body))?;
    let lines = capture(&folder.path().join("capture.jsonl"))?;
    let sent = lines.iter().find(|line| line["frame"]["method"] == "a").ok_or("not recorded")?;
    ensure(sent["transport"] == "sse" && sent["session"] == 1, sent)
}

fn unchunked(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        text.push_str(&rest[..size]);
        body = &rest[size + 2..];
    }
    text
}

/// `{"jsonrpc":"2.0","id":1,"result":{"text":"compressed"}}` by gzip.
const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\xca\x2a\xce\xcf\x2b\x2a\x48\x56\xb2\x52\x32\xd2\x33\x50\xd2\x51\xca\x4c\x51\xb2\x32\xd4\x51\x2a\x4a\x2d\x2e\xcd\x29\x51\xb2\xaa\x56\x2a\x49\xad\x00\xd2\x4a\xc9\xf9\xb9\x05\x40\xc1\xe2\xd4\x14\xa5\xda\x5a\x00\xff\xc1\xbc\x5e\x37\x00\x00\x00";

fn long_document() -> Result<(), Failed> {
    // Every line differs, so that a wrong order shows.
    let mut document = String::with_capacity(68_000_000);
    for n in 0..3_400_000 {
        let line = format!("{n:>19}\n");
        document.push_str(&line);
    }
    let (sent, length) = (std::sync::Arc::new(document), 3_400_000 * 20);
    let body = sent.clone();
    let server = Upstream::start(move |_, _, stream| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).is_ok()
    })?;
    let folder = folder()?;
    let recorder = recorder(folder.path(), &format!("http://{}/mcp", server.address))?;
    let answer = exchange(
        &recorder.address,
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
    )?;
    ensure(answer.ends_with(sent.as_bytes()), answer.len())?;
    let lines = capture(&folder.path().join("capture.jsonl"))?;
    let long = lines.iter().find(|line| line["truncated"] == true);
    ensure(long.is_some_and(|line| line["bytes"] == length), "not recorded as too long")
}

fn usage_errors() -> Result<(), Failed> {
    let folder = folder()?;
    for wrong in [
        &["--url", "nonsense"][..],
        &["--url", "http://h/", "--header", "a b: c"],
        &["--url", "http://h/", "--listen", "nowhere:x"],
    ] {
        let mut args = vec!["record", "-o", "capture.jsonl"];
        args.extend(wrong);
        let output = crate::budgets::quintain(folder.path(), &args).output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure(output.status.code() == Some(2) && !stderr.contains("recorded"), stderr)?;
        ensure(!folder.path().join("capture.jsonl").exists(), wrong)?;
    }
    Ok(())
}

fn compressed() -> Result<(), Failed> {
    let server = Upstream::start(|_, _, stream| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
            GZIP.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(GZIP)).is_ok()
    })?;
    let folder = folder()?;
    let recorder = recorder(folder.path(), &format!("http://{}/mcp", server.address))?;
    let answer = exchange(
        &recorder.address,
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
    )?;
    ensure(answer.ends_with(GZIP), answer.len())?;
    let lines = capture(&folder.path().join("capture.jsonl"))?;
    let server = frames(&lines, "server");
    ensure(server[0]["result"]["text"] == "compressed", server)
}

fn secrets() -> Result<(), Failed> {
    let server = Upstream::start(|_, request, stream| {
        let body =
            json!({"id": 1, "result": {"seen": request.head, "access_token": "tok-5512-abc"}})
                .to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nSet-Cookie: sid={CANARY}c; Path=/\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).is_ok()
    })?;
    let folder = folder()?;
    let url = format!("http://user:{CANARY}p@{}/mcp?api_key={CANARY}q", server.address)
        .replace('+', "%2B");
    let url = url.replacen("/Zt4Kw2mp@", "%2FZt4Kw2mp@", 1);
    let recorder = recorder(folder.path(), &url)?;
    let headers = format!(
        "Authorization: Bearer {CANARY}a\r\nX-Api-Key: {CANARY}k\r\nCookie: sid={CANARY}s\r\n"
    );
    let (_, body) = post(&recorder.address, "/mcp", &headers, r#"{"id":1,"method":"tools/call"}"#)?;
    ensure(body.contains(&format!("Bearer {CANARY}a")), &body)?;
    post(
        &recorder.address,
        &format!("/mcp?token={CANARY}t"),
        "",
        r#"{"id":2,"method":"again tok-5512-abc"}"#,
    )?;
    let seen = server.seen();
    ensure(seen[0].head.starts_with("POST /mcp?api_key="), &seen[0].head)?;
    let (code, stderr) = recorder.stop()?;
    ensure(code == Some(0), &stderr)?;
    let text = fs::read_to_string(folder.path().join("capture.jsonl"))?;
    for secret in [CANARY, "9Qx7", "tok-5512-abc"] {
        ensure(!text.contains(secret) && !stderr.contains(secret), (secret, &text))?;
    }
    Ok(())
}

fn large_event() -> Result<(), Failed> {
    let server = Upstream::start(|_, _, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: {\"text\":\"");
        let piece = [b'y'; 10_000];
        for _ in 0..2_000 {
            let _ = stream.write_all(&piece);
        }
        let _ = stream.write_all(b"\"}\n\n");
        false
    })?;
    let folder = folder()?;
    let recorder = recorder(folder.path(), &format!("http://{}/mcp", server.address))?;
    let answer = exchange(
        &recorder.address,
        "GET /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
    )?;
    ensure(answer.len() > 20_000_000, answer.len())?;
    let lines = capture(&folder.path().join("capture.jsonl"))?;
    let text = frames(&lines, "server")[0]["text"].as_str().map(str::len);
    ensure(text == Some(20_000_000), text)
}

fn stops() -> Result<(), Failed> {
    let server = Upstream::start(|_, _, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        let _ = stream.read(&mut [0; 1]);
        false
    })?;
    let folder = folder()?;
    let recorder = recorder(folder.path(), &format!("http://{}/mcp", server.address))?;
    let mut stream = recorder.connect()?;
    write!(stream, "GET /mcp HTTP/1.1\r\nHost: {}\r\n\r\n", recorder.address)?;
    read_until(&mut stream, "\r\n\r\n")?;
    let (code, stderr) = recorder.stop()?;
    ensure(code == Some(0) && stderr.contains("recorded 0 calls"), (code, stderr))
}
