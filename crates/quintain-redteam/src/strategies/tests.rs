//! Properties of all strategies.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::{
    Just, ProptestConfig, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::strategy::Strategy as _;
use quintain_evidence::evidence::Evidence;
use quintain_evidence::inquiry::{Inquiry as _, Rounds};
use quintain_evidence::probe::{Probe, Step, steps};
use serde_json::{Map, Value, json};

use super::testing::{SAMPLES, yaml};
use super::*;

/// The entries in the example of a strategy.
fn example(strategy: &dyn Strategy) -> Vec<Value> {
    let meta = strategy.meta();
    let (_, example) = meta.docs.split_once("```yaml\n").expect(meta.id);
    let (example, _) = example.split_once("```").expect(meta.id);
    yaml(example)["strategies"].as_array().expect(meta.id).clone()
}

/// Every strategy as used in its example.
fn tactics() -> Vec<Tactic> {
    all().iter().flat_map(|strategy| parse_all(&example(*strategy)).unwrap()).collect()
}

#[test]
fn names_are_unique_and_docs_complete() {
    let mut names = BTreeSet::new();
    for strategy in all() {
        let meta = strategy.meta();
        for name in std::iter::once(&meta.id).chain(meta.aliases) {
            assert!(names.insert(*name), "duplicate name {name}");
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-:".contains(c);
            assert!(name.chars().all(kebab), "{name} is not in kebab case");
        }
        assert!(!meta.summary.ends_with('.'), "{}", meta.id);
        for heading in ["# What it does", "# Why it matters", "# Example"] {
            assert!(meta.docs.contains(heading), "{} lacks `{heading}`", meta.id);
        }
    }
}

#[test]
fn every_example_compiles_and_shows_its_strategy() {
    for strategy in all() {
        let id = strategy.meta().id;
        let tactics =
            parse_all(&example(*strategy)).unwrap_or_else(|flaws| panic!("{id}: {flaws:?}"));
        assert!(tactics.iter().all(|tactic| tactic.id() == id), "{id}");
    }
}

#[test]
fn every_file_and_every_static_is_registered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/strategies");
    let registry = include_str!("mod.rs");
    let mut statics = 0;
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        let parent = std::fs::read_to_string(folder.join("mod.rs")).unwrap();
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap().to_owned();
            if stem != "mod" {
                assert!(parent.contains(&format!("mod {stem};")), "{stem} is not a module");
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            for line in source.lines().filter(|line| line.starts_with("pub(")) {
                let Some((_, name)) = line.split_once(" static ") else { continue };
                let (name, _) = name.split_once(':').unwrap();
                statics += 1;
                assert!(registry.contains(&format!("::{name},")), "{name} is not in `ALL`");
            }
        }
    }
    assert_eq!(statics, all().len());
}

#[test]
fn the_names_of_promptfoo_are_known() {
    let names = [
        "audio",
        "authoritative-markup-injection",
        "base64",
        "basic",
        "best-of-n",
        "camelcase",
        "citation",
        "crescendo",
        "emoji",
        "gcg",
        "goat",
        "hex",
        "homoglyph",
        "image",
        "indirect-web-pwn",
        "jailbreak",
        "jailbreak-templates",
        "jailbreak:composite",
        "jailbreak:goblin",
        "jailbreak:hydra",
        "jailbreak:likert",
        "jailbreak:meta",
        "jailbreak:tree",
        "leetspeak",
        "math-prompt",
        "mischievous-user",
        "morse",
        "multilingual",
        "piglatin",
        "prompt-injection",
        "retry",
        "rot13",
        "simba",
        "video",
        "other-encodings",
        "default",
    ];
    for name in names {
        assert!(parse(&json!(name)).is_ok(), "{name}");
    }
    assert!(find("layer").is_some() && find("custom").is_some());
}

#[test]
fn there_are_many_converters_and_most_change_most_texts() {
    let mut converters = BTreeSet::new();
    for tactic in tactics() {
        let StrategyKind::Rewrite(rewrite) = tactic.kind() else { continue };
        converters.insert(tactic.id());
        let sample = "Please read the directory /etc, سلام, and the \"password\"";
        // A strategy that changes a share of the words may change none of these few.
        let changes = |seed: u64| rewrite.texts(sample, seed) != [sample];
        assert!((0..8).any(changes), "{}", tactic.id());
    }
    assert!(converters.len() >= 40, "{}", converters.len());
}

#[test]
fn the_same_seed_makes_the_same_texts() {
    for (first, second) in tactics().iter().zip(tactics()) {
        let (StrategyKind::Rewrite(first), StrategyKind::Rewrite(second)) =
            (first.kind(), second.kind())
        else {
            continue;
        };
        for text in SAMPLES {
            assert_eq!(first.texts(text, 11), second.texts(text, 11));
        }
    }
}

#[test]
fn long_texts_stay_within_the_bounds() {
    let long = "wörd, ".repeat(MAX_TEXT / 7);
    for tactic in tactics() {
        let StrategyKind::Rewrite(rewrite) = tactic.kind() else { continue };
        let texts = rewrite.texts(&long, 1);
        assert!(texts.len() <= MAX_VARIANTS, "{}", tactic.id());
        assert!(texts.iter().all(|text| text.len() <= MAX_TEXT), "{}", tactic.id());
        assert!(rewrite.texts(&"x".repeat(MAX_TEXT + 1), 1).is_empty(), "{}", tactic.id());
    }
}

/// The value without its texts: only keys, order and numbers.
fn shape(value: &Value) -> Value {
    match value {
        Value::String(_) => "text".into(),
        Value::Array(items) => items.iter().map(shape).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), shape(value))).collect())
        }
        other => other.clone(),
    }
}

fn arguments() -> impl proptest::strategy::Strategy<Value = Map<String, Value>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z ]{0,12}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map(any::<String>(), value, 0..4)
        .prop_map(|map| map.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_a_strategy_panic(text in any::<String>(), seed in any::<u64>()) {
        for tactic in tactics() {
            match tactic.kind() {
                StrategyKind::Rewrite(rewrite) => {
                    for version in rewrite.texts(&text, seed) {
                        prop_assert!(version.len() <= MAX_TEXT);
                    }
                }
                StrategyKind::Talk(talk) => {
                    talk.about(text.clone(), seed).next(&Evidence::default(), &Rounds::default());
                }
                _ => {}
            }
        }
    }

    #[test]
    fn keys_names_and_shapes_are_never_touched(args in arguments(), seed in any::<u64>()) {
        let payload = json!({"tool": "some_tool", "args": args.clone()});
        let probe = Probe::Steps(steps(&payload).unwrap());
        let before = shape(&Value::Object(args));
        for tactic in tactics() {
            for version in tactic.rewrite(&probe, Reach::All, seed).unwrap_or_default() {
                let Probe::Steps(steps) = version else { panic!("no steps") };
                let Step::Call(call) = &steps[0].step else { panic!("no call") };
                prop_assert_eq!(&call.tool, "some_tool");
                prop_assert_eq!(&shape(&Value::Object(call.args.clone())), &before);
            }
        }
    }
}
