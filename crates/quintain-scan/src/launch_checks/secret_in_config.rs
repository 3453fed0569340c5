//! Plaintext credentials in a configuration.

use quintain_content::detect::{self, Confidence, Detector, Family, Hit};
use quintain_content::registry::Meta;
use quintain_evidence::connection::Launch;
use quintain_evidence::finding::Severity;
use quintain_evidence::weakness::Weakness;
use secrecy::{ExposeSecret, SecretString};

use super::program::written;
use super::{Concern, LaunchCheck, Scene};
use crate::clients::without_references;
use quintain_content::secret::names_a_secret;

pub(super) static SECRET_IN_CONFIG: LaunchCheck = LaunchCheck { meta: Meta {
    id: "secret-in-config",
    aliases: &["literal-secret"],
    summary: "The configuration contains a plaintext credential",
    docs: "\
# What it does
Looks for credentials in the environment, arguments, headers and URL of a server: by their format (vendor keys, tokens, private
keys), and by the names of their variables, headers and options. References such as `${env:X}`, `${input:x}`, `$X` and `{{env.X}}` are
the recommended form.

# Why it matters
Configurations are copied, committed, synchronised, and readable by every program of the user, including other servers. Arguments
are visible to every user of the machine with `ps`.

# What counts as proof
A value with the format of a key, or random text in a variable with the name of a secret, is confirmed; shorter values are
suspected. Reports show values masked.

# Example
```json
{\"mcpServers\": {\"git\": {\"command\": \"git-server\", \"env\": {\"GIT_TOKEN\": \"kX9vQ2mL7pR4tZ8wB3nC\"}}}}
```

# References
- CWE-798, CWE-312, OWASP MCP01
",
    since: "0.1.0",
}, weakness: Weakness {
    severity: Severity::High,
    cwe: &[798, 312],
    frameworks: &["MCP01", "ASI03", "LLM02"],
}, look };

/// A plaintext credential.
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

fn look(scene: &Scene<'_>) -> Vec<Concern> {
    let mut found: Vec<Concern> = Vec::new();
    for literal in literals(scene.launch) {
        // One finding per part: fixing it replaces the whole value.
        if found.iter().any(|concern| concern.part == literal.part) {
            continue;
        }
        let Literal { part, kind, masked, confidence, .. } = literal;
        let what = format!("{masked} ({kind})");
        let help = match part.split('.').next().unwrap_or_default() {
            "env" | "headers" => {
                "store it in the environment or a keyring, and use a reference such as `${env:NAME}` or `${input:name}`"
            }
            "url" => "send it in a header, and use a reference instead of the value",
            _ => "pass it in the environment; every user of the machine can see arguments",
        };
        let concern = Concern::new(part, "The configuration contains a plaintext credential", what);
        let concern = concern.help(help);
        found.push(if confidence == Confidence::High {
            concern
        } else {
            concern.suspected().severity(Severity::Medium)
        });
    }
    found
}

/// The credentials that a launch contains, so that callers can mask them.
pub fn literals(launch: &Launch) -> Vec<Literal> {
    let mut found = Vec::new();
    match launch {
        Launch::Command { env, .. } | Launch::Path { env, .. } => {
            for (name, value) in env {
                found.extend(named(&format!("env.{name}"), name, value.expose_secret()));
            }
        }
        Launch::Url { url, headers, .. } => {
            found.extend(plain("url", url));
            for (name, value) in headers {
                found.extend(named(&format!("headers.{name}"), name, value.expose_secret()));
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
        found.extend(match (option, header) {
            _ if word.text.starts_with('-') => plain(&word.part, &word.text),
            (_, Some((name, value))) => named(&word.part, name, value),
            (Some(name), None) if names_a_secret(name) => named(&word.part, name, &word.text),
            _ => plain(&word.part, &word.text),
        });
    }
    found
}

/// Values whose name marks them as secrets.
fn named(part: &str, name: &str, value: &str) -> Vec<Literal> {
    let found = plain(part, value);
    let lower = name.to_ascii_lowercase();
    let leads_to_one = ["public", "file", "path"].iter().any(|word| lower.contains(word));
    if !found.is_empty() || leads_to_one || !names_a_secret(name) {
        return found;
    }
    let value = value.trim();
    let credential = ["Bearer ", "Basic ", "token ", "Token ", "ApiKey "]
        .iter()
        .find_map(|scheme| value.strip_prefix(scheme));
    let value = without_references(credential.unwrap_or(value));
    let value = value.trim();
    // Chosen passwords are short; names such as `AUTH_MODE` only select how to log in.
    let chosen = ["pass", "pwd", "secret", "token", "key", "credential"]
        .iter()
        .any(|word| lower.contains(word))
        || credential.is_some();
    let told = format!("{}={value}", if chosen { "password" } else { "secret" });
    let whole = |hit: Hit| Hit { start: told.len() - value.len(), end: told.len(), ..hit };
    let hit = scan(&told).into_iter().max_by_key(|hit| hit.confidence);
    hit.map(|hit| literal(part, &told, whole(hit))).into_iter().collect()
}

/// Values with the format of a credential.
fn plain(part: &str, text: &str) -> Vec<Literal> {
    let text = without_references(text);
    scan(&text).into_iter().map(|hit| literal(part, &text, hit)).collect()
}

fn scan(text: &str) -> Vec<Hit> {
    let detectors: Vec<&'static dyn Detector> = detect::all()
        .iter()
        .copied()
        .filter(|detector| detector.family() == Family::Secret)
        .collect();
    let mut hits = detect::scan(text, &detectors);
    hits.retain(|hit| hit.confidence > Confidence::Low);
    hits
}

fn literal(part: &str, text: &str, hit: Hit) -> Literal {
    Literal {
        part: part.to_owned(),
        value: hit.text(text).into(),
        kind: hit.kind,
        masked: hit.masked(text),
        confidence: hit.confidence,
    }
}

/// The launch as it can be shown: `***` for every credential in its command, arguments and address.
/// Values of variables and headers stay; do not print them.
pub fn masked(launch: &Launch) -> Launch {
    let mut literals = literals(launch);
    // One credential may contain another.
    literals.sort_by_key(|literal| std::cmp::Reverse(literal.value.expose_secret().len()));
    let mask = |text: &mut String| {
        for literal in &literals {
            *text = text.replace(literal.value.expose_secret(), "***");
        }
    };
    let mut shown = launch.clone();
    match &mut shown {
        Launch::Command { command, args, .. } => {
            mask(command);
            args.iter_mut().for_each(mask);
        }
        Launch::Url { url, .. } => mask(url),
        Launch::Path { args, .. } => args.iter_mut().for_each(mask),
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_checks::testing::{look, parts};

    const RANDOM: &str = "kX9vQ2mL7pR4tZ8wB3nC";

    fn found(entry: &str) -> Vec<String> {
        look(&SECRET_IN_CONFIG, entry).into_iter().map(|concern| concern.part).collect()
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
        let check = &SECRET_IN_CONFIG;
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
    fn every_credential_of_a_launch_is_masked() {
        let other = "B7mQx4Zt9KpL2vWn8RcY";
        let line = format!(
            "x --token {RANDOM} 'api_key={other}&secret={RANDOM}{other}' https://u:findings@h"
        );
        let shown = format!("{:?}", masked(&crate::launch_checks::testing::launch(&line)));
        assert!(shown.contains("https://u:***@h"), "{shown}");
        assert!(!shown.contains(RANDOM) && !shown.contains(other), "{shown}");
    }

    #[test]
    fn the_value_is_not_shown() {
        let entry = format!(r#"{{"command": "x", "env": {{"MY_KEY": "{RANDOM}"}}}}"#);
        let told = format!("{:?}", look(&SECRET_IN_CONFIG, &entry));
        assert!(!told.contains(RANDOM), "{told}");
        assert!(told.contains("kX9v… (20 characters)"), "{told}");
    }
}
