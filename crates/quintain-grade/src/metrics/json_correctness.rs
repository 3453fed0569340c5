//! Whether the answer is JSON of a schema.

use quintain_content::json_text;
use quintain_content::registry::Meta;
use quintain_content::schema::{self, Fault};
use quintain_evidence::graded::{Layer, Level, TraceFinding};
use serde_json::Value;

use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, immediately};

pub(super) struct JsonCorrectness;

static META: Meta = Meta {
    id: "json-correctness",
    aliases: &["JsonCorrectnessMetric"],
    summary: "the answer is valid JSON of a schema",
    docs: "\
# What it does
Parses the whole answer as JSON and validates it against `expectedSchema`, a JSON Schema. Without a schema any JSON is
correct. The score is 1 or 0.

# Why it matters
A program that reads the answer fails on anything else.

# What counts as proof
A finding for each violation, with a JSON pointer into the answer.

# Options
`expectedSchema`: a JSON Schema.

# When it does not apply
The trace has no answer.

# Example
```yaml
metrics:
  - type: json-correctness
    expectedSchema:
      type: object
      required: [total]
```
",
    since: "0.2.0",
};

impl Metric for JsonCorrectness {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let schema = options.value("expectedSchema").cloned();
        if let Some(schema) = &schema {
            let problems = schema::validate(schema, &Value::Null);
            if let Some(problem) = problems.into_iter().find(|one| one.fault == Fault::Schema) {
                options
                    .error("expectedSchema", format!("invalid JSON Schema: {}", problem.message));
                return None;
            }
        }
        immediately(move |input| measure(input, schema.as_ref()))
    }
}

fn measure(input: &MetricInput<'_>, schema: Option<&Value>) -> Measured {
    let Some(answer) = input.view.trace.answer() else {
        return Measured::undefined("the trace has no answer");
    };
    let value = match json_text::parse(answer.trim()) {
        Ok(value) => value,
        Err(error) => {
            let wrong = finding("", format!("the answer is not valid JSON: {error}"));
            return Measured::Score(Scored::new(0.0, wrong.message.clone()).proven_by(vec![wrong]));
        }
    };
    let problems = schema.map(|schema| schema::validate(schema, &value)).unwrap_or_default();
    if let Some(problem) = problems.iter().find(|problem| problem.fault == Fault::Schema) {
        return Measured::Failed(format!("the schema cannot be used: {}", problem.message));
    }
    let findings: Vec<TraceFinding> =
        problems.into_iter().map(|problem| finding(&problem.pointer, problem.message)).collect();
    Measured::Score(match findings.first() {
        None => Scored::new(1.0, "the answer is valid JSON"),
        Some(first) => Scored::new(0.0, first.message.clone()).proven_by(findings),
    })
}

fn finding(pointer: &str, message: String) -> TraceFinding {
    TraceFinding {
        check: META.id.to_owned(),
        layer: Layer::Reference,
        severity: Level::Error,
        call: None,
        pointer: pointer.to_owned(),
        message,
        evidence: String::new(),
        hint: "ask for JSON alone, without text or code fences around it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Role, Trace};
    use serde_json::json;

    use crate::metrics::testing::{compiled, score};

    #[test]
    fn the_answer_must_be_json_of_the_schema() {
        let schema = json!({"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}});
        let metric = compiled("json-correctness", &json!({"expected_schema": schema}));
        let says = |text: &str| {
            let mut trace = Trace::default();
            trace.say(Role::Assistant, text);
            score(&metric, &trace)
        };
        assert_eq!(says(" {\"total\": 7} ").score, Some(1.0));
        let wrong = says("{\"total\": \"7\"}");
        assert_eq!((wrong.score, wrong.findings[0].pointer.as_str()), (Some(0.0), "/total"));
        assert_eq!(says("```json\n{\"total\": 7}\n```").score, Some(0.0));
        assert_eq!(says("{\"total\": 7").score, Some(0.0));
    }

    #[test]
    fn a_schema_that_is_none_is_an_error() {
        let options = json!({"expectedSchema": {"type": "wat"}});
        assert!(crate::metrics::compile("json-correctness", options.as_object().unwrap()).is_err());
    }
}
