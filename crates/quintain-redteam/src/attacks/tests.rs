//! Checks that apply to every attack.

use std::collections::HashSet;

use super::*;
use quintain_suite::suite::{BUILT_IN, Loaded, Needed, NoFiles, Purpose, SuiteFile, load};

#[test]
fn ids_are_kebab_case_and_unique() {
    let mut seen = HashSet::new();
    for attack in all() {
        let meta = attack.meta();
        for name in std::iter::once(&meta.id).chain(meta.aliases) {
            assert!(seen.insert(*name), "{name} is used twice");
        }
        let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(meta.id.chars().all(kebab), "{}", meta.id);
    }
}

#[test]
fn every_attack_is_documented_and_has_an_example_that_loads() {
    for attack in all() {
        let meta = attack.meta();
        for heading in [
            "# What it does",
            "# Why it matters",
            "# What counts as proof",
            "# Example",
            "# References",
        ] {
            assert!(meta.docs.contains(heading), "{} lacks {heading}", meta.id);
        }
        assert!(!meta.summary.ends_with('.'), "{}", meta.id);
        let example = meta.docs.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
        let example = example.unwrap_or_else(|| panic!("{} has no example", meta.id));
        let text = format!("targets: [echo]\nprompts: [x]\n{example}");
        let file = SuiteFile {
            name: "quintain.yaml".into(),
            text: text.into(),
            base_dir: std::path::PathBuf::new(),
        };
        let (env, files) = (std::collections::BTreeMap::new(), std::sync::Arc::new(NoFiles));
        let loaded: Loaded =
            load(vec![file], &env, files, Purpose::Read(Needed::Nothing), BUILT_IN);
        assert!(loaded.suite.is_some(), "{}: {:?}", meta.id, loaded.diagnostics);
    }
}

#[test]
fn every_file_of_the_folder_is_registered() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/attacks");
    let text = include_str!("mod.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.trim_end_matches(".rs");
        if name != "mod" {
            assert!(text.contains(&format!("mod {name};")), "{name} is not registered");
        }
    }
}
