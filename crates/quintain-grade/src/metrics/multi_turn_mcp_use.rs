//! How well an application chose and filled its calls, task by task.

use quintain_content::registry::Meta;
use serde_json::json;

use quintain_judge::consultation::all;
use quintain_judge::template::Prompt;

use super::judging::transcript::turns;
use super::judging::units::units;
use super::judging::{Judge, JudgeSettings, Judging, Stop, grades, judged_or};
use super::mcp_use::{Asked, JUDGE, PROMPTS, Parts, Use, why_undefined};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer};
use crate::tasks::tasks;

pub(super) struct MultiTurnMcpUse;

static META: Meta = Meta {
    id: "multi-turn-mcp-use",
    aliases: &[
        "MultiTurnMCPUseMetric",
        "MultiTurnMCPMetric",
        "MultiTurnMcpUseMetric",
        "MultiTurnMcpMetric",
    ],
    summary: "the calls of each task of a conversation exist, are needed and have valid arguments",
    docs: "\
# What it does
Splits a conversation into tasks: a request with everything up to the next one. Computes the two shares of `mcp-use` for
each task with calls, and their means. The score is the smaller mean, as in deepeval. Tasks without calls do not count.
With a judge, the judge grades choice and arguments of every task, also of tasks without calls, where calling nothing may
have been right. A fault of severity error that a check proves still limits the score.

# Why it matters
In a long conversation, one task with many calls would hide the others.

# What counts as proof
The findings of the checks, listed in `findings`. Opinions are in `details.judge`.

# Options
`model`, `judge` and `evaluationTemplate` (prompts `choice` and `arguments`) as for all judged metrics.

# When it does not apply
No call is recorded, or what the servers offer is not recorded. `--surface` gives the lists of tools.

# Example
```yaml
metrics:
  - type: multi-turn-mcp-use
```
",
    since: "0.2.0",
};

impl Metric for MultiTurnMcpUse {
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

fn judged(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let turns = turns(input.view);
    let units = units(&turns);
    let is_known = !input.view.calls.is_empty() || !input.view.trace.servers.is_empty();
    if units.is_empty() || !is_known {
        return Err(Stop::undefined(why_undefined(input)));
    }
    let use_of = Use::new(input);
    let opinions = units.iter().map(|unit| {
        let calls: Vec<usize> = unit.calls().collect();
        let said: Vec<&str> =
            unit.turns.iter().filter(|turn| !turn.is_user).map(|turn| turn.text).collect();
        let (request, answer) = (unit.request(), said.join("\n"));
        use_of.ask(input, judge, &Asked { request: &request, answer: &answer, calls: &calls })
    });
    let opinions = all(opinions)?;
    let parts: Vec<Parts> = units
        .iter()
        .zip(&opinions)
        .map(|(unit, opinion)| {
            let calls: Vec<usize> = unit.calls().collect();
            let range = calls.first().zip(calls.last()).map(|(first, last)| *first..=*last);
            let made = range.and_then(|range| input.view.calls.get(range)).unwrap_or_default();
            opinion.parts(&use_of, use_of.parts(made))
        })
        .collect();
    let of = |index: usize| {
        if units.len() == 1 { String::new() } else { format!(" of task {}", index + 1) }
    };
    let named: Vec<_> = opinions
        .iter()
        .enumerate()
        .flat_map(|(index, opinion)| opinion.named(&of(index)))
        .collect();
    let choice = mean(parts.iter().map(|parts| parts.choice));
    let with_calls = parts.iter().zip(&opinions).filter(|(_, opinion)| opinion.arguments.is_some());
    // Without any call there are no arguments to be wrong.
    let arguments = mean(with_calls.map(|(parts, _)| parts.arguments)).unwrap_or(1.0);
    let choice = choice.unwrap_or_default();
    let scored = grades::scored(choice.min(arguments), &named)?
        .with("choice", choice)
        .with("arguments", arguments)
        .with("tasks", listed(&parts));
    Ok(Measured::Score(scored.proven_by(use_of.findings)))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

fn listed(parts: &[Parts]) -> Vec<serde_json::Value> {
    let one = |parts: &Parts| json!({"choice": parts.choice, "arguments": parts.arguments});
    parts.iter().map(one).collect()
}

fn measure(input: &MetricInput<'_>) -> Measured {
    let use_of = Use::new(input);
    let tasks = tasks(input.view);
    let parts: Vec<_> = tasks.iter().filter_map(|task| use_of.parts(task.calls)).collect();
    if parts.is_empty() {
        return Measured::undefined(why_undefined(input));
    }
    let count = parts.len() as f64;
    let choice = parts.iter().map(|parts| parts.choice).sum::<f64>() / count;
    let arguments = parts.iter().map(|parts| parts.arguments).sum::<f64>() / count;
    let scored = Scored::new(choice.min(arguments), use_of.reason())
        .with("choice", choice)
        .with("arguments", arguments)
        .with("tasks", listed(&parts));
    Measured::Score(scored.proven_by(use_of.findings))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::graded::Level;
    use quintain_evidence::trace::{Call, Role};
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{
        compiled, finding, judged_score, measured_with, trace_with_tools,
    };

    #[test]
    fn tasks_count_the_same_however_many_calls_they_have() {
        let mut trace = trace_with_tools(&["a"], &["a", "a", "a"]);
        trace.say(Role::Assistant, "done");
        trace.say(Role::User, "again");
        trace.call(Call::tool("b", json!({})));
        trace.say(Role::User, "thanks");
        trace.say(Role::Assistant, "welcome");
        let findings = [finding("tool.unknown", Level::Error, Some(3))];
        let Measured::Score(scored) = measured_with(&MultiTurnMcpUse, &trace, &findings) else {
            panic!("defined")
        };
        assert!((scored.value - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_judge_grades_every_task() {
        let mut trace = trace_with_tools(&["a"], &["a"]);
        trace.say(Role::Assistant, "done");
        trace.say(Role::User, "thanks");
        trace.say(Role::Assistant, "welcome");
        let opinions = [json!({"score": 0.5}), json!({"score": 0.8}), json!({"score": 1})];
        let score = judged_score(&compiled("multi-turn-mcp-use", &json!({})), &trace, &opinions);
        assert_eq!(score.score, Some(0.75), "arguments count where there are calls");
    }

    #[test]
    fn a_chat_without_calls_is_not_judged() {
        let mut trace = trace_with_tools(&["a"], &[]);
        trace.say(Role::Assistant, "hello");
        assert!(matches!(measured_with(&MultiTurnMcpUse, &trace, &[]), Measured::Undefined(_)));
    }
}
