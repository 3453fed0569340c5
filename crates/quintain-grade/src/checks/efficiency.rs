//! More calls than the answer needs.

use std::collections::HashSet;

use quintain_content::registry::Meta;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};

use super::{Checked, Fault, TraceCheck};
use crate::effect::Effect;
use crate::policy::CallPolicy;
use crate::view::View;

pub(super) struct Efficiency;

static META: Meta = Meta {
    id: "efficiency",
    aliases: &[],
    summary: "the answer needs fewer calls than were made",
    docs: "\
# What it does
Follows values backwards from the answer: it needs the calls whose results it uses, those need the calls from which their arguments come,
and so on. Calls that changed something are always needed. The remaining calls are listed.

# Why it matters
Every call costs time and tokens, and results that lead nowhere distract the model.

# What counts as proof
No value of the listed calls reaches the answer. This is a hint: a search that finds nothing may still be necessary.

# Severity
Info, in the layer *trace*.

# When it does not apply
No answer is recorded, or the results are too large to compare.

# Example
```text
search -> search -> search -> get_order      answer uses get_order only
```
",
    since: "0.2.0",
};

impl TraceCheck for Efficiency {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Trace
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        if view.trace.answer().is_none() {
            return Checked::NotApplicable("no answer is recorded");
        }
        if !view.known().is_whole(view.trace.steps.len()) {
            return Checked::NotApplicable("the results are too large to compare");
        }
        let needed = needed(view);
        let total = view.calls.len();
        let spare: Vec<_> =
            view.calls.iter().filter(|call| !needed.contains(&call.position)).collect();
        if spare.is_empty() || total < 2 {
            return Checked::Findings(Vec::new());
        }
        let listed: Vec<String> = spare
            .iter()
            .take(20)
            .map(|call| format!("{} `{}`", call.position, call.call.name))
            .collect();
        let took: f64 = spare.iter().filter_map(|call| call.call.took_ms).sum();
        let cost = if took > 0.0 { format!(", which took {took:.0} ms") } else { String::new() };
        Checked::Findings(vec![Fault {
            severity: Level::Info,
            call: None,
            pointer: String::new(),
            message: format!("the answer needs {} of {total} calls{cost}", total - spare.len()),
            evidence: one_line(&format!("without use: {}", listed.join(", ")), 400),
            hint: "leave out calls whose results lead nowhere".to_owned(),
        }])
    }
}

/// The calls on which the answer or a change depends.
fn needed(view: &View<'_>) -> HashSet<usize> {
    let uses = view.uses();
    let changes =
        view.calls.iter().filter(|call| call.effect() == Effect::Changes && call.is_accepted());
    let mut open: Vec<usize> =
        changes.map(|call| call.position).chain(uses.of_answers.iter().copied()).collect();
    let mut needed = HashSet::new();
    while let Some(position) = open.pop() {
        if needed.insert(position) {
            open.extend(uses.of_calls.get(position).into_iter().flatten());
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::conversation::{found, trace};
    use super::*;

    #[test]
    fn only_the_chain_to_the_answer_is_needed() {
        let trace = trace("Where is my order?")
            .call("search_customers", json!({}), json!({"id": "cus_771"}))
            .call("get_weather", json!({}), json!({"sky": "cloudy", "wind": "gusty"}))
            .call("get_order", json!({"customer": "cus_771"}), json!({"place": "Hamburg depot"}))
            .answer("It is in the Hamburg depot.");
        let faults = found(&Efficiency, &trace);
        assert_eq!(faults.len(), 1);
        assert!(faults[0].message.contains("2 of 3"), "{}", faults[0].message);
    }

    #[test]
    fn changes_are_always_needed() {
        let trace = trace("Add a note and a tag")
            .call("add_note", json!({}), json!({"ok": true}))
            .call("create_tag", json!({}), json!({"ok": true}))
            .answer("Both are done.");
        assert_eq!(found(&Efficiency, &trace), []);
    }
}
