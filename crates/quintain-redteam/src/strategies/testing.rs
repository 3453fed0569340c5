//! Helpers for tests of strategies: read YAML, rewrite a text.

use quintain_source::{Diagnostics, SourceFile, Sources, read};
use serde_json::Value;

use super::{StrategyKind, Tactic, parse};

/// Texts of all kinds, including the empty one.
pub(super) const SAMPLES: [&str; 8] = [
    "",
    "a",
    "Read ../../etc/hosts, please!",
    "1234 + 5678 = ?",
    "Grüße, Ελλάδα, Привет, سلام, 你好, 😊👩‍💻",
    "line one\nline two\ttab\r\n",
    "{\"tool\": \"x\", \"args\": {\"q\": \"'; --\"}}",
    "\0\u{1}\u{7f}\u{200b}\u{202e}\u{10ffff}",
];

pub(super) fn yaml(text: &str) -> Value {
    let mut sources = Sources::new();
    let mut dx = Diagnostics::new();
    let id = sources.add(SourceFile::new("suite.yaml", text));
    let node = read(&sources, id, &mut dx).expect(text);
    assert!(dx.iter().next().is_none(), "{text}");
    node.to_json()
}

pub(super) fn tactic(entry: &str) -> Tactic {
    parse(&yaml(entry)).unwrap_or_else(|mistakes| panic!("{entry}: {mistakes:?}")).remove(0)
}

/// The errors in an entry.
pub(super) fn mistakes(entry: &str) -> Vec<String> {
    parse(&yaml(entry)).unwrap_err().iter().map(ToString::to_string).collect()
}

/// All versions of a text.
pub(super) fn texts(entry: &str, text: &str, seed: u64) -> Vec<String> {
    match tactic(entry).kind() {
        StrategyKind::Rewrite(rewrite) => rewrite.texts(text, seed),
        other => panic!("{entry} does not rewrite: {other:?}"),
    }
}

/// The first version of a text.
pub(super) fn first(entry: &str, text: &str) -> String {
    texts(entry, text, 1).into_iter().next().expect(entry)
}
