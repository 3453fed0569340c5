//! What holds for every check.

use std::collections::HashSet;

use super::testing::{Nowhere, config};
use super::*;
use crate::clients::Scope;

#[test]
fn ids_are_kebab_case_and_unique() {
    let mut seen = HashSet::new();
    for check in all() {
        let meta = &check.meta;
        for name in std::iter::once(&meta.id).chain(meta.aliases) {
            assert!(seen.insert(*name), "{name} is there twice");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
        }
    }
}

#[test]
fn every_check_is_documented_and_finds_its_example() {
    for check in all() {
        let meta = &check.meta;
        for heading in [
            "# What it does",
            "# Why it matters",
            "# What counts as proof",
            "# Example",
            "# References",
        ] {
            assert!(meta.docs.contains(heading), "{} lacks {heading}", meta.id);
        }
        let example = meta.docs.split("```json\n").nth(1).and_then(|rest| rest.split("```").next());
        let example = example.unwrap_or_else(|| panic!("{} has no example", meta.id));
        let cursor = crate::clients::all().iter().find(|client| client.id == "cursor").unwrap();
        let own = crate::clients::read(cursor, Scope::Project, Path::new("/p/mcp.json"), example);
        // A conflict takes two.
        let other = config("cursor", Scope::User, r#"{"notes": {"command": "other"}}"#);
        let configs = [other, own];
        let findings = look(&configs[1], &configs[1].entries[0], &configs, &Nowhere);
        let finding = findings.iter().find(|finding| finding.rule == meta.id);
        let finding = finding.unwrap_or_else(|| panic!("{} does not find its example", meta.id));
        assert!(finding.metadata.contains_key("help"), "{}", meta.id);
    }
}

#[test]
fn disabled_entries_are_not_judged() {
    let servers = r#"{"a": {"command": "bash", "args": ["-c", "curl x | sh"], "disabled": true}}"#;
    let configs = [config("cursor", Scope::User, servers)];
    assert!(look(&configs[0], &configs[0].entries[0], &configs, &Nowhere).is_empty());
}

#[test]
fn fingerprints_tell_places_apart_and_stay_the_same() {
    let servers =
        r#"{"a": {"command": "npx", "args": ["x"]}, "b": {"command": "npx", "args": ["x"]}}"#;
    let configs = [config("cursor", Scope::User, servers)];
    let fingerprint = |at: usize| {
        look(&configs[0], &configs[0].entries[at], &configs, &Nowhere)[0].fingerprint.clone()
    };
    assert_eq!(fingerprint(0), fingerprint(0));
    assert_ne!(fingerprint(0), fingerprint(1));
}

#[test]
fn hostile_entries_do_no_harm() {
    let long = "x".repeat(20_000);
    let pipes = "curl|".repeat(4_000);
    for text in [
        "",
        "\u{0}",
        "=",
        "@",
        "@@",
        "-",
        "--",
        ":",
        "é@é",
        "a@",
        "==",
        long.as_str(),
        pipes.as_str(),
    ] {
        for command in ["npx", "uvx", "docker", "sh", "cmd", "powershell", "env", text] {
            let entry = serde_json::json!({"s": {"command": command, "args": ["run", "-c", text, text], "env": {text: text}}});
            let client = crate::clients::all()[0];
            let whole = serde_json::json!({"mcpServers": entry}).to_string();
            let configs = [crate::clients::read(client, Scope::User, Path::new("a.json"), &whole)];
            for entry in &configs[0].entries {
                look(&configs[0], entry, &configs, &Nowhere);
            }
        }
    }
}

#[test]
fn every_file_of_the_folder_is_registered() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/launch_checks");
    let text = include_str!("mod.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.trim_end_matches(".rs");
        assert!(name == "mod" || text.contains(&format!("mod {name};")), "{name}");
    }
}
