//! Packages without an exact version.

use quintain_content::registry::Meta;
use quintain_evidence::finding::Severity;
use quintain_evidence::weakness::Weakness;

use super::program::{Package, Source, packages};
use super::{Concern, LaunchCheck, Scene};
use crate::clients::is_reference;

pub(super) static UNPINNED_PACKAGE: LaunchCheck = LaunchCheck { meta: Meta {
    id: "unpinned-package",
    aliases: &[],
    summary: "The package version is not pinned",
    docs: "\
# What it does
Checks servers that `npx`, `uvx`, `pipx`, `docker run` and similar programs fetch at start, and reports those without an exact
version: no version, `latest`, a range, a branch.

# Why it matters
An attacker who takes over the package or its maintainer's account runs code on this machine the next time the client starts. Nobody
reviews the change.

# What counts as proof
The package is named without an exact version, digest or commit.

# Example
```json
{\"mcpServers\": {\"files\": {\"command\": \"npx\", \"args\": [\"-y\", \"@modelcontextprotocol/server-filesystem\", \"/srv\"]}}}
```

# References
- CWE-1357, CWE-494, OWASP MCP04
",
    since: "0.1.0",
}, weakness: Weakness {
    severity: Severity::Medium,
    cwe: &[1357, 494],
    frameworks: &["MCP04", "ASI04", "LLM03"],
}, look };

fn look(scene: &Scene<'_>) -> Vec<Concern> {
    let loose = packages(scene.launch).into_iter().filter(|package| !is_pinned(package));
    loose.map(|package| concern(&package)).collect()
}

fn concern(package: &Package) -> Concern {
    let Package { name, version, spec, part, .. } = package;
    let what = match version.as_deref() {
        None => format!("`{spec}` has no version"),
        Some(version) => format!("`{version}` of `{name}` is not an exact version"),
    };
    let help = match package.source {
        Source::Npm | Source::Nuget => {
            format!("pin the version that you reviewed: `{name}@1.2.3`")
        }
        Source::Pypi => format!("pin the version that you reviewed: `{name}==1.2.3`"),
        Source::Image => format!("pin the digest that you reviewed: `{name}@sha256:...`"),
    };
    Concern::new(part, "The package version is not pinned", what).help(help)
}

fn is_pinned(package: &Package) -> bool {
    let Some(version) = package.version.as_deref() else { return is_reference(&package.spec) };
    let commit = version.len() >= 7 && version.chars().all(|c| c.is_ascii_hexdigit());
    match package.source {
        _ if is_reference(version) => true,
        // A tag can be moved, but at least it is not `latest`.
        Source::Image => !matches!(version, "latest" | ""),
        Source::Npm | Source::Pypi | Source::Nuget => commit || is_exact(version),
    }
}

/// `1.2.3`, `2025.8.21`, `v1.0.0-rc.1`: three numbers, or two for Python.
fn is_exact(version: &str) -> bool {
    let version = version.trim().trim_start_matches('v');
    let mut numbers = version.split(['.', '-', '+']);
    let number = |text: Option<&str>| {
        text.is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()))
    };
    let plain = version.chars().all(|c| c.is_ascii_alphanumeric() || ".-+!".contains(c));
    plain && number(numbers.next()) && number(numbers.next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_checks::testing::parts;

    #[test]
    fn loose_versions_are_told() {
        for line in [
            "npx -y a",
            "npx a@latest",
            "npx a@^1.2.3",
            "npx a@1",
            "uvx a",
            "uvx a>=1.0.0",
            "docker run -i a/b",
            "docker run a:latest",
            "npx github:u/r",
            "uvx --from git+https://h/a@main a",
        ] {
            assert_eq!(parts(&UNPINNED_PACKAGE, line).len(), 1, "{line}");
        }
    }

    #[test]
    fn exact_versions_are_fine() {
        for line in [
            "npx -y @a/b@1.2.3",
            "npx a@2025.8.21",
            "uvx a==1.2",
            "docker run a:1.2",
            "docker run a@sha256:00ff",
            "npx a@${VERSION}",
            "npx github:u/r#0123abc",
            "node server.js",
            "uvx --from git+https://h/a@0123abc a",
        ] {
            assert_eq!(parts(&UNPINNED_PACKAGE, line), [""; 0], "{line}");
        }
    }
}
