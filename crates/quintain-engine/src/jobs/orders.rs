//! The orders of a red-team run: read from a suite, overridden by a request, stored with the run, restored to resume it.

use std::path::Path;
use std::time::Duration;

use quintain_redteam::orders::{Destructive, Orders, Reading};
use quintain_redteam::suits::Receiver;
use quintain_source::{Diagnostics, Severity};
use quintain_suite::demands::DemandReader;
use quintain_suite::suite::Files;
use quintain_wire::redact::Redactor;
use serde_json::{Map, Value, json};

use super::environment::{LoadedSuite, Refusal, RequestNotice};
use super::request::OrderRequest;
use crate::secrets::learn;

/// The red-team orders of a suite. Without a suite: every attack. `judge` decides if `redteam` names no judge.
///
/// # Errors
/// When they are invalid. The problem was already sent as a [`RequestNotice`].
pub fn orders_of(
    opened: Option<&LoadedSuite>,
    receiver: Receiver,
    files: &dyn Files,
    redactor: &Redactor,
    judge: Option<&Value>,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Result<Orders, Refusal> {
    let mut dx = Diagnostics::new();
    let tests = opened.map(|opened| &opened.suite.tests);
    let is_promptfoo_file = opened.is_some_and(|opened| {
        opened.files.iter().any(|file| file.name.contains("promptfooconfig"))
    });
    let reading = Reading {
        base_dir: tests.map_or(Path::new(""), |tests| &tests.redteam_dir),
        strictness: if is_promptfoo_file { Severity::Warning } else { Severity::Error },
        receiver,
        judge,
        demands: &DemandReader { files },
    };
    let orders = Orders::read(tests.and_then(|tests| tests.redteam.as_ref()), &reading, &mut dx);
    learn(&orders.secrets(), redactor);
    if let (false, Some(opened)) = (dx.is_empty(), opened) {
        notify(RequestNotice::Diagnostics(&opened.sources, &dx));
    }
    if dx.has_errors() { Err(Refusal::Suite) } else { Ok(orders) }
}

impl OrderRequest {
    /// Overrides the orders of the suite with those of the request.
    ///
    /// # Errors
    /// When it names attacks that do not exist.
    pub fn apply(
        &self,
        orders: &mut Orders,
        notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
    ) -> Result<(), Refusal> {
        if !self.plugins.is_empty() {
            let unknown = orders.select(&self.plugins).err().unwrap_or_default();
            for (name, meant) in &unknown {
                let help = match meant {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "`quintain redteam plugins` shows all of them".to_owned(),
                };
                notify(RequestNotice::Error(format!("there is no attack `{name}`"), Some(help)));
            }
            if !unknown.is_empty() {
                return Err(Refusal::AlreadyReported);
            }
        }
        if self.num_tests.is_some() {
            orders.plugins.iter_mut().for_each(|plugin| plugin.num_tests = self.num_tests);
        }
        orders.budget_calls = self.budget_calls.or(orders.budget_calls);
        let seconds = self.budget_seconds.map(Duration::from_secs);
        orders.budget_time = seconds.or(orders.budget_time);
        orders.budget_tokens = self.budget_tokens.or(orders.budget_tokens);
        orders.budget_cost = self.budget_cost.or(orders.budget_cost);
        orders.seed = self.seed.unwrap_or(orders.seed);
        orders.concurrency = self.concurrency.unwrap_or(orders.concurrency);
        self.allow(orders, notify);
        orders.allow_remote = self.allow_remote;
        if !self.today.is_empty() {
            orders.suppressions.clone_from(&self.suppressions);
            orders.today.clone_from(&self.today);
        }
        Ok(())
    }

    /// A suite may be untrusted. It can allow destructive calls on objects of the run, not on real objects.
    pub(super) fn allow(
        &self,
        orders: &mut Orders,
        notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
    ) {
        if orders.destructive == Destructive::All && self.destructive != Destructive::All {
            notify(RequestNotice::Warning(
                "`destructive: all` in a suite counts as `own`; use --include-destructive=all to allow every call"
                    .to_owned(),
            ));
        }
        orders.destructive = orders.destructive.min(Destructive::Own).max(self.destructive);
    }
}

/// The choices of a run as the options that are stored with it.
pub(super) fn stored_options(orders: &Orders) -> Map<String, Value> {
    let plugins: Vec<Value> = orders
        .plugins
        .iter()
        .map(|plugin| json!({"id": plugin.attack.meta().id, "numTests": plugin.num_tests}))
        .collect();
    Map::from_iter([
        ("seed".to_owned(), orders.seed.into()),
        ("maxConcurrency".to_owned(), orders.concurrency.into()),
        ("includeDestructive".to_owned(), orders.destructive.to_string().into()),
        ("allowRemote".to_owned(), orders.allow_remote.into()),
        ("plugins".to_owned(), plugins.into()),
    ])
}

/// What a stored run was allowed to destroy. Earlier versions stored a boolean.
fn destructive(options: &Map<String, Value>) -> Destructive {
    let kept = options.get("includeDestructive");
    match kept.and_then(Value::as_bool) {
        Some(true) => Destructive::Own,
        _ => kept.and_then(Value::as_str).and_then(Destructive::find).unwrap_or_default(),
    }
}

/// Restores the orders of a resumed run: the same attacks at the same places with the same random seed.
pub(super) fn restore_orders(orders: &mut Orders, options: &Map<String, Value>) {
    let is_set = |name: &str| options.get(name).and_then(Value::as_bool).unwrap_or(false);
    orders.seed = options.get("seed").and_then(Value::as_u64).unwrap_or(orders.seed);
    orders.destructive = orders.destructive.max(destructive(options));
    orders.allow_remote |= is_set("allowRemote");
    let Some(chosen) = options.get("plugins").and_then(Value::as_array) else { return };
    let number = |plugin: &Value| plugin["numTests"].as_u64().and_then(|n| usize::try_from(n).ok());
    let is = |plugin: &Value, id: &str| plugin["id"].as_str() == Some(id);
    orders.plugins.retain(|one| chosen.iter().any(|plugin| is(plugin, one.attack.meta().id)));
    for one in &mut orders.plugins {
        let kept = chosen.iter().find(|plugin| is(plugin, one.attack.meta().id));
        one.num_tests = kept.and_then(number);
    }
    // Attacks that the request added to the suite.
    for plugin in chosen {
        let id = plugin["id"].as_str().unwrap_or_default();
        if !orders.plugins.iter().any(|one| one.attack.meta().id == id) {
            let _ = orders.add(id, number(plugin), None);
        }
    }
}
