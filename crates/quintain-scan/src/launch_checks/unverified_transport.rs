//! Flags and variables that disable TLS verification.

use quintain_content::registry::Meta;
use quintain_evidence::connection::Launch;
use quintain_evidence::finding::Severity;
use quintain_evidence::weakness::Weakness;
use secrecy::ExposeSecret;

use super::plain_http::is_proxy;
use super::program::effective;
use super::{Concern, LaunchCheck, Scene};

pub(super) static UNVERIFIED_TRANSPORT: LaunchCheck = LaunchCheck { meta: Meta {
    id: "unverified-transport",
    aliases: &["insecure-proxy"],
    summary: "TLS verification is disabled",
    docs: "\
# What it does
Reports proxies to remote servers that are started with `--allow-http` or similar, and flags and variables that disable the verification of
certificates: `--insecure`, `NODE_TLS_REJECT_UNAUTHORIZED=0`, `--allow-insecure-host`.

# Why it matters
Without verification, anyone on the network path can impersonate the server, or the registry that packages come from.

# What counts as proof
The flag or the variable is set.

# Example
```json
{\"mcpServers\": {\"crm\": {\"command\": \"npx\", \"args\": [\"-y\", \"mcp-remote@0.1.29\", \"https://mcp.example.com\", \"--allow-http\"]}}}
```

# References
- CWE-295, CWE-319, OWASP MCP07
",
    since: "0.1.0",
}, weakness: Weakness { severity: Severity::Medium, cwe: &[295, 319], frameworks: &["MCP07", "ASI04"] }, look };

const FLAGS: [&str; 6] = [
    "--insecure",
    "--allow-insecure-host",
    "--trusted-host",
    "--no-check-certificate",
    "--no-verify-ssl",
    "--skip-tls-verify",
];
const VARIABLES: [(&str, &[&str]); 4] = [
    ("NODE_TLS_REJECT_UNAUTHORIZED", &["0"]),
    ("PYTHONHTTPSVERIFY", &["0"]),
    ("GIT_SSL_NO_VERIFY", &["1", "true"]),
    ("NPM_CONFIG_STRICT_SSL", &["false"]),
];

fn look(scene: &Scene<'_>) -> Vec<Concern> {
    let Launch::Command { env, .. } = scene.launch else { return Vec::new() };
    let mut found = Vec::new();
    let proxy = is_proxy(scene.launch);
    for word in effective(scene.launch) {
        let flag = word.text.split('=').next().unwrap_or_default();
        if proxy && flag == "--allow-http" {
            let what = "`--allow-http` lets the proxy send data without encryption";
            let title = "The proxy accepts unencrypted URLs";
            found.push(Concern::new(word.part, title, what).help("remove the flag"));
        } else if FLAGS.contains(&flag) {
            found.push(unverified(&word.part, &format!("`{flag}`")));
        }
    }
    for (name, value) in env {
        let value = value.expose_secret().to_ascii_lowercase();
        let off = VARIABLES
            .iter()
            .any(|(known, off)| name.eq_ignore_ascii_case(known) && off.contains(&value.as_str()));
        if off {
            let part = format!("env.{name}");
            found.push(unverified(&part, &format!("`{name}={value}`")));
        }
    }
    found
}

fn unverified(part: &str, by: &str) -> Concern {
    Concern::new(part, "TLS verification is disabled", format!("{by} disables verification")).help(
        "add the missing certificate to the trust store, for example with `NODE_EXTRA_CA_CERTS`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_checks::testing::{look, parts};

    #[test]
    fn flags_and_variables_are_told() {
        let check = &UNVERIFIED_TRANSPORT;
        assert_eq!(parts(check, "npx mcp-remote https://x --allow-http"), ["args[2]"]);
        assert_eq!(parts(check, "uvx --allow-insecure-host pypi.org x==1.0.0"), ["args[0]"]);
        let env = r#"{"command": "node", "env": {"NODE_TLS_REJECT_UNAUTHORIZED": "0"}}"#;
        assert_eq!(look(check, env)[0].part, "env.NODE_TLS_REJECT_UNAUTHORIZED");
    }

    #[test]
    fn others_may_have_the_same_words() {
        let check = &UNVERIFIED_TRANSPORT;
        assert_eq!(parts(check, "node server.js --allow-http"), [""; 0]);
        let env = r#"{"command": "node", "env": {"NODE_TLS_REJECT_UNAUTHORIZED": "1"}}"#;
        assert_eq!(look(check, env), []);
    }
}
