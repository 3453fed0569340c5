//! Packages whose names resemble well-known ones.

use quintain_content::registry::Meta;
use quintain_content::text::levenshtein::{Distance, distance};
use quintain_evidence::finding::Severity;
use quintain_evidence::weakness::Weakness;

use super::program::{Package, Source, packages};
use super::{Concern, LaunchCheck, Scene};

pub(super) static LOOKALIKE_PACKAGE: LaunchCheck = LaunchCheck { meta: Meta {
    id: "lookalike-package",
    aliases: &["typosquat"],
    summary: "The package name resembles a well-known package",
    docs: "\
# What it does
Compares the packages that a command downloads with a short list of well-known MCP servers and proxies: one letter added, missing or
changed (two in long names), letters of other scripts, and scopes that resemble the scope of the MCP project.

# Why it matters
Attackers register misspellings of popular names.

# What counts as proof
A similar name does not prove bad intent, so the finding is suspected. It is confirmed if the name contains letters that only look
like Latin ones.

# Example
```json
{\"mcpServers\": {\"files\": {\"command\": \"npx\", \"args\": [\"-y\", \"@modelcontextprotcol/server-filesystem@1.0.0\"]}}}
```

# References
- CWE-1357, OWASP MCP04
",
    since: "0.1.0",
}, weakness: Weakness { severity: Severity::High, cwe: &[1357], frameworks: &["MCP04", "ASI04", "LLM03"] }, look };

const NPM: [&str; 32] = [
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-memory",
    "@modelcontextprotocol/server-sequential-thinking",
    "@modelcontextprotocol/server-github",
    "@modelcontextprotocol/server-gitlab",
    "@modelcontextprotocol/server-slack",
    "@modelcontextprotocol/server-postgres",
    "@modelcontextprotocol/server-brave-search",
    "@modelcontextprotocol/server-google-maps",
    "@modelcontextprotocol/server-puppeteer",
    "@modelcontextprotocol/server-redis",
    "@modelcontextprotocol/server-gdrive",
    "@modelcontextprotocol/inspector",
    "@playwright/mcp",
    "@upstash/context7-mcp",
    "@notionhq/notion-mcp-server",
    "@sentry/mcp-server",
    "@supabase/mcp-server-supabase",
    "@stripe/mcp",
    "@azure/mcp",
    "@heroku/mcp-server",
    "@cloudflare/mcp-server-cloudflare",
    "@wonderwhy-er/desktop-commander",
    "chrome-devtools-mcp",
    "mcp-remote",
    "supergateway",
    "firecrawl-mcp",
    "tavily-mcp",
    "exa-mcp-server",
    "figma-developer-mcp",
    "mcp-server-kubernetes",
];
const PYPI: [&str; 12] = [
    "mcp-server-fetch",
    "mcp-server-git",
    "mcp-server-time",
    "mcp-server-sqlite",
    "mcp-proxy",
    "mcp-atlassian",
    "markitdown-mcp",
    "blender-mcp",
    "fastmcp",
    "duckduckgo-mcp-server",
    "awslabs.core-mcp-server",
    "awslabs.aws-documentation-mcp-server",
];
const IMAGES: [&str; 6] = [
    "ghcr.io/github/github-mcp-server",
    "mcp/filesystem",
    "mcp/github",
    "mcp/fetch",
    "mcp/playwright",
    "mcp/postgres",
];
/// The scope of the MCP project.
const SCOPE: &str = "modelcontextprotocol";

fn look(scene: &Scene<'_>) -> Vec<Concern> {
    packages(scene.launch).iter().filter_map(concern).collect()
}

fn concern(package: &Package) -> Option<Concern> {
    let Package { name, part, .. } = package;
    let title = "The package name resembles a well-known package";
    if !name.is_ascii() {
        let what = format!("`{name}` contains letters that are not Latin");
        return Some(Concern::new(part, title, what).help("retype the name in Latin letters"));
    }
    let known: &[&str] = match package.source {
        Source::Npm => &NPM,
        Source::Pypi => &PYPI,
        Source::Image => &IMAGES,
        Source::Nuget => &[],
    };
    let name = name.to_ascii_lowercase().replace('_', "-");
    if known.contains(&name.as_str()) || owned(&name, known) {
        return None;
    }
    let near = known.iter().copied().find(|known| is_near(&name, known)).or_else(|| {
        let scope = scope(&name)?;
        // `@modelcontextprotocol-official/...` has another owner.
        scope.contains(SCOPE).then_some("@modelcontextprotocol/...")
    })?;
    let what = format!("`{}` resembles `{near}`", package.name);
    let help = format!(
        "if you meant `{near}`, correct the name; do not start this package until you have verified it"
    );
    Some(Concern::new(part, title, what).help(help).suspected())
}

fn scope(name: &str) -> Option<&str> {
    name.strip_prefix('@')?.split_once('/').map(|(scope, _)| scope)
}

/// Whether the scope is that of a well-known package: only its owner can publish there.
fn owned(name: &str, known: &[&str]) -> bool {
    scope(name).is_some_and(|own| known.iter().any(|known| scope(known) == Some(own)))
}

fn is_near(name: &str, known: &str) -> bool {
    let allowed = match known.len() {
        ..=7 => return false,
        8..=17 => 1,
        _ => 2,
    };
    // Names whose lengths differ by more cannot match; skip the costly comparison.
    if name.len().abs_diff(known.len()) > allowed {
        return false;
    }
    matches!(distance(name, known, allowed), Distance::Exactly(steps) if steps <= allowed)
        || is_swapped(name, known)
}

/// Whether two neighbouring letters changed places.
fn is_swapped(name: &str, known: &str) -> bool {
    let differing: Vec<usize> = (0..known.len().min(name.len()))
        .filter(|at| name.as_bytes()[*at] != known.as_bytes()[*at])
        .collect();
    let (name, known) = (name.as_bytes(), known.as_bytes());
    matches!(differing[..], [a, b] if a + 1 == b && name.len() == known.len()
        && name[a] == known[b] && name[b] == known[a])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_checks::testing::parts;

    #[test]
    fn slips_are_told() {
        for line in [
            "npx -y @modelcontextprotcol/server-filesystem@1.0.0",
            "npx -y @modelcontextprotocol-official/server-github",
            "npx mcp-remot https://x",
            "npx mcp-remoet https://x",
            "npx chrome-devtool-mcp",
            "uvx mcp-server-fecth",
            "uvx mcp_server_fetchh==1.0.0",
            "npx mcp-r\u{435}mote",
            "docker run ghcr.io/githud/github-mcp-server:1",
        ] {
            assert_eq!(parts(&LOOKALIKE_PACKAGE, line).len(), 1, "{line}");
        }
    }

    #[test]
    fn the_originals_and_strangers_are_not() {
        for line in NPM.map(|name| format!("npx -y {name}@1.0.0")) {
            assert_eq!(parts(&LOOKALIKE_PACKAGE, &line), [""; 0], "{line}");
        }
        for line in PYPI.map(|name| format!("uvx {name}")) {
            assert_eq!(parts(&LOOKALIKE_PACKAGE, &line), [""; 0], "{line}");
        }
        for line in [
            "npx @modelcontextprotocol/server-new",
            "npx something-else",
            "uvx mcp_server_fetch",
            "npx @stripe/mcq",
            "node mcp-remot",
        ] {
            assert_eq!(parts(&LOOKALIKE_PACKAGE, line), [""; 0], "{line}");
        }
    }
}
