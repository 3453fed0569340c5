//! Results of promptfoo, and our own reports, which have the same layout: each row is a test.

use quintain_content::registry::Meta;
use quintain_evidence::evidence::Evidence;
use quintain_evidence::probe::{self, Step};
use quintain_evidence::trace::{Args, Call, CallKind, CallOutcome, Trace};
use serde_json::{Value, json};

use super::conversation::Conversation;
use super::{JsonRecord, Parser, Reader, Sample, Traces, model_prompt, stored_run};
use crate::json_input::record::{id_text, json_in, take, text};
use crate::json_input::walk::Path;
use crate::outcome;

pub(super) struct Promptfoo;

static META: Meta = Meta {
    id: "promptfoo",
    aliases: &[],
    summary: "results of promptfoo, and reports of `quintain eval` in JSON",
    docs: "\
# What it does
Reads the rows of `results.results`, or one row per line. A prompt that is a tool call becomes that call with the response
as its result; other prompts become what the user says, with the calls of `metadata.toolCalls` and those that the output
consists of.

# Example
```json
{\"results\": {\"version\": 3, \"results\": [
  {\"prompt\": {\"raw\": \"{\\\"tool\\\": \\\"add\\\", \\\"args\\\": {\\\"a\\\": 1}}\"}, \"response\": {\"output\": \"1\"}, \"success\": true}]}}
```
",
    since: "0.2.0",
};

static CONTAINERS: &[Path] = &[&["results", "results"], &["results", "outputs"], &["results"]];

impl Reader for Promptfoo {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn recognises(&self, sample: &Sample) -> u8 {
        sample.best(|record| {
            let is_report = record.pointer("/results/results").is_some_and(Value::is_array)
                || record.get("evalId").is_some();
            let rows = record.get("results").and_then(Value::as_array).into_iter().flatten();
            if is_report || is_row(record) || rows.into_iter().any(is_row) { 96 } else { 0 }
        })
    }

    fn containers(&self) -> &'static [Path] {
        CONTAINERS
    }

    fn open(&self) -> Box<dyn Parser> {
        Box::new(PromptfooParser)
    }
}

fn is_row(row: &Value) -> bool {
    let is_judged = ["gradingResult", "testCase", "promptIdx", "failureReason"]
        .iter()
        .any(|key| row.get(key).is_some());
    let has = |key: &str| row.get(key).is_some();
    (is_judged && (has("response") || has("prompt")))
        || (has("success") && has("response") && has("prompt"))
}

struct PromptfooParser;

impl Parser for PromptfooParser {
    fn record(&mut self, record: JsonRecord<'_>, traces: &mut Traces) -> Result<(), String> {
        let row = record.value()?;
        if !is_row(&row) {
            return Err(
                "expected a row of results, with `prompt`, `response` and `success`".to_owned()
            );
        }
        traces.push((record.at, Ok(trace_of(row))));
        Ok(())
    }
}

fn trace_of(mut row: Value) -> Trace {
    let raw = row.pointer("/prompt/raw").or_else(|| row.get("prompt")).cloned().unwrap_or_default();
    let raw = raw.as_str().unwrap_or_default().to_owned();
    let mut response = take(&mut row, "response").unwrap_or_default();
    let evidence = row.pointer_mut("/quintain/evidence").map(Value::take);
    let evidence: Option<Evidence> =
        evidence.and_then(|evidence| serde_json::from_value(evidence).ok());
    let mut trace = match (evidence, tool_call(&raw)) {
        (Some(evidence), _) => {
            let mut trace = Trace::default();
            stored_run::add_evidence(&mut trace, &evidence);
            if trace.calls().next().is_none() {
                trace.steps = model_prompt::conversation(&raw, &mut response).steps;
            }
            trace
        }
        (None, Some(call)) => of_call(call, &mut response, &row),
        (None, None) => model_prompt::conversation(&raw, &mut response),
    };
    trace.id = row.get("id").and_then(id_text);
    let description = text(&row, "description");
    let description = description.or_else(|| row.pointer("/testCase/description")?.as_str());
    trace.name = description.map(str::to_owned);
    for key in ["success", "score", "failureReason", "error", "vars", "provider"] {
        if let Some(value) = take(&mut row, key) {
            trace.labels.insert(key.to_owned(), value);
        }
    }
    trace
}

/// The request that a prompt for an MCP server makes; with several steps, the last, whose response is recorded.
fn tool_call(prompt: &str) -> Option<Call> {
    let payload = json_in(prompt).filter(Value::is_object)?;
    let step = probe::steps(&payload).ok()?.pop()?.step;
    match step {
        Step::Call(call) => {
            let args = Args::Json(call.args.into());
            Some(Call { server: call.server, ..Call::new(CallKind::Tool, call.tool, args) })
        }
        Step::Request { method, params, server } => {
            let (kind, key) = stored_run::call_kind(&method)?;
            let params = Value::from(params);
            let name = text(&params, key)?.to_owned();
            Some(Call { server, ..Call::new(kind, name, stored_run::sent_args(&params)) })
        }
    }
}

fn of_call(mut call: Call, response: &mut Value, row: &Value) -> Trace {
    // Arguments with the defaults of the target merged in are what was sent.
    if let Some(sent) = response.pointer("/metadata/toolArgs").filter(|sent| sent.is_object()) {
        call.args = Args::Json(sent.clone());
    }
    if call.server.is_none() {
        let server = response.pointer("/metadata/server").and_then(Value::as_str);
        call.server = server.filter(|name| !name.is_empty()).map(str::to_owned);
    }
    call.took_ms = row.get("latencyMs").and_then(Value::as_f64);
    call.outcome = call_outcome(response);
    let mut talk = Conversation::default();
    talk.trace.call(call);
    talk.finish()
}

fn call_outcome(response: &mut Value) -> CallOutcome {
    let is_error = response.pointer("/metadata/isError").and_then(Value::as_bool) == Some(true);
    if let Some(Value::String(message)) = take(response, "error") {
        return CallOutcome::Error { code: None, message, data: None };
    }
    if let Some(raw) = take(response, "raw").filter(outcome::is_result) {
        return CallOutcome::Result(raw);
    }
    let output = take(response, "output").unwrap_or_default();
    // promptfoo prints the content blocks of a tool as JSON.
    let blocks = output.as_str().and_then(json_in);
    let blocks = blocks.filter(|blocks| outcome::is_result(&json!({"content": blocks})));
    outcome::of_content(blocks.unwrap_or(output), is_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_is_a_tool_call_becomes_the_call() {
        let trace = trace_of(json!({
            "id": "r1", "success": true, "latencyMs": 3, "description": "sum",
            "prompt": {"raw": "{\"tool\": \"add\", \"args\": {\"a\": 1}}"},
            "response": {
                "output": "[{\"type\":\"text\",\"text\":\"1\"}]",
                "metadata": {"toolName": "add", "toolArgs": {"a": 1, "b": 0}, "server": "sums"}
            }
        }));
        let call = trace.calls().next().unwrap();
        assert_eq!((call.name.as_str(), call.text().as_ref()), ("add", "1"));
        assert_eq!(call.args, Args::Json(json!({"a": 1, "b": 0})));
        assert_eq!((call.server.as_deref(), call.took_ms), (Some("sums"), Some(3.0)));
        assert_eq!(
            (trace.name.as_deref(), trace.labels["success"].as_bool()),
            (Some("sum"), Some(true))
        );
    }

    #[test]
    fn a_prompt_for_a_model_becomes_a_conversation() {
        let trace = trace_of(json!({
            "promptIdx": 0, "prompt": {"raw": "Add 1 and 2"},
            "response": {"output": "3", "metadata": {"toolCalls": [
                {"id": "c", "name": "add", "input": {"a": 1}, "output": "boom", "is_error": true}
            ]}}
        }));
        assert_eq!((trace.request(), trace.answer()), (Some("Add 1 and 2"), Some("3")));
        assert!(trace.calls().next().unwrap().is_error());
    }

    #[test]
    fn our_own_rows_keep_every_exchange() {
        let trace = trace_of(json!({
            "testCase": {}, "prompt": {"raw": "{\"tool\": \"b\"}"}, "response": {"error": "x"},
            "quintain": {"evidence": {"exchanges": [
                {"server": "s", "method": "tools/call", "sent": {"name": "a"}, "outcome": {"reply": {"content": []}}, "took_ms": 1.0, "notices": []},
                {"server": "s", "method": "tools/call", "sent": {"name": "b"}, "outcome": {"rpc_error": {"code": -1, "message": "x", "data": null}}, "took_ms": 1.0, "notices": []}
            ]}}
        }));
        let names: Vec<&str> = trace.calls().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
    }
}
