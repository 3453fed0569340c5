//! The share of calls that bring a task further.

use std::collections::BTreeSet;

use quintain_content::registry::Meta;
use quintain_evidence::graded::Level;

use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, immediately, share};

pub(super) struct StepEfficiency;

static META: Meta = Meta {
    id: "step-efficiency",
    aliases: &["StepEfficiencyMetric"],
    summary: "calls are neither repeated, nor failed, nor useless",
    docs: "\
## What it does
Computes the share of calls that are not wasted. Wasted are calls that failed, that repeat an earlier call without need,
that are part of a loop, or whose result is used nowhere. If the case lists expected calls, more calls than those count as
wasted too.

## Why it matters
Every call costs time, tokens and load on a server.

## What counts as proof
`details.wasted` lists the positions of the calls.

## Example
```yaml
metrics:
  - type: step-efficiency
    threshold: 0.7
```
",
    since: "0.2.0",
};

impl Metric for StepEfficiency {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self) -> Option<&'static str> {
        Some("whether fewer steps could have reached the goal")
    }

    fn compile(&self, _: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        immediately(measure)
    }
}

const WASTE: [&str; 4] = ["call", "result.unused", "resource.unused", "efficiency"];

fn measure(input: &MetricInput<'_>) -> Measured {
    let calls = &input.view.calls;
    let findings = share::of_checks(input.findings, &WASTE, Level::Warning);
    let mut wasted: BTreeSet<usize> = share::calls_of(&findings);
    let failed = calls.iter().filter(|call| call.failure().is_some());
    wasted.extend(failed.map(|call| call.position));
    let Some(useful) = share::spared(calls.iter().map(|call| call.position), &wasted) else {
        return Measured::undefined("no call is recorded");
    };
    let expected = input.view.trace.expected.calls.as_ref().map(Vec::len);
    let value =
        expected.map_or(useful, |expected| useful.min(expected as f64 / calls.len() as f64));
    let reason = match expected.filter(|expected| *expected < calls.len()) {
        Some(expected) => {
            format!("wasted calls: {}; expected calls: {expected} of {}", wasted.len(), calls.len())
        }
        None => format!("wasted calls: {} of {}", wasted.len(), calls.len()),
    };
    let scored = Scored::new(value, reason).with("wasted", wasted.into_iter().collect::<Vec<_>>());
    Measured::Score(scored.proven_by(findings))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::ExpectedCall;

    use super::*;
    use crate::metrics::testing::{finding, measured_with, trace_with_tools};

    fn value(measured: Measured) -> f64 {
        match measured {
            Measured::Score(scored) => scored.value,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn repeated_calls_are_wasted_once() {
        let trace = trace_with_tools(&["a"], &["a", "a", "a", "a"]);
        let findings = [
            finding("call.redundant", Level::Warning, Some(1)),
            finding("call.loop", Level::Warning, Some(1)),
            finding("result.unused", Level::Info, Some(0)),
        ];
        let value = value(measured_with(&StepEfficiency, &trace, &findings));
        assert!((value - 0.75).abs() < 1e-9);
    }

    #[test]
    fn more_calls_than_expected_are_wasted() {
        let mut trace = trace_with_tools(&["a"], &["a", "a"]);
        trace.expected.calls = Some(vec![ExpectedCall::default()]);
        let value = value(measured_with(&StepEfficiency, &trace, &[]));
        assert!((value - 0.5).abs() < 1e-9);
        let silent = trace_with_tools(&["a"], &[]);
        assert!(matches!(measured_with(&StepEfficiency, &silent, &[]), Measured::Undefined(_)));
    }
}
