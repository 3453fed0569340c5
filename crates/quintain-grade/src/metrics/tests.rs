//! The registry, and what all metrics have in common.

use std::collections::BTreeSet;

use quintain_evidence::trace::{Role, Trace};
use serde_json::{Map, Value, json};

use super::testing::{compiled, score, trace_with_tools};
use super::*;

#[test]
fn names_are_unique_and_every_file_is_registered() {
    let mut names = BTreeSet::new();
    for metric in METRICS {
        let meta = metric.meta();
        assert!(meta.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", meta.id);
        for name in meta.aliases.iter().chain([&meta.id]) {
            assert!(names.insert(*name), "{name} is used twice");
            assert!(find(name).is_some());
        }
        for heading in ["What it does", "Why it matters", "What counts as proof", "Example"] {
            assert!(meta.docs.contains(&format!("## {heading}\n")), "{}: {heading}", meta.id);
        }
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/metrics");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().replace('_', "-");
        let shared = ["options", "share", "testing", "tests"].contains(&stem.as_str());
        assert!(shared || find(&stem).is_some(), "{stem} is not registered");
    }
}

#[test]
fn examples_compile() {
    for metric in METRICS {
        let meta = metric.meta();
        let yaml = meta.docs.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
        let example = quintain_content::json_text::yaml(yaml.unwrap()).unwrap();
        for entry in example["metrics"].as_array().unwrap() {
            let mut options = entry.as_object().unwrap().clone();
            let name = options.remove("type").unwrap();
            assert!(meta.answers_to(name.as_str().unwrap()));
            compile(name.as_str().unwrap(), &options).unwrap_or_else(|errors| panic!("{errors}"));
        }
    }
}

#[test]
fn the_seeds_class_names_are_understood() {
    for (class, id) in [
        ("MCPUseMetric", "mcp-use"),
        ("MultiTurnMCPMetric", "multi-turn-mcp-use"),
        ("MultiTurnMCPUseMetric", "multi-turn-mcp-use"),
        ("MCPTaskCompletionMetric", "mcp-task-completion"),
        ("ToolCorrectnessMetric", "tool-correctness"),
        ("PIILeakageMetric", "pii-leakage"),
        ("AgentLoopDetectionMetric", "loop-detection"),
    ] {
        assert_eq!(find(class).map(|metric| metric.meta().id), Some(id));
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let options = json!({"treshold": 1, "strict_mode": 2});
    let options = options.as_object().unwrap();
    let none = Map::new();
    let Err(errors) = compile_all([("tool-corectness", &none), ("mcp-use", options)]) else {
        panic!("three mistakes")
    };
    let text = errors.to_string();
    assert_eq!(errors.0.len(), 3, "{text}");
    assert!(text.contains("unknown metric `tool-corectness`; did you mean `tool-correctness`?"));
    assert!(text.contains("`treshold` is not an option of mcp-use; did you mean `threshold`?"));
    assert!(text.contains("expected true or false for `strictMode`, not 2"));
}

#[test]
fn strict_mode_and_reasons_are_as_in_the_original() {
    let trace = trace_with_tools(&["a"], &["a", "b"]);
    let lists = json!({"allowedTools": ["a"], "threshold": 0.3});
    let lenient = score(&compiled("tool-permission", &lists), &trace);
    assert_eq!((lenient.score, lenient.success), (Some(0.5), Some(true)));
    let lists = json!({"allowedTools": ["a"], "threshold": 0.3, "strictMode": true, "includeReason": false});
    let strict = score(&compiled("tool-permission", &lists), &trace);
    assert_eq!((strict.score, strict.success, strict.reason), (Some(0.0), Some(false), None));
    assert!((strict.threshold - 1.0).abs() < 1e-9);
}

#[test]
fn an_undefined_score_is_neither_passed_nor_failed() {
    let empty = Trace::default();
    let options = |id: &str| match id {
        "tool-permission" => json!({"deniedTools": ["x"]}),
        "pattern-match" => json!({"pattern": "x"}),
        _ => json!({}),
    };
    for metric in METRICS {
        let id = metric.meta().id;
        if id == "checks" {
            continue;
        }
        let found = score(&compiled(id, &options(id)), &empty);
        assert_eq!((found.score, found.success, found.error), (None, None, None), "{id}");
        assert!(found.reason.unwrap().starts_with("not applicable: "), "{id}");
    }
}

#[test]
fn what_a_judge_would_add_is_named() {
    for id in ["mcp-use", "multi-turn-mcp-use", "mcp-task-completion"] {
        assert!(score(&compiled(id, &json!({})), &Trace::default()).judge.is_some());
    }
}

#[test]
fn very_long_conversations_take_linear_time() {
    let mut trace = trace_with_tools(&["a"], &[]);
    for turn in 0..10_000 {
        trace.say(Role::User, "again");
        trace.call(quintain_evidence::trace::Call::tool("a", json!({"turn": turn})));
        trace.say(Role::Assistant, "done");
    }
    let options: Value = json!({});
    for id in [
        "mcp-use",
        "multi-turn-mcp-use",
        "mcp-task-completion",
        "loop-detection",
        "step-efficiency",
    ] {
        assert!(score(&compiled(id, &options), &trace).score.is_some(), "{id}");
    }
}
