//! Collects the texts of a suite that must never be shown, for the redactor.

use std::collections::HashSet;

use aho_corasick::AhoCorasick;
use quintain_content::secret::{
    Secret, is_credential, looks_random, names_a_secret, of_named, of_url, of_value,
};
use quintain_source::{MAX_BYTES, Node, is_template};

use super::Suite;
use super::provider::Env;

/// Maps whose keys describe their values.
const NAMED: [&str; 5] = ["env", "headers", "auth", "query", "queryParams"];

/// The secrets of all targets; those of the environment that the suite mentions, recognised by name or by form;
/// and those that scripts could read, since they get the whole environment.
pub(super) fn collect(
    suite: &Suite,
    documents: &[&Node],
    texts: &[&str],
    env: &Env,
) -> Vec<Secret> {
    let targets = suite.targets.iter();
    let mut found: Vec<Secret> = targets.flat_map(|target| target.settings.secrets()).collect();
    for document in documents {
        // An invalid target is not in the suite, but diagnostics quote its lines.
        for key in ["targets", "providers", "redteam", "env"] {
            let node = document.get(key).into_iter();
            node.for_each(|node| written(node, key == "env", &mut found));
        }
    }
    let mentioned = mentioned(texts, env);
    for (name, value) in env {
        if (names_a_secret(name) && looks_random(value)) || mentioned.contains(name.as_str()) {
            found.extend(of_named(name, value));
        }
    }
    found
}

/// The variables whose names occur in the texts, found in one pass.
fn mentioned<'e>(texts: &[&str], env: &'e Env) -> HashSet<&'e str> {
    let names: Vec<&str> = env.keys().map(String::as_str).filter(|name| !name.is_empty()).collect();
    // If the search cannot be built, all names count as mentioned: mask too much rather than too little.
    let Ok(search) = AhoCorasick::new(&names) else { return names.into_iter().collect() };
    let mut found = HashSet::new();
    // A text above the limit is rejected, and none of it is shown.
    for text in texts.iter().filter(|text| text.len() <= MAX_BYTES) {
        for one in search.find_overlapping_iter(text) {
            found.insert(names[one.pattern().as_usize()]);
            if found.len() == names.len() {
                return found;
            }
        }
    }
    found
}

/// Literal values in a document whose keys mark them as secrets.
fn written(node: &Node, named: bool, found: &mut Vec<Secret>) {
    for item in node.as_seq().unwrap_or_default() {
        written(item, named, found);
    }
    for (key, value) in node.as_map().unwrap_or_default() {
        let key = key.text.as_str();
        match value.raw() {
            Some(text) if is_template(text) => {}
            Some(text) if key.eq_ignore_ascii_case("url") => found.extend(of_url(text)),
            Some(text) if is_credential(key) || (named && names_a_secret(key)) => {
                found.extend(of_named(key, text));
            }
            Some(_) => {}
            None if key == "tokens" => {
                let tokens = value.as_map().unwrap_or_default().iter();
                let tokens = tokens.filter_map(|(_, token)| token.raw());
                found.extend(tokens.filter(|token| !is_template(token)).flat_map(of_value));
            }
            None => written(value, named || NAMED.contains(&key), found),
        }
    }
}
