//! The F1 score of the called tools against the expected ones.

use std::collections::BTreeSet;

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_content::tool_names;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static TOOL_CALL_F1: Builtin = Builtin {
    meta: &Meta {
        id: "tool-call-f1",
        aliases: &[],
        summary: "The output calls the expected tools and no others (F1 score)",
        docs: r"# What it does
Collects the names of the tools that the output calls, in the formats of OpenAI, Anthropic and Google, and
compares them with `value`: a list of names, or comma-separated text. Ignores order and repetition. Text
is parsed as JSON, or searched for lines of JSON outside of fenced blocks.

The score is the harmonic mean of precision (the share of called tools that are expected) and recall (the
share of expected tools that are called). Passes if it is at least `threshold` (default 1).

# Example
```yaml
- type: tool-call-f1
  value: [search, fetch]
  threshold: 0.8
```
",
        since: "0.1.0",
    },
    compile,
};

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    let threshold = spec.threshold().unwrap_or(1.0);
    let expected = spec.expect(read);
    judging(move |scene| {
        let expected = expected.get(scene)?;
        let called = match tool_names::called(scene.output) {
            Ok(called) => called,
            Err(why) => return Ok(Verdict::fail(why)),
        };
        let share = |all: &BTreeSet<String>| match all.len() {
            0 => 0.0,
            count => expected.intersection(&called).count() as f64 / count as f64,
        };
        let (precision, recall) = (share(&called), share(&expected));
        let f1 = match precision + recall {
            sum if sum > 0.0 => 2.0 * precision * recall / sum,
            _ => 0.0,
        };
        let pass = (f1 >= threshold) != negated;
        let list = |names: &BTreeSet<String>| {
            names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        let called = Some(list(&called)).filter(|list| !list.is_empty());
        let names = format!(
            "Expected: [{}], Called: [{}]",
            list(&expected),
            called.as_deref().unwrap_or("(none)")
        );
        let [score, p, r] = [f1, precision, recall].map(|value| js::to_fixed(value, 3));
        let reason = if pass {
            format!("Tool Call F1: {score} (precision={p}, recall={r}). {names}")
        } else {
            let side = if negated { "above" } else { "below" };
            let threshold = js::number(threshold);
            format!(
                "Tool Call F1 score {score} is {side} threshold {threshold}. {names}. \
                 Precision={p}, Recall={r}"
            )
        };
        Ok(Verdict::new(pass, f1, reason))
    })
}

fn read(value: Option<&Value>) -> Result<BTreeSet<String>, String> {
    let names: Vec<String> = match value {
        Some(Value::Array(items)) => items.iter().map(js::string).collect(),
        Some(Value::String(text)) => text.split(',').map(str::to_owned).collect(),
        _ => {
            return Err("\"tool-call-f1\" assertion requires a value: array of tool names or \
                        comma-separated string"
                .to_owned());
        }
    };
    let names = names.iter().map(|name| js::trim(name)).filter(|name| !name.is_empty());
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    if names.is_empty() {
        return Err(
            "\"tool-call-f1\" assertion requires at least one expected tool name".to_owned()
        );
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::{TestScene, flaw};

    #[test]
    fn precision_and_recall_are_weighed() {
        let stage = TestScene::output(json!([{"name": "a"}, {"name": "x"}]));
        let verdict = stage.judge("[{type: tool-call-f1, value: 'b, a'}]");
        assert!(!verdict.passed());
        assert!((verdict.score - 0.5).abs() < 1e-9);
        assert_eq!(
            verdict.reason,
            "Tool Call F1 score 0.500 is below threshold 1. Expected: [a, b], Called: [a, x]. \
             Precision=0.500, Recall=0.500"
        );
        let verdict = stage.judge("[{type: tool-call-f1, value: [a, b], threshold: 0.5}]");
        assert_eq!(
            verdict.reason,
            "Tool Call F1: 0.500 (precision=0.500, recall=0.500). Expected: [a, b], Called: [a, x]"
        );
        let verdict = stage.judge("[{type: not-tool-call-f1, value: [a, x]}]");
        assert!(!verdict.passed());
        assert!(verdict.reason.contains("score 1.000 is above threshold 1."));
    }

    #[test]
    fn no_call_is_no_score() {
        let verdict = TestScene::output("nothing").judge("[{type: tool-call-f1, value: a}]");
        assert!(verdict.reason.contains("Called: [(none)]"));
    }

    #[test]
    fn names_are_needed() {
        assert!(flaw("[{type: tool-call-f1}]", "x").contains("requires a value"));
        assert!(flaw("[{type: tool-call-f1, value: []}]", "x").contains("at least one"));
        assert!(flaw("[{type: tool-call-f1, value: ' , '}]", "x").contains("at least one"));
    }
}
