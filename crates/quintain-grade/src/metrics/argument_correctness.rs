//! The share of calls whose arguments are valid and have an origin.

use quintain_content::registry::Meta;
use quintain_evidence::graded::Level;

use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, immediately, mcp_use, share};
use crate::view::Offer;

pub(super) struct ArgumentCorrectness;

static META: Meta = Meta {
    id: "argument-correctness",
    aliases: &["ArgumentCorrectnessMetric"],
    summary: "the arguments of calls are valid and come from somewhere",
    docs: "\
## What it does
Computes the share of calls without a finding about arguments: they violate the schema, are undeclared, occur nowhere
before, or are out of date. Only calls of things whose schema is recorded count. A call without arguments is correct if
its schema allows it.

## Why it matters
Wrong arguments waste calls; invented ones touch the wrong record.

## What counts as proof
The findings of the checks `args.*` and `prompt.arguments`, listed in `findings`.

## Example
```yaml
metrics:
  - type: argument-correctness
    threshold: 1
```
",
    since: "0.2.0",
};

impl Metric for ArgumentCorrectness {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self) -> Option<&'static str> {
        Some("whether the argument values address the request")
    }

    fn compile(&self, _: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        immediately(measure)
    }
}

fn measure(input: &MetricInput<'_>) -> Measured {
    let described = input
        .view
        .calls
        .iter()
        .filter(|call| matches!(call.offer, Offer::Tool { .. } | Offer::Prompt { .. }));
    let findings = share::of_checks(input.findings, &mcp_use::ARGUMENTS, Level::Warning);
    let faulty = share::calls_of(&findings);
    let Some(value) = share::spared(described.map(|call| call.position), &faulty) else {
        return Measured::undefined(mcp_use::why_undefined(input));
    };
    let reason = match faulty.len() {
        0 => "the arguments of every call are valid".to_owned(),
        count => format!("calls with wrong arguments: {count}"),
    };
    Measured::Score(Scored::new(value, reason).proven_by(findings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing::{finding, measured_with, trace_with_tools};

    #[test]
    fn only_findings_about_arguments_count() {
        let trace = trace_with_tools(&["a", "b"], &["a", "b"]);
        let findings = [
            finding("args.schema", Level::Error, Some(1)),
            finding("call.redundant", Level::Warning, Some(0)),
        ];
        let Measured::Score(scored) = measured_with(&ArgumentCorrectness, &trace, &findings) else {
            panic!("defined")
        };
        assert!((scored.value - 0.5).abs() < 1e-9);
    }

    #[test]
    fn unknown_tools_have_no_schema_to_follow() {
        let trace = trace_with_tools(&["a"], &["b"]);
        let measured = measured_with(&ArgumentCorrectness, &trace, &[]);
        assert!(matches!(measured, Measured::Undefined(_)));
    }
}
