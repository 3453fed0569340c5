//! Shells that start the server for the client.

use quintain_content::registry::Meta;
use quintain_evidence::finding::Severity;
use quintain_evidence::weakness::Weakness;

use super::program::{base, shell, written};
use super::{Concern, LaunchCheck, Scene};

pub(super) static SHELL_WRAPPER: LaunchCheck = LaunchCheck { meta: Meta {
    id: "shell-wrapper",
    aliases: &[],
    summary: "The server is started by a shell",
    docs: "\
# What it does
Reports commands that are a shell with a script: `sh -c`, `bash -lc`, `cmd /c`, `powershell -Command`. A script in base64 has high
severity; `cmd /c npx` is informational, because Windows requires it.

# Why it matters
What a shell runs depends on quotes, profiles and variables, and consent dialogs show the shell instead of the server.

# What counts as proof
The command is a shell and has an option that takes a script.

# Example
```json
{\"mcpServers\": {\"notes\": {\"command\": \"sh\", \"args\": [\"-c\", \"cd /srv && node server.js\"]}}}
```

# References
- CWE-78, OWASP MCP05
",
    since: "0.1.0",
}, weakness: Weakness { severity: Severity::Low, cwe: &[78], frameworks: &["MCP05"] }, look };

fn look(scene: &Scene<'_>) -> Vec<Concern> {
    let words = written(scene.launch);
    let Some(shell) = shell(&words) else { return Vec::new() };
    let script = &words[shell.script];
    let name = &shell.name;
    let concern = Concern::new(
        script.part.as_str(),
        "A shell starts the server",
        format!("the client starts `{name}`, which runs the server"),
    )
    .help("set `command` to the program, `args` to its arguments and `cwd` to its folder");
    if shell.encoded {
        let mut hidden = concern.severity(Severity::High);
        "A shell runs an encoded script that hides the command".clone_into(&mut hidden.title);
        return vec![hidden];
    }
    let runner = matches!(base(&script.text).as_str(), "npx" | "uvx" | "npm" | "pnpm" | "bunx");
    if name == "cmd" && runner {
        return vec![concern.severity(Severity::Info)];
    }
    vec![concern]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_checks::testing::{look, parts};

    #[test]
    fn shells_with_scripts_are_told() {
        for line in
            ["sh -c x", "/bin/bash -lc x", "cmd.exe /c x", "pwsh -Command x", "powershell -c x"]
        {
            assert_eq!(parts(&SHELL_WRAPPER, line), ["args[1]"], "{line}");
        }
        let severity = |entry: &str| look(&SHELL_WRAPPER, entry)[0].severity;
        assert_eq!(
            severity(r#"{"command": "cmd", "args": ["/c", "npx", "a"]}"#),
            Some(Severity::Info)
        );
        assert_eq!(
            severity(r#"{"command": "pwsh", "args": ["-enc", "AAAA"]}"#),
            Some(Severity::High)
        );
    }

    #[test]
    fn scripts_on_the_disk_and_other_programs_are_not() {
        for line in ["bash server.sh", "node -c x", "sh -c", "shell -c x"] {
            assert_eq!(parts(&SHELL_WRAPPER, line), [""; 0], "{line}");
        }
    }
}
