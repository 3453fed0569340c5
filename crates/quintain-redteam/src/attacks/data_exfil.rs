//! Content that a tool sends to an address from the caller.

use quintain_content::registry::Meta;
use quintain_evidence::evidence::Observation;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::probe::Step;
use quintain_evidence::weakness::Weakness;
use serde_json::Value;

use super::{reach, tool_actions};
use crate::attack::{
    Action, Aim, Attack, Attempt, Brief, Hit, Kind, Need, Nonce, TargetView, Trial, Tried,
};
use crate::knowledge::words;

pub(super) struct DataExfil;

static META: Meta = Meta {
    id: "data-exfil",
    aliases: &["data-exfiltration"],
    summary: "A tool sends content to an address that the caller chooses",
    docs: "\
# What it does
Passes the address of Quintain's listener to tools that take an address together with other arguments, and marks those arguments: a text,
the path of a planted file, or the stored object that the innocent call names.

# Why it matters
Combined with private data and untrusted text, such a tool leaks data: anyone who can make a model call it receives the data.

# What counts as proof
The listener receives a connection with the marked text, the text of the planted file, or text that another tool of the server returned. A
connection without such content does not count (see `ssrf`).

# Example
```yaml
redteam:
  plugins: [data-exfil]
```

# References
- CWE-201, OWASP LLM02, MITRE ATLAS AML.T0086
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[201],
    frameworks: &["MCP10", "ASI01", "ASI02", "LLM02", "LLM06", "AML.T0086"],
};

/// The minimum length of a response line that is searched for in the request to the listener.
const LEAST: usize = 20;

impl Attack for DataExfil {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn needs(&self) -> &[Need] {
        &[Need::SameHost]
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = view.texts(&[Kind::Url, Kind::Host, Kind::Path], true);
        aims.retain(|aim| {
            let Place::Argument { pointer, .. } = &aim.place else { return false };
            let to = aim.is(Kind::Url) || aim.is(Kind::Host) || tool_actions::is_output(aim);
            let Some(Step::Call(call)) = aim.baseline.as_ref().map(|known| &known.step) else {
                return false;
            };
            // The call must contain something to send.
            let top = pointer.split('/').nth(1).unwrap_or_default();
            to && call.args.iter().any(|(key, value)| key != top && has_text(value))
        });
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(listener) = brief.listener else { return Vec::new() };
        let mut attempts = Vec::new();
        let whole = |nonce: &Nonce| {
            if aim.is(Kind::Host) && !aim.is(Kind::Url) {
                format!("{}:{}/{nonce}", listener.host, listener.port)
            } else {
                listener.url(nonce)
            }
        };
        let nonce = brief.nonce();
        let url = whole(&nonce);
        attempts.extend(reach::attempt(aim, (0, "stored content"), nonce, url));
        let nonce = brief.nonce();
        let content = format!("quintain {}", brief.nonce());
        let url = whole(&nonce);
        let made = reach::attempt(aim, (1, "content from the caller"), nonce, url);
        attempts.extend(made.and_then(|attempt| filled(attempt, aim, &content, Kind::Text)));
        if let Some(canaries) = brief.canaries {
            let nonce = brief.nonce();
            let url = whole(&nonce);
            let made = reach::attempt(aim, (2, "file content"), nonce, url);
            let path = canaries.canary.display().to_string();
            let made = made.and_then(|attempt| filled(attempt, aim, &path, Kind::Path));
            let role = canaries.canary_text.clone();
            attempts.extend(made.map(|attempt| Attempt { role, ..attempt }));
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let hits = trial.tried.iter().filter_map(|tried| {
            let what = proof(trial, tried)?;
            let (place, form) = (&trial.aim.place, &tried.attempt.form);
            let title = format!("Data exfiltration through `{place}` ({form})");
            let hit = Hit::confirmed(title, what).by(tried).fault("way out");
            if form == "content from the caller" {
                let note = "the caller chooses both the text and the address; a model can be made to send out what it read elsewhere";
                return Some(hit.severity(Severity::Medium).note(note));
            }
            Some(hit)
        });
        hits.collect()
    }
}

fn has_text(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => items.iter().any(has_text),
        Value::Object(entries) => entries.values().any(has_text),
        Value::Number(_) => true,
        Value::Null | Value::Bool(_) => false,
    }
}

/// Puts a text into every other argument of a kind. None if there is no such argument.
fn filled(mut attempt: Attempt, aim: &Aim, text: &str, kind: Kind) -> Option<Attempt> {
    let Action::Steps { steps, .. } = &mut attempt.action else { return None };
    let Some(Step::Call(call)) = steps.last_mut() else { return None };
    let Place::Argument { pointer, .. } = &aim.place else { return None };
    let own = pointer.split('/').nth(1).unwrap_or_default();
    let mut changed = false;
    for (key, value) in &mut call.args {
        let kinds = crate::knowledge::classify(key, None, &Value::Null);
        let fits = match kind {
            Kind::Text => {
                let is_content = ["data", "payload", "value", "html", "markdown", "subject"];
                kinds.first() == Some(&Kind::Text)
                    || words(key).iter().any(|word| is_content.contains(&word.as_str()))
            }
            kind => kinds.first() == Some(&kind),
        };
        if key != own && fits && value.is_string() {
            *value = Value::String(text.to_owned());
            changed = true;
        }
    }
    text.clone_into(&mut attempt.role);
    changed.then_some(attempt)
}

fn proof(trial: &Trial<'_>, tried: &Tried) -> Option<String> {
    let nonce = tried.attempt.nonce.as_str();
    let sent: String =
        tried.evidence.observations.iter().find_map(|observation| match observation {
            Observation::Connection { request, headers } if request.contains(nonce) => {
                Some(format!("{request}\n{}", headers.join("\n")))
            }
            _ => None,
        })?;
    let sent = plain(&sent);
    let role = &tried.attempt.role;
    if !role.is_empty() {
        return sent.contains(&plain(role)).then(|| format!("the listener received {role}"));
    }
    // A line that another tool returned and that is not in the request.
    let given = plain(&tried.evidence.last().map(|last| last.sent.to_string()).unwrap_or_default());
    let own = trial.aim.place.tool();
    let others = trial.view.knowledge.baselines.iter().filter(
        |known| !matches!(&known.step, Step::Call(call) if Some(call.tool.as_str()) == own),
    );
    for known in others.take(100) {
        let said = known.exchange.outcome.said();
        let known = said.lines().map(plain).find(|line| {
            line.len() >= LEAST && sent.contains(line.as_str()) && !given.contains(line.as_str())
        });
        if let Some(line) = known {
            let end = line.floor_char_boundary(80.min(line.len()));
            return Some(format!(
                "the listener received what another tool returns: {}",
                &line[..end]
            ));
        }
    }
    None
}

/// Only the letters and digits of a text, so that encodings do not matter.
fn plain(text: &str) -> String {
    let end = text.floor_char_boundary(65_536.min(text.len()));
    let text = text[..end].replace("%20", "");
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;
    use serde_json::json;

    use super::*;
    use crate::attacks::testing::{TestTarget, answers, args};

    fn room() -> TestTarget {
        let schema = json!({"type": "object", "properties": {
            "url": {"type": "string", "format": "uri"}, "text": {"type": "string"}}});
        let mut room = TestTarget::of_tools(&[
            json!({"name": "post_message", "inputSchema": schema}),
            json!({"name": "read_mail", "inputSchema": {"type": "object"}}),
        ]);
        let innocent = json!({"url": "https://hooks.example/x", "text": "Hello."});
        room.works("post_message", innocent.as_object().unwrap().clone(), &answers("Posted."));
        let mail = answers("Your appointment is on Friday at nine.");
        room.works("read_mail", serde_json::Map::new(), &mail);
        room
    }

    fn received(attempt: &Attempt, body: &str) -> Evidence {
        let mut evidence = answers("Posted.");
        let request = format!("POST /{} HTTP/1.1", attempt.nonce);
        let headers = vec!["Host: x".to_owned(), format!("body: {body}")];
        evidence.observations.push(Observation::Connection { request, headers });
        evidence
    }

    #[test]
    fn content_that_arrives_is_proof() {
        let hits = room().run_attack(&DataExfil, |attempt| {
            received(attempt, args(attempt)["text"].as_str().unwrap())
        });
        assert_eq!(hits.len(), 1);
        assert_eq!(hits[0].severity, Some(Severity::Medium));
    }

    #[test]
    fn stored_content_is_worse() {
        let body = "{\"report\":\"Your appointment is on Friday at nine.\"}";
        let hits = room().run_attack(&DataExfil, |attempt| received(attempt, body));
        assert!(hits.iter().any(|hit| hit.severity.is_none()));
    }

    #[test]
    fn a_connection_without_content_is_none() {
        assert!(room().run_attack(&DataExfil, |attempt| received(attempt, "{}")).is_empty());
        let echo = |attempt: &Attempt| answers(&format!("{:?}", args(attempt)));
        assert!(room().run_attack(&DataExfil, echo).is_empty());
        assert!(room().run_attack(&DataExfil, |_| Evidence::default()).is_empty());
    }

    #[test]
    fn a_tool_that_takes_nothing_but_an_address_is_no_aim() {
        let room = TestTarget::with_argument("fetch", "url", "https://example.com/");
        assert!(DataExfil.aims(&room.view()).is_empty());
    }
}
