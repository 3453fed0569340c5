//! `context`, the second argument of the user's code.

use quintain_evidence::evidence::{Evidence, Exchange};
use serde_json::{Map, Value, json};

use crate::check::Scene;

/// The keys are those of promptfoo. `trace` and `exchanges`, which may be large, are present only if the
/// code mentions them.
pub fn context(scene: &Scene<'_>, config: Option<&Value>, code: &str) -> Value {
    let mut context = Map::new();
    let mut put = |name: &str, value: Value| context.insert(name.to_owned(), value);
    put("prompt", json!(scene.prompt));
    put("vars", Value::Object(scene.vars.clone()));
    put("test", test(scene));
    put("provider", json!({"id": scene.target, "label": scene.target}));
    if let Some(log_probs) = &scene.response.log_probs {
        put("logProbs", log_probs.clone());
    }
    put("providerResponse", json!(scene.response));
    if let Some(config) = config {
        put("config", config.clone());
    }
    if !scene.response.metadata.is_empty() {
        put("metadata", Value::Object(scene.response.metadata.clone()));
    }
    if let Some(latency) = scene.latency_ms {
        put("latencyMs", json!(latency));
    }
    if code.contains("exchanges") {
        put("exchanges", json!(scene.evidence.exchanges));
    }
    if code.contains("trace") {
        put("trace", trace(scene.evidence));
    }
    Value::Object(context)
}

fn test(scene: &Scene<'_>) -> Value {
    let test = scene.test;
    let asserts: Vec<&Value> = test.asserts.iter().map(|assert| &assert.raw).collect();
    let mut shown = Map::new();
    if let Some(description) = &test.description {
        shown.insert("description".to_owned(), json!(description));
    }
    shown.insert("vars".to_owned(), Value::Object(scene.vars.clone()));
    shown.insert("assert".to_owned(), json!(asserts));
    if let Some(threshold) = test.threshold {
        shown.insert("threshold".to_owned(), json!(threshold));
    }
    shown.insert("options".to_owned(), Value::Object(test.options.raw.clone()));
    shown.insert("metadata".to_owned(), Value::Object(test.metadata.clone()));
    Value::Object(shown)
}

/// The exchanges as consecutive spans.
fn trace(evidence: &Evidence) -> Value {
    let mut clock = 0.0;
    let mut span = |(index, exchange): (usize, &Exchange)| {
        let start = clock;
        clock += exchange.took.as_secs_f64() * 1e3;
        let tool = exchange.sent.get("name").filter(|_| exchange.method == "tools/call");
        let name = match tool.and_then(Value::as_str) {
            Some(tool) => format!("{} {tool}", exchange.method),
            None => exchange.method.clone(),
        };
        json!({
            "spanId": index.to_string(),
            "name": name,
            "startTime": start,
            "endTime": clock,
            "statusCode": if exchange.outcome.result().is_some() { 1 } else { 2 },
            "attributes": {
                "mcp.method": exchange.method,
                "mcp.server": exchange.server,
                "tool.name": tool,
                "tool.arguments": exchange.sent.get("arguments"),
            },
        })
    };
    let spans: Vec<Value> = evidence.exchanges.iter().enumerate().map(&mut span).collect();
    json!({"traceId": "", "spans": spans})
}
