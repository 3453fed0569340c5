use std::collections::HashSet;
use std::io::BufReader;

use proptest::prelude::*;
use quintain_evidence::trace::{Call, CallOutcome};
use serde_json::json;

use super::*;

mod hostile;
mod public_traces;
mod recorded;

fn read_as(
    text: &[u8],
    format: Option<&str>,
    options: &ReadOptions,
) -> Result<(&'static str, Vec<Record>), ReadError> {
    let mut records = Vec::new();
    let mut sink = |record: Record| {
        records.push(record);
        ControlFlow::Continue(())
    };
    let reader = format.and_then(by_name);
    let input = BufReader::with_capacity(1000, text);
    let reader = read(input, "f.json", reader, options, &mut sink)?;
    Ok((reader.meta().id, records))
}

fn read_all(text: &str) -> (&'static str, Vec<Record>) {
    read_as(text.as_bytes(), None, &ReadOptions::default()).unwrap()
}

/// The format and the trace of a file with one trace.
fn one(text: &str) -> (&'static str, Trace) {
    let (format, mut records) = read_all(text);
    assert_eq!(records.len(), 1, "{records:?}");
    match records.remove(0) {
        Record::Trace(trace, _) => (format, *trace),
        Record::Bad(bad) => panic!("{bad}"),
    }
}

fn outline(records: &[Record]) -> Vec<String> {
    let outline = records.iter().map(|record| match record {
        Record::Trace(trace, place) => format!("{place} {}", trace.request().unwrap_or("-")),
        Record::Bad(bad) => format!("{}!", bad.place),
    });
    outline.collect()
}

/// The example in the documentation of a format.
fn example(reader: &'static dyn Reader) -> &'static str {
    let docs = reader.meta().docs;
    docs.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap()
}

#[test]
fn the_registry_is_sound() {
    let mut names = HashSet::new();
    for reader in READERS {
        let meta = reader.meta();
        for name in std::iter::once(&meta.id).chain(meta.aliases) {
            assert!(names.insert(*name), "{name} is used twice");
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
        }
        assert!(meta.docs.contains("# What it does") && meta.docs.contains("# Example"));
        assert!(!meta.summary.ends_with('.'));
    }
}

/// The example in the documentation of each format is of that format.
#[test]
fn every_example_is_recognised_and_read() {
    for reader in READERS {
        let example = example(*reader);
        let (format, records) = read_all(example);
        assert_eq!(format, reader.meta().id, "{example}");
        let traces: Vec<&Record> =
            records.iter().filter(|record| matches!(record, Record::Trace(..))).collect();
        assert_eq!((records.len(), traces.len()), (1, 1), "{format}: {records:?}");
    }
}

#[test]
fn deepeval_comes_in_every_layout() {
    let case = |n: u8| json!({"input": format!("q{n}"), "actualOutput": "a", "mcpToolsCalled": [{"name": "t", "args": {}, "result": {}}]});
    let lines = format!("{}\n{}\n", case(1), case(2));
    let list = json!([case(1), case(2)]);
    let pretty = serde_json::to_string_pretty(&list).unwrap();
    let object =
        json!({"mcp_servers": [{"server_name": "s"}], "testCases": list, "hyperparameters": {}});
    for text in [
        lines.clone(),
        list.to_string(),
        pretty.clone(),
        object.to_string(),
        serde_json::to_string_pretty(&object).unwrap(),
        format!("\u{feff}{lines}"),
        lines.replace('\n', "\r\n\r\n"),
        json!({"goldens": list}).to_string(),
    ] {
        let (format, records) = read_all(&text);
        assert_eq!(format, "deepeval", "{text}");
        assert_eq!(records.len(), 2, "{text}");
        for record in &records {
            let Record::Trace(trace, _) = record else { panic!("{record:?}") };
            assert_eq!(trace.calls().count(), 1);
        }
    }
    let (_, records) = read_all(&object.to_string());
    let Record::Trace(trace, _) = &records[1] else { panic!() };
    assert!(trace.server("s").is_some(), "servers of the file are those of each case");
    let (_, records) = read_all(&pretty);
    assert_eq!(outline(&records), ["f.json:2:3 q1", "f.json:13:3 q2"]);
}

#[test]
fn conversations_of_deepeval_keep_their_turns() {
    let (format, trace) = one(r#"{"turns": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello", "mcp_tools_called": [{"name": "a", "args": {"x": 1}, "result": "r"}],
         "mcp_prompts_called": [{"name": "p", "args": {"q": 2}}], "mcp_resources_called": [{"uri": "u:1"}]},
        {"role": "assistant", "content": "Bye", "tools_called": [{"name": "b", "type": "MCP", "inputParameters": {"y": 2}, "output": "o"}]}
    ], "scenario": "greeting", "expected_outcome": "polite"}"#);
    assert_eq!(format, "deepeval");
    let calls: Vec<String> =
        trace.calls().map(|call| format!("{} {}", call.kind.word(), call.name)).collect();
    assert_eq!(calls, ["tool a", "resource u:1", "prompt p", "tool b"]);
    assert_eq!(trace.labels["scenario"], "greeting");
    assert_eq!(trace.expected.called.map(|calls| calls.len()), Some(1));
}

#[test]
fn chat_logs_are_told_apart() {
    for (expected, text) in [
        (
            "openai-chat",
            json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]),
        ),
        (
            "openai-chat",
            json!({"id": "r", "choices": [{"message": {"role": "assistant", "content": "Hi"}}]}),
        ),
        (
            "openai-chat",
            json!({"request": {"messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "function", "function": {"name": "f"}}]},
            "response": {"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}}]}}),
        ),
        (
            "anthropic",
            json!({"system": "Be kind", "messages": [{"role": "user", "content": "Hi"}], "tools": [{"name": "f", "input_schema": {}}]}),
        ),
        (
            "anthropic",
            json!({"request": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
            "response": {"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}}),
        ),
        (
            "openai-responses",
            json!({"request": {"model": "m", "input": "Hi"}, "response": {"object": "response", "output": [
            {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}]}}),
        ),
        (
            "openai-responses",
            json!([{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}, {"type": "mcp_call", "name": "f", "server_label": "s", "arguments": "{}"}]),
        ),
    ] {
        let (format, trace) = one(&text.to_string());
        assert_eq!(format, expected, "{text}");
        assert!(!trace.steps.is_empty(), "{text}");
        assert_eq!(one(&serde_json::to_string_pretty(&text).unwrap()), (format, trace));
    }
}

#[test]
fn a_session_with_a_message_per_line_is_one_trace() {
    let lines = [
        json!({"type": "summary", "summary": "x", "uuid": "0"}),
        json!({"type": "user", "uuid": "1", "sessionId": "s1", "timestamp": "2025-11-14T22:13:20Z", "message": {"role": "user", "content": "Weather?"}}),
        json!({"type": "assistant", "uuid": "2", "sessionId": "s1", "timestamp": "2025-11-14T22:13:21Z",
            "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "mcp__sky__now", "input": {}}]}}),
        json!({"type": "user", "uuid": "3", "sessionId": "s1", "timestamp": "2025-11-14T22:13:22Z",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "rain"}]}}),
        json!({"type": "user", "uuid": "4", "sessionId": "s2", "message": {"role": "user", "content": "Other"}}),
    ];
    let text = lines.map(|line| line.to_string()).join("\n");
    let (format, records) = read_all(&text);
    assert_eq!(format, "anthropic");
    assert_eq!(outline(&records), ["f.json:2:1 Weather?", "f.json:5:1 Other"]);
    let Record::Trace(trace, _) = &records[0] else { panic!() };
    let call = trace.calls().next().unwrap();
    assert_eq!(
        (call.server.as_deref(), call.name.as_str(), call.took_ms),
        (Some("sky"), "now", Some(1000.0))
    );
}

#[test]
fn extra_keys_of_a_chat_record_are_labels() {
    let (_, trace) = one(
        r#"{"id": "7", "question": "Hi", "labels": {"success": true}, "model": "m", "response": "Hello",
        "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}"#,
    );
    assert_eq!(trace.id.as_deref(), Some("7"));
    assert_eq!(trace.steps.len(), 2, "the answer is not repeated");
    assert_eq!(json!(trace.labels), json!({"question": "Hi", "success": true, "model": "m"}));
}

#[test]
fn captures_come_in_every_layout() {
    let sent = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}});
    let got =
        json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "1"}]}});
    let own = format!(
        "{}\n{}\n{}\n",
        json!({"t": 0.0, "note": {"start": "server"}}),
        json!({"t": 0.1, "direction": "client", "transport": "stdio", "frame": sent}),
        json!({"t": 0.3, "direction": "server", "transport": "stdio", "frame": got})
    );
    let entry = json!({"id": "x", "timestamp": "2025-11-14T22:13:20Z", "direction": "request", "origin": "client", "message": sent, "response": got});
    for text in [
        own.clone(),
        format!("{sent}\n{got}\n"),
        format!("starting server\n--> {sent}\n<-- {got}\n"),
        format!("[client] {sent}\n[server] {got}\n"),
        json!([sent, got]).to_string(),
        json!([entry]).to_string(),
        serde_json::to_string_pretty(&json!([entry])).unwrap(),
        json!({"messages": [entry]}).to_string(),
        json!([{"request": sent.to_string(), "response": got["result"].to_string()}]).to_string(),
    ] {
        let (format, trace) = one(&text);
        assert_eq!(format, "capture", "{text}");
        let calls: Vec<&Call> = trace.calls().collect();
        assert_eq!(calls.len(), 1, "{text}");
        assert_eq!((calls[0].name.as_str(), calls[0].text().as_ref()), ("add", "1"), "{text}");
        assert!(trace.is_capture);
    }
    let (_, trace) = one(&own);
    let took = trace.calls().next().unwrap().took_ms.unwrap();
    assert!((took - 200.0).abs() < 0.001, "{took}");
    let rules: Vec<&str> = trace.protocol.iter().map(|fault| fault.rule.as_str()).collect();
    assert_eq!(rules, ["before-initialize"]);
}

#[test]
fn each_session_of_a_capture_is_a_trace() {
    let open = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}});
    let done = json!({"jsonrpc": "2.0", "id": 0, "result": {"capabilities": {"tools": {}}, "serverInfo": {"name": "s"}}});
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add"}});
    let lines = [&open, &done, &call, &open, &done, &call];
    let text = lines.map(ToString::to_string).join("\n");
    let (_, records) = read_all(&text);
    assert_eq!(records.len(), 2);
    for record in records {
        let Record::Trace(trace, _) = record else { panic!() };
        assert_eq!((trace.calls().count(), trace.protocol.len()), (1, 0));
    }
}

#[test]
fn spans_of_one_trace_are_found_across_lines() {
    let span = |trace: &str, id: &str, tool: &str| {
        json!({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": trace, "spanId": id, "name": "x",
            "startTimeUnixNano": "1700000000000000000", "attributes": [
                {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
                {"key": "gen_ai.tool.name", "value": {"stringValue": tool}}]}]}]}]})
    };
    let text =
        format!("{}\n{}\n{}\n", span("a", "1", "x"), span("b", "2", "y"), span("a", "3", "z"));
    let (format, records) = read_all(&text);
    assert_eq!((format, records.len()), ("otlp", 2));
    let Record::Trace(trace, _) = &records[0] else { panic!() };
    assert_eq!((trace.id.as_deref(), trace.calls().count()), (Some("a"), 2));
}

#[test]
fn results_of_promptfoo_are_read_as_document_and_as_lines() {
    let row = json!({"id": "r", "success": false, "prompt": {"raw": "{\"tool\": \"add\", \"args\": {}}"}, "testCase": {},
        "response": {"error": "MCP tool error: boom"}});
    let document = json!({"evalId": "e", "results": {"version": 3, "prompts": [], "results": [row, row]}, "config": {}});
    for text in [
        document.to_string(),
        serde_json::to_string_pretty(&document).unwrap(),
        format!("{row}\n{row}\n"),
    ] {
        let (format, records) = read_all(&text);
        assert_eq!((format, records.len()), ("promptfoo", 2), "{text}");
        let Record::Trace(trace, _) = &records[0] else { panic!("{records:?}") };
        let call = trace.calls().next().unwrap();
        assert!(
            matches!(&call.outcome, CallOutcome::Error { message, .. } if message.contains("boom"))
        );
    }
}

#[test]
fn servers_from_a_file_complete_a_trace() {
    let servers = surface_file::servers(r#"[{"name": "add", "inputSchema": {}}]"#).unwrap();
    let options = ReadOptions { servers, ..ReadOptions::default() };
    let (_, records) =
        read_as(br#"{"input": "q", "mcp_tools_called": [{"name": "add"}]}"#, None, &options)
            .unwrap();
    let Record::Trace(trace, _) = &records[0] else { panic!() };
    assert_eq!(trace.servers[0].tools_at(0).map(<[_]>::len), Some(1));
}
