//! `evaluate_trace`: grades a recorded conversation.

use std::time::Duration;

use quintain_engine::jobs::{GradeWork, MetricRequest, TraceInput, Work};
use quintain_engine::models::ModelSettings;
use quintain_evidence::event::Event;
use serde_json::{Map, Value, json};

use super::definition::{Arguments, CONTACT, id, object, shape, text, tools, writing};
use crate::platform::generator::Generator;
use crate::platform::runs::NewJob;
use crate::principal::Group;
use crate::tool::{Call, ErrorCode, Reply, ToolError};

tools! {
    EvaluateTrace = {
        name: "evaluate_trace",
        title: "Grade a conversation",
        description: "Grades a recorded conversation with MCP servers: checks that need no model, and metrics with scores and reasons. Give `turns` or `single` in deepeval's form with `servers`, or `trace` as text in any supported format.",
        core: false,
        scope: writing(Group::Traces),
        hints: CONTACT,
        argument_aliases: &[("mcp_servers", "servers")],
        is_long: true,
    }
    input: object(json!({
        "servers": {"type": "array", "items": {"type": "object"}, "description": "The MCP servers with their tools, as deepeval lists them"},
        "turns": {"type": "array", "items": {"type": "object"}, "description": "A conversation: role, content, mcp_tools_called ..."},
        "single": {"type": "object", "description": "One exchange: input, actual_output, mcp_tools_called ..."},
        "trace": {"type": "string", "description": "A trace as text instead"},
        "format": text("Format of `trace`; default: detected"),
        "metrics": {"type": "array", "maxItems": 50, "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}, "description": "Metrics: names, or maps with `type` and options; default: checks only"},
        "judge_generator_id": id("The model for metrics that need one"),
    }), &[]),
    output: shape(json!({
        "success": {"type": "boolean"},
        "traces": {"type": "array", "items": {"type": "object"}},
    }), &["success", "traces"]),
    call: grade;
}

async fn grade(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    let servers = arguments.0.get("servers").cloned().unwrap_or_else(|| json!([]));
    let (text, format) = if let Some(trace) = arguments.text("trace") {
        (trace.to_owned(), arguments.text("format").map(str::to_owned))
    } else if let Some(turns) = arguments.0.get("turns") {
        (json!({"turns": turns, "mcp_servers": servers}).to_string(), Some("deepeval".to_owned()))
    } else if let Some(Value::Object(single)) = arguments.0.get("single") {
        let mut record = single.clone();
        record.entry("mcp_servers").or_insert(servers);
        (Value::Object(record).to_string(), Some("deepeval".to_owned()))
    } else {
        let what = "one of `turns`, `single` and `trace` is required";
        return Err(ToolError::new(ErrorCode::InvalidConfiguration, what));
    };
    let metrics = arguments.list("metrics").iter().map(metric).collect();
    let judge = match arguments.text("judge_generator_id") {
        Some(wanted) => {
            let mut judge = platform.generator(principal, wanted).await?;
            platform.confirm_contact(principal, host, &mut judge).await?;
            Some(judge)
        }
        None => None,
    };
    let generators: Vec<&Generator> = judge.iter().collect();
    let models =
        ModelSettings { judge: judge.as_ref().map(Generator::target), ..ModelSettings::default() };
    let input = TraceInput::Text { name: "trace".to_owned(), text };
    let work = GradeWork { inputs: vec![input], format, metrics, models, ..GradeWork::default() };
    let request =
        platform.request(principal, &generators, Work::Grade(Box::new(work)), NewJob::default());
    let mut traces = Vec::new();
    let mut success = true;
    let mut each = |event: &Event| {
        let Event::Case(case) = event else { return };
        if let Some(graded) = &case.graded {
            success &= graded.success;
            traces.push(serde_json::to_value(graded).unwrap_or_default());
        } else {
            success = false;
            traces.push(json!({"success": false, "error": case.error}));
        }
    };
    platform.run(request, &generators, Duration::from_mins(10), host, &mut each).await?;
    if traces.is_empty() {
        let what = "the trace cannot be read in this format";
        return Err(ToolError::new(ErrorCode::InvalidConfiguration, what));
    }
    let text = format!("{} traces, {}", traces.len(), if success { "success" } else { "failure" });
    Ok(Reply::new(json!({"success": success, "traces": traces}), text))
}

fn metric(metric: &Value) -> MetricRequest {
    match metric {
        Value::Object(map) => {
            let mut options = map.clone();
            let name = options.remove("type").or_else(|| options.remove("name"));
            let name = name.as_ref().and_then(Value::as_str).unwrap_or_default().replace('_', "-");
            MetricRequest { name, options }
        }
        name => MetricRequest {
            name: name.as_str().unwrap_or_default().replace('_', "-"),
            options: Map::new(),
        },
    }
}
