//! Environment variables that load extra code into a program.

use quintain_content::registry::Meta;
use quintain_evidence::connection::Launch;
use quintain_evidence::finding::Severity;
use quintain_evidence::weakness::Weakness;
use secrecy::ExposeSecret;

use super::{Concern, LaunchCheck, Scene};

pub(super) static PRELOADED_CODE: LaunchCheck = LaunchCheck { meta: Meta {
    id: "preloaded-code",
    aliases: &[],
    summary: "An environment variable loads extra code into the server",
    docs: "\
# What it does
Looks for variables that make a loader, an interpreter or a shell run other code first: `LD_PRELOAD`, `DYLD_INSERT_LIBRARIES`,
`NODE_OPTIONS` with `--require` or `--import`, `PYTHONSTARTUP`, `BASH_ENV`, `PERL5OPT`, `RUBYOPT`, `JAVA_TOOL_OPTIONS` with an
agent, `GIT_SSH_COMMAND`.

# Why it matters
Clients show the command when they ask for consent, but hide the environment. With one of these variables, a harmless-looking
command can run arbitrary code.

# What counts as proof
The variable is set, and its value names code.

# Example
```json
{\"mcpServers\": {\"notes\": {\"command\": \"node\", \"args\": [\"/srv/notes.js\"], \"env\": {\"NODE_OPTIONS\": \"--require /tmp/x.js\"}}}}
```

# References
- CWE-426, CWE-427, OWASP MCP05
",
    since: "0.1.0",
}, weakness: Weakness {
    severity: Severity::High,
    cwe: &[426, 427],
    frameworks: &["MCP05", "MCP04", "ASI05"],
}, look };

/// Variables, and what their value must contain to load code; empty if any value does.
const VARIABLES: [(&str, &[&str]); 13] = [
    ("LD_PRELOAD", &[]),
    ("LD_AUDIT", &[]),
    ("DYLD_INSERT_LIBRARIES", &[]),
    ("NODE_OPTIONS", &["--require", "-r ", "--import", "--loader", "--experimental-loader"]),
    ("BUN_OPTIONS", &["--preload", "--require", "-r "]),
    ("PYTHONSTARTUP", &[]),
    ("BASH_ENV", &[]),
    ("PERL5OPT", &[]),
    ("RUBYOPT", &["-r"]),
    ("JAVA_TOOL_OPTIONS", &["-javaagent", "-agentpath", "-agentlib"]),
    ("_JAVA_OPTIONS", &["-javaagent", "-agentpath", "-agentlib"]),
    ("GIT_SSH_COMMAND", &[]),
    ("GIT_EXTERNAL_DIFF", &[]),
];

fn look(scene: &Scene<'_>) -> Vec<Concern> {
    let Launch::Command { env, .. } = scene.launch else { return Vec::new() };
    let mut found = Vec::new();
    for (name, value) in env {
        let value = value.expose_secret().trim();
        let brings = |(known, signs): &(&str, &[&str])| {
            name.eq_ignore_ascii_case(known)
                && !value.is_empty()
                && (signs.is_empty() || signs.iter().any(|sign| value.contains(sign)))
        };
        if VARIABLES.iter().any(brings) {
            let title = "An environment variable loads extra code into the server";
            let what = format!("`{name}` preloads code");
            let concern = Concern::new(format!("env.{name}"), title, what);
            found.push(concern.help("review the value and remove it"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_checks::testing::look;

    fn told(name: &str, value: &str) -> bool {
        let entry = serde_json::json!({"command": "node", "env": {name: value}});
        !look(&PRELOADED_CODE, &entry.to_string()).is_empty()
    }

    #[test]
    fn variables_that_bring_code_are_told() {
        assert!(told("LD_PRELOAD", "/tmp/x.so"));
        assert!(told("NODE_OPTIONS", "--max-old-space-size=64 --import=/tmp/x.mjs"));
        assert!(told("BASH_ENV", "/tmp/x"));
        assert!(told("JAVA_TOOL_OPTIONS", "-javaagent:/tmp/x.jar"));
    }

    #[test]
    fn settings_are_not() {
        assert!(!told("NODE_OPTIONS", "--max-old-space-size=4096"));
        assert!(!told("LD_PRELOAD", ""));
        assert!(!told("JAVA_TOOL_OPTIONS", "-Xmx1g"));
        assert!(!told("NODE_ENV", "production"));
    }
}
