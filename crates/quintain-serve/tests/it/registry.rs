//! What is true of every tool.

use std::collections::BTreeSet;

use quintain_serve::tools::TOOLS;
use serde_json::{Value, json};

use crate::support::TestPlatform;

#[test]
fn every_tool_is_described_and_closed() {
    let mut names = BTreeSet::new();
    for tool in TOOLS {
        let meta = tool.meta();
        assert!(names.insert(meta.name), "{} is there twice", meta.name);
        assert!(meta.description.len() > 20 && !meta.title.is_empty(), "{}", meta.name);
        let input = tool.input_schema();
        assert_eq!(input["additionalProperties"], false, "{}", meta.name);
        let properties = input["properties"].as_object().unwrap();
        for (_, ours) in meta.argument_aliases {
            assert!(properties.contains_key(*ours), "{}: {ours}", meta.name);
        }
        for required in input["required"].as_array().unwrap() {
            assert!(properties.contains_key(required.as_str().unwrap()), "{}", meta.name);
        }
        assert!(!(meta.hints.read_only && meta.hints.destructive), "{}", meta.name);
        for schema in [input, tool.output_schema()] {
            assert!(jsonschema::validator_for(&schema).is_ok(), "{}", meta.name);
        }
        assert_eq!(tool.output_schema()["type"], "object", "{}", meta.name);
    }
    assert_eq!(names.len(), 40);
    let core = TOOLS.iter().filter(|tool| tool.meta().core).count();
    assert_eq!(core, 14);
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_are_converted_and_scored() {
    let test = TestPlatform::new().await;
    let listed = test.ok("list_converters", json!({"limit": 200})).await;
    assert!(listed["total"].as_u64().unwrap() > 60, "{}", listed["total"]);
    let made = test
        .ok(
            "apply_converters",
            json!({"text": "attack", "converters": ["rot13", {"name": "base64"}]}),
        )
        .await;
    assert_eq!(made["output"], "bmdnbnB4");
    assert_eq!(made["steps"][0]["output"], "nggnpx");
    let listed = test.ok("list_scorers", json!({"offline_only": true, "limit": 200})).await;
    assert!(listed["total"].as_u64().unwrap() > 20);
    let scorers = json!([{"name": "icontains", "value": "secret"}, "is_refusal"]);
    let scored =
        test.ok("score_text", json!({"text": "the SECRET is out", "scorers": scorers})).await;
    assert_eq!(scored["scores"][0]["hit"], false);
    assert_eq!(scored["scores"][1]["hit"], true);
    assert_eq!(scored["pass"], false);
    let error = test
        .call("apply_converters", json!({"text": "x", "converters": ["rot14"]}))
        .await
        .unwrap_err();
    assert_eq!(error.code.word(), "invalid_configuration");
}

#[tokio::test(flavor = "multi_thread")]
async fn data_sets_are_imported_combined_and_deleted() {
    let test = TestPlatform::new().await;
    let source = json!({"inline": ["one", {"value": "two", "canary": "veltorba"}]});
    let dry =
        test.ok("create_dataset", json!({"name": "mine", "source": source, "dry_run": true})).await;
    assert_eq!((&dry["imported"], &dry["dry_run"]), (&json!(2), &json!(true)));
    let made = test.ok("create_dataset", json!({"name": "mine", "source": source})).await;
    let id = made["dataset"]["dataset_id"].as_str().unwrap().to_owned();
    let again =
        test.call("create_dataset", json!({"name": "mine", "source": source})).await.unwrap_err();
    assert_eq!(again.code.word(), "conflict");
    let page = test.ok("get_dataset", json!({"dataset_id": id, "limit": 1})).await;
    assert_eq!(
        (page["items"][0]["value"].as_str(), page["next_cursor"].as_str()),
        (Some("one"), Some("c1"))
    );
    let moved =
        test.ok("transform_dataset", json!({"dataset_id": "mine", "converters": ["base64"]})).await;
    assert_eq!((&moved["changed"], &moved["dataset"]["entries"]), (&json!(2), &json!(4)));
    let listed = test.ok("list_datasets", json!({"source": "user"})).await;
    assert_eq!(listed["total"], 2);
    test.ok("get_dataset", json!({"dataset_id": "jailbreak_scenarios"})).await;
    test.ok("delete_dataset", json!({"dataset_id": id, "confirm": true})).await;
    let gone = test.call("get_dataset", json!({"dataset_id": id})).await.unwrap_err();
    assert_eq!(gone.code.word(), "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_is_graded() {
    let test = TestPlatform::new().await;
    let turns: Value =
        json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]);
    let graded = test.ok("evaluate_trace", json!({"servers": [], "turns": turns})).await;
    assert_eq!(graded["traces"].as_array().unwrap().len(), 1, "{graded}");
    let status = test.ok("get_server_status", json!({})).await;
    assert_eq!(status["operator"], true);
}
