//! Whether the user got what they asked for, as far as the trace shows it.

mod deliverables;
mod signals;
mod wording;

use quintain_content::registry::Meta;
use quintain_evidence::graded::Level;
use quintain_evidence::trace::Role;
use quintain_judge::consultation::all;
use quintain_judge::proof::combined;
use quintain_judge::template::{Prompt, Values};
use serde_json::json;

use self::signals::{Signal, signals};
use super::judging::transcript::{self, turns};
use super::judging::units::units;
use super::judging::{Judge, JudgeSettings, Judging, Scale, Stop, calls, grades, judged_or};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, share};
use crate::tasks::tasks;

pub(super) struct McpTaskCompletion;

static META: Meta = Meta {
    id: "mcp-task-completion",
    aliases: &["MCPTaskCompletionMetric", "McpTaskCompletionMetric"],
    summary: "the task looks completed: no sign of failure in the answer and the calls",
    docs: "\
# What it does
Looks for signs that a task failed: the answer admits it, the last call failed, no call succeeded, a requested file was
never written, what was written is a template, a tool that the user names was not used, many claims are in no result. Each
sign has a fixed weight; the score is 1 minus their sum. A conversation has one score per task; the metric is their mean.
Words are recognised in English.
With a judge, the judge grades how far each task was completed, as deepeval does; it sees everything that was said and
called, errors included, what the user said next, and the findings. A fault of severity error that a check proves still
limits the score.

# Why it matters
Most failed tasks show it in the answer or in the calls. A judge is then needed for the others only.

# What counts as proof
`details.tasks` lists the signs of each task with their weights. Opinions are in `details.judge`.

# Options
`model`, `judge` and `evaluationTemplate` (prompt `completion`) as for all judged metrics.

# When it does not apply
The trace records no answer, or no request of a user.

# Example
```yaml
metrics:
  - type: mcp-task-completion
    threshold: 0.5
```
",
    since: "0.2.0",
};

impl Metric for McpTaskCompletion {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self) -> Option<&'static str> {
        Some("whether the answer is right and complete, beyond the signs of failure")
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
    id: "completion",
    text: "\
An application works on a task for a user, with calls to MCP servers. Judge how far the user got what they asked for. Only
what the user sees counts: what the application said, supported by what its calls returned. A promise is not a result. An
answer that the results contradict does not complete a task. A clear and correct statement that something is impossible
can.

Task:
{{request}}

What happened, one turn per line, with calls and their results:
{{turns}}

What the user said next:
{{next}}

{{facts}}",
}];

const SCALE: Scale = Scale {
    question: "How far is the task completed?",
    worst: "not at all: nothing of what the user asked for, or something wrong",
    best: "fully: all of what the user asked for, and right",
};

/// Checks whose findings speak against a completed task.
const SIGNS: [&str; 2] = ["recovery", "claim"];

fn judged(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let turns = turns(input.view);
    let units = units(&turns);
    if units.is_empty() {
        return Err(Stop::undefined("the trace contains no task with an answer"));
    }
    let grades = units.iter().map(|unit| {
        let calls: Vec<usize> = unit.calls().collect();
        let about = if units.len() == 1 { None } else { Some(calls.as_slice()) };
        let values = Values::new()
            .quoted("request", &unit.request())
            .quoted("turns", &transcript::shown(unit.turns, true))
            .quoted("next", unit.next.unwrap_or("(nothing)"))
            .plain("facts", calls::facts(input.findings, &SIGNS, about));
        judge.grade("completion", &values, &SCALE)
    });
    let grades = all(grades)?;
    let of = |index: usize| format!("task {}", index + 1);
    let named: Vec<_> =
        grades.iter().enumerate().map(|(index, grade)| (of(index), grade)).collect();
    let findings = share::of_checks(input.findings, &SIGNS, Level::Warning);
    let is_proven = findings.iter().any(|finding| finding.severity == Level::Error);
    let alone = match measure(input) {
        Measured::Score(scored) => Some(scored.value),
        _ => None,
    };
    let value = combined(alone, grades::mean(&grades).unwrap_or_default(), is_proven);
    Ok(Measured::Score(grades::scored(value, &named)?.proven_by(findings)))
}

/// Claims that nothing supports from which on an answer looks invented; a few are roundings and conclusions.
const MANY_CLAIMS: usize = 5;

fn measure(input: &MetricInput<'_>) -> Measured {
    let said = input.view.trace.messages().any(|message| message.role == Role::Assistant);
    if !said {
        return Measured::undefined("the trace records no answers");
    }
    let tasks = tasks(input.view);
    if tasks.is_empty() {
        return Measured::undefined("the trace contains no task");
    }
    let mut found: Vec<Vec<Signal>> =
        tasks.iter().map(|task| signals(task, &input.view.trace.servers)).collect();
    // Findings about answers do not name the task, so they count where there is only one.
    let claims = share::of_checks(input.findings, &["claim"], Level::Warning).len();
    if let [only] = found.as_mut_slice()
        && claims >= MANY_CLAIMS
    {
        only.push(Signal::Unsupported);
    }
    let scores: Vec<f64> = found.iter().map(|signals| score(signals)).collect();
    let value = scores.iter().sum::<f64>() / scores.len() as f64;
    let listed: Vec<_> = found
        .iter()
        .zip(&scores)
        .map(|(signals, score)| {
            let signs: Vec<_> = signals
                .iter()
                .map(|signal| json!({"sign": signal.words(), "weight": signal.weight()}))
                .collect();
            json!({"score": score, "signs": signs})
        })
        .collect();
    let scored = Scored::new(value, reason(&found)).with("tasks", listed);
    let findings = share::of_checks(input.findings, &SIGNS, Level::Warning);
    Measured::Score(scored.proven_by(findings))
}

/// 1 without signs of failure. Rounded, so that sums of weights meet thresholds exactly.
fn score(signals: &[Signal]) -> f64 {
    let risk: f64 = signals.iter().map(|signal| signal.weight()).sum();
    (100.0 * (1.0 - risk).max(0.0)).round() / 100.0
}

fn reason(found: &[Vec<Signal>]) -> String {
    let mut words = Vec::new();
    for (index, signals) in found.iter().enumerate() {
        let list: Vec<&str> = signals.iter().map(|signal| signal.words()).collect();
        match list.as_slice() {
            [] => {}
            list if found.len() == 1 => words.push(list.join("; ")),
            list => words.push(format!("task {}: {}", index + 1, list.join("; "))),
        }
    }
    if words.is_empty() { "no sign of failure".to_owned() } else { words.join(". ") }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, CallOutcome, Trace};
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{
        compiled, finding, judged_score, measured, measured_value, measured_with,
    };

    fn trace(request: &str, calls: &[(&str, &str)], answer: &str) -> Trace {
        let mut trace = Trace::default();
        add(&mut trace, request, calls, answer);
        trace
    }

    fn add(trace: &mut Trace, request: &str, calls: &[(&str, &str)], answer: &str) {
        trace.say(Role::User, request);
        for (name, result) in calls {
            let mut call = Call::tool(*name, json!({}));
            let failed = result.starts_with('!');
            let content = json!([{"type": "text", "text": result.trim_start_matches('!')}]);
            call.outcome = CallOutcome::Result(json!({"content": content, "isError": failed}));
            trace.call(call);
        }
        trace.say(Role::Assistant, answer);
    }

    fn value(trace: &Trace) -> f64 {
        measured_value(&McpTaskCompletion, trace)
    }

    #[test]
    fn an_answer_from_results_is_a_success() {
        let good = trace("weather in Oslo?", &[("get_weather", "7 degrees")], "It is 7 degrees.");
        assert!((value(&good) - 1.0).abs() < 1e-9);
        let recovered = trace(
            "weather in Oslo?",
            &[("get_weather", "!unknown city"), ("get_weather", "7 degrees")],
            "It is 7 degrees in Oslo.",
        );
        assert!((value(&recovered) - 1.0).abs() < 1e-9, "the agent recovered");
    }

    #[test]
    fn admissions_and_failed_calls_are_failures() {
        let admits = trace(
            "weather in Oslo?",
            &[("get_weather", "7 degrees")],
            "I apologize, but I was unable to find the weather.",
        );
        assert!(value(&admits) < 0.5);
        let silent = trace(
            "weather in Oslo?",
            &[("get_weather", "!timeout"), ("get_weather", "!timeout")],
            "It is usually mild in Oslo.",
        );
        assert!(value(&silent) < 0.5);
    }

    #[test]
    fn a_minor_regret_is_no_failure() {
        let regret = trace(
            "trains to Shanghai South?",
            &[("get_tickets", "D9 19:36")],
            "D9 leaves at 19:36.\n\nUnfortunately, there is no faster train on this line.",
        );
        assert!(value(&regret) > 0.5);
    }

    #[test]
    fn many_unsupported_claims_count() {
        let good = trace("weather in Oslo?", &[("get_weather", "7 degrees")], "It is 7 degrees.");
        let claims = |count: usize| {
            let claim = finding("claim.unsupported", Level::Warning, None);
            match measured_with(&McpTaskCompletion, &good, &vec![claim; count]) {
                Measured::Score(scored) => scored.value,
                other => panic!("{other:?}"),
            }
        };
        assert!((claims(4) - 1.0).abs() < 1e-9);
        assert!((claims(5) - 0.7).abs() < 1e-9);
    }

    #[test]
    fn each_task_of_a_conversation_counts() {
        let mut both = trace("weather in Oslo?", &[("get_weather", "7 degrees")], "7 degrees.");
        add(&mut both, "and in Rome?", &[("get_weather", "!timeout")], "I'm unable to say.");
        let value = value(&both);
        assert!(value > 0.4 && value < 0.6, "{value}");
    }

    #[test]
    fn a_judge_grades_every_task_also_a_plain_answer() {
        let metric = compiled("mcp-task-completion", &json!({}));
        let mut both = trace("weather in Oslo?", &[], "I'm unable to say.");
        let score = judged_score(&metric, &both, &[json!({"score": 0.2, "reason": "no"})]);
        assert_eq!(score.score, Some(0.2));
        add(&mut both, "and in Rome?", &[("get_weather", "!timeout")], "It is 20 degrees.");
        both.say(Role::User, "no, it is not");
        let opinions = [json!({"score": 0}), json!({"score": 1})];
        assert_eq!(judged_score(&metric, &both, &opinions).score, Some(0.5));
    }

    #[test]
    fn without_answers_nothing_can_be_said() {
        let mut capture = Trace::default();
        capture.call(Call::tool("a", json!({})));
        assert!(matches!(measured(&McpTaskCompletion, &capture), Measured::Undefined(_)));
        let empty = trace("weather in Oslo?", &[("get_weather", "7 degrees")], "  ");
        assert!(value(&empty) < 0.01, "an empty answer is a failure");
    }
}
