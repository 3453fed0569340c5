//! How well an application chose and filled its calls, over the whole trace.

use std::collections::BTreeSet;

use quintain_content::registry::Meta;
use quintain_evidence::graded::{Level, TraceFinding};

use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, immediately, share};
use crate::view::{CallView, Offer};

pub(super) struct McpUse;

static META: Meta = Meta {
    id: "mcp-use",
    aliases: &["MCPUseMetric", "McpUseMetric"],
    summary: "the calls exist, are needed and have valid arguments",
    docs: "\
## What it does
Computes two shares of all calls. *Choice*: calls of things that a server offers and that are not repeated needlessly.
*Arguments*: calls whose arguments are valid and have an origin. The score is the smaller one, as in deepeval. Findings
of severity warning and above count.

## Why it matters
An application that calls what does not exist, or guesses arguments, works only by luck.

## What counts as proof
The findings of the checks, listed in `findings`.

## Example
```yaml
metrics:
  - type: mcp-use
    threshold: 0.8
```
",
    since: "0.2.0",
};

pub(super) const JUDGE: &str = "whether the chosen tools, resources and prompts were the right ones for the request, \
                                and whether the argument values match its intent";

impl Metric for McpUse {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self) -> Option<&'static str> {
        Some(JUDGE)
    }

    fn compile(&self, _: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        immediately(measure)
    }
}

fn measure(input: &MetricInput<'_>) -> Measured {
    let use_of = Use::new(input);
    let Some(parts) = use_of.parts(&input.view.calls) else {
        return Measured::undefined(why_undefined(input));
    };
    let scored = Scored::new(parts.choice.min(parts.arguments), use_of.reason())
        .with("choice", parts.choice)
        .with("arguments", parts.arguments);
    Measured::Score(scored.proven_by(use_of.findings))
}

/// What the findings say about the calls.
pub(super) struct Use {
    misused: BTreeSet<usize>,
    misfilled: BTreeSet<usize>,
    pub(super) findings: Vec<TraceFinding>,
}

/// The two halves of the score.
pub(super) struct Parts {
    pub(super) choice: f64,
    pub(super) arguments: f64,
}

const CHOICE: [&str; 4] = ["tool", "resource.unknown", "prompt.unknown", "call"];
pub(super) const ARGUMENTS: [&str; 2] = ["args", "prompt.arguments"];

impl Use {
    pub(super) fn new(input: &MetricInput<'_>) -> Self {
        let choice = share::of_checks(input.findings, &CHOICE, Level::Warning);
        let arguments = share::of_checks(input.findings, &ARGUMENTS, Level::Warning);
        let (misused, misfilled) = (share::calls_of(&choice), share::calls_of(&arguments));
        let mut findings = choice;
        findings.extend(arguments);
        findings.sort_by_key(|finding| finding.call.unwrap_or(usize::MAX));
        Self { misused, misfilled, findings }
    }

    /// None if nothing is known about any of the calls.
    pub(super) fn parts(&self, calls: &[CallView<'_>]) -> Option<Parts> {
        let known = || {
            let known = calls.iter().filter(|call| !matches!(call.offer, Offer::Unknown));
            known.map(|call| call.position)
        };
        let choice = share::spared(known(), &self.misused)?;
        let arguments = share::spared(known(), &self.misfilled)?;
        Some(Parts { choice, arguments })
    }

    pub(super) fn reason(&self) -> String {
        let (choice, arguments) = (self.misused.len(), self.misfilled.len());
        if choice + arguments == 0 {
            return "every call exists and has valid arguments".to_owned();
        }
        format!("calls that should not have been made: {choice}; with wrong arguments: {arguments}")
    }
}

pub(super) fn why_undefined(input: &MetricInput<'_>) -> &'static str {
    if input.view.calls.is_empty() {
        "no call is recorded"
    } else {
        "what the servers offer is not recorded"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing::{finding, measured_with, trace_with_tools};

    #[test]
    fn findings_lower_the_share_of_good_calls() {
        let trace = trace_with_tools(&["a", "b"], &["a", "b", "c", "a"]);
        let findings = [
            finding("tool.unknown", Level::Error, Some(2)),
            finding("args.schema", Level::Error, Some(0)),
            finding("args.extra", Level::Warning, Some(0)),
            finding("args.ungrounded", Level::Info, Some(1)),
            finding("result.error", Level::Error, Some(1)),
        ];
        let Measured::Score(scored) = measured_with(&McpUse, &trace, &findings) else {
            panic!("defined")
        };
        assert!((scored.value - 0.75).abs() < 1e-9);
        assert_eq!(scored.findings.len(), 3, "hints and results are another matter");
    }

    #[test]
    fn without_calls_or_lists_nothing_can_be_said() {
        let silent = trace_with_tools(&["a"], &[]);
        assert_eq!(
            measured_with(&McpUse, &silent, &[]),
            Measured::undefined("no call is recorded")
        );
        let mut unlisted = trace_with_tools(&[], &["a"]);
        unlisted.servers.clear();
        assert!(matches!(measured_with(&McpUse, &unlisted, &[]), Measured::Undefined(_)));
    }
}
