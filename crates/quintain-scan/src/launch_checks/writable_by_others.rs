//! Programs and configurations that other users of the machine can modify.

use std::path::{Path, PathBuf};

use quintain_content::registry::Meta;
use quintain_evidence::connection::Launch;
use quintain_evidence::finding::Severity;
use quintain_evidence::weakness::Weakness;

use super::program::written;
use super::{Concern, LaunchCheck, Scene};

pub(super) static WRITABLE_BY_OTHERS: LaunchCheck = LaunchCheck { meta: Meta {
    id: "writable-by-others",
    aliases: &[],
    summary: "Other users can modify the program or its configuration",
    docs: "\
# What it does
Checks whether every user can write the configuration, the program, scripts in the arguments or the working directory of a server,
or a folder above them. Not checked on Windows.

# Why it matters
Any other user, and any confined service on the machine, can run code as the user of the client the next time it starts.

# What counts as proof
The permission bits of the file or of a folder above it; sticky folders such as `/tmp` do not count for the files in them.

# Example
```json
{\"mcpServers\": {\"notes\": {\"command\": \"/open/notes-server\"}}}
```

# References
- CWE-732, OWASP MCP04
",
    since: "0.1.0",
}, weakness: Weakness { severity: Severity::High, cwe: &[732], frameworks: &["MCP04", "ASI04"] }, look };

fn look(scene: &Scene<'_>) -> Vec<Concern> {
    let mut found: Vec<Concern> = Vec::new();
    for (part, path) in paths(scene) {
        let Some(open) = scene.machine.open_to_all(&path) else { continue };
        let what = if open == path {
            format!("every user can write `{}`", path.display())
        } else {
            format!(
                "every user can write `{}`, which contains `{}`",
                open.display(),
                path.display()
            )
        };
        let title = if part == "file" {
            "Other users can modify the configuration"
        } else {
            "Other users can modify the program"
        };
        let help = format!("remove the permission: `chmod o-w {}`", open.display());
        found.push(Concern::new(part, title, what).help(help));
    }
    found
}

/// The paths that decide what runs, with the parts that name them.
fn paths(scene: &Scene<'_>) -> Vec<(String, PathBuf)> {
    let mut found = vec![("file".to_owned(), scene.config.path.clone())];
    let Launch::Command { cwd, .. } = scene.launch else { return found };
    let base = cwd.as_deref().filter(|cwd| cwd.is_absolute());
    for (at, word) in written(scene.launch).into_iter().enumerate() {
        let path = Path::new(&word.text);
        let has_folder = word.text.contains('/');
        let full = match base {
            _ if path.is_absolute() => Some(path.to_owned()),
            Some(base) if has_folder || is_script(path) => Some(base.join(path)),
            None if at == 0 && !has_folder => scene.machine.program(&word.text),
            _ => None,
        };
        // Data files may be writable; programs and scripts must not be.
        let runs = at == 0 || is_script(path);
        found.extend(full.filter(|_| runs).map(|full| (word.part, full)));
    }
    found.extend(base.map(|base| ("cwd".to_owned(), base.to_owned())));
    found
}

fn is_script(path: &Path) -> bool {
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    ["js", "mjs", "cjs", "ts", "py", "sh", "rb", "jar", "pl", "php", "exe", "bin"].contains(&suffix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_checks::testing::{look, parts};

    #[test]
    fn programs_scripts_and_folders_are_looked_at() {
        let check = &WRITABLE_BY_OTHERS;
        assert_eq!(parts(check, "/open/server"), ["command"]);
        assert_eq!(parts(check, "loose"), ["command"]);
        assert_eq!(parts(check, "node /open/server.js"), ["args[0]"]);
        let entry = r#"{"command": "node", "args": ["server.js"], "cwd": "/open/x"}"#;
        let found: Vec<String> = look(check, entry).into_iter().map(|c| c.part).collect();
        assert_eq!(found, ["args[0]", "cwd"]);
    }

    #[test]
    fn data_is_not() {
        for line in ["node /srv/server.js /open/data", "server", "node server.js"] {
            assert_eq!(parts(&WRITABLE_BY_OTHERS, line), [""; 0], "{line}");
        }
    }
}
