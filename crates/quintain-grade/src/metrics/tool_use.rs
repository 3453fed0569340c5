//! Whether an application selects the right tools in a conversation, with the right arguments.

use quintain_content::registry::Meta;
use quintain_judge::consultation::{all, both};
use quintain_judge::template::{Prompt, Values};
use serde_json::Value;

use super::judging::transcript::{shown, turns};
use super::judging::units::units;
use super::judging::{Judge, JudgeSettings, Judging, Scale, Stop, calls, grades, judged};
use super::{Measured, Metric, MetricInput, Options, Scorer};

pub(super) struct ToolUse;

static META: Meta = Meta {
    id: "tool-use",
    aliases: &["ToolUseMetric"],
    summary: "tools of a conversation are well selected and have the right arguments",
    docs: "\
# What it does
Splits the conversation into requests with everything up to the next one. The judge grades for each how well the tools
were selected, and for those with calls how right the arguments are. The score is the smaller one of the mean grades.
Without any call, only the selection counts; deepeval scores that 0. `mcp-use` and `multi-turn-mcp-use` add what
checks prove.

# Why it matters
A wrong tool is a wrong answer that looks checked.

# What counts as proof
The opinion of the judge: `details.judge` lists every grade with its reason.

# Options
`availableTools`: names of tools, or tools with `name` and `description`, if the trace does not record what servers
offer.
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `selection` and `arguments`. Variables: selection: request, tools, turns;
arguments: request, tools, turns.

# When it does not apply
The trace records no request with an answer. Without a judge the metric is an error, never a pass.

# Example
```yaml
metrics:
  - type: tool-use
    availableTools: [search, book]
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for ToolUse {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        let given = options.value("availableTools").and_then(|value| {
            let tools = value.as_array().map(|tools| listed(tools));
            if tools.is_none() {
                options.expected("availableTools", "a list of tools", value);
            }
            tools
        });
        judged(META.id, settings, move |input, judge| measure(input, judge, given.as_deref()))
    }
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "selection",
        text: "\
Judge whether an application selected the right tools for a request: none that is useless, none missing, and none
better among the available ones. If no tool was needed, calling none is right. Ignore arguments.

Request:
{{request}}

Available tools, one per line; of those not called only the nearest:
{{tools}}

What happened, one turn per line, with calls and their results:
{{turns}}",
    },
    Prompt {
        id: "arguments",
        text: "\
Judge whether the arguments of the calls of an application are right for a request: complete, of the right types, with
values that mean what the user said. Take for granted that the right tools were selected. A call that needs no
arguments has correct ones.

Request:
{{request}}

Available tools, one per line:
{{tools}}

What happened, one turn per line, with calls and their results:
{{turns}}",
    },
];

const SELECTION: Scale = Scale {
    question: "Are the selected tools right?",
    worst: "wrong or missing",
    best: "exactly the right ones",
};
const ARGUMENTS: Scale = Scale {
    question: "Are the arguments right?",
    worst: "wrong, invented or missing",
    best: "all right and complete",
};

/// Tools that the author of the metric lists, one per line.
fn listed(tools: &[Value]) -> String {
    tools.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>, given: Option<&str>) -> Judging<Measured> {
    let turns = turns(input.view);
    let units = units(&turns);
    if units.is_empty() {
        return Err(Stop::undefined("the trace records no request with an answer"));
    }
    let graded = |prompt: &str, scale: &Scale, is_about_calls: bool| {
        all(units.iter().filter(|unit| !is_about_calls || unit.has_calls()).map(|unit| {
            let request = unit.request();
            let made: Vec<usize> = unit.calls().collect();
            let tools =
                given.map_or_else(|| calls::offers(input.view, &made, &request), ToOwned::to_owned);
            let values = Values::new()
                .quoted("request", &request)
                .quoted("tools", &tools)
                .quoted("turns", &shown(unit.turns, true));
            judge.grade(prompt, &values, scale)
        }))
    };
    let (selection, arguments) =
        both(graded("selection", &SELECTION, false), graded("arguments", &ARGUMENTS, true))?;
    let names = (1..=selection.len()).map(|number| format!("selection {number}"));
    let others = (1..=arguments.len()).map(|number| format!("arguments {number}"));
    let named: Vec<_> = names.chain(others).zip(selection.iter().chain(&arguments)).collect();
    let selected = grades::mean(&selection).unwrap_or_default();
    let value = grades::mean(&arguments).map_or(selected, |arguments| selected.min(arguments));
    let scored = grades::scored(value, &named)?.with("selection", selected);
    Ok(Measured::Score(scored.with("arguments", grades::mean(&arguments))))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, Role};
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn a_conversation_without_calls_is_not_a_failure() {
        let mut trace = exchange("q", "a");
        let metric = compiled(META.id, &json!({"availableTools": ["x"]}));
        let score = judged_score(&metric, &trace, &[json!({"score": 1})]);
        assert_eq!((score.score, &score.details["arguments"]), (Some(1.0), &json!(null)));
        trace.say(Role::User, "q2");
        trace.call(Call::tool("x", json!({})));
        trace.say(Role::Assistant, "a2");
        let answers = [json!({"score": 1}), json!({"score": 0.5}), json!({"score": 0.25})];
        assert_eq!(judged_score(&metric, &trace, &answers).score, Some(0.25));
        let wrong = json!({"availableTools": "x"});
        assert!(crate::metrics::compile(META.id, wrong.as_object().unwrap()).is_err());
    }
}
