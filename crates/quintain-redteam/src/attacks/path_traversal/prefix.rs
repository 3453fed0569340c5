//! Sibling folders that a server accepts because their name begins with the name of the root. If no root is
//! declared, nothing can be planted next to it, so the responses of the path check itself are compared.
//!
//! Three missing files are requested: one inside the root, one in a sibling folder with the name of the root as
//! prefix, and one in a sibling folder with that name as suffix. A check that compares path components answers the
//! last two alike; a check that compares text prefixes treats the second like the first.

use quintain_evidence::finding::Place;

use super::ABSENT;
use crate::attack::{Aim, Attempt, Brief, Hit, Kind, Trial, Tried};
use crate::attacks::{reach, tool_actions};
use crate::knowledge::words;

const FORM: &str = "sibling folder with the folder name as prefix";
/// The maximum number of guessed folder names.
const MAX_NAMES: usize = 4;

pub(super) fn attempts(aim: &Aim, brief: &Brief<'_>, mut set: usize) -> Vec<Attempt> {
    let relative = reach::innocent(aim).is_some_and(|text| !text.starts_with('/'));
    if !matches!(aim.place, Place::Argument { .. })
        || aim.kinds.first() != Some(&Kind::Path)
        || !relative
        || !brief.roots.is_empty()
    {
        return Vec::new();
    }
    let mut attempts = Vec::new();
    for name in names(aim, brief) {
        set += 1;
        let (nonce, form) = (brief.nonce(), format!("{FORM} `{name}`"));
        for path in [
            format!("{nonce}.txt"),
            format!("../{nonce}-{name}/{nonce}.txt"),
            format!("../{name}-{nonce}/{nonce}.txt"),
        ] {
            let made = reach::attempt(aim, (set, &form), nonce.clone(), path);
            attempts.extend(made.map(|made| Attempt { role: ABSENT.to_owned(), ..made }));
        }
    }
    attempts
}

/// Possible names of the folder: the words before `directory` or `folder` in descriptions, and the nouns of the
/// tool in singular and plural.
fn names(aim: &Aim, brief: &Brief<'_>) -> Vec<String> {
    let tool = brief.view.and_then(|view| tool_actions::tool_of(view, aim));
    let described = aim.schema.get("description").and_then(|text| text.as_str());
    let texts = [tool.and_then(|tool| tool.description()), described];
    let mut found: Vec<String> = Vec::new();
    for text in texts.into_iter().flatten() {
        let told = words(text);
        let pairs = told.windows(2).filter(|pair| {
            ["directory", "folder", "dir"].contains(&pair[1].as_str())
                && !["the", "a", "this", "your", "its", "root", "base"].contains(&pair[0].as_str())
        });
        found.extend(pairs.map(|pair| pair[0].clone()));
    }
    for noun in words(aim.place.tool().unwrap_or_default()).into_iter().skip(1) {
        found.push(format!("{}s", noun.trim_end_matches('s')));
        found.push(noun.trim_end_matches('s').to_owned());
    }
    let mut seen = Vec::new();
    found.retain(|name| {
        let fresh = name.len() >= 3 && !seen.contains(name);
        seen.push(name.clone());
        fresh
    });
    found.truncate(MAX_NAMES);
    found
}

pub(super) fn hits(trial: &Trial<'_>) -> Vec<Hit> {
    trial.sets().filter_map(|(_, tried)| judge(trial, &tried)).collect()
}

fn judge(trial: &Trial<'_>, tried: &[&Tried]) -> Option<Hit> {
    let [inside, apart, beside] = tried else { return None };
    if !beside.attempt.form.starts_with(FORM) {
        return None;
    }
    let said = |tried: &Tried| -> Option<String> {
        let outcome = &tried.last()?.outcome;
        outcome.is_answer().then(|| without_paths(&outcome.said(), tried.attempt.nonce.as_str()))
    };
    let (inside, apart, beside_said) = (said(inside)?, said(apart)?, said(beside)?);
    if inside != beside_said || apart == beside_said {
        return None;
    }
    let title = format!("Path traversal in `{}` ({})", trial.aim.place, beside.attempt.form);
    let what = "the server treats a sibling folder like the allowed folder, and refuses another sibling folder";
    Some(Hit::confirmed(title, what).by(beside).fault("sibling"))
}

/// A text without the paths that contain the mark.
fn without_paths(said: &str, mark: &str) -> String {
    let ends = |c: char| c.is_whitespace() || "\"'`,;()".contains(c);
    let parts = said.split(ends).map(|part| if part.contains(mark) { "·" } else { part });
    parts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::{Evidence, Outcome};
    use quintain_evidence::finding::Confidence;
    use serde_json::{Map, json};

    use super::super::PathTraversal;
    use crate::attack::Attempt;
    use crate::attacks::testing::{TestTarget, answers, comes};

    fn room() -> TestTarget {
        let mut room = TestTarget::of_tools(&[json!({"name": "read_statement",
            "description": "Returns a statement from the statements directory.",
            "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}})]);
        let args = Map::from_iter([("path".into(), json!("2026-01.txt"))]);
        room.works("read_statement", args, &answers("turnover"));
        room
    }

    fn fails(text: &str) -> Evidence {
        comes(Outcome::ToolError(
            json!({"isError": true, "content": [{"type": "text", "text": text}]}),
        ))
    }

    fn path(attempt: &Attempt) -> &str {
        attempt.payload.as_ref().and_then(|payload| payload.as_str()).unwrap_or_default()
    }

    #[test]
    fn a_guard_that_compares_texts_is_told_by_its_answers() {
        let hits = room().run_attack(&PathTraversal, |attempt| {
            let path = path(attempt);
            if path.starts_with("../statements") || !path.contains("..") && !path.starts_with('/') {
                fails(&format!("/srv/statements/{path}: no such file"))
            } else {
                fails("outside of the statements directory")
            }
        });
        assert_eq!(hits.len(), 1, "{hits:?}");
        assert_eq!((hits[0].confidence, hits[0].fault), (Confidence::Confirmed, "sibling"));
    }

    #[test]
    fn guards_that_treat_all_outside_alike_are_clean() {
        for (inside, outside) in [("no such file", "no such file"), ("no such file", "refused")] {
            let hits = room().run_attack(&PathTraversal, |attempt| {
                fails(if path(attempt).contains("..") { outside } else { inside })
            });
            assert!(hits.is_empty(), "{hits:?}");
        }
    }
}
