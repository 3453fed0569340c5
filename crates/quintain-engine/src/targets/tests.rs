//! What holds for every kind of target.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quintain_suite::suite::{BUILT_IN, Files, Needed, Purpose, SuiteFile, load};

use super::*;

/// Every file exists.
struct Every;

impl Files for Every {
    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(b"1".to_vec())
    }

    fn matching(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }
}

#[test]
fn names_are_unique_and_docs_complete() {
    let (mut ids, mut words) = (BTreeSet::new(), BTreeSet::new());
    for kind in kinds() {
        let meta = kind.meta();
        assert!(ids.insert(meta.id), "{} is there twice", meta.id);
        let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(meta.id.chars().all(kebab), "{} is not in kebab case", meta.id);
        assert!(!meta.summary.ends_with('.'), "{}", meta.id);
        for heading in ["# What it does", "# Example"] {
            assert!(meta.docs.contains(heading), "{} lacks `{heading}`", meta.id);
        }
        for word in kind.words() {
            assert!(words.insert(*word), "two kinds answer to `{word}`");
        }
    }
}

#[test]
fn the_example_of_every_kind_is_a_target_of_that_kind() {
    let kinds = kinds();
    for kind in &kinds {
        let meta = kind.meta();
        let example = meta.docs.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
        let text = example.unwrap_or_else(|| panic!("{} has no example", meta.id)).into();
        let file = SuiteFile { name: "quintain.yaml".into(), text, base_dir: "/x".into() };
        let purpose = Purpose::Read(Needed::Nothing);
        let loaded = load(vec![file], &BTreeMap::new(), Arc::new(Every), purpose, &kinds);
        let suite = loaded.suite.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let found: Vec<&str> = suite.targets.iter().map(|target| target.kind.id).collect();
        assert!(!found.is_empty() && found.iter().all(|id| *id == meta.id), "{found:?}");
        let sender = sender(&suite.targets[0]).expect("registered");
        assert_eq!(sender.meta().id, meta.id);
    }
}

#[test]
fn every_kind_of_suites_can_be_asked() {
    let all: BTreeSet<&str> = kinds().iter().map(|kind| kind.meta().id).collect();
    for kind in BUILT_IN {
        assert!(all.contains(kind.meta().id), "{} cannot be asked", kind.meta().id);
    }
}

#[test]
fn every_file_is_registered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/targets");
    let this = include_str!("mod.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap().to_owned();
        if stem != "mod" {
            assert!(this.contains(&format!("mod {stem};")), "{stem} is not a module");
        }
    }
}
