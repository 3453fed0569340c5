//! An id from a result that a newer result replaced.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher as _};

use quintain_content::registry::Meta;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::lexicon;
use quintain_evidence::trace::{Role as Speaker, TraceStep};
use serde_json::Value;

use super::{Checked, Fault, TraceCheck};
use crate::effect::Effect;
use crate::policy::CallPolicy;
use crate::values::embedded_json::embedded;
use crate::values::keys::{self, Role};
use crate::values::leaves::leaves;
use crate::values::token::tokens;
use crate::view::{CallView, View};

pub(super) struct ArgsStale;

static META: Meta = Meta {
    id: "args.stale",
    aliases: &[],
    summary: "an argument has an id that a newer result replaced",
    docs: "\
# What it does
Remembers the ids, hashes and versions of results. They are replaced if the same reading call (equal tool and arguments) later returns
others in their place, or if a later result about the same object has another `version`, `sha`, `etag` or `revision`. A call that then
uses the old one is reported.

# Why it matters
The server refuses the call at best; at worst it changes what the user no longer sees.

# What counts as proof
The newer result came before the call and does not contain the old id, and nobody has named it since. A list counts as replaced only
if it has no id in common with the older one.

# Severity
Warning, in the layer *trace*.

# When it does not apply
Fewer than two calls are made.

# Example
```text
get_file -> sha a1f3    update_file -> sha 77c0    update_file {sha: a1f3}
```
",
    since: "0.2.0",
};

impl TraceCheck for ArgsStale {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Trace
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        if view.calls.len() < 2 {
            return Checked::NotApplicable("fewer than two calls are made");
        }
        let mut history = History::default();
        let mut faults = Vec::new();
        let mut calls = view.calls.iter();
        for entry in &view.trace.steps {
            match entry {
                TraceStep::Message(message) if message.role == Speaker::User => {
                    tokens(&message.text).iter().for_each(|token| history.renew(token.text));
                }
                TraceStep::Message(_) => {}
                TraceStep::Call(_) => {
                    let Some(call) = calls.next() else { break };
                    if faults.len() < 50 {
                        faults.extend(history.stale(call));
                    }
                    if call.is_accepted() {
                        history.add(call);
                    }
                }
            }
        }
        Checked::Findings(faults)
    }
}

/// An id in a result.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Id {
    /// The place in the result, without positions in lists.
    place: String,
    /// The last word of its name.
    noun: String,
    text: String,
    is_listed: bool,
}

struct Replaced {
    noun: String,
    by: usize,
    with: String,
}

#[derive(Default)]
struct History {
    /// The ids of the newest result of each call that reads, by tool and arguments.
    newest: HashMap<u64, Vec<Id>>,
    /// The newest version of each object, by object and name of the version.
    versions: HashMap<(u64, String), String>,
    replaced: HashMap<String, Replaced>,
}

impl History {
    /// An id that the user names again is not stale.
    fn renew(&mut self, text: &str) {
        if !self.replaced.is_empty() {
            self.replaced.remove(&text.to_lowercase());
        }
    }

    fn stale(&self, call: &CallView<'_>) -> Vec<Fault> {
        let Some(args) = call.call.args.json().filter(|_| !self.replaced.is_empty()) else {
            return Vec::new();
        };
        let old = leaves(args).into_iter().filter_map(|leaf| {
            let text = id_text(leaf.value)?;
            let replaced = self.replaced.get(&text)?;
            // Short numbers are stale only under the same name.
            let is_same = text.len() >= 4 && text.bytes().any(|byte| !byte.is_ascii_digit())
                || noun(leaf.key) == replaced.noun;
            is_same.then(|| Fault {
                severity: Level::Warning,
                call: Some(call.position),
                pointer: leaf.pointer.clone(),
                message: format!(
                    "`{}` is called with `{}`, which call {} replaced with `{}`",
                    call.call.name,
                    one_line(&text, 60),
                    replaced.by,
                    one_line(&replaced.with, 60)
                ),
                evidence: one_line(&text, 80),
                hint: "use the id of the newest result".to_owned(),
            })
        });
        old.collect()
    }

    fn add(&mut self, call: &CallView<'_>) {
        let Some(result) = call.call.result() else { return };
        let ids = ids(result);
        for id in &ids {
            self.replaced.remove(&id.text);
        }
        if call.effect() == Effect::Reads && !draws(&call.call.name) {
            let key = same_call(call);
            if let Some(older) = self.newest.insert(key, ids.clone()) {
                self.replace(call.position, &older, &ids);
            }
        }
        self.add_versions(call, &ids);
    }

    /// Marks the ids of an older result that a newer one has others for.
    fn replace(&mut self, by: usize, older: &[Id], newer: &[Id]) {
        let present: HashSet<&str> = newer.iter().map(|id| id.text.as_str()).collect();
        let earlier: HashSet<&str> = older.iter().map(|id| id.text.as_str()).collect();
        let mut kept: HashSet<&str> = HashSet::new();
        let mut fresh: HashMap<&str, &str> = HashMap::new();
        for id in older.iter().filter(|id| present.contains(id.text.as_str())) {
            kept.insert(&id.place);
        }
        for id in newer.iter().filter(|id| !earlier.contains(id.text.as_str())) {
            fresh.entry(&id.place).or_insert(&id.text);
        }
        for id in older.iter().filter(|id| !present.contains(id.text.as_str())) {
            let is_whole = !id.is_listed || !kept.contains(id.place.as_str());
            if let Some(with) = fresh.get(id.place.as_str()).filter(|_| is_whole) {
                let replaced = Replaced { noun: id.noun.clone(), by, with: (*with).to_owned() };
                self.replaced.insert(id.text.clone(), replaced);
            }
        }
    }

    /// Follows the versions of the objects that a call names.
    fn add_versions(&mut self, call: &CallView<'_>, ids: &[Id]) {
        let versions: Vec<&Id> =
            ids.iter().filter(|id| !id.is_listed && is_version(&id.noun)).take(8).collect();
        if versions.is_empty() {
            return;
        }
        for object in objects(call) {
            for id in &versions {
                let older = self.versions.insert((object, id.noun.clone()), id.text.clone());
                if let Some(older) = older
                    .filter(|older| *older != id.text && !ids.iter().any(|id| id.text == *older))
                {
                    let replaced = Replaced {
                        noun: id.noun.clone(),
                        by: call.position,
                        with: id.text.clone(),
                    };
                    self.replaced.insert(older, replaced);
                }
            }
        }
    }
}

/// Tools that return something else each time.
fn draws(name: &str) -> bool {
    let words = ["next", "random", "pop", "claim", "generate", "new", "dequeue", "poll", "sample"];
    lexicon::words(name).iter().any(|word| words.contains(&word.as_str()))
}

fn is_version(noun: &str) -> bool {
    matches!(
        noun,
        "sha"
            | "etag"
            | "revision"
            | "rev"
            | "version"
            | "hash"
            | "checksum"
            | "token"
            | "generation"
            | "lock"
            | "snapshot"
    )
}

fn noun(key: &str) -> String {
    lexicon::words(key).pop().unwrap_or_default()
}

/// A value that may be an id, in the form in which ids are compared.
fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let is_one = (1..=200).contains(&text.len()) && !text.contains(char::is_whitespace);
            is_one.then(|| text.to_lowercase())
        }
        Value::Number(number) => number.as_u64().map(|number| number.to_string()),
        _ => None,
    }
}

/// The ids of a result, also of JSON that is written as a text.
fn ids(result: &Value) -> Vec<Id> {
    const MOST: usize = 5_000;
    let mut found = Vec::new();
    for leaf in leaves(result) {
        let inner = leaf.value.as_str().and_then(embedded);
        if let Some(inner) = &inner {
            // Every block of a result is a list entry; only lists inside of it count.
            let below = leaves(inner);
            found.extend(
                below
                    .iter()
                    .filter_map(|leaf| id(leaf.key, leaf.value, &leaf.pointer, leaf.is_listed)),
            );
        } else {
            found.extend(id(leaf.key, leaf.value, &leaf.pointer, leaf.is_listed));
        }
        if found.len() > MOST {
            break;
        }
    }
    found
}

fn id(key: &str, value: &Value, pointer: &str, is_listed: bool) -> Option<Id> {
    let text = id_text(value)?;
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    if keys::role(key) != Role::Id || !has_digit {
        return None;
    }
    let steps = pointer
        .split('/')
        .map(|step| if step.bytes().all(|byte| byte.is_ascii_digit()) { "" } else { step });
    Some(Id { place: steps.collect::<Vec<_>>().join("/"), noun: noun(key), text, is_listed })
}

/// The objects that a call names: values of ids and paths in its arguments that are not versions themselves.
fn objects(call: &CallView<'_>) -> Vec<u64> {
    let Some(args) = call.call.args.json() else { return Vec::new() };
    let server = call.server().unwrap_or_default();
    let named = leaves(args).into_iter().filter_map(|leaf| {
        let is_object =
            matches!(keys::role(leaf.key), Role::Id | Role::Path) && !is_version(&noun(leaf.key));
        let text = id_text(leaf.value).filter(|_| is_object)?;
        Some(hash_of(&(server, text)))
    });
    named.take(8).collect()
}

fn same_call(call: &CallView<'_>) -> u64 {
    let args = call.call.args.json().map_or(0, canonical);
    hash_of(&(call.server().unwrap_or_default(), &call.call.name, args))
}

/// The same for values that differ in the order of fields only.
fn canonical(value: &Value) -> u64 {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| hash_of(&(key, canonical(value))));
            fields.fold(1, u64::wrapping_add)
        }
        Value::Array(items) => hash_of(&items.iter().map(canonical).collect::<Vec<_>>()),
        other => hash_of(&other.to_string()),
    }
}

fn hash_of(value: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::conversation::{found, trace};
    use super::*;

    #[test]
    fn an_offer_that_was_replaced_is_stale() {
        let args = json!({"from": "BER"});
        let search = |id: &str| json!({"offers": [{"offer_id": id, "price": 10}]});
        let trace = trace("Book the cheapest")
            .call("search_flights", args.clone(), search("OF-71"))
            .call("search_flights", args, search("OF-82"))
            .call("book_flight", json!({"offer_id": "OF-71"}), json!({}))
            .call("book_flight", json!({"offer_id": "OF-82"}), json!({}));
        let faults = found(&ArgsStale, &trace);
        assert_eq!(
            faults.iter().map(|fault| (fault.call, fault.pointer.as_str())).collect::<Vec<_>>(),
            [(Some(2), "/offer_id")]
        );
    }

    #[test]
    fn a_version_that_was_replaced_is_stale() {
        let update = |sha: &str| json!({"path": "/a.md", "sha": sha});
        let trace = trace("Edit it twice")
            .call("get_file", json!({"path": "/a.md"}), json!({"sha": "a1f3b2"}))
            .call("update_file", update("a1f3b2"), json!({"sha": "77c0d1"}))
            .call("update_file", update("a1f3b2"), json!({}));
        assert_eq!(found(&ArgsStale, &trace)[0].call, Some(2));
    }

    #[test]
    fn shrinking_lists_other_objects_and_renewed_ids_are_fine() {
        let shrinks = trace("Answer my mail")
            .call("list_unread", json!({}), json!([{"id": "m-11"}, {"id": "m-12"}]))
            .call("mark_read", json!({"id": "m-11"}), json!({}))
            .call("list_unread", json!({}), json!([{"id": "m-12"}, {"id": "m-13"}]))
            .call("reply", json!({"id": "m-11"}), json!({}));
        assert_eq!(found(&ArgsStale, &shrinks), []);
        let renewed = trace("Go")
            .call("get_token", json!({}), json!({"token": "tok-1a"}))
            .call("get_token", json!({}), json!({"token": "tok-2b"}))
            .user("Use tok-1a please")
            .call("use_it", json!({"token": "tok-1a"}), json!({}));
        assert_eq!(found(&ArgsStale, &renewed), []);
        let pages = trace("All")
            .call("list", json!({"page": 1}), json!([{"id": "m-11"}]))
            .call("list", json!({"page": 2}), json!([{"id": "m-22"}]))
            .call("get", json!({"id": "m-11"}), json!({}));
        assert_eq!(found(&ArgsStale, &pages), []);
    }
}
