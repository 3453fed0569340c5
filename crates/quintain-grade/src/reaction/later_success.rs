//! Calls that succeed after others failed: of the same tool, or with the same values.

use std::collections::HashMap;

use quintain_evidence::trace::CallKind;

use super::Response;
use crate::canonical::{self, scalars};
use crate::view::{CallView, View};

/// Values of a call that are compared.
const MAX_VALUES: usize = 64;
/// Later calls that are compared with a failed one.
const MAX_CANDIDATES: usize = 64;
/// Longer values are compared by their beginning.
const MAX_VALUE: usize = 200;

pub(super) struct LaterSuccesses<'v, 't> {
    view: &'v View<'t>,
    /// Positions of successful calls by tool, in order.
    by_tool: HashMap<(Option<&'t str>, &'t str), Vec<usize>>,
    /// Positions of successful calls by value and by whether they only read, in order.
    by_value: HashMap<(bool, String), Vec<usize>>,
}

impl<'v, 't> LaterSuccesses<'v, 't> {
    pub(super) fn new(view: &'v View<'t>) -> Self {
        let mut by_tool: HashMap<_, Vec<usize>> = HashMap::new();
        let mut by_value: HashMap<_, Vec<usize>> = HashMap::new();
        for call in view.calls.iter().filter(|call| call.succeeded()) {
            by_tool.entry(tool(call)).or_default().push(call.position);
            // A prompt returns words for the model, not what a tool should have returned or done.
            if call.call.kind == CallKind::Prompt {
                continue;
            }
            for value in values(call) {
                by_value.entry((call.reads_only(), value)).or_default().push(call.position);
            }
        }
        Self { view, by_tool, by_value }
    }

    pub(super) fn after(&self, failed: &CallView<'t>) -> Option<Response> {
        let same_tool = self.by_tool.get(&tool(failed)).and_then(|at| first_after(at, failed));
        if let Some(at) = same_tool {
            let is_equal = match (failed.call.args.json(), self.view.calls[at].call.args.json()) {
                (Some(left), Some(right)) => canonical::equal(left, right),
                _ => false,
            };
            return Some(if is_equal {
                Response::Retried(at)
            } else {
                Response::ChangedArguments(at)
            });
        }
        self.same_values(failed).map(Response::OtherTool)
    }

    /// A later success of another tool that reads or changes something with all values of the failed call.
    fn same_values(&self, failed: &CallView<'t>) -> Option<usize> {
        let wanted = values(failed);
        let lists =
            wanted.iter().map(|value| self.by_value.get(&(failed.reads_only(), value.clone())));
        // A value that no successful call has decides at once.
        let lists: Option<Vec<_>> = lists.collect();
        let rarest = lists?.into_iter().min_by_key(|list| list.len())?;
        let from = rarest.partition_point(|at| *at <= failed.position);
        let mut candidates = rarest[from..].iter().copied().take(MAX_CANDIDATES);
        candidates.find(|at| {
            let given = values(&self.view.calls[*at]);
            wanted.iter().all(|value| given.contains(value))
        })
    }
}

fn first_after(positions: &[usize], failed: &CallView<'_>) -> Option<usize> {
    positions.get(positions.partition_point(|at| *at <= failed.position)).copied()
}

fn tool<'t>(call: &CallView<'t>) -> (Option<&'t str>, &'t str) {
    (call.server(), call.call.name.as_str())
}

/// The values of a call that identify what it is about: no flags, no small numbers, no single letters.
fn values(call: &CallView<'_>) -> Vec<String> {
    let all = call.call.args.json().map(scalars).unwrap_or_default();
    let telling = all.into_iter().filter(|value| {
        let is_number = value.parse::<f64>().is_ok();
        let least = if is_number { 2 } else { 3 };
        value.len() >= least && value != "true" && value != "false"
    });
    let mut values: Vec<String> = telling
        .take(MAX_VALUES)
        .map(|mut value| {
            value.truncate(value.floor_char_boundary(MAX_VALUE));
            value.to_lowercase()
        })
        .collect();
    values.sort_unstable();
    values.dedup();
    values
}
