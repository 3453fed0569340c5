//! What the learn phase found, short enough for a report.

use quintain_evidence::probe::Step;
use quintain_evidence::redteam_report::{Chain, DisclosedValue, Insight};
use serde_json::Value;

use crate::knowledge::{Knowledge, Learned};

/// Maximum number of groups of values; more are not useful.
const MAX_VALUES: usize = 200;
const MAX_CHAINS: usize = 200;
const MAX_EXAMPLES: usize = 3;
const MAX_EXAMPLE: usize = 60;
/// Shorter texts, and smaller numbers, are in two answers by coincidence.
const MIN_TELLING: usize = 3;

/// The part of the knowledge that is worth reporting.
pub fn insight(knowledge: &Knowledge) -> Insight {
    let mut insight = Insight {
        roots: knowledge.roots.iter().map(|root| root.display().to_string()).collect(),
        ..Insight::default()
    };
    for learned in &knowledge.values {
        give(&mut insight, learned);
    }
    for baseline in &knowledge.baselines {
        let Step::Call(call) = &baseline.step else { continue };
        if !insight.answered.contains(&call.tool) {
            insight.answered.push(call.tool.clone());
        }
        for (argument, value) in &call.args {
            link(&mut insight, knowledge, &call.tool, argument, value);
        }
    }
    insight
}

fn give(insight: &mut Insight, learned: &Learned) {
    let Learned { name, value, tool, .. } = learned;
    let known = insight.values.iter().position(|one| one.tool == *tool && one.name == *name);
    let at = known.unwrap_or_else(|| {
        let (tool, name) = (tool.clone(), name.clone());
        insight.values.push(DisclosedValue { tool, name, count: 0, examples: Vec::new() });
        insight.values.len() - 1
    });
    if at >= MAX_VALUES {
        insight.values.truncate(MAX_VALUES);
        return;
    }
    let gift = &mut insight.values[at];
    gift.count += 1;
    let example: String = plain(value).chars().take(MAX_EXAMPLE).collect();
    if gift.examples.len() < MAX_EXAMPLES && !gift.examples.contains(&example) {
        gift.examples.push(example);
    }
}

fn link(insight: &mut Insight, knowledge: &Knowledge, to: &str, argument: &str, value: &Value) {
    let wanted = plain(value);
    if wanted.len() < MIN_TELLING || insight.chains.len() >= MAX_CHAINS {
        return;
    }
    let gave = |one: &&Learned| one.tool != to && plain(&one.value) == wanted;
    let Some(from) = knowledge.values.iter().find(gave) else { return };
    let chain = Chain { from: from.tool.clone(), to: to.into(), argument: argument.into() };
    if !insight.chains.contains(&chain) {
        insight.chains.push(chain);
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::{Exchange, Outcome};
    use serde_json::json;

    use super::*;
    use crate::knowledge::Baseline;

    fn learned(tool: &str, name: &str, value: Value) -> Learned {
        Learned { name: name.into(), value, tool: tool.into(), identity: 0 }
    }

    fn baseline(tool: &str, args: Value) -> Baseline {
        let call = serde_json::from_value(json!({"tool": tool, "args": args})).unwrap();
        let exchange = Exchange::new("", "tools/call", Value::Null, Outcome::Reply(Value::Null));
        Baseline { server: String::new(), step: Step::Call(call), exchange }
    }

    #[test]
    fn values_that_make_another_call_work_are_chains() {
        let knowledge = Knowledge {
            values: vec![
                learned("list", "id", json!("acc-1")),
                learned("list", "id", json!("acc-2")),
                learned("list", "page", json!(1)),
            ],
            baselines: vec![
                baseline("list", json!({"page": 1})),
                baseline("get", json!({"account": "acc-2", "page": 1})),
            ],
            roots: vec!["/srv/data".into()],
            ..Knowledge::default()
        };
        let insight = insight(&knowledge);
        assert_eq!(insight.answered, ["list", "get"]);
        assert_eq!(insight.roots, ["/srv/data"]);
        assert_eq!((insight.values[0].count, insight.values[0].examples.len()), (2, 2));
        let chain = Chain { from: "list".into(), to: "get".into(), argument: "account".into() };
        assert_eq!(insight.chains, [chain], "the number one is everywhere");
    }

    #[test]
    fn what_was_learned_stays_short() {
        let many = (0..5_000).map(|n| learned("list", &format!("k{n}"), json!("v".repeat(500))));
        let insight = insight(&Knowledge { values: many.collect(), ..Knowledge::default() });
        assert_eq!(insight.values.len(), MAX_VALUES);
        assert_eq!(insight.values[0].examples[0].len(), MAX_EXAMPLE);
    }
}
