//! Credentials that are written out in a configuration.

use secrecy::{ExposeSecret, SecretString};

use super::program::written;
use super::{Concern, LaunchCheck, Scene};
use crate::attack::Facts;
use crate::clients::without_references;
use crate::detect::{self, Confidence, Detector, Family, Hit};
use crate::finding::Severity;
use crate::registry::Meta;
use crate::suite::{Launch, names_a_secret};

pub(super) struct SecretInConfig;

static META: Meta = Meta {
    id: "secret-in-config",
    aliases: &["literal-secret"],
    summary: "A credential is written out in the configuration",
    docs: "\
# What it does
Looks for credentials in the environment, the arguments, the headers and the address of a server: by their form (keys of many vendors, tokens, private keys),
and by the names that they are assigned to. References such as `${env:X}`, `${input:x}`, `$X` and `{{env.X}}` are what should stand there.

# Why it matters
Configurations are copied, committed, synchronised and read by every program of the user, the other servers among them. Arguments are shown to every
user of the machine by `ps`.

# What counts as proof
A value with the form of a key, or a random text below a name that says so, is certain; a shorter one is suspected. The value itself is never shown.

# Example
```json
{\"mcpServers\": {\"git\": {\"command\": \"git-server\", \"env\": {\"GIT_TOKEN\": \"kX9vQ2mL7pR4tZ8wB3nC\"}}}}
```

# References
- CWE-798, CWE-312, OWASP MCP01
",
    since: "0.1.0",
};

static FACTS: Facts = Facts {
    severity: Severity::High,
    cwe: &[798, 312],
    frameworks: &["MCP01", "ASI03", "LLM02"],
    needs: &[],
};

/// A credential that is written out.
pub struct Literal {
    /// Where: `env.TOKEN`, `args[2]`, `headers.Authorization`, `url`.
    pub part: String,
    pub value: SecretString,
    /// The id of the detector.
    pub kind: &'static str,
    /// The value in a form that can be shown.
    masked: String,
    confidence: Confidence,
}

impl LaunchCheck for SecretInConfig {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn look(&self, scene: &Scene<'_>) -> Vec<Concern> {
        let mut found: Vec<Concern> = Vec::new();
        for literal in literals(scene.launch) {
            let Literal { part, kind, masked, confidence, .. } = literal;
            let what = format!("{masked} ({kind})");
            let help = match part.split('.').next().unwrap_or_default() {
                "env" | "headers" => {
                    "keep it in the environment or a keyring, and write a reference such as `${env:NAME}` or `${input:name}`"
                }
                "url" => "send it in a header, and write a reference instead of the value",
                _ => "hand it over in the environment; every user of the machine can see arguments",
            };
            let concern = Concern::new(part, "A credential is written in the configuration", what);
            let concern = concern.help(help);
            found.push(if confidence == Confidence::High {
                concern
            } else {
                concern.suspected().severity(Severity::Medium)
            });
        }
        found
    }
}

/// The credentials that a launch holds, for those who must not show them.
pub fn literals(launch: &Launch) -> Vec<Literal> {
    let mut found = Vec::new();
    match launch {
        Launch::Command { env, .. } | Launch::Path { env, .. } => {
            for (name, value) in env {
                found.extend(named(format!("env.{name}"), name, value.expose_secret()));
            }
        }
        Launch::Url { url, headers, .. } => {
            found.extend(plain("url".to_owned(), url));
            for (name, value) in headers {
                found.extend(named(format!("headers.{name}"), name, value.expose_secret()));
            }
        }
    }
    let words = written(launch);
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| words[at].text.as_str());
        // `--token VALUE`; `--token=VALUE` and `NAME=VALUE` are found by their form.
        let option = before.filter(|name| name.starts_with('-') && !name.contains('='));
        let header = word.text.split_once(':').filter(|(name, _)| {
            names_a_secret(name) && !name.contains(['/', '=', ' ']) && name.len() < 64
        });
        let own = match (option, header) {
            _ if word.text.starts_with('-') => None,
            (_, Some((name, value))) => named(word.part.clone(), name, value),
            (Some(name), None) if names_a_secret(name) => {
                named(word.part.clone(), name, &word.text)
            }
            _ => None,
        };
        found.extend(own.or_else(|| plain(word.part.clone(), &word.text)));
    }
    found
}

/// A value whose name tells what it is.
fn named(part: String, name: &str, value: &str) -> Option<Literal> {
    if let Some(found) = plain(part.clone(), value) {
        return Some(found);
    }
    let lower = name.to_ascii_lowercase();
    if !names_a_secret(name) || ["public", "file", "path"].iter().any(|word| lower.contains(word)) {
        return None;
    }
    let value = value.trim();
    let credential = ["Bearer ", "Basic ", "token ", "Token ", "ApiKey "]
        .iter()
        .find_map(|scheme| value.strip_prefix(scheme));
    let value = without_references(credential.unwrap_or(value));
    let value = value.trim();
    // What people choose is short; what only says how to log in (`AUTH_MODE`) is not meant.
    let chosen = ["pass", "pwd", "secret", "token", "key", "credential"]
        .iter()
        .any(|word| lower.contains(word))
        || credential.is_some();
    let told = format!("{}={value}", if chosen { "password" } else { "secret" });
    let whole = |hit: &Hit| Hit { start: told.len() - value.len(), end: told.len(), ..*hit };
    strongest(&told).map(|hit| literal(part, &told, &whole(&hit)))
}

/// A value that has the form of a credential, or holds one.
fn plain(part: String, text: &str) -> Option<Literal> {
    let text = without_references(text);
    strongest(&text).map(|hit| literal(part, &text, &hit))
}

fn strongest(text: &str) -> Option<Hit> {
    let detectors: Vec<&'static dyn Detector> = detect::all()
        .iter()
        .copied()
        .filter(|detector| detector.family() == Family::Secret)
        .collect();
    let hits = detect::scan(text, &detectors);
    let hits = hits.into_iter().filter(|hit| hit.confidence > Confidence::Low);
    hits.max_by_key(|hit| hit.confidence)
}

fn literal(part: String, text: &str, hit: &Hit) -> Literal {
    Literal {
        part,
        value: hit.text(text).into(),
        kind: hit.kind,
        masked: hit.masked(text),
        confidence: hit.confidence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_checks::testing::{look, parts};

    const RANDOM: &str = "kX9vQ2mL7pR4tZ8wB3nC";

    fn found(entry: &str) -> Vec<String> {
        look(&SecretInConfig, entry).into_iter().map(|concern| concern.part).collect()
    }

    #[test]
    fn credentials_are_found_wherever_they_stand() {
        let env = format!(r#"{{"command": "x", "env": {{"MY_KEY": "{RANDOM}", "B": "c"}}}}"#);
        assert_eq!(found(&env), ["env.MY_KEY"]);
        let header =
            format!(r#"{{"url": "https://x", "headers": {{"Authorization": "Bearer {RANDOM}"}}}}"#);
        assert_eq!(found(&header), ["headers.Authorization"]);
        let url = format!(r#"{{"url": "https://x/mcp?api_key={RANDOM}"}}"#);
        assert_eq!(found(&url), ["url"]);
        assert_eq!(found(r#"{"url": "https://me:s3cr3t-horse@x/mcp"}"#), ["url"]);
        let check = &SecretInConfig;
        assert_eq!(parts(check, &format!("x --api-key {RANDOM}")), ["args[1]"]);
        assert_eq!(parts(check, &format!("x --token={RANDOM}")), ["args[0]"]);
        assert_eq!(parts(check, &format!("docker run -e TOKEN={RANDOM} a")), ["args[2]"]);
        assert_eq!(
            parts(
                check,
                &format!("npx mcp-remote https://x --header 'Authorization: Bearer {RANDOM}'")
            ),
            ["args[3]"]
        );
    }

    #[test]
    fn references_placeholders_and_settings_are_fine() {
        for value in [
            "${env:TOKEN}",
            "${TOKEN}",
            "$TOKEN",
            "${input:token}",
            "{{env.TOKEN}}",
            "{env:TOKEN}",
            "<your-token>",
            "YOUR_API_KEY",
            "",
            "true",
            "oauth",
            "/run/secrets/token",
            "4096",
            "Bearer ${TOKEN}",
            "xxxxxxxxxxxxxxxx",
            "%TOKEN%",
            "client_credentials",
        ] {
            let entry = serde_json::json!({"command": "x", "env": {"API_TOKEN": value}});
            assert_eq!(found(&entry.to_string()), [""; 0], "{value}");
        }
        let entry = r#"{"command": "x", "env": {"AUTH_MODE": "oauth2-pkce", "MAX_TOKENS": "128000", "PUBLIC_KEY_URL": "https://x/y"}}"#;
        assert_eq!(found(entry), [""; 0]);
    }

    #[test]
    fn the_value_is_not_shown() {
        let entry = format!(r#"{{"command": "x", "env": {{"MY_KEY": "{RANDOM}"}}}}"#);
        let told = format!("{:?}", look(&SecretInConfig, &entry));
        assert!(!told.contains(RANDOM), "{told}");
        assert!(told.contains("kX9v… (20 characters)"), "{told}");
    }
}
