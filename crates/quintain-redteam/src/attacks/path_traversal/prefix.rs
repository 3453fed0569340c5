//! Folders that are let through because their name begins with that of the root, where no root is
//! declared and so nothing can be planted beside it: the guard itself is asked.
//!
//! Three files that are not there are asked for: one inside, one in a folder beside the root whose name
//! begins with that of the root, one in a folder beside it whose name ends so. A guard that compares
//! names part by part answers the last two alike; one that compares texts takes the second for the first.

use quintain_evidence::finding::Place;

use super::ABSENT;
use crate::attack::{Aim, Attempt, Brief, Hit, Kind, Trial, Tried};
use crate::attacks::{reach, tool_actions};
use crate::knowledge::words;

const FORM: &str = "sibling with the prefix of the folder";
/// So many names of the folder are guessed.
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

/// What the folder may be called: what is said before `directory` or `folder`, and the nouns of the
/// tool, as one and as many.
fn names(aim: &Aim, brief: &Brief<'_>) -> Vec<String> {
    let tool = brief.field.and_then(|field| tool_actions::tool_of(field, aim));
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
    let title = format!(
        "{} reads outside of the folder that it is confined to ({})",
        trial.aim.place, beside.attempt.form
    );
    let what =
        "a folder beside it is answered like one inside, and another one beside it is refused";
    Some(Hit::confirmed(title, what).by(beside).fault("sibling"))
}

/// A text without the paths in it that hold a mark.
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
        let hits = room().fight(&PathTraversal, |attempt| {
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
            let hits = room().fight(&PathTraversal, |attempt| {
                fails(if path(attempt).contains("..") { outside } else { inside })
            });
            assert!(hits.is_empty(), "{hits:?}");
        }
    }
}
