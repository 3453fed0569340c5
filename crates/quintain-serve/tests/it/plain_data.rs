//! What callers send is data for everybody, the state directory is closed, and targets off loopback need permission.

use quintain_serve::host::Decision;
use quintain_serve::platform::{Allowances, generator::Generator};
use quintain_serve::tool::ErrorCode;
use serde_json::{Value, json};

use crate::support::{TestHost, TestPlatform, guest, platform_in};

/// Texts that a suite would interpret.
const TEXTS: [&str; 7] = [
    "file:///etc/hostname",
    "file://code.py",
    "{{env.SERVER_SECRET}}",
    "{{ env | dump }} {{prompt}}",
    "{% endraw %}{{ 7*7 }}{% raw %}",
    "{% broken",
    "{{ \"a\" }",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_judged_text_is_judged_as_it_is() {
    let test = TestPlatform::new().await;
    let code = "open('ran', 'w').write('x')\ndef get_var(*a):\n    return {'output': 'made'}\n";
    std::fs::write(test.folder.path().join("code.py"), code).unwrap();
    for principal in [test.principal.clone(), guest("mallory")] {
        for text in TEXTS {
            let scorers =
                json!([{"name": "equals", "value": text}, {"name": "contains", "value": text}]);
            let arguments = json!({"text": text, "scorers": scorers, "context": {"note": text}});
            let reply = test.call_as(&principal, "score_text", arguments).await;
            let reply = reply.unwrap_or_else(|error| panic!("{text}: {error}")).structured;
            assert_eq!(reply["pass"], true, "{text}: {reply}");
            assert_eq!(reply["scores"].as_array().map(Vec::len), Some(2), "{text}: {reply}");
        }
    }
    assert!(!test.folder.path().join("ran").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scorer_that_cannot_decide_is_an_error() {
    let test = TestPlatform::new().await;
    for scorer in [
        json!({"name": "llm-rubric", "value": "is polite"}),
        json!({"name": "regex", "value": "("}),
    ] {
        let error = test.call("score_text", json!({"text": "x", "scorers": [scorer]})).await;
        let error = error.unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidConfiguration, "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_of_data_sets_are_sent_as_they_are() {
    let test = TestPlatform::new().await;
    test.ok("create_generator", json!({"name": "e", "provider_type": "echo"})).await;
    test.ok("create_dataset", json!({"name": "d", "source": {"inline": TEXTS}})).await;
    test.ok("create_orchestrator", json!({"name": "o", "orchestrator_type": "prompt_sending", "target_generator_id": "e", "dataset_id": "d", "config": {"scorers": [{"name": "contains", "value": "x"}]}})).await;
    test.ok(
        "start_orchestrator",
        json!({"orchestrator_id": "o", "confirm": true, "execution_config": {"wait": true}}),
    )
    .await;
    let results = test
        .ok("get_orchestrator_results", json!({"orchestrator_id": "o", "result_format": "raw"}))
        .await;
    let shown = results.to_string();
    for text in TEXTS {
        let quoted = Value::from(text).to_string();
        assert!(shown.contains(quoted.trim_matches('"')), "{text}: {shown}");
    }
    assert!(!shown.contains("s3rver-only-value"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_directory_is_closed_also_in_the_workspace_and_through_links() {
    let test = TestPlatform::new().await;
    let folder = test.folder.path();
    std::fs::create_dir_all(folder.join("state/serve")).unwrap();
    std::fs::write(folder.join("state/serve/keys.json"), "[\"signing-key\"]").unwrap();
    std::fs::write(folder.join("mine.txt"), "an entry").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.join("state/serve/keys.json"), folder.join("link.txt"))
        .unwrap();
    for path in
        ["state/serve/keys.json", "./state/../state/serve/keys.json", "link.txt", "state/runs.db"]
    {
        let arguments = json!({"name": "x", "format": "txt", "source": {"path": path}});
        let error = test.call("create_dataset", arguments).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::NotAllowed, "{path}: {error}");
    }
    test.ok("create_dataset", json!({"name": "y", "source": {"path": "mine.txt"}})).await;
    let written =
        json!({"text": "x", "scorers": [{"name": "snapshot", "value": "state/serve/new"}]});
    let _ = test.call("score_text", written).await;
    assert!(!folder.join("state/serve/new").exists());
    let policy = test.platform.policy_of_attack(&test.principal, &[]);
    assert!(policy.file(&folder.join("state/serve/keys.json")).is_err());
}

fn generator(url: &str) -> Generator {
    let body = json!({"provider_type": "http", "connection": {"url": url}});
    Generator { id: "g".into(), name: "g".into(), body }
}

/// Decisions only: nothing is contacted.
#[tokio::test]
async fn over_http_an_operator_reaches_loopback_and_what_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let allow_targets = vec!["listed.example:443".parse().unwrap()];
    let allowances = Allowances { asks_its_user: false, allow_targets, ..Allowances::default() };
    let platform = platform_in(folder.path(), allowances).await;
    let host = TestHost { decision: Some(Decision::Accepted), ..TestHost::default() };
    let test = TestPlatform {
        platform,
        folder,
        host,
        principal: quintain_serve::principal::Principal::local("ann"),
    };
    for (url, expected) in [
        ("http://127.0.0.1:9/", true),
        ("http://localhost:9/", true),
        ("http://[::1]:9/", true),
        ("https://listed.example/", true),
        ("https://listed.example:8443/", false),
        ("https://other.example/", false),
        ("http://10.0.0.1/", false),
        ("http://169.254.169.254/", false),
        ("http://metadata.google.internal/", false),
        ("http://0.0.0.0:9/", false),
        ("http://[fe80::1]/", false),
    ] {
        let mut target = generator(url);
        let found = test.platform.confirm_contact(&test.principal, &test.host, &mut target).await;
        assert_eq!(found.is_ok(), expected, "{url}: {found:?}");
        let policy = test.platform.policy(&test.principal, &[&target]);
        let parsed = url::Url::parse(url).unwrap();
        assert_eq!(policy.destinations().check(&parsed).is_ok(), expected, "{url}");
    }
}

/// Decisions only: nothing is contacted.
#[tokio::test]
async fn over_stdio_the_user_is_asked_before_the_first_contact() {
    let mut test = TestPlatform::new().await;
    for (url, asked) in [("http://127.0.0.1:9/", 0), ("https://other.example/", 1)] {
        let mut target = generator(url);
        let before = test.host.asked.load(std::sync::atomic::Ordering::SeqCst);
        test.platform.confirm_contact(&test.principal, &test.host, &mut target).await.unwrap();
        let after = test.host.asked.load(std::sync::atomic::Ordering::SeqCst);
        assert_eq!(after - before, asked, "{url}");
        let policy = test.platform.policy(&test.principal, &[&target]);
        assert!(policy.destinations().check(&url::Url::parse(url).unwrap()).is_ok(), "{url}");
        // What was confirmed is confirmed for this address only.
        target.body["connection"]["url"] = json!("https://another.example/");
        assert!(!target.is_contact_confirmed());
    }
    for url in
        ["http://169.254.169.254/", "http://metadata.google.internal/", "http://100.100.100.200/"]
    {
        let mut target = generator(url);
        let refused = test.platform.confirm_contact(&test.principal, &test.host, &mut target).await;
        assert_eq!(refused.unwrap_err().code, ErrorCode::NotAllowed, "{url}");
        let body = json!({"name": "x", "provider_type": "http", "connection": {"url": url}});
        let error = test.call("create_generator", body).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::NotAllowed, "{url}");
    }
    test.host = TestHost::default();
    let mut target = generator("https://other.example/");
    let refused = test.platform.confirm_contact(&test.principal, &test.host, &mut target).await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::ConfirmationRequired);
}
