//! How well an application chose and filled its calls, over the whole trace.

use std::collections::BTreeSet;

use quintain_content::registry::Meta;
use quintain_evidence::graded::{Level, TraceFinding};
use quintain_evidence::trace::Role;
use quintain_judge::consultation::{Heard, all};
use quintain_judge::proof::combined;
use quintain_judge::template::{Prompt, Values};

use super::judging::{Grade, Judge, JudgeSettings, Judging, Scale, Stop, calls, grades, judged_or};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, share};
use crate::view::{CallView, Offer};

pub(super) struct McpUse;

static META: Meta = Meta {
    id: "mcp-use",
    aliases: &["MCPUseMetric", "McpUseMetric"],
    summary: "the calls exist, are needed and have valid arguments",
    docs: "\
# What it does
Computes two shares of all calls. *Choice*: calls of things that a server offers and that are not repeated needlessly.
*Arguments*: calls whose arguments are valid and have an origin. The score is the smaller one, as in deepeval. Findings
of severity warning and above count.
With a judge, the judge grades both: whether what was called was right for the request, and whether the values match its
intent. It sees the results, the findings, and of what was offered the called and the nearest things. A fault of severity
error that a check proves still limits the score.

# Why it matters
An application that calls what does not exist, or guesses arguments, works only by luck.

# What counts as proof
The findings of the checks, listed in `findings`. Opinions are in `details.judge`.

# Options
`model`, `judge` and `evaluationTemplate` (prompts `choice` and `arguments`) as for all judged metrics.

# When it does not apply
No call is recorded, or what the servers offer is not recorded. `--surface` gives the lists of tools. A judge can also say
whether a request needed no call.

# Example
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

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        judged_or(META.id, settings, measure, judged)
    }
}

pub(super) const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "choice",
        text: "\
An application answers the request of a user with the help of MCP servers. Judge only which tools, resources and prompts it
used. Were they right for the request, given what was offered? Did it overlook something better, or call something that the
request did not need? If it called nothing: was that right? Ignore the values of arguments, and whether calls succeeded.

Request:
{{request}}

Offered by the servers, one per line; of what was not called only what is nearest to the request:
{{offers}}

Calls with their results, in order:
{{calls}}

What the application then said:
{{answer}}

{{facts}}",
    },
    Prompt {
        id: "arguments",
        text: "\
An application answers the request of a user with the help of MCP servers. Judge only the arguments of its calls. Do they
have the right types, is everything required present, and do the values mean what the user asked for? Take for granted that
the right things were called. A call that needs no arguments has correct ones. Ignore whether calls succeeded, except where
an error shows that an argument was wrong.

Request:
{{request}}

Offered by the servers, one per line, with what the called ones take:
{{offers}}

Calls with their results, in order:
{{calls}}

What the application then said:
{{answer}}

{{facts}}",
    },
];

const CHOICE_SCALE: Scale = Scale {
    question: "Did the application use the right tools, resources and prompts?",
    worst: "the wrong ones, or needed ones are missing",
    best: "the best ones that were offered, and nothing needless",
};

const ARGUMENTS_SCALE: Scale = Scale {
    question: "Are the arguments of the calls right for the request?",
    worst: "they are wrong, invented or missing",
    best: "every argument is right and nothing is missing",
};

fn judged(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let trace = input.view.trace;
    let said = |role: Role| {
        let messages = trace.messages().filter(move |message| message.role == role);
        messages.map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n")
    };
    let use_of = Use::new(input);
    let positions: Vec<usize> = (0..input.view.calls.len()).collect();
    let (request, answer) = (said(Role::User), said(Role::Assistant));
    // Without a request, a judge has nothing to compare calls with.
    if request.trim().is_empty() {
        return Ok(measure(input));
    }
    if positions.is_empty() && trace.servers.is_empty() {
        return Err(Stop::undefined(why_undefined(input)));
    }
    let asked = Asked { request: &request, answer: &answer, calls: &positions };
    let opinion = use_of.ask(input, judge, &asked)?;
    let parts = opinion.parts(&use_of, use_of.parts(&input.view.calls));
    let named = opinion.named("");
    let scored = grades::scored(parts.choice.min(parts.arguments), &named)?
        .with("choice", parts.choice)
        .with("arguments", parts.arguments);
    Ok(Measured::Score(scored.proven_by(use_of.findings)))
}

/// A request with what was done about it.
pub(super) struct Asked<'a> {
    pub(super) request: &'a str,
    pub(super) answer: &'a str,
    pub(super) calls: &'a [usize],
}

/// What a judge says about the calls for a request.
pub(super) struct UseOpinion {
    pub(super) choice: Grade,
    /// None without calls.
    pub(super) arguments: Option<Grade>,
}

impl UseOpinion {
    /// The opinion, limited by what checks proved.
    pub(super) fn parts(&self, use_of: &Use, checked: Option<Parts>) -> Parts {
        let (choice, arguments) =
            checked.map_or((None, None), |parts| (Some(parts.choice), Some(parts.arguments)));
        let given = self.arguments.as_ref().map_or(1.0, |grade| grade.score);
        Parts {
            choice: combined(choice, self.choice.score, use_of.is_proven(&CHOICE)),
            arguments: combined(arguments, given, use_of.is_proven(&ARGUMENTS)),
        }
    }

    pub(super) fn named(&self, of: &str) -> Vec<(String, &Grade)> {
        let choice = [(format!("choice{of}"), &self.choice)];
        let arguments = self.arguments.as_ref().map(|grade| (format!("arguments{of}"), grade));
        choice.into_iter().chain(arguments).collect()
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

    /// Asks about the choice of calls, and about their arguments if there are any.
    pub(super) fn ask(
        &self,
        input: &MetricInput<'_>,
        judge: &Judge<'_>,
        asked: &Asked<'_>,
    ) -> Heard<UseOpinion> {
        let view = input.view;
        let made = asked.calls.iter().filter_map(|position| view.calls.get(*position));
        let facts = |checks: &[&str]| calls::facts(&self.findings, checks, Some(asked.calls));
        let values = Values::new()
            .quoted("request", asked.request)
            .quoted("offers", &calls::offers(view, asked.calls, asked.request))
            .quoted("calls", &calls::listed(made))
            .quoted("answer", asked.answer);
        let questions =
            [("choice", CHOICE_SCALE, &CHOICE[..]), ("arguments", ARGUMENTS_SCALE, &ARGUMENTS)];
        let wanted = if asked.calls.is_empty() { 1 } else { 2 };
        let grades = questions.into_iter().take(wanted).map(|(prompt, scale, checks)| {
            let values = values.clone().plain("facts", facts(checks));
            judge.grade(prompt, &values, &scale)
        });
        let mut grades = all(grades)?;
        let arguments = if wanted == 2 { grades.pop() } else { None };
        Ok(UseOpinion { choice: grades.remove(0), arguments })
    }

    /// Whether a check proved a fault of severity error.
    fn is_proven(&self, checks: &[&str]) -> bool {
        !share::of_checks(&self.findings, checks, Level::Error).is_empty()
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
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{
        compiled, finding, judged_score, judged_score_with, measured_with, trace_with_tools,
        undecided,
    };

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
    fn a_judge_grades_choice_and_arguments() {
        let trace = trace_with_tools(&["a", "b"], &["a"]);
        let metric = compiled("mcp-use", &json!({}));
        let opinions =
            [json!({"score": 0.9, "reason": "fine"}), json!({"score": 0.6, "reason": "odd"})];
        let score = judged_score(&metric, &trace, &opinions);
        assert_eq!((score.score, score.judge.as_deref()), (Some(0.6), None));
        assert_eq!(score.reason.as_deref(), Some("choice: fine arguments: odd"));
        let proof = [finding("tool.unknown", Level::Error, Some(0))];
        let capped = judged_score_with(&metric, &trace, &proof, &opinions);
        assert_eq!(capped.score, Some(0.0), "an opinion does not overrule a proof");
        let alone = compiled("mcp-use", &json!({"judge": false}));
        assert_eq!(judged_score(&alone, &trace, &[]).score, Some(1.0));
    }

    #[test]
    fn calls_without_a_request_are_scored_without_the_judge() {
        let mut trace = trace_with_tools(&["a"], &["a"]);
        trace.steps.retain(|step| step.as_call().is_some());
        assert_eq!(judged_score(&compiled("mcp-use", &json!({})), &trace, &[]).score, Some(1.0));
    }

    #[test]
    fn a_judge_can_say_that_no_call_was_needed() {
        let trace = trace_with_tools(&["a"], &[]);
        let score = judged_score(&compiled("mcp-use", &json!({})), &trace, &[json!({"score": 1})]);
        assert_eq!(score.score, Some(1.0), "there are no arguments to be wrong");
    }

    #[test]
    fn a_named_judge_that_is_missing_is_an_error() {
        let trace = trace_with_tools(&["a"], &["a"]);
        let score = undecided(&compiled("mcp-use", &json!({"model": "openai:chat:x"})), &trace);
        assert_eq!((score.score, score.success), (None, Some(false)));
        assert!(score.error.unwrap().starts_with("needs a judge"));
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
