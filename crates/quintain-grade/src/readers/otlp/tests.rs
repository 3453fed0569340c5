use quintain_evidence::trace::{Args, Call, CallOutcome};
use serde_json::json;

use super::*;

fn attribute(key: &str, value: &Value) -> Value {
    let value = match value {
        Value::String(text) => json!({"stringValue": text}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        other => json!({"stringValue": other.to_string()}),
    };
    json!({"key": key, "value": value})
}

fn span(id: &str, parent: &str, start: u64, attributes: Value) -> Value {
    let attributes = attributes.as_object().unwrap().iter();
    let attributes: Vec<Value> = attributes.map(|(key, value)| attribute(key, value)).collect();
    json!({
        "traceId": "t1", "spanId": id, "parentSpanId": parent, "name": "execute_tool add",
        "startTimeUnixNano": (1_700_000_000_000_000_000 + start * 1_000_000_000).to_string(),
        "endTimeUnixNano": (1_700_000_000_500_000_000 + start * 1_000_000_000).to_string(),
        "attributes": attributes
    })
}

fn read(spans: &[Value]) -> Vec<Trace> {
    let export =
        json!({"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]}).to_string();
    let mut parser = OtlpParser::default();
    let mut traces = Vec::new();
    let at = Position { line: 1, column: 1 };
    let record = JsonRecord { bytes: export.as_bytes(), at, is_element: false };
    parser.record(record, &mut traces).unwrap();
    parser.finish(&mut traces);
    traces.into_iter().map(|(_, trace)| trace.unwrap()).collect()
}

fn outline(trace: &Trace) -> Vec<String> {
    let steps = trace.steps.iter().map(|step| match (step.as_message(), step.as_call()) {
        (Some(said), _) => format!("{:?}: {}", said.role, said.text),
        (_, Some(call)) => format!("{} -> {}", call.name, call.text()),
        _ => String::new(),
    });
    steps.collect()
}

#[test]
fn spans_of_tools_become_calls_in_the_order_of_time() {
    let traces = read(&[
        span(
            "b",
            "",
            2,
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "mul",
            "gen_ai.tool.call.arguments": {"a": 2}, "gen_ai.tool.call.result": "4"}),
        ),
        span("a", "", 1, json!({"mcp.method.name": "tools/call", "gen_ai.tool.name": "add"})),
        span("c", "", 3, json!({"mcp.method.name": "resources/read", "mcp.resource.uri": "a:b"})),
        span("d", "", 4, json!({"mcp.method.name": "tools/list"})),
        span("e", "", 5, json!({"http.method": "GET"})),
    ]);
    assert_eq!(traces.len(), 1);
    assert_eq!(outline(&traces[0]), ["add -> ", "mul -> 4", "a:b -> "]);
    let calls: Vec<&Call> = traces[0].calls().collect();
    assert_eq!((&calls[0].args, &calls[0].outcome), (&Args::Unknown, &CallOutcome::Unknown));
    assert_eq!(calls[1].args, Args::Json(json!({"a": 2})));
    assert_eq!(calls[1].took_ms.map(f64::round), Some(500.0));
}

#[test]
fn a_request_comes_before_the_calls_that_were_made_for_it() {
    let said = |role: &str, text: &str| json!({"role": role, "parts": [{"type": "text", "content": text}]});
    let chat = |id: &str, start: u64, input: Value, output: &str| {
        span(
            id,
            "",
            start,
            json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": input,
                "gen_ai.output.messages": [said("assistant", output)]}),
        )
    };
    let tool = |id: &str, start: u64| {
        span(
            id,
            "",
            start,
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": id,
                "gen_ai.tool.call.result": "ok"}),
        )
    };
    let first = said("user", "Add it");
    let traces = read(&[
        tool("add", 1),
        chat("c1", 2, json!([first]), "Added."),
        tool("show", 5),
        chat(
            "c2",
            6,
            json!([first, said("assistant", "Added."), said("user", "Show it")]),
            "Here.",
        ),
    ]);
    assert_eq!(
        outline(&traces[0]),
        [
            "User: Add it",
            "add -> ok",
            "Assistant: Added.",
            "User: Show it",
            "show -> ok",
            "Assistant: Here."
        ]
    );
}

#[test]
fn client_and_server_spans_of_a_call_are_one_call() {
    let traces = read(&[
        span(
            "a",
            "root",
            1,
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add"}),
        ),
        span("h", "a", 1, json!({"http.method": "POST"})),
        span(
            "b",
            "h",
            1,
            json!({"mcp.method.name": "tools/call", "gen_ai.tool.name": "add",
            "gen_ai.tool.call.arguments": "{\"a\": 1}", "mcp.server.name": "sums"}),
        ),
        span("c", "b", 1, json!({"mcp.method.name": "tools/call", "gen_ai.tool.name": "add"})),
    ]);
    let calls: Vec<&Call> = traces[0].calls().collect();
    assert_eq!(calls.len(), 1);
    assert_eq!(
        (calls[0].server.as_deref(), &calls[0].args),
        (Some("sums"), &Args::Json(json!({"a": 1})))
    );
}

#[test]
fn the_history_that_spans_repeat_is_told_once() {
    let user = json!({"role": "user", "parts": [{"type": "text", "content": "yes"}]});
    let asks = json!({"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "add", "arguments": {}}]});
    let told = json!({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "3"}]});
    let says = json!({"role": "assistant", "parts": [{"type": "text", "content": "3"}]});
    let traces = read(&[
        span(
            "a",
            "",
            1,
            json!({"gen_ai.operation.name": "chat",
            "gen_ai.input.messages": [user], "gen_ai.output.messages": [asks]}),
        ),
        span(
            "b",
            "",
            2,
            json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add",
            "gen_ai.tool.call.id": "c1", "gen_ai.tool.call.result": "3"}),
        ),
        span(
            "c",
            "",
            3,
            json!({"gen_ai.operation.name": "chat",
            "gen_ai.input.messages": [user, asks, told], "gen_ai.output.messages": [says]}),
        ),
        span(
            "d",
            "",
            5,
            json!({"gen_ai.operation.name": "chat",
            "gen_ai.input.messages": [user, asks, told, says, user], "gen_ai.output.messages": [says]}),
        ),
    ]);
    assert_eq!(
        outline(&traces[0]),
        ["User: yes", "add -> 3", "Assistant: 3", "User: yes", "Assistant: 3"]
    );
}

#[test]
fn failed_spans_are_failed_calls() {
    let mut failed = span(
        "a",
        "",
        1,
        json!({"mcp.method.name": "tools/call", "gen_ai.tool.name": "x",
        "error.type": "-32602", "rpc.response.status_code": "-32602"}),
    );
    failed["status"] = json!({"code": 2, "message": "invalid params"});
    let tool = span(
        "b",
        "",
        2,
        json!({"mcp.method.name": "tools/call", "gen_ai.tool.name": "y",
        "error.type": "tool_error", "gen_ai.tool.call.result": "no such city"}),
    );
    let traces = read(&[failed, tool]);
    let calls: Vec<&Call> = traces[0].calls().collect();
    assert!(
        matches!(&calls[0].outcome, CallOutcome::Error { code: Some(-32602), message, .. } if message == "invalid params")
    );
    assert!(calls[1].is_error());
    assert_eq!(calls[1].text(), "no such city");
}

#[test]
fn older_conventions_are_read() {
    let traces = read(&[
        span(
            "a",
            "",
            1,
            json!({"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi",
            "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Hello"}),
        ),
        span(
            "b",
            "",
            2,
            json!({"openinference.span.kind": "TOOL", "tool.name": "greet",
            "input.value": "{\"n\": 1}", "output.value": "done"}),
        ),
        span(
            "c",
            "",
            3,
            json!({"openinference.span.kind": "TOOL", "tool.name": "wave", "input.value": "hand"}),
        ),
    ]);
    assert_eq!(outline(&traces[0]), ["User: Hi", "Assistant: Hello", "greet -> done", "wave -> "]);
    let calls: Vec<&Call> = traces[0].calls().collect();
    assert_eq!((&calls[0].args, &calls[1].args), (&Args::Json(json!({"n": 1})), &Args::Unknown));
}

#[test]
fn printed_spans_are_read_and_broken_ones_reported() {
    let printed = json!({"name": "tools/call add", "context": {"trace_id": "0x1", "span_id": "0x2"}, "parent_id": null,
        "start_time": "2025-11-14T22:13:20.000000Z", "status": {"status_code": "UNSET"},
        "attributes": {"mcp.method.name": "tools/call", "gen_ai.tool.name": "add"}}).to_string();
    let mut parser = OtlpParser::default();
    let mut traces = Vec::new();
    let at = Position { line: 1, column: 1 };
    let mut read =
        |bytes: &[u8]| parser.record(JsonRecord { bytes, at, is_element: false }, &mut traces);
    assert_eq!(read(printed.as_bytes()), Ok(()));
    assert!(read(br#"{"traceId": "a", "spanId": "b"}"#).unwrap_err().contains("startTimeUnixNano"));
    assert!(read(b"{}").is_err());
    parser.finish(&mut traces);
    assert_eq!(traces.len(), 1);
}
