//! Whether an application follows its plan.

use std::collections::HashSet;

use quintain_content::registry::Meta;
use quintain_evidence::trace::{Role, TraceStep};
use quintain_judge::prompt;
use quintain_judge::proof::combined;
use quintain_judge::template::{Prompt, Values};
use serde_json::Value;

use super::judging::case::numbered;
use super::judging::plan::{self, Planned};
use super::judging::{Judge, JudgeSettings, Judging, Scale, grades, judged_or};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer};

pub(super) struct PlanAdherence;

static META: Meta = Meta {
    id: "plan-adherence",
    aliases: &["PlanAdherenceMetric"],
    summary: "the calls follow the plan",
    docs: "\
# What it does
Compares the called tools with a plan: the option `plan`, or else the first list of steps that the application writes before
its first call, as far as the steps name tools. The score is the share of planned calls that were made in the planned
order. Further calls do not matter. Without a plan the metric does not apply.
With a judge, the plan may be free text: the judge finds it in what the application says, and grades how far it was
followed. Steps of the option `plan` that were not made still limit the score.

# Why it matters
A plan that the user confirmed is a promise.

# What counts as proof
`details` has the plan, and the steps that are missing or out of order; `details.judge` has the opinion.

# Options
`plan`: names of tools in their order.
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `plan` and `adherence`. Variables: plan: request, turns; adherence: request, plan,
turns, facts.

# When it does not apply
There is no plan that names tools, or for a judge no plan at all; deepeval scores that 1.

# Example
```yaml
metrics:
  - type: plan-adherence
    plan: [search_flights, book_flight, send_mail]
```
",
    since: "0.2.0",
};

impl Metric for PlanAdherence {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self) -> Option<&'static str> {
        Some("whether a plan in free text was followed")
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        let plan = options.texts("plan");
        let given = plan.clone();
        judged_or(
            META.id,
            settings,
            move |input| measure(input, plan.as_deref()),
            move |input, judge| judged(input, judge, given.as_deref()),
        )
    }
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "plan",
        text: "\
Find the plan of an application in what it said and did: steps that it announces before it takes them. List the steps in
their order and in its words. Steps that it took without announcing them are no plan; then the list is empty.

Task:
{{request}}

What happened, one turn per line, with calls:
{{turns}}",
    },
    Prompt {
        id: "adherence",
        text: "\
Judge whether an application followed its plan: every step taken, in the planned order, and nothing else of importance. A
deviation is right if a result made the plan impossible and the application explained it. Whether the plan was good does not
matter.

Task:
{{request}}

Plan, one step per line:
{{plan}}

What happened, one turn per line, with calls and their results:
{{turns}}

{{facts}}",
    },
];

const SCALE: Scale = Scale {
    question: "How far was the plan followed?",
    worst: "not at all",
    best: "every step, in order",
};

fn judged(
    input: &MetricInput<'_>,
    judge: &Judge<'_>,
    given: Option<&[String]>,
) -> Judging<Measured> {
    let checked = match given.map(|_| measure(input, given)) {
        Some(Measured::Score(scored)) => Some(scored),
        _ => None,
    };
    let Planned { request, turns, plan } = plan::find(input, judge, given)?;
    let fact = checked.as_ref().map(|scored| scored.reason.as_str());
    let values = Values::new()
        .quoted("request", &request)
        .quoted("plan", &numbered(&plan))
        .quoted("turns", &turns)
        .plain("facts", prompt::facts(fact));
    let grade = judge.grade("adherence", &values, &SCALE)?;
    let alone = checked.as_ref().map(|scored| scored.value);
    let value = combined(alone, grade.score, alone.is_some());
    let mut scored = grades::scored(value, &[("adherence".to_owned(), &grade)])?.with("plan", plan);
    for (name, detail) in checked.into_iter().flat_map(|checked| checked.details) {
        scored.details.entry(name).or_insert(detail);
    }
    Ok(Measured::Score(scored))
}

/// Longer plans are cut.
const MAX_STEPS: usize = 500;

fn measure(input: &MetricInput<'_>, given: Option<&[String]>) -> Measured {
    let plan: Vec<String> = match given {
        Some(plan) => plan.iter().take(MAX_STEPS).cloned().collect(),
        None => written_plan(input),
    };
    if plan.is_empty() {
        return Measured::undefined("there is no plan that names tools");
    }
    let made: Vec<&str> = input.view.calls.iter().map(|call| call.call.name.as_str()).collect();
    let followed = followed(&plan, &made);
    let names: HashSet<&str> = made.iter().copied().collect();
    let open = |wanted: bool| -> Vec<Value> {
        let steps = plan.iter().enumerate().filter(|(index, _)| !followed.contains(index));
        let steps = steps.filter(|(_, step)| names.contains(step.as_str()) == wanted);
        steps.map(|(_, step)| Value::from(step.as_str())).collect()
    };
    let (misplaced, missing) = (open(true), open(false));
    let reason = format!("planned calls made in order: {} of {}", followed.len(), plan.len());
    let scored = Scored::new(followed.len() as f64 / plan.len() as f64, reason)
        .with("plan", plan.clone())
        .with("missing", missing)
        .with("outOfOrder", misplaced);
    Measured::Score(scored)
}

/// The planned steps that a longest common subsequence of plan and calls contains. Time is proportional to the product of
/// their numbers; the plan is short.
fn followed(plan: &[String], made: &[&str]) -> HashSet<usize> {
    // A call that repeats the one before it adds nothing to a subsequence of a plan that does not.
    let width = plan.len() + 1;
    let mut relevant: Vec<&str> =
        made.iter().copied().filter(|name| plan.iter().any(|step| step == name)).collect();
    relevant.truncate(20 * MAX_STEPS);
    let mut lengths = vec![0_u32; width * (relevant.len() + 1)];
    for (row, name) in relevant.iter().enumerate() {
        for (column, step) in plan.iter().enumerate() {
            lengths[(row + 1) * width + column + 1] = if step == name {
                lengths[row * width + column] + 1
            } else {
                lengths[row * width + column + 1].max(lengths[(row + 1) * width + column])
            };
        }
    }
    let (mut row, mut column) = (relevant.len(), plan.len());
    let mut steps = HashSet::new();
    while row > 0 && column > 0 {
        let here = lengths[row * width + column];
        if here == lengths[(row - 1) * width + column] {
            row -= 1;
        } else if here == lengths[row * width + column - 1] {
            column -= 1;
        } else {
            (row, column) = (row - 1, column - 1);
            steps.insert(column);
        }
    }
    steps
}

/// The tools that the steps of the first list name, in their order. A list of one step is not a plan.
fn written_plan(input: &MetricInput<'_>) -> Vec<String> {
    let steps = &input.view.trace.steps;
    let before = steps.iter().map_while(TraceStep::as_message);
    let tools: HashSet<&str> = input
        .view
        .trace
        .servers
        .iter()
        .flat_map(|server| server.tools_at(usize::MAX).unwrap_or_default())
        .filter_map(|tool| tool.name())
        .collect();
    for message in before.filter(|message| message.role == Role::Assistant) {
        let items = message.text.lines().filter_map(list_item).take(MAX_STEPS);
        let named: Vec<String> = items.filter_map(|item| named_tool(item, &tools)).collect();
        if named.len() > 1 {
            return named;
        }
    }
    Vec::new()
}

fn list_item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix(['-', '*', '•']) {
        return rest.strip_prefix(' ');
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() { None } else { rest.strip_prefix(['.', ')']) }
}

fn named_tool(item: &str, tools: &HashSet<&str>) -> Option<String> {
    let mut words =
        item.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')));
    let named = words.find_map(|word| tools.get(word.trim_end_matches('.')));
    named.map(|name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, Trace};
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{
        compiled, exchange, judged_score, measured, measured_value, score, trace_with_tools,
    };

    #[test]
    fn planned_calls_must_come_in_order() {
        let metric = compiled("plan-adherence", &json!({"plan": ["a", "b", "c"]}));
        let value = |calls: &[&str]| score(&metric, &trace_with_tools(&[], calls)).score.unwrap();
        assert!((value(&["a", "x", "b", "c"]) - 1.0).abs() < 1e-9);
        assert!((value(&["b", "a", "c"]) - 2.0 / 3.0).abs() < 1e-9);
        assert!(value(&["x"]) < 1e-9);
        let found = score(&metric, &trace_with_tools(&[], &["b", "a"]));
        assert_eq!(found.details["missing"], json!(["c"]));
    }

    #[test]
    fn a_judge_reads_plans_in_free_text() {
        let trace = exchange("Book a flight", "First I search, then I book. Done.");
        let metric = compiled("plan-adherence", &json!({}));
        let answers = [json!({"plan": ["search", "book"]}), json!({"score": 0.7})];
        assert_eq!(judged_score(&metric, &trace, &answers).score, Some(0.7));
        let none = judged_score(&metric, &trace, &[json!({"plan": []})]);
        assert_eq!((none.score, none.error), (None, None));
        let given = compiled("plan-adherence", &json!({"plan": ["search", "book"]}));
        let score = judged_score(&given, &trace, &[json!({"score": 1})]);
        assert_eq!(score.score, Some(0.0), "no planned call was made");
    }

    fn planning(text: &str, calls: &[&str]) -> Trace {
        let mut trace = trace_with_tools(&["find", "book"], &[]);
        trace.say(Role::Assistant, text);
        for name in calls {
            trace.call(Call::tool(*name, json!({})));
        }
        trace
    }

    #[test]
    fn plans_are_read_from_lists_before_the_first_call() {
        let text = "My plan:\n1. Call `find` for flights.\n2. Then use book.\n3. Report.";
        assert!((measured_value(&PlanAdherence, &planning(text, &["find"])) - 0.5).abs() < 1e-9);
        assert!(
            (measured_value(&PlanAdherence, &planning(text, &["find", "book"])) - 1.0).abs() < 1e-9
        );
        let none = planning("I will find and book it.", &["find"]);
        assert!(matches!(measured(&PlanAdherence, &none), Measured::Undefined(_)));
    }
}
