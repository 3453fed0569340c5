//! The share of calls whose arguments are valid and have an origin.

use quintain_content::registry::Meta;
use quintain_evidence::graded::Level;
use quintain_evidence::trace::Role;
use quintain_judge::ballot::VoteTally;

use quintain_judge::consultation::all;
use quintain_judge::template::{Prompt, Values};

use super::judging::verdicts::{Verdicts, YES_IS_GOOD};
use super::judging::{Judge, JudgeSettings, Judging, Stop, calls, judged_or};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, mcp_use, share};
use crate::view::Offer;

pub(super) struct ArgumentCorrectness;

static META: Meta = Meta {
    id: "argument-correctness",
    aliases: &["ArgumentCorrectnessMetric"],
    summary: "the arguments of calls are valid and come from somewhere",
    docs: "\
# What it does
Computes the share of calls without a finding about arguments: they violate the schema, are undeclared, occur nowhere
before, or are out of date. Only calls of things whose schema is recorded count. A call without arguments is correct if
its schema allows it.
With a judge, the judge decides for every call whether its arguments address the request, as in deepeval; a call for which
a check proves an error stays wrong, whatever the judge says.

# Why it matters
Wrong arguments waste calls; invented ones touch the wrong record.

# What counts as proof
The findings of the checks `args.*` and `prompt.arguments`, listed in `findings`. `details.verdicts` has the opinions.

# Options
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompt. Variables: request, offers, calls, facts.

# When it does not apply
No call is recorded, or, without a judge, what the servers offer is not recorded. deepeval scores no calls as 1.

# Example
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

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        judged_or(META.id, settings, measure, judged)
    }
}

const PROMPTS: &[Prompt] = &[Prompt {
    id: "verdicts",
    text: "\
An application makes calls to answer the request of a user. Judge for each call whether its arguments are right: complete,
and with values that address the request, given what was known at that time.
yes: they are right. A call that needs no arguments and has none is right.
no: a value is wrong, invented or missing.

Request:
{{request}}

Offered, one per line, with what the called ones take:
{{offers}}

Calls with their results, one per line:
{{calls}}

{{facts}}

Give one verdict for each call, in their order. For `no`, the reason names the argument.",
}];

/// Calls that are judged with one question.
const AT_ONCE: usize = 40;

fn judged(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let view = input.view;
    if view.calls.is_empty() {
        return Err(Stop::undefined("no call is recorded"));
    }
    let users = view.messages().filter(|(_, _, message)| message.role == Role::User);
    let request = users.map(|(_, _, message)| message.text.as_str()).collect::<Vec<_>>().join("\n");
    let findings = share::of_checks(input.findings, &mcp_use::ARGUMENTS, Level::Warning);
    let parts = view.calls.chunks(AT_ONCE).map(|part| {
        let positions: Vec<usize> = part.iter().map(|call| call.position).collect();
        let values = Values::new()
            .quoted("request", &request)
            .quoted("offers", &calls::offers(view, &positions, &request))
            .quoted("calls", &calls::listed(part))
            .plain("facts", calls::facts(&findings, &mcp_use::ARGUMENTS, Some(&positions)));
        judge.verdicts("verdicts", &values, YES_IS_GOOD.all, part.len())
    });
    let tallies: Vec<VoteTally> = all(parts)?.into_iter().flatten().collect();
    let proven = share::calls_of(&share::of_checks(&findings, &mcp_use::ARGUMENTS, Level::Error));
    let good = |(index, tally): &(usize, &VoteTally)| {
        YES_IS_GOOD.is_good(tally) && !proven.contains(index)
    };
    let right = tallies.iter().enumerate().filter(good).count();
    let items: Vec<String> = view
        .calls
        .iter()
        .map(|call| format!("call {}: {}", call.position, call.call.name))
        .collect();
    let verdicts = Verdicts { words: YES_IS_GOOD, items: &items, tallies: &tallies };
    let value = right as f64 / tallies.len() as f64;
    let mut scored = verdicts.scored(judge.panel(), value, "calls have the right arguments")?;
    if !proven.is_empty() {
        scored.reason = format!("calls with proven errors: {}; {}", proven.len(), scored.reason);
    }
    Ok(Measured::Score(scored.proven_by(findings)))
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
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{
        compiled, finding, judged_score, judged_score_with, measured_with, trace_with_tools,
    };

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
    fn a_judge_adds_to_proofs_and_never_overrules_one() {
        let trace = trace_with_tools(&["a"], &["a", "a", "a", "a"]);
        let metric = compiled(META.id, &json!({}));
        let verdicts = json!({"verdicts": [
            {"verdict": "yes"}, {"verdict": "no", "reason": "not that city"}, {"verdict": "yes"}, {"verdict": "yes"}
        ]});
        let score = judged_score(&metric, &trace, std::slice::from_ref(&verdicts));
        assert_eq!((score.score, score.judge.as_deref()), (Some(0.75), None));
        let proof = [finding("args.schema", Level::Error, Some(3))];
        let capped = judged_score_with(&metric, &trace, &proof, std::slice::from_ref(&verdicts));
        assert_eq!(capped.score, Some(0.5));
        let doubt = [finding("args.extra", Level::Warning, Some(3))];
        let score = judged_score_with(&metric, &trace, &doubt, &[verdicts]);
        assert_eq!(score.score, Some(0.75));
    }

    #[test]
    fn unknown_tools_have_no_schema_to_follow() {
        let trace = trace_with_tools(&["a"], &["b"]);
        let measured = measured_with(&ArgumentCorrectness, &trace, &[]);
        assert!(matches!(measured, Measured::Undefined(_)));
    }
}
