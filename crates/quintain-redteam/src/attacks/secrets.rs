//! Keys, tokens and passwords in responses and on the surface.

use quintain_content::detect::{Confidence, Family};
use quintain_content::json_value;
use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use quintain_evidence::weakness::Weakness;
use serde_json::Value;

use super::leaks::{self, Known, Leak};
use super::{listed, reach};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, TargetView, Trial};
use crate::knowledge::{put, words};

pub(super) struct Secrets;

static META: Meta = Meta {
    id: "secrets",
    aliases: &["secret-exposure", "mcp:secrets"],
    summary: "Responses, errors or descriptions contain keys, tokens or passwords",
    docs: "\
# What it does
Reads everything that a server lists, repeats every harmless call that works, reads resources and prompts, and makes calls with other
listed values or a made-up value, since errors reveal more than normal responses. The detectors of `no-secrets` search for private keys,
keys of known services, credentials in URLs, and values assigned to a password.

# Why it matters
A secret in a response ends up in the context of a model, in logs and in transcripts.

# What counts as proof
A key in the format of a known service with random content, a private key, or credentials in a URL are confirmed. Other assignments and
JSON Web Tokens are suspected. Values from the request and placeholders do not count. If the purpose of a tool is to return a secret, the
finding is by design. Reports show values masked.

# Example
```yaml
redteam:
  plugins: [secrets]
```

# References
- CWE-798, CWE-200, OWASP MCP01, OWASP LLM02
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[798, 200],
    frameworks: &["MCP01", "LLM02", "ASI03"],
};

/// The maximum number of calls with other values per tool.
const BAD_VALUES: usize = 4;

impl Attack for Secrets {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn inspects(&self) -> bool {
        true
    }

    fn inspect(&self, view: &TargetView<'_>) -> Vec<Hit> {
        let detectors = leaks::detectors(Family::Secret);
        let mut hits = Vec::new();
        for listed in listed::texts(view) {
            let found = leaks::in_text(listed.text, &detectors);
            let all: Vec<&Leak> = found.iter().collect();
            if all.is_empty() {
                continue;
            }
            let title =
                format!("Exposed secret in {} of `{}`: {}", listed.field, listed.place, name(&all));
            let shown: Vec<String> =
                all.iter().map(|leak| format!("{} `{}`", leak.kind, leak.masked)).collect();
            let hit = judged(&all, title, shown.join(", ")).at(listed.place.clone());
            hits.push(hit.fault("surface"));
        }
        hits
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = leaks::aims(view);
        for aim in &mut aims {
            aim.by_design = aim.place.tool().and_then(hands_out);
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let mut attempts = leaks::again(aim, brief);
        let Some(Step::Call(call)) = aim.baseline.as_ref().map(|baseline| &baseline.step) else {
            return attempts;
        };
        let tool = brief.view.and_then(|view| view.tool(aim.place.server(), &call.tool));
        let texts = call.args.iter().filter(|(_, value)| value.is_string());
        let bad = texts.flat_map(|(argument, value)| {
            let schema = tool.and_then(|tool| tool.properties()?.get(argument));
            others(schema, value).into_iter().map(move |other| (argument, other))
        });
        for (at, (argument, other)) in bad.take(BAD_VALUES).enumerate() {
            let nonce = brief.nonce();
            let value = other.unwrap_or_else(|| Value::from(nonce.as_str()));
            let mut call = call.clone();
            let pointer = format!("/{}", json_value::pointer_token(argument));
            put(&mut call.args, &pointer, value.clone());
            let form = (at + 1, "in an error", pointer.as_str());
            let attempt = reach::plain(vec![Step::Call(call)], 0, form, nonce);
            attempts.push(Attempt { payload: Some(value), ..attempt });
        }
        attempts
    }

    fn expects(&self, set: &[Attempt], _: &TargetView<'_>) -> Option<(usize, Indicator)> {
        let kinds = leaks::detectors(Family::Secret).into_iter();
        let kinds = kinds.map(|one| one.meta().id.to_owned()).collect();
        (set.len() == 1).then(|| (0, Indicator::leaks(kinds)))
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let detectors = leaks::detectors(Family::Secret);
        let mut hits = Vec::new();
        for tried in trial.tried {
            let known = Known::of(trial.view, tried);
            let Some(last) = tried.last() else { continue };
            let found = leaks::in_outcome(&last.outcome, &detectors, &known);
            let all: Vec<&Leak> = found.iter().collect();
            let Some(first) = all.first() else { continue };
            let argument = &tried.attempt.role;
            let place = match &trial.aim.place {
                Place::Tool { server, tool } if !argument.is_empty() => Place::Argument {
                    server: server.clone(),
                    tool: tool.clone(),
                    pointer: argument.clone(),
                },
                place => place.clone(),
            };
            // A leak of the innocent response is reported there.
            let innocent = !argument.is_empty()
                && trial.baseline().is_some_and(|baseline| {
                    let known = leaks::in_outcome(&baseline.outcome, &detectors, &known);
                    all.iter().all(|leak| known.iter().any(|other| other.masked == leak.masked))
                });
            if innocent {
                continue;
            }
            let title =
                format!("`{place}` exposes a secret {}: {}", tried.attempt.form, name(&all));
            let mut hit = judged(&all, title, leaks::describe(&all)).by(tried).at(place);
            hit.pointer = Some(first.pointer.clone());
            hit = hit.sign(Indicator::leaks(all.iter().map(|leak| leak.kind.to_owned()).collect()));
            if let Some(design) = &trial.aim.by_design {
                hit = hit.severity(Severity::Info).note(design.clone());
            }
            hits.push(hit.fault(if argument.is_empty() { "answer" } else { "error" }));
        }
        hits
    }
}

/// Other values of an argument: those in its enum, else `None` for a made-up one.
fn others(schema: Option<&Value>, value: &Value) -> Vec<Option<Value>> {
    match schema.and_then(|schema| schema.get("enum")?.as_array()) {
        Some(items) => {
            items.iter().filter(|item| *item != value).take(2).cloned().map(Some).collect()
        }
        None => vec![None],
    }
}

fn judged(leaks: &[&Leak], title: String, what: String) -> Hit {
    let weak = ["assigned-secret", "jwt"];
    let sure =
        leaks.iter().any(|leak| leak.confidence == Confidence::High && !weak.contains(&leak.kind));
    let tests = leaks.iter().all(|leak| leak.confidence < Confidence::High);
    let severity = if sure {
        Severity::High
    } else if tests {
        Severity::Low
    } else {
        Severity::Medium
    };
    let new = if sure { Hit::confirmed } else { Hit::suspected };
    new(title, what).severity(severity)
}

fn name(leaks: &[&Leak]) -> String {
    let mut kinds: Vec<&str> = leaks.iter().map(|leak| leak.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.join(", ")
}

/// The note for tools with the purpose of returning a secret.
fn hands_out(tool: &str) -> Option<String> {
    let found = words(tool);
    let has = |known: &[&str]| found.iter().any(|word| known.contains(&word.as_str()));
    let makes =
        has(&["generate", "create", "issue", "login", "rotate", "get", "authenticate", "mint"]);
    let secret =
        has(&["token", "tokens", "key", "keys", "password", "secret", "credentials", "login"]);
    (makes && secret).then(|| "returning a secret is the purpose of the tool".to_owned())
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Outcome;
    use quintain_evidence::finding;
    use serde_json::{Map, json};

    use super::*;
    use crate::attacks::testing::{TestTarget, answers, args, comes};

    const KEY: &str = "ghp_k3Jd82mQpZx71LsVbN4tRw9YcE5uHa0GfTiO";

    fn room() -> TestTarget {
        TestTarget::with_argument("show_settings", "region", "eu")
    }

    #[test]
    fn a_key_in_an_answer_is_confirmed_and_masked() {
        let hits = room().run_attack(&Secrets, |attempt| {
            answers(if attempt.role.is_empty() { KEY } else { "no such region" })
        });
        assert_eq!(hits.len(), 1);
        assert_eq!((hits[0].confidence, hits[0].fault), (finding::Confidence::Confirmed, "answer"));
        assert!(!hits[0].what.contains(KEY));
    }

    #[test]
    fn a_password_in_an_error_is_told_with_its_argument() {
        let hits = room().run_attack(&Secrets, |attempt| {
            if attempt.role.is_empty() {
                return answers("fine");
            }
            let text = "cannot reach postgres://app:s3cr3tPw9@db.acme.io/x";
            comes(Outcome::ToolError(
                json!({"isError": true, "content": [{"type": "text", "text": text}]}),
            ))
        });
        assert_eq!(hits.len(), 1);
        assert_eq!(hits[0].place.as_ref().unwrap().to_string(), "show_settings.region");
    }

    #[test]
    fn listed_values_are_tried_in_their_turn() {
        let schema = json!({"properties": {"region": {"enum": ["eu", "us"]}}});
        let mut room =
            TestTarget::of_tools(&[json!({"name": "sync_region", "inputSchema": schema})]);
        room.works("sync_region", Map::from_iter([("region".into(), json!("eu"))]), &answers("ok"));
        let hits = room.run_attack(&Secrets, |attempt| match args(attempt)["region"].as_str() {
            Some("us") => answers("could not connect to postgres://app:s3cr3tPw9@db.acme.io/x"),
            _ => answers("up to date"),
        });
        assert_eq!((hits.len(), hits[0].fault), (1, "error"));
    }

    #[test]
    fn echoes_and_placeholders_are_nothing() {
        let room = TestTarget::with_argument("check_key", "value", KEY);
        assert!(room.run_attack(&Secrets, |_| answers(&format!("you sent {KEY}"))).is_empty());
        let room = self::room();
        for text in
            ["GITHUB_TOKEN=<your-token>", "password: ********", "set API_KEY in the environment"]
        {
            assert!(room.run_attack(&Secrets, |_| answers(text)).is_empty(), "{text}");
        }
    }

    #[test]
    fn secrets_in_the_surface_need_no_call() {
        let room = TestTarget::of_tools(&[json!({"name": "t", "inputSchema": {"properties":
            {"token": {"type": "string", "default": KEY}}}})]);
        let hits = Secrets.inspect(&room.view());
        assert_eq!((hits.len(), hits[0].fault), (1, "surface"));
        let clean = TestTarget::of_tools(&[
            json!({"name": "t", "description": "Needs a token such as ghp_xxxxxxxx"}),
        ]);
        assert!(Secrets.inspect(&clean.view()).is_empty());
    }

    #[test]
    fn handing_out_secrets_can_be_the_purpose() {
        let room = TestTarget::with_argument("get_access_token", "scope", "read");
        let hits = room.run_attack(&Secrets, |_| answers(KEY));
        assert!(!hits.is_empty());
        assert!(hits.iter().all(|hit| hit.note.is_some() && hit.severity == Some(Severity::Info)));
    }
}
