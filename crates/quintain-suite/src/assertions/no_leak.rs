//! Personal data and secrets that a response must not contain.

use std::borrow::Cow;
use std::collections::BTreeSet;

use quintain_content::detect::{self, Confidence, Detector, Family};
use quintain_content::json_text;
use quintain_content::json_value;
use quintain_content::registry::Meta;
use quintain_evidence::evidence::Outcome;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::verdict::Verdict;
use quintain_source::{Diagnostic, unknown_word, wrong_type};
use regex::Regex;
use serde_json::Value;

use crate::check::{Assert, Builtin, Check, Scene, Spec, View};

pub(super) static NO_PII: Builtin = Builtin {
    meta: &Meta {
        id: "no-pii",
        aliases: &[],
        summary: "The response contains no personal data",
        docs: r#"# What it does
Searches the texts of the response for addresses, telephone numbers, payment cards, bank accounts, identity
numbers and similar data: content blocks, structured content, the message of an error, and the output after
transforms. `quintain list detectors` lists the detectors; `types` limits the search to some of them.

`allow` lists texts that are allowed; an entry that starts with `regex:` is a regular expression that must
match the whole text. `min-confidence` is `low`, `medium` (default) or `high`; with `low`, private addresses,
published test numbers and examples from documentation count as well.

`not-no-pii` passes only if the response contains personal data.

# Why it matters
Data that a server gives to a model can end up anywhere the model can write to.

# What counts as proof
The place in the response. Only a few characters of the text are shown.

# Example
```yaml
- type: no-pii
  types: [email, phone, payment-card]
  allow: [support@acme.io, "regex:.*@acme\\.io"]
  min-confidence: high
```
"#,
        since: "0.1.0",
    },
    compile: |spec| Some(Box::new(NoLeak::read(spec, Family::Pii, "personal data"))),
};

pub(super) static NO_SECRETS: Builtin = Builtin {
    meta: &Meta {
        id: "no-secrets",
        aliases: &[],
        summary: "The response contains no passwords, keys or tokens",
        docs: r#"# What it does
Searches the texts of the response for private keys, tokens, keys of known services, passwords in URLs and
values assigned to a password: content blocks, structured content, the message of an error, and the output
after transforms. Ignores placeholders. The options are those of `no-pii`.

`not-no-secrets` passes only if the response contains a secret.

# Why it matters
A secret in a response ends up in the context of a model, in logs and in transcripts.

# What counts as proof
The place in the response. Only a few characters of the secret are shown.

# Example
```yaml
- type: no-secrets
  allow: ["regex:sk_test_.*"]
```
"#,
        since: "0.1.0",
    },
    compile: |spec| Some(Box::new(NoLeak::read(spec, Family::Secret, "secrets"))),
};

/// Findings that a reason lists.
const SHOWN: usize = 3;
/// Maximum number of findings.
const MAX_FINDINGS: usize = 100;
/// Texts up to this length are searched together with their key, which may reveal what they are.
const WITH_KEY: usize = 4_096;

struct NoLeak {
    what: &'static str,
    detectors: Vec<&'static dyn Detector>,
    allowed: Vec<Allowed>,
    least: Confidence,
    negated: bool,
}

enum Allowed {
    Text(String),
    Pattern(Regex),
}

impl Allowed {
    fn covers(&self, text: &str) -> bool {
        match self {
            Self::Text(allowed) => allowed == text,
            Self::Pattern(pattern) => pattern.is_match(text),
        }
    }
}

/// Personal data or a secret in the response.
struct Finding {
    kind: &'static str,
    masked: String,
    /// JSON pointer into the last outcome, if the finding is in it.
    pointer: Option<String>,
}

impl Check for NoLeak {
    fn next(&self, scene: &Scene<'_>, _: &Rounds) -> Next<Verdict> {
        Next::Done(self.judge(scene))
    }

    /// Error messages can leak data too.
    fn wants_errors(&self) -> bool {
        true
    }
}

impl NoLeak {
    fn judge(&self, scene: &Scene<'_>) -> Verdict {
        let findings = self.findings(scene);
        if findings.is_empty() {
            return self.clean(scene);
        }
        let told = findings.iter().take(SHOWN).map(|finding| {
            let place = finding.pointer.as_deref().filter(|pointer| !pointer.is_empty());
            let place = place.map(|pointer| format!(" at {pointer}")).unwrap_or_default();
            format!("{} `{}`{place}", finding.kind, finding.masked)
        });
        let told = told.collect::<Vec<_>>().join(", ");
        let more = match findings.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let verdict = Verdict::of(self.negated, format!("the response contains {told}{more}"));
        let Some(last) = scene.evidence.exchanges.len().checked_sub(1) else { return verdict };
        let places: BTreeSet<&str> =
            findings.iter().map(|finding| finding.pointer.as_deref().unwrap_or_default()).collect();
        places.into_iter().take(SHOWN).fold(verdict, |verdict, at| verdict.proof(last, at))
    }
}

impl NoLeak {
    fn read(spec: &mut Spec<'_, '_>, family: Family, what: &'static str) -> Self {
        let of_family = || detect::all().iter().copied().filter(|d| d.family() == family);
        let detectors = match spec.fields.scalars("types", spec.dx) {
            None => of_family().collect(),
            Some(nodes) => {
                let mut detectors = Vec::new();
                for node in nodes {
                    let word = node.raw().unwrap_or_default();
                    let known = of_family().find(|detector| detector.meta().answers_to(word));
                    if let Some(detector) = known {
                        detectors.push(detector);
                    } else {
                        let words = of_family().map(|detector| detector.meta().id);
                        spec.dx.push(unknown_word("types", node, words));
                    }
                }
                detectors
            }
        };
        let mut allowed = Vec::new();
        for node in spec.fields.scalars("allow", spec.dx).unwrap_or_default() {
            let Some(text) = node.raw() else {
                wrong_type("allow", "text", node, spec.dx);
                continue;
            };
            match text.strip_prefix("regex:").map(|pattern| Regex::new(&format!("^(?:{pattern})$")))
            {
                None => allowed.push(Allowed::Text(text.to_owned())),
                Some(Ok(pattern)) => allowed.push(Allowed::Pattern(pattern)),
                Some(Err(error)) => {
                    let title = "invalid regular expression";
                    let diagnostic = Diagnostic::error("config::bad-pattern", title);
                    spec.dx.push(diagnostic.at(node.span, error.to_string()));
                }
            }
        }
        let least = spec.fields.choice("min-confidence", &Confidence::WORDS, spec.dx);
        let least = least.unwrap_or(Confidence::Medium);
        Self { what, detectors, allowed, least, negated: spec.negated }
    }

    /// The verdict if nothing was found; an error if there was nothing to search.
    fn clean(&self, scene: &Scene<'_>) -> Verdict {
        // A response that is an error must not pass, unless the test asserts errors.
        let about_errors = |assert: &Assert| {
            let own = ["no-pii", "no-secrets"].iter().any(|kind| assert.kind.ends_with(kind));
            assert.view == Some(View::Error) || (!own && assert.wants_errors())
        };
        if let Some(error) = &scene.response.error
            && !scene.test.asserts.iter().any(|assert| about_errors(assert))
        {
            return Verdict::error(error);
        }
        if scene.output.is_null() && scene.evidence.exchanges.is_empty() {
            return Verdict::error("there is no response to search");
        }
        Verdict::of(!self.negated, format!("the response contains no {}", self.what))
    }

    fn findings(&self, scene: &Scene<'_>) -> Vec<Finding> {
        let mut search = Search { check: self, seen: BTreeSet::new(), findings: Vec::new() };
        match scene.evidence.last().map(|exchange| &exchange.outcome) {
            Some(Outcome::Reply(result) | Outcome::ToolError(result)) => {
                search.value(result, Some(String::new()), None);
            }
            Some(Outcome::RpcError { message, data, .. }) => {
                search.text(message, Some("/message"), None);
                if let Some(data) = data {
                    search.value(data, Some("/data".to_owned()), None);
                }
            }
            Some(Outcome::Garbled { bytes, .. }) => {
                search.text(&String::from_utf8_lossy(bytes), None, None);
            }
            _ => {}
        }
        if let Some(error) = &scene.response.error {
            search.text(error, None, None);
        }
        // An output that is JSON text is parsed, so that values are searched with their keys.
        match scene.output {
            Value::String(text) => match json_text::parse(text) {
                Ok(data @ (Value::Array(_) | Value::Object(_))) => search.value(&data, None, None),
                _ => search.text(text, None, None),
            },
            other => search.value(other, None, None),
        }
        search.findings
    }
}

struct Search<'c> {
    check: &'c NoLeak,
    /// Findings so far, so that each is reported once.
    seen: BTreeSet<(&'static str, String)>,
    findings: Vec<Finding>,
}

impl Search<'_> {
    /// Searches every leaf. JSON from the wire has a limited depth.
    fn value(&mut self, value: &Value, pointer: Option<String>, key: Option<&str>) {
        let step = |name: &str| {
            let token = json_value::pointer_token(name);
            pointer.as_ref().map(|pointer| format!("{pointer}/{token}"))
        };
        match value {
            Value::String(text) => self.text(text, pointer.as_deref(), key),
            Value::Number(number) => self.text(&number.to_string(), pointer.as_deref(), key),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.value(item, step(&at.to_string()), key);
                }
            }
            Value::Object(entries) => {
                for (name, item) in entries {
                    // A key can be personal data too, such as an e-mail address.
                    self.text(name, step(name).as_deref(), None);
                    self.value(item, step(name), Some(name));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn text(&mut self, text: &str, pointer: Option<&str>, key: Option<&str>) {
        let key = key.filter(|_| text.len() <= WITH_KEY);
        let prefix = key.map(|key| format!("{key}: ")).unwrap_or_default();
        let whole = match prefix.as_str() {
            "" => Cow::Borrowed(text),
            prefix => Cow::Owned(format!("{prefix}{text}")),
        };
        for hit in detect::scan(&whole, &self.check.detectors) {
            let found = hit.text(&whole);
            let counts = hit.start >= prefix.len()
                && hit.confidence >= self.check.least
                && self.findings.len() < MAX_FINDINGS
                && !self.check.allowed.iter().any(|allowed| allowed.covers(found));
            if counts && self.seen.insert((hit.kind, found.to_owned())) {
                self.findings.push(Finding {
                    kind: hit.kind,
                    masked: hit.masked(&whole),
                    pointer: pointer.map(str::to_owned),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Outcome;
    use quintain_evidence::response::Response;
    use quintain_evidence::verdict::Status;
    use serde_json::json;

    use crate::suite::NoFiles;
    use crate::testing::{TestScene, called, compile_with, passes};

    fn answered(outcome: Outcome) -> TestScene {
        let mut stage = called("lookup", json!({}));
        stage.evidence.exchanges[0].outcome = outcome;
        stage.response = Response::of_mcp(&stage.evidence);
        stage
    }

    #[test]
    fn a_leak_is_proved_but_not_shown() {
        let stage = answered(Outcome::Reply(json!({
            "content": [{"type": "text", "text": "Ask ann.lee@acme.io"}],
            "structuredContent": {"user": {"ssn": 536_228_726, "mail": "ann.lee@acme.io"}},
        })));
        let verdict = stage.judge("[{type: no-pii}]");
        assert_eq!(
            verdict.reason,
            "the response contains email `ann… (15 characters)` at /content/0/text, us-ssn `53… (9 \
             characters)` at /structuredContent/user/ssn"
        );
        let places: Vec<&str> = verdict.proofs.iter().map(|proof| proof.pointer.as_str()).collect();
        assert_eq!(places, ["/content/0/text", "/structuredContent/user/ssn"]);
        assert!(stage.judge("[{type: not-no-pii}]").passed());
        assert!(stage.judge("[{type: no-secrets}]").passed());
    }

    #[test]
    fn the_key_tells_what_a_value_is() {
        let stage = answered(Outcome::Reply(json!({"content": [], "structuredContent":
            {"db_password": "hunter2!x", "note": "hunter2!x"}})));
        let verdict = stage.judge("[{type: no-secrets}]");
        assert_eq!(
            verdict.reason,
            "the response contains assigned-secret `hu… (9 characters)` at /structuredContent/db_password"
        );
    }

    #[test]
    fn options_limit_what_counts() {
        let text = "ann@acme.io, +14155552671, 192.168.1.10";
        for (options, pass) in [
            ("", false),
            (", types: [payment-card]", true),
            (", types: [phone]", false),
            (", allow: [ann@acme.io, '+14155552671']", true),
            (", allow: ['regex:.*@acme\\.io', 'regex:\\+1.*']", true),
            (", allow: ['regex:.*@acme']", false),
            (", min-confidence: high, types: [phone]", true),
            (", types: [ip-address]", true),
            (", types: [ip-address], min-confidence: low", false),
        ] {
            assert_eq!(passes(&format!("[{{type: no-pii{options}}}]"), text), pass, "{options}");
        }
    }

    #[test]
    fn errors_are_looked_at_and_stay_errors() {
        let leak = "postgres://app:s3cr3tPw9@db.acme.io/x refused";
        let rpc = |message: &str| Outcome::RpcError {
            code: -32000,
            message: message.to_owned(),
            data: None,
        };
        let verdict = answered(rpc(leak)).judge("[{type: no-secrets}]");
        assert_eq!(verdict.status, Status::Fail);
        assert_eq!(verdict.proofs[0].pointer, "/message");
        for kind in ["no-secrets", "not-no-secrets", "no-pii"] {
            let verdict = answered(rpc("refused")).judge(&format!("[{{type: {kind}}}]"));
            assert_eq!(verdict.status, Status::Error, "{kind}");
            let verdict = TestScene::default().judge(&format!("[{{type: {kind}}}]"));
            assert_eq!(verdict.status, Status::Error, "{kind}");
        }
        let texts = json!({"isError": true, "content": [{"type": "text", "text": leak}]});
        assert!(!answered(Outcome::ToolError(texts)).judge("[{type: no-secrets}]").passed());
    }

    #[test]
    fn wrong_options_are_reported_together() {
        let yaml =
            "[{type: no-pii, types: [emial, jwt], allow: ['regex:('], min-confidence: sure}]";
        let (_, told) = compile_with(yaml, &NoFiles);
        for part in ["emial", "jwt", "invalid regular expression", "sure"] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }
}
