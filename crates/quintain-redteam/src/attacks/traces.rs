//! Traces that an attempt leaves outside of the wire, and which of them are no mere repetition.

use quintain_evidence::evidence::Observation;
use serde_json::Value;

use crate::attack::{Attempt, Brief, Nonce, Tried};

/// Where a marker of this nonce is to appear, if files can be watched.
pub(super) fn marker(brief: &Brief<'_>, nonce: &Nonce) -> Option<String> {
    brief.ground.map(|ground| ground.drop.join(nonce.as_str()).display().to_string())
}

/// Two numbers of nine digits. Their sum fits the arithmetic of every shell.
pub(super) fn summands(brief: &Brief<'_>) -> (u64, u64) {
    let nine = || brief.number() * 10_000 + brief.number() % 10_000;
    (nine(), nine())
}

/// What an attempt left behind, in words.
pub(super) fn seen(tried: &Tried) -> Option<String> {
    tried.evidence.observations.iter().find_map(|observation| trace(&tried.attempt, observation))
}

/// A file has to be at the very path that the payload names: a tool that takes the payload for a name
/// puts it elsewhere. A connection has to ask for the nonce alone, with the mark of the attempt (its
/// role) in a header: a tool that takes the payload for an address, or visits addresses in texts,
/// asks otherwise.
fn trace(attempt: &Attempt, observation: &Observation) -> Option<String> {
    let nonce = attempt.nonce.as_str();
    match observation {
        Observation::File { path, .. } => {
            let payload = match attempt.payload.as_ref()? {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let is_ours = path.file_name().is_some_and(|name| name == nonce)
                && payload.contains(&*path.to_string_lossy());
            is_ours.then(|| format!("the file {} appeared", path.display()))
        }
        Observation::Connection { request, headers } => {
            let asked = request.split(' ').nth(1)?;
            let is_ours = asked.trim_start_matches('/') == nonce
                && !attempt.role.is_empty()
                && headers.iter().any(|header| header.contains(&attempt.role));
            is_ours.then(|| format!("the listener was asked: {request}"))
        }
        _ => None,
    }
}
