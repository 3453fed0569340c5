//! How the attacked target is written: the configuration stored with a run, and where the suite defines it.

use std::collections::BTreeMap;

use quintain_content::detect;
use quintain_evidence::connection::{McpTarget, Server};
use quintain_evidence::result::SourcePlace;
use quintain_redteam::orders::Orders;
use quintain_redteam::regression::{written_identity, written_target};
use quintain_source::{Diagnostics, Node, SourceFile, Sources, Span};
use quintain_wire::redact::{Masked, Redactor};
use serde_json::{Value, json};

use super::environment::LoadedSuite;
use super::target::ChosenTarget;

/// The configuration to store with a run: its targets in suite format, one per identity.
pub fn config(name: &str, target: &McpTarget, orders: &Orders, redactor: &Redactor) -> Value {
    let is_secret = |text: &str| is_secret(text, redactor);
    let mut targets = Vec::new();
    match &orders.identities[..] {
        [] => targets.push(written_target(name, target, &is_secret)),
        identities => {
            for (at, identity) in identities.iter().enumerate() {
                let label =
                    if at == 0 { name.to_owned() } else { target_label(name, &identity.name) };
                targets.push(written_identity(&label, target, identity, &is_secret));
            }
        }
    }
    json!({"targets": targets})
}

/// The label of the target for another identity.
pub fn target_label(name: &str, identity: &str) -> String {
    format!("{name} as {identity}")
}

/// Whether a text contains a known secret or looks like one.
fn is_secret(text: &str, redactor: &Redactor) -> bool {
    let detectors: Vec<_> = detect::all()
        .iter()
        .copied()
        .filter(|detector| detector.family() == detect::Family::Secret)
        .collect();
    redactor.text(text) != text
        || detect::scan(text, &detectors)
            .iter()
            .any(|hit| hit.confidence >= detect::Confidence::Medium)
}

/// The configuration to store with a run against a target that takes text: its entry in the suite, as written.
pub fn text_config(opened: Option<&LoadedSuite>, at: usize, redactor: &Redactor) -> Value {
    let Some(opened) = opened else { return Value::Null };
    let mut listed: Vec<Value> = Vec::new();
    for file in &opened.files {
        let (mut sources, mut dx) = (Sources::new(), Diagnostics::new());
        let id = sources.add(SourceFile::new(&file.name, &*file.text));
        let Some(node) = quintain_source::read(&sources, id, &mut dx) else { continue };
        let targets = ["targets", "providers"].iter().find_map(|key| node.get(key));
        let Some(targets) = targets else { continue };
        let targets = targets.as_seq().unwrap_or(std::slice::from_ref(targets));
        listed.extend(targets.iter().map(Node::to_json));
    }
    let is_whole = listed.len() == opened.suite.targets.len();
    let entry = listed.into_iter().nth(at).filter(|_| is_whole);
    let entry = entry.or_else(|| {
        let target = opened.suite.targets.get(at)?;
        Some(json!({"id": target.id, "label": target.name()}))
    });
    let entry = entry.unwrap_or_default();
    let entry = redactor.masked(&entry).map(Masked::into_owned).unwrap_or_default();
    json!({"targets": [entry]})
}

/// Where the suite defines the servers of the target.
pub(super) fn written(
    target: &ChosenTarget,
    opened: &LoadedSuite,
) -> BTreeMap<String, SourcePlace> {
    let place = |(name, span): (&str, Span)| {
        let file = opened.sources.get(span.file)?;
        let at = file.position(span.start);
        let place = SourcePlace { file: file.name().to_owned(), line: at.line, column: at.column };
        Some((name.to_owned(), place))
    };
    match target {
        ChosenTarget::Mcp(target) => {
            let servers = target.servers.iter().map(|server: &Server| (&*server.name, server.span));
            servers.filter_map(place).collect()
        }
        ChosenTarget::Text(at) => {
            let target = opened.suite.targets.get(*at).map(|target| (target.name(), target.span));
            target.into_iter().filter_map(place).collect()
        }
    }
}
