//! Data that one identity stores and another identity can see.

use quintain_content::registry::Meta;
use quintain_evidence::evidence::Exchange;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::weakness::Weakness;

use super::{reach, tool_access};
use crate::attack::{
    Action, Aim, Attack, Attempt, Brief, Hit, Kind, Need, TargetView, Trial, Tried,
};

pub(super) struct CrossSessionLeak;

static META: Meta = Meta {
    id: "cross-session-leak",
    aliases: &["session-leak"],
    summary: "Data from one identity appears in responses to another",
    docs: "\
# What it does
Stores a random word as one identity, in the text arguments of tools, and calls the tools that read as another identity.

# Why it matters
State that is shared although it belongs to one user reveals what other users asked, and lets them put text into another user's context.

# What counts as proof
A response to the other identity contains the random word. The finding is confirmed if the tool that returns it is about the caller's own
data (`my`, `last`, `history`). Otherwise the data may be shared by design, and the finding is suspected.

# Example
```yaml
redteam:
  plugins: [cross-session-leak]
  identities:
    - {name: alice, headers: {Authorization: Bearer token-of-alice}}
    - {name: bob, headers: {Authorization: Bearer token-of-bob}}
```

# References
- CWE-488, OWASP MCP10, OWASP LLM02
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[488],
    frameworks: &["MCP10", "LLM02", "ASI06", "ASI03"],
};

const MAX_AIMS: usize = 12;
const WATCHERS: usize = 4;
const KINDS: [Kind; 5] = [Kind::Text, Kind::Filter, Kind::Name, Kind::Other, Kind::Expression];

impl Attack for CrossSessionLeak {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn needs(&self) -> &[Need] {
        &[Need::TwoIdentities]
    }

    /// Other requests would overwrite state that all sessions share.
    fn wants_quiet(&self) -> bool {
        true
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        if view.capabilities.identities.len() < 2 {
            return Vec::new();
        }
        let mut aims = view.texts(&KINDS, true);
        aims.retain(|aim| {
            let Place::Argument { server, tool, .. } = &aim.place else { return false };
            let tool = view.tool(server, tool);
            aim.baseline.is_some()
                && tool.is_some_and(|tool| tool_access::may_be_called(view, tool))
        });
        aims.truncate(MAX_AIMS);
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(view) = brief.view else { return Vec::new() };
        let watchers = tool_access::watchers(view, aim.place.server(), "", WATCHERS);
        let nonce = brief.nonce();
        let form = "stored by one identity, returned to another";
        let Some(plant) = reach::attempt(aim, (0, form), nonce.clone(), nonce.as_str()) else {
            return Vec::new();
        };
        if watchers.is_empty() {
            return Vec::new();
        }
        let plant = Attempt { role: "plant".to_owned(), ..plant };
        vec![plant, reach::plain(watchers, 1, (0, form, "look"), nonce)]
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        trial.tried.iter().filter_map(|tried| judge(trial, tried)).collect()
    }
}

/// Whether both identities name the same object: then both are expected to see it.
fn is_common(trial: &Trial<'_>, look: &Exchange) -> bool {
    let named = |value: &serde_json::Value| value.as_str().is_some_and(|text| text.len() >= 3);
    let Some(baseline) = &trial.aim.baseline else { return false };
    let planted = tool_access::arguments(baseline);
    let asked = look.sent.get("arguments").and_then(serde_json::Value::as_object);
    asked.is_some_and(|asked| {
        asked
            .values()
            .filter(|value| named(value))
            .any(|value| planted.values().any(|one| one == value))
    })
}

fn judge(trial: &Trial<'_>, tried: &Tried) -> Option<Hit> {
    let nonce = tried.attempt.nonce.as_str();
    let Action::Steps { identity: 1, .. } = &tried.attempt.action else { return None };
    let shows = |exchange: &&Exchange| {
        exchange.outcome.said().contains(nonce)
            && !exchange.sent.to_string().contains(nonce)
            && !is_common(trial, exchange)
    };
    let found = tried.evidence.exchanges.iter().find(shows)?;
    let name = found.sent.get("name").and_then(serde_json::Value::as_str).unwrap_or_default();
    let server = trial.aim.place.server();
    let personal = trial.view.tool(server, name).is_some_and(tool_access::is_personal_tool);
    let title = format!(
        "`{name}` returns what another user sent to `{}` (cross-session leak)",
        trial.aim.place
    );
    let what = format!(
        "the response to one identity contains {nonce}, a random word that another identity stored"
    );
    let hit = if personal {
        Hit::confirmed(title, what)
    } else {
        Hit::suspected(title, what)
            .severity(Severity::Low)
            .note("all users may be meant to share this data")
    };
    let place = Place::Tool { server: server.to_owned(), tool: name.to_owned() };
    Some(hit.by(tried).at(place).fault("shared"))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;
    use quintain_evidence::finding::Confidence;
    use serde_json::{Map, json};

    use super::*;
    use crate::attack::Identity;
    use crate::attacks::testing::{TestTarget, answers};

    fn room(reader: &str) -> TestTarget {
        let mut room = TestTarget::of_tools(&[
            json!({"name": "ask_topic", "inputSchema": {"type": "object", "required": ["text"],
                "properties": {"text": {"type": "string"}}}}),
            json!({"name": reader, "annotations": {"readOnlyHint": true}}),
        ]);
        room.works("ask_topic", Map::from_iter([("text".into(), json!("cats"))]), &answers("ok"));
        room.works(reader, Map::new(), &answers("cats"));
        room.capabilities.identities = vec![Identity::default(), Identity::default()];
        room
    }

    fn shows(
        reader: &'static str,
        text: impl Fn(&Attempt) -> String,
    ) -> impl Fn(&Attempt) -> Evidence {
        move |attempt| {
            let mut evidence = answers(&text(attempt));
            evidence.exchanges[0].sent = json!({"name": reader});
            evidence
        }
    }

    #[test]
    fn a_planted_word_in_personal_answers_is_proof() {
        let leak = |attempt: &Attempt| attempt.nonce.to_string();
        let hits = room("last_topic").run_attack(&CrossSessionLeak, shows("last_topic", leak));
        assert_eq!((hits.len(), hits[0].confidence), (1, Confidence::Confirmed));
        let hits = room("list_board").run_attack(&CrossSessionLeak, shows("list_board", leak));
        assert_eq!((hits.len(), hits[0].confidence), (1, Confidence::Suspected));
    }

    #[test]
    fn own_answers_and_other_words_are_nothing() {
        let own = |attempt: &Attempt| {
            if attempt.role == "plant" { attempt.nonce.to_string() } else { "cats".to_owned() }
        };
        assert!(
            room("last_topic").run_attack(&CrossSessionLeak, shows("last_topic", own)).is_empty()
        );
        let mut one = room("last_topic");
        one.capabilities.identities.pop();
        assert!(CrossSessionLeak.aims(&one.view()).is_empty());
    }
}
