//! Lists that a tool returns in several parts: by page, or for several arguments. What follows from a list follows from
//! all of its parts together, too.

use std::collections::{HashMap, HashSet};

use quintain_evidence::lexicon;
use quintain_evidence::trace::{Call, CallKind, CallOutcome, Trace};
use serde_json::{Map, Value};

use super::super::hash;
use super::Builder;
use crate::canonical::fingerprint;
use crate::values::derived::{self, Derivation, Record};
use crate::values::embedded_json::embedded;
use crate::values::word_list::WordList;

/// Rows of all parts that are kept, and rows that are added up in all.
const MAX_ROWS: usize = 20_000;
const MAX_ADDED: usize = 400_000;
const MAX_DEPTH: usize = 8;

/// Words in names of arguments that choose a part of a list.
static PAGING: WordList = WordList::new(
    "page pages cursor offset skip after token next marker continuation start startat index limit \
     size per pagesize count first last position",
);

/// The parts of lists so far.
#[derive(Default)]
pub(super) struct Pages {
    /// Tools that are called more than once.
    repeated: HashSet<String>,
    groups: HashMap<u64, Group>,
    rows: usize,
    added: usize,
}

/// The lists of calls that belong together.
#[derive(Default)]
struct Group {
    /// By their place in the result: the arguments of each call, and the rows that it returned.
    lists: HashMap<u64, Vec<(u64, Vec<Record>)>>,
    step: u32,
    is_new: bool,
}

impl Pages {
    pub(super) fn new(trace: &Trace) -> Self {
        let mut seen = HashSet::new();
        let tools = trace.calls().filter(|call| call.kind == CallKind::Tool);
        let repeated = tools.filter(|call| !seen.insert(call.name.as_str()));
        Self { repeated: repeated.map(|call| call.name.clone()).collect(), ..Self::default() }
    }

    fn add(&mut self, call: &Call, step: u32) {
        let CallOutcome::Result(result) = &call.outcome else { return };
        if !self.repeated.contains(&call.name) || call.is_error() || self.rows >= MAX_ROWS {
            return;
        }
        let mut lists = Vec::new();
        collect(result, hash(&call.name), 0, &mut lists);
        let args = call.args.json();
        let part = args.map_or(0, fingerprint);
        let of_tool = hash(&call.name);
        let of_query = of_tool ^ args.map_or(0, |args| fingerprint(&without_paging(args)));
        let mut keys = vec![of_tool, of_query];
        keys.dedup();
        for key in keys {
            let group = self.groups.entry(key).or_default();
            (group.step, group.is_new) = (step, true);
            for (path, rows) in &lists {
                self.rows += rows.len();
                let parts = group.lists.entry(*path).or_default();
                // The same part again replaces the earlier one.
                match parts.iter_mut().find(|(known, _)| *known == part) {
                    Some((_, known)) => known.clone_from(rows),
                    None => parts.push((part, rows.clone())),
                }
            }
        }
    }

    /// What follows from all parts that have come since the last time.
    fn derive(&mut self, emit: &mut impl FnMut(u32, Derivation, f64)) {
        for group in self.groups.values_mut().filter(|group| group.is_new) {
            group.is_new = false;
            for parts in group.lists.values().filter(|parts| parts.len() > 1) {
                let rows: Vec<&Record> = parts.iter().flat_map(|(_, rows)| rows).collect();
                self.added += rows.len();
                if self.added > MAX_ADDED {
                    return;
                }
                let step = group.step;
                let mut emit = |how, value| emit(step, how, value);
                emit(Derivation::Count, rows.len() as f64);
                derived::of_rows(&rows, &mut emit);
            }
        }
    }
}

impl Builder {
    pub(super) fn add_page(&mut self, call: &Call) {
        self.pages.add(call, self.step);
    }

    /// Adds what the parts of lists make together, once the application may speak of it.
    pub(super) fn derive_pages(&mut self) {
        let mut pages = std::mem::take(&mut self.pages);
        let step = self.step;
        pages.derive(&mut |of, how, value| {
            self.step = of;
            self.derived(how, value);
        });
        self.step = step;
        self.pages = pages;
    }
}

/// The lists of a result with their places.
fn collect(value: &Value, path: u64, depth: usize, found: &mut Vec<(u64, Vec<Record>)>) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::String(text) => {
            if let Some(inner) = embedded(text) {
                collect(&inner, path, depth + 1, found);
            }
        }
        Value::Array(items) if items.iter().any(is_block) => {
            items.iter().for_each(|item| collect(item, path, depth + 1, found));
        }
        Value::Array(items) => {
            found.push((path, items.iter().take(MAX_ROWS).map(Record::new).collect()));
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                collect(value, path ^ hash(key).rotate_left(7), depth + 1, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a value is a block of content.
fn is_block(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    has("type") && ["text", "data", "resource"].iter().any(|key| has(key))
}

/// The arguments without those that choose a part.
fn without_paging(args: &Value) -> Value {
    let Some(fields) = args.as_object() else { return args.clone() };
    let others = fields.iter().filter(|(key, _)| !PAGING.has_any(lexicon::words(key)));
    others.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::Role;
    use serde_json::json;

    use super::super::super::{Known, Search};
    use super::*;
    use crate::values::token::Number;

    fn page(args: Value, total: &[f64]) -> Call {
        let orders: Vec<Value> = total.iter().map(|total| json!({"total": total})).collect();
        let text = json!({"orders": orders}).to_string();
        let result = json!({"content": [{"type": "text", "text": text}]});
        Call { outcome: CallOutcome::Result(result), ..Call::tool("list_orders", args) }
    }

    fn knows(calls: Vec<Call>, value: f64) -> bool {
        let mut trace = Trace::default();
        trace.say(Role::User, "All orders");
        calls.into_iter().for_each(|call| trace.call(call));
        trace.say(Role::Assistant, "Here");
        let search = Search { sums: true, counts: true, ..Search::default() };
        Known::new(&trace).number(&Number::of(value), trace.steps.len(), search)
    }

    #[test]
    fn parts_add_up_and_the_same_part_counts_once() {
        let first = || page(json!({"page": 1, "state": "open"}), &[10.5, 20.25]);
        let second = || page(json!({"page": 2, "state": "open"}), &[30.0, 4.0]);
        assert!(knows(vec![first(), second()], 64.75) && knows(vec![first(), second()], 4.0));
        assert!(!knows(vec![first(), second()], 95.5));
        assert!(knows(vec![first(), first(), second()], 64.75));
        let other = page(json!({"page": 1, "state": "paid"}), &[100.0, 1.0]);
        assert!(knows(vec![first(), second(), other], 64.75), "another query");
    }
}
