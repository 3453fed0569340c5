//! A call that repeats an earlier one although nothing changed.

use std::collections::HashMap;

use quintain_content::registry::Meta;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::CallKind;
use serde_json::Value;

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::repetition::{Repeatable, is_pending, repeatables};
use crate::view::{CallView, View};

pub(super) struct CallRedundant;

static META: Meta = Meta {
    id: "call.redundant",
    aliases: &[],
    summary: "a read-only tool is called again with equal arguments",
    docs: "\
# What it does
Reports the later of two equal calls to a read-only tool. Arguments are equal as JSON: the order of keys and the notation
of numbers do not matter. A tool is read-only by its `readOnlyHint`, else by the verb of its name.

# Why it matters
The result is already in the conversation. The call costs time, tokens and quota.

# What counts as proof
The first call succeeded, both have equal results, no call between them may have changed something, and the user said
nothing in between. Polling (the results of equal calls differ in the end, or something is not finished yet),
pagination, retries after an error and a look after a change are not redundant.

# Severity
Warning, in the layer *trace*.

# When it does not apply
Fewer than two calls are recorded.

# Example
`get_order {\"id\": 7}` twice in a row
",
    since: "0.2.0",
};

impl TraceCheck for CallRedundant {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Trace
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        if view.calls.len() < 2 {
            return Checked::NotApplicable("fewer than two calls are recorded");
        }
        let mut series: HashMap<(usize, usize), Vec<Repeatable>> = HashMap::new();
        for one in repeatables(view) {
            let call = &view.calls[one.position];
            if call.call.kind == CallKind::Tool && call.reads_only() && call.succeeded() {
                series.entry((one.window, one.key)).or_default().push(one);
            }
        }
        let mut faults: Vec<Fault> =
            series.into_values().flat_map(|series| redundant(view, &series)).collect();
        faults.sort_by_key(|fault| fault.call);
        Checked::Findings(faults)
    }
}

/// The redundant calls among equal ones. As long as the result still changes, the calls wait for that.
fn redundant(view: &View<'_>, series: &[Repeatable]) -> Vec<Fault> {
    let Some(last) = series.last() else { return Vec::new() };
    let changed = series.iter().rposition(|one| one.outcome != last.outcome);
    let first = changed.map_or(0, |changed| changed + 1);
    if is_pending(&view.calls[last.position]) {
        return Vec::new();
    }
    let again = series.iter().skip(first + 1);
    again.map(|one| fault(&view.calls[one.position], series[first].position)).collect()
}

fn fault(call: &CallView<'_>, first: usize) -> Fault {
    let args = call.call.args.json().map(Value::to_string).unwrap_or_default();
    Fault {
        severity: Level::Warning,
        call: Some(call.position),
        pointer: String::new(),
        message: format!(
            "`{}` repeats call {first}, and nothing changed in between",
            call.call.name
        ),
        evidence: one_line(&args, 200),
        hint: format!("use the result of call {first}"),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, Role};
    use serde_json::json;

    use super::super::testing::{found_at, made, refused, server, turn};
    use super::*;

    fn get(text: &str) -> Call {
        made("get_order", json!({"id": 7}), text)
    }

    fn found(calls: Vec<Call>) -> Vec<usize> {
        found_at(&CallRedundant, &turn("Look", calls, "Here."))
    }

    #[test]
    fn the_later_of_two_equal_reads_is_redundant() {
        assert_eq!(found(vec![get("a"), get("a")]), [1]);
        let other = made("list_items", json!({}), "x");
        let float = made("get_order", json!({"id": 7.0}), "a");
        assert_eq!(found(vec![get("a"), other, float, get("a")]), [2, 3]);
    }

    #[test]
    fn other_arguments_tools_and_results_are_not() {
        assert_eq!(found(vec![get("a"), made("get_order", json!({"id": 8}), "a")]), [0; 0]);
        assert_eq!(found(vec![get("a"), made("get_item", json!({"id": 7}), "a")]), [0; 0]);
        assert_eq!(
            found(vec![made("create_order", json!({}), "a"), made("create_order", json!({}), "a")]),
            [0; 0]
        );
        assert_eq!(found(vec![get("a"), Call::tool("get_order", json!({"id": 7}))]), [0; 0]);
    }

    #[test]
    fn retries_changes_and_user_turns_make_it_useful() {
        assert_eq!(found(vec![refused("get_order", json!({"id": 7}), "busy"), get("a")]), [0; 0]);
        assert_eq!(found(vec![get("Error: timeout"), get("a")]), [0; 0]);
        let change = made("update_order", json!({"id": 7}), "ok");
        assert_eq!(found(vec![get("a"), change, get("a")]), [0; 0]);
        let mut trace = turn("Look", vec![get("a")], "Here.");
        trace.say(Role::User, "And again");
        trace.call(get("a"));
        assert_eq!(found_at(&CallRedundant, &trace), [0; 0]);
    }

    #[test]
    fn polling_and_pagination_are_clean() {
        let poll = |text: &str| made("get_job_status", json!({"job": "j1"}), text);
        assert_eq!(found(vec![poll("running"), poll("running"), poll("done")]), [0; 0]);
        assert_eq!(found(vec![poll("running"), poll("running")]), [0; 0]);
        assert_eq!(found(vec![poll("running"), poll("done"), poll("done")]), [2]);
        let page = |n: u32, text: &str| made("list_items", json!({"page": n}), text);
        assert_eq!(found(vec![page(1, "a"), page(2, "b"), page(3, "a")]), [0; 0]);
        let next = |text: &str| made("get_next", json!({}), text);
        assert_eq!(found(vec![next("a"), next("b"), next("c")]), [0; 0]);
    }

    #[test]
    fn annotations_decide_before_names() {
        let tools = vec![
            json!({"name": "weather", "annotations": {"readOnlyHint": true}}),
            json!({"name": "get_ticket", "annotations": {"readOnlyHint": false}}),
        ];
        let weather = || made("weather", json!({"city": "Paris"}), "sunny");
        let ticket = || made("get_ticket", json!({}), "next in line");
        let mut trace = turn("x", vec![weather(), weather(), ticket(), ticket()], "y");
        trace.servers.push(server("a", tools));
        assert_eq!(found_at(&CallRedundant, &trace), [1]);
    }
}
