//! Effects of an attempt outside the protocol that an echo of the payload cannot cause.

use quintain_evidence::evidence::Observation;
use serde_json::Value;

use crate::attack::{Attempt, Brief, Nonce, Tried};

/// The path of the marker file of a nonce, if files can be watched.
pub(super) fn marker(brief: &Brief<'_>, nonce: &Nonce) -> Option<String> {
    brief.canaries.map(|canaries| canaries.drop.join(nonce.as_str()).display().to_string())
}

/// Two numbers of nine digits. Their sum does not overflow in any shell.
pub(super) fn summands(brief: &Brief<'_>) -> (u64, u64) {
    let nine = || brief.number() * 10_000 + brief.number() % 10_000;
    (nine(), nine())
}

/// A description of the effect of an attempt, if there is one.
pub(super) fn seen(tried: &Tried) -> Option<String> {
    tried.evidence.observations.iter().find_map(|observation| trace(&tried.attempt, observation))
}

/// A file must be at the exact path in the payload: a tool that uses the payload as a name creates it elsewhere. A
/// connection must request only the nonce, with the mark of the attempt (its role) in a header: a tool that uses the
/// payload as an address, or visits addresses in texts, sends another request.
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
            is_ours.then(|| format!("the marker file {} appeared", path.display()))
        }
        Observation::Connection { request, headers } => {
            let asked = request.split(' ').nth(1)?;
            let is_ours = asked.trim_start_matches('/') == nonce
                && !attempt.role.is_empty()
                && headers.iter().any(|header| header.contains(&attempt.role));
            is_ours.then(|| format!("the listener received the request: {request}"))
        }
        _ => None,
    }
}
