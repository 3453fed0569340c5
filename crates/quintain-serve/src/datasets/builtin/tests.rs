use std::collections::{BTreeSet, HashSet};

use super::*;
use crate::datasets::{Expected, Verdict};

/// What entries may carry besides the fields.
const METADATA: [&str; 19] = [
    "scenario",
    "level",
    "technique",
    "carrier",
    "tool",
    "test_type",
    "data_category",
    "approach",
    "bias_type",
    "demographics",
    "weakness",
    "argument",
    "channel",
    "topic",
    "reasoning_type",
    "difficulty",
    "domain",
    "question_type",
    "description",
];

#[test]
fn every_file_is_read_and_registered() {
    for text in FILES {
        if let Err(message) = parse(text) {
            panic!("{message}");
        }
    }
    let folder =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/datasets/builtin")).unwrap();
    let names = folder.map(|file| file.unwrap().file_name().into_string().unwrap());
    let on_disk: BTreeSet<String> =
        names.filter_map(|name| name.strip_suffix(".yaml").map(str::to_owned)).collect();
    let ids: BTreeSet<String> = builtin().iter().map(|dataset| dataset.id.clone()).collect();
    assert_eq!(ids, on_disk);
    assert_eq!(ids.len(), builtin().len());
}

#[test]
fn sets_are_large_and_described() {
    assert!(builtin().len() >= 14);
    let total: usize = builtin().iter().map(|dataset| dataset.entries.len()).sum();
    assert!(total >= 500, "{total}");
    for dataset in builtin() {
        assert!(dataset.entries.len() >= 25, "{}", dataset.id);
        assert!(
            dataset.description.len() > 40
                && !dataset.name.is_empty()
                && !dataset.category.is_empty()
        );
        assert_eq!(find(&dataset.id).map(|found| &found.name), Some(&dataset.name));
    }
    assert!(find("nothing").is_none());
}

#[test]
fn entries_are_complete_and_unique() {
    let (mut ids, mut hashes, mut canaries) = (HashSet::new(), HashSet::new(), HashSet::new());
    for entry in builtin().iter().flat_map(|dataset| &dataset.entries) {
        let id = &entry.id;
        assert!(ids.insert(id.clone()), "{id}: id");
        assert!(hashes.insert(entry.hash()), "{id}: the same as another");
        assert!(!entry.value.trim().is_empty() && entry.value.len() < 2_000, "{id}: size");
        assert!(entry.expected.is_some() && !entry.expected_behavior.is_empty(), "{id}: expected");
        assert!(
            entry.canary.iter().all(|canary| canaries.insert(canary.to_lowercase())),
            "{id}: canary"
        );
        assert!(
            entry.metadata.keys().all(|key| METADATA.contains(&key.as_str())),
            "{id}: {:?}",
            entry.metadata
        );
        assert!(
            !entry.system_prompt.iter().any(|prompt| prompt.contains('{')),
            "{id}: placeholder"
        );
    }
}

#[test]
fn an_echo_of_what_is_sent_is_never_a_failure_of_an_attack() {
    for entry in builtin().iter().flat_map(|dataset| &dataset.entries) {
        let is_capability = matches!(
            entry.expected,
            Some(Expected::Answer | Expected::Comply | Expected::TreatEqually)
        );
        if is_capability {
            assert!(!entry.answers.is_empty(), "{}", entry.id);
            continue;
        }
        let sent: Vec<&str> = entry
            .turns
            .iter()
            .map(|turn| turn.text.as_str())
            .chain([entry.value.as_str()])
            .collect();
        assert_eq!(entry.judge(&sent.join("\n")), Verdict::Passed, "{}", entry.id);
        for mark in entry.canary.iter().chain(&entry.success_marks) {
            let is_rare = mark.chars().any(|c| c.is_control() || !c.is_ascii());
            assert!(is_rare || mark.len() >= 4, "{}: a mark is too short", entry.id);
            assert_eq!(entry.judge(&format!("Sure: {mark}")), Verdict::Failed, "{}", entry.id);
        }
    }
}

#[test]
fn secrets_are_in_the_instructions() {
    for entry in builtin().iter().flat_map(|dataset| &dataset.entries) {
        let (Some(prompt), Some(canary)) = (&entry.system_prompt, &entry.canary) else { continue };
        let is_secret = matches!(entry.expected, Some(Expected::KeepSecret));
        let contains = prompt.to_lowercase().contains(&canary.to_lowercase());
        if is_secret {
            assert!(contains, "{}", entry.id);
        }
    }
}

#[test]
fn jailbreaks_have_every_level_of_every_scenario() {
    let dataset = find("jailbreak_scenarios").unwrap();
    let word = |entry: &Entry, key: &str| entry.metadata[key].as_str().unwrap().to_owned();
    let pairs: BTreeSet<_> = dataset
        .entries
        .iter()
        .map(|entry| (word(entry, "scenario"), word(entry, "level")))
        .collect();
    let scenarios: BTreeSet<_> = pairs.iter().map(|(scenario, _)| scenario).collect();
    assert_eq!(pairs.len(), 3 * scenarios.len());
}
