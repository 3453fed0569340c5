//! What the command line chose for a run, as it is kept with it, so that the run can be gone on with.

use quintain_redteam::orders::{Destructive, Orders};
use serde_json::{Map, Value, json};

/// Under which the target of a suite is kept, if it has several.
pub(super) const TARGET: &str = "target";

/// The choices as options of a run.
pub(super) fn kept(orders: &Orders) -> Map<String, Value> {
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

/// Which target of its suite a run attacked.
pub(in crate::cli) fn target(options: &Map<String, Value>) -> Option<&str> {
    options.get(TARGET)?.as_str()
}

/// How far a run went; runs of earlier versions only say whether.
fn destructive(options: &Map<String, Value>) -> Destructive {
    let kept = options.get("includeDestructive");
    match kept.and_then(Value::as_bool) {
        Some(true) => Destructive::Own,
        _ => kept.and_then(Value::as_str).and_then(Destructive::find).unwrap_or_default(),
    }
}

/// The orders of a run that is gone on with: the same attacks at the same places, by the same chance.
pub(super) fn recall(orders: &mut Orders, options: &Map<String, Value>) {
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
    // What the command line added to the suite.
    for plugin in chosen {
        let id = plugin["id"].as_str().unwrap_or_default();
        if !orders.plugins.iter().any(|one| one.attack.meta().id == id) {
            let _ = orders.add(id, number(plugin), None);
        }
    }
}
