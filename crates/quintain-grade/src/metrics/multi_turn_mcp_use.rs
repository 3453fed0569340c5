//! How well an application chose and filled its calls, task by task.

use quintain_content::registry::Meta;
use serde_json::json;

use super::mcp_use::{JUDGE, Use, why_undefined};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, immediately};
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
## What it does
Splits a conversation into tasks: a request with everything up to the next one. Computes the two shares of `mcp-use` for
each task with calls, and their means. The score is the smaller mean, as in deepeval. Tasks without calls do not count.

## Why it matters
In a long conversation, one task with many calls would hide the others.

## What counts as proof
The findings of the checks, listed in `findings`.

## Example
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

    fn compile(&self, _: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        immediately(measure)
    }
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
    let each: Vec<_> = parts
        .iter()
        .map(|parts| json!({"choice": parts.choice, "arguments": parts.arguments}))
        .collect();
    let scored = Scored::new(choice.min(arguments), use_of.reason())
        .with("choice", choice)
        .with("arguments", arguments)
        .with("tasks", each);
    Measured::Score(scored.proven_by(use_of.findings))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::graded::Level;
    use quintain_evidence::trace::{Call, Role};
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{finding, measured_with, trace_with_tools};

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
    fn a_chat_without_calls_is_not_judged() {
        let mut trace = trace_with_tools(&["a"], &[]);
        trace.say(Role::Assistant, "hello");
        assert!(matches!(measured_with(&MultiTurnMcpUse, &trace, &[]), Measured::Undefined(_)));
    }
}
