//! Principals that are not operators: refused, bounded, and apart from each other.

use quintain_demo::{DemoConfig, Twin, serve_http};
use quintain_serve::platform::{Allowances, Quota};
use quintain_serve::tool::ErrorCode;
use serde_json::{Value, json};

use crate::support::{TestHost, TestPlatform, guest, platform_in};

#[tokio::test(flavor = "multi_thread")]
async fn targets_that_are_not_listed_are_refused() {
    let test = TestPlatform::new().await;
    let mallory = guest("mallory");
    let refused = [
        json!({"provider_type": "mcp", "connection": {"command": "sh", "args": ["-c", "id"]}}),
        json!({"provider_type": "command", "connection": {"command": "cat", "args": ["/etc/passwd"]}}),
        json!({"provider_type": "mcp", "connection": {"url": "http://127.0.0.1:9/mcp"}}),
        json!({"provider_type": "mcp", "connection": {"url": "http://169.254.169.254/latest/meta-data"}}),
        json!({"provider_type": "http", "connection": {"url": "http://localhost:8080/"}}),
        json!({"provider_type": "openai", "model_name": "m", "parameters": {"apiBaseUrl": "http://10.0.0.1/v1"}}),
    ];
    for arguments in refused {
        let error =
            test.call_as(&mallory, "create_generator", arguments.clone()).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::NotAllowed, "{arguments}: {error}");
    }
    let file = json!({"provider_type": "mcp", "connection": {"url": "file:///etc/passwd"}});
    assert!(test.call_as(&mallory, "create_generator", file).await.is_err());
    let path = json!({"name": "x", "source": {"path": "/etc/passwd"}});
    let error = test.call_as(&mallory, "create_dataset", path).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NotAllowed);
    let outside = test
        .call("create_dataset", json!({"name": "x", "source": {"path": "../../etc/passwd"}}))
        .await;
    assert_eq!(
        outside.unwrap_err().code,
        ErrorCode::NotAllowed,
        "an operator stays in the workspace"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_guest_sends_reads_no_variable_file_or_code() {
    let test = TestPlatform::new().await;
    let mallory = guest("mallory");
    let ok = |name: &'static str, arguments: Value| {
        let (test, mallory) = (&test, &mallory);
        async move { test.call_as(mallory, name, arguments).await.unwrap().structured }
    };
    ok("create_generator", json!({"name": "e", "provider_type": "echo"})).await;
    let tests = [
        json!([{"vars": {"prompt": "{{env.SERVER_SECRET}}"}}]),
        json!([{"vars": {"prompt": "file:///etc/passwd"}}]),
        json!([{"vars": {"prompt": "x"}, "assert": [{"type": "javascript", "value": "process.env.SERVER_SECRET"}]}]),
        json!([{"vars": {"prompt": "x"}, "assert": [{"type": "python", "value": "open('/etc/passwd').read()"}]}]),
        json!([{"vars": {"prompt": "x"}, "assert": [{"type": "webhook", "value": "http://127.0.0.1:9/"}]}]),
        json!([{"vars": {"prompt": "x"}, "provider": "exec:id"}]),
    ];
    for (at, tests) in tests.into_iter().enumerate() {
        let arguments = json!({"name": format!("o{at}"), "orchestrator_type": "eval", "target_generator_id": "e", "config": {"tests": tests}});
        let Ok(made) = test.call_as(&mallory, "create_orchestrator", arguments).await else {
            continue;
        };
        let id = &made.structured["orchestrator_id"];
        let arguments =
            json!({"orchestrator_id": id, "execution_config": {"wait": true}, "confirm": true});
        if test.call_as(&mallory, "start_orchestrator", arguments).await.is_err() {
            continue;
        }
        let arguments = json!({"orchestrator_id": id, "result_format": "raw"});
        let results = ok("get_orchestrator_results", arguments).await.to_string();
        for secret in ["s3rver-only-value", "root:x:", "uid="] {
            assert!(!results.contains(secret), "{at}: {results}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn principals_do_not_see_each_other() {
    let test = TestPlatform::new().await;
    let (ann, bob) = (guest("ann-guest"), guest("bob"));
    let made = test
        .call_as(&ann, "create_generator", json!({"name": "g", "provider_type": "echo"}))
        .await
        .unwrap();
    let id = made.structured["generator_id"].clone();
    for name in ["get_generator", "test_generator", "delete_generator"] {
        let error = test.call_as(&bob, name, json!({"generator_id": id})).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::NotFound, "{name}");
    }
    let listed = test.call_as(&bob, "list_generators", json!({})).await.unwrap();
    assert_eq!(listed.structured["total"], 0);
    let twice =
        test.call_as(&bob, "create_generator", json!({"name": "g", "provider_type": "echo"})).await;
    assert!(twice.is_ok(), "names are per principal");
}

#[tokio::test(flavor = "multi_thread")]
async fn quotas_bound_bytes_and_runs() {
    let folder = tempfile::tempdir().unwrap();
    let quota = Quota {
        concurrent_runs: 1,
        stored_runs: 10,
        calls_per_run: 100,
        seconds_per_run: 5,
        stored_bytes: 20_000,
    };
    let settings = Allowances { quota, ..Allowances::default() };
    let platform = platform_in(folder.path(), settings).await;
    let test =
        TestPlatform { platform, folder, host: TestHost::default(), principal: guest("mallory") };
    let entries: Vec<String> = (0..1_000).map(|n| format!("{n} {}", "x".repeat(100))).collect();
    let error = test
        .call("create_dataset", json!({"name": "big", "source": {"inline": entries}}))
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::BudgetExceeded);
    let slow = json!({"name": "slow", "provider_type": "scripted", "parameters": {"default": {"text": "x", "delay_ms": 60_000}}});
    test.ok("create_generator", slow).await;
    let entries: Vec<String> = (0..5).map(|n| n.to_string()).collect();
    test.ok("create_dataset", json!({"name": "d", "source": {"inline": entries}})).await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let arguments = json!({"orchestrator_type": "prompt_sending", "target_generator_id": "slow", "dataset_id": "d"});
        ids.push(test.ok("create_orchestrator", arguments).await["orchestrator_id"].clone());
    }
    test.ok("start_orchestrator", json!({"orchestrator_id": ids[0]})).await;
    let error =
        test.call("start_orchestrator", json!({"orchestrator_id": ids[1]})).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::BudgetExceeded);
    let stopped =
        test.ok("stop_orchestrator", json!({"orchestrator_id": ids[0], "force": true})).await;
    assert_ne!(stopped["status"], "running", "{stopped}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_cannot_ask_must_confirm_and_remote_targets_must_be_listed() {
    let mut test = TestPlatform::new().await;
    test.host = TestHost::default();
    let demo = serve_http(DemoConfig::new(Twin::Patched)).await.unwrap();
    let connection =
        json!({"url": demo.url(), "headers": {"Authorization": "Bearer s3cret-token-value"}});
    let made = test
        .ok(
            "create_generator",
            json!({"name": "t", "provider_type": "mcp", "connection": connection}),
        )
        .await;
    assert!(!made.to_string().contains("s3cret-token"), "{made}");
    test.ok("create_generator", json!({"name": "far", "provider_type": "mcp", "connection": {"url": "https://mcp.example.com/mcp"}})).await;
    for name in ["t", "far"] {
        let arguments = json!({"name": name, "orchestrator_type": "mcp_scan", "target_generator_id": name, "config": {"plugins": ["pii"], "num_tests": 1}});
        test.ok("create_orchestrator", arguments).await;
        let error =
            test.call("start_orchestrator", json!({"orchestrator_id": name})).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::ConfirmationRequired, "{name}");
    }
    let error = test
        .call("start_orchestrator", json!({"orchestrator_id": "far", "confirm": true}))
        .await
        .unwrap_err();
    assert_eq!(error.code, ErrorCode::ConfirmationRequired, "not listed");
    test.ok("start_orchestrator", json!({"orchestrator_id": "t", "confirm": true})).await;
    assert_eq!(test.finished("t").await["status"], "completed");
    let found = std::fs::read(test.folder.path().join("state/runs.db")).unwrap();
    assert!(!String::from_utf8_lossy(&found).contains("s3cret-token"));
}
