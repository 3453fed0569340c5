//! Resources: listed, read, and only by their owner.

use quintain_serve::principal::Principal;
use quintain_serve::resources::RESOURCES;
use serde_json::{Value, json};

use crate::support::{TestPlatform, guest};

async fn read(test: &TestPlatform, principal: &Principal, path: &str) -> Option<Value> {
    let parts: Vec<&str> = path.split('/').collect();
    for kind in RESOURCES {
        if let Some(contents) = kind.read(&test.platform, principal, &parts).await.unwrap() {
            let text = contents.text;
            return Some(serde_json::from_str(&text).unwrap_or(Value::String(text)));
        }
    }
    None
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_listed_can_be_read_and_belongs_to_its_owner() {
    let test = TestPlatform::new().await;
    let key = json!({"apiKey": "sk-secret-0123456789abcdef"});
    test.ok(
        "create_generator",
        json!({"name": "m", "provider_type": "openai", "model_name": "gpt-4", "parameters": key}),
    )
    .await;
    test.ok("create_generator", json!({"name": "e", "provider_type": "echo"})).await;
    test.ok(
        "create_dataset",
        json!({"name": "d", "source": {"inline": [{"value": "x", "canary": "x"}]}}),
    )
    .await;
    let made = test.ok("create_orchestrator", json!({"orchestrator_type": "prompt_sending", "target_generator_id": "e", "dataset_id": "d"})).await;
    let id = made["orchestrator_id"].as_str().unwrap();
    let started = test
        .ok(
            "start_orchestrator",
            json!({"orchestrator_id": id, "execution_config": {"wait": true}}),
        )
        .await;
    let run = started["run_id"].as_str().unwrap();
    let mut count = 0;
    for kind in RESOURCES {
        for listed in kind.list(&test.platform, &test.principal).await.unwrap() {
            let contents = read(&test, &test.principal, &listed.path).await;
            assert!(contents.is_some(), "{}", listed.path);
            assert!(!contents.unwrap().to_string().contains("sk-secret"), "{}", listed.path);
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
    let results = read(&test, &test.principal, &format!("results/{id}")).await.unwrap();
    assert_eq!(results["summary"]["hits"], 1, "{results}");
    let own = [
        format!("results/{id}/{run}/csv"),
        format!("results/{id}/{run}/html"),
        format!("runs/{run}/transcript"),
        format!("results/{id}/{run}"),
        "config/generators/m".to_owned(),
        "datasets/d".to_owned(),
    ];
    for path in &own {
        assert!(read(&test, &test.principal, path).await.is_some(), "{path}");
        assert!(read(&test, &guest("bob"), path).await.is_none(), "{path}");
    }
    for path in [
        "datasets/none",
        "config/none",
        "results/none",
        "findings/F-00000000",
        "runs/none/transcript",
        "status/none",
        "docs/none",
        "x",
    ] {
        assert!(read(&test, &test.principal, path).await.is_none(), "{path}");
    }
}
