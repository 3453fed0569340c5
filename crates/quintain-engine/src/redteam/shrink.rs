//! Shrinks payloads that hit.

use quintain_evidence::indicator::Indicator;
use quintain_redteam::attack::{Action, Aim, Attempt, Hit, Trial, Tried};
use quintain_redteam::attacks::reach;
use quintain_redteam::orders::PluginOrder;
use serde_json::Value;

use super::executor::{Executor, SETTLE};

/// Maximum number of smaller payloads to try.
const MAX_SHRINKS: usize = 40;

impl Executor<'_> {
    /// Finds a smaller payload that still hits.
    pub(super) async fn shrunk(
        &self,
        plugin: &PluginOrder,
        aim: &Aim,
        hit: &mut Hit,
        mut set: Vec<Tried>,
    ) -> Vec<Tried> {
        let [tried] = &set[..] else { return set };
        if !plugin.attack.shrinks() {
            return set;
        }
        let Some(Value::String(payload)) = tried.attempt.payload.clone() else { return set };
        let (mut best, mut left) = (pieces(&payload), MAX_SHRINKS);
        let mut size = best.len() / 2;
        while size > 0 && left > 0 {
            let mut start = 0;
            let mut cut = false;
            while start < best.len() && left > 0 {
                left -= 1;
                let mut shorter = best.clone();
                shorter.drain(start..(start + size).min(best.len()));
                let text = shorter.concat();
                if !self.keeps_canary_paths(&best.concat(), &text) {
                    start += size;
                    continue;
                }
                match self.still(plugin, aim, hit, &set[0].attempt, &text).await {
                    Some((again, what, sign)) => {
                        best = shorter;
                        set = vec![again];
                        // A smaller payload may prove the fault in another way.
                        hit.what = what;
                        hit.sign = sign;
                        cut = true;
                    }
                    None => start += size,
                }
            }
            if !cut {
                size /= 2;
            }
        }
        set
    }

    /// Whether the shorter payload still contains every path into the canary folder. A truncated path could name files of
    /// the user.
    fn keeps_canary_paths(&self, payload: &str, shorter: &str) -> bool {
        let Some(canaries) = &self.trial_plan.canaries else { return true };
        let root = canaries.root.to_string_lossy();
        let ends = |c: char| !(c.is_alphanumeric() || "/-_.".contains(c));
        let mut paths = payload.match_indices(&*root).map(|(at, _)| {
            let path = &payload[at..];
            &path[..path.find(ends).unwrap_or(path.len())]
        });
        paths.all(|path| shorter.contains(path))
    }

    /// Sends the attempt with another payload. Returns it if it still hits.
    async fn still(
        &self,
        plugin: &PluginOrder,
        aim: &Aim,
        hit: &Hit,
        attempt: &Attempt,
        payload: &str,
    ) -> Option<(Tried, String, Option<Indicator>)> {
        let step = reach::step(aim, payload.into())?;
        self.observer.with_planted(|planted| planted.forget(attempt.nonce.as_str()));
        let action = match &attempt.action {
            Action::Steps { steps, identity } if steps.len() == 1 => {
                Action::Steps { steps: vec![step], identity: *identity }
            }
            _ => return None,
        };
        let attempt = Attempt { action, payload: Some(payload.into()), ..attempt.clone() };
        let tried = self.settled(vec![attempt], SETTLE, &mut None).await;
        self.meter.called(tried.len());
        let hits = plugin.attack.detect(&Trial { view: self.view, aim, tried: &tried });
        let same = hits.into_iter().find(|found| {
            found.fault == hit.fault
                && found.confidence == hit.confidence
                && found.title == hit.title
                // Keep an indicator, since a later replay needs it.
                && (found.sign.is_some() || hit.sign.is_none())
        })?;
        Some((tried.into_iter().next()?, same.what, same.sign))
    }
}

/// Splits a payload into words and single symbols, so that the shrunk payload stays readable.
fn pieces(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (piece, more) = rest.split_at(if word == 0 { first.len_utf8() } else { word });
        pieces.push(piece);
        rest = more;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_fall_apart_into_words_and_signs() {
        assert_eq!(
            pieces("a$(touch /x-1/é)"),
            ["a", "$", "(", "touch", " ", "/", "x-1", "/", "é", ")"]
        );
        assert!(pieces("").is_empty());
    }
}
