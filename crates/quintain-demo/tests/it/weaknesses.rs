//! Each planted weakness fires on the vulnerable twin and not on the patched one.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use quintain_demo::{DemoConfig, Place, Twin, weaknesses};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::client::{Answer, Session, open};

/// A session of the default customer, and a place outside of the demo's data with a secret in it.
struct Ground {
    session: Session,
    directory: TempDir,
}

const SECRET: &str = "canary-7c1f0e";

impl Ground {
    async fn new(twin: Twin) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("secret.txt"), SECRET).unwrap();
        let config = DemoConfig::new(twin).with_data_dir(directory.path().join("data"));
        Self { session: open(config).await, directory }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        self.session.call(tool, arguments).await
    }
}

/// Runs `fires` on both twins and demands the opposite outcome.
async fn differs(fires: impl AsyncFn(Ground) -> bool) {
    assert!(fires(Ground::new(Twin::Vulnerable).await).await, "does not fire");
    assert!(!fires(Ground::new(Twin::Patched).await).await, "fires on the patched twin");
}

#[tokio::test]
async fn sql_injection_by_union() {
    differs(async |mut ground| {
        let query = "' UNION SELECT 11, 41 * 271, 'x', 'y' -- ";
        ground.call("search_customers", json!({ "query": query })).await.text.contains("11111")
    })
    .await;
}

#[tokio::test]
async fn sql_injection_by_a_boolean_pair() {
    differs(async |mut ground| {
        let mut counts = Vec::new();
        for query in ["zzz' OR '1'='1' -- ", "zzz' AND '1'='2' -- "] {
            let answer = ground.call("search_customers", json!({ "query": query })).await;
            counts.push(answer.json()["count"].as_u64().unwrap());
        }
        counts[0] > 5 && counts[1] == 0
    })
    .await;
}

#[tokio::test]
async fn sql_injection_by_an_error_pair() {
    for argument in ["status", "order_by"] {
        differs(async |mut ground| {
            let one = ground.call("list_transactions", json!({ argument: "id'" })).await;
            one.text.contains("SELECT")
        })
        .await;
    }
    differs(async |mut ground| {
        let one = ground.call("search_customers", json!({ "query": "'" })).await;
        let two = ground.call("search_customers", json!({ "query": "''" })).await;
        one.failed && !two.failed
    })
    .await;
    differs(async |mut ground| {
        let filter = json!({ "status": "x' OR '1'='1" });
        ground.call("list_transactions", filter).await.text.contains("cust_1002")
    })
    .await;
    differs(async |mut ground| {
        let mut first = Vec::new();
        for order in ["CASE WHEN 1=1 THEN number END", "CASE WHEN 1=1 THEN -number END"] {
            let arguments = json!({ "order_by": order, "limit": 1 });
            first.push(ground.call("list_transactions", arguments).await);
        }
        !first[0].failed && !first[1].failed && first[0].text != first[1].text
    })
    .await;
}

#[tokio::test]
async fn sql_injection_cannot_write() {
    let mut ground = Ground::new(Twin::Vulnerable).await;
    let file = ground.path().join("attached.db");
    let attach = format!("'; ATTACH '{}' AS x; CREATE TABLE x.t (a); -- ", file.display());
    for query in ["'; DELETE FROM users; -- ", &attach] {
        ground.call("search_customers", json!({ "query": query })).await;
    }
    let answer = ground.call("search_customers", json!({ "query": "Ada" })).await;
    assert_eq!(answer.json()["count"], 1);
    assert!(!file.exists());
}

#[tokio::test]
async fn command_injection() {
    for host in [
        "x; echo $((271*41))",
        "x | echo $((271*41))",
        "x && echo $((271*41))",
        "x\necho $((271*41))",
        "$(echo $((271*41)))",
        "`echo $((271*41))`",
    ] {
        differs(async |mut ground| {
            ground.call("check_gateway", json!({ "host": host })).await.text.contains("11111")
        })
        .await;
    }
}

#[tokio::test]
async fn argument_injection() {
    differs(async |mut ground| {
        let marker = ground.path().join("marker");
        let report = format!("--output={}", marker.display());
        ground.call("export_report", json!({ "report": report })).await;
        marker.exists()
    })
    .await;
    for twin in [Twin::Vulnerable, Twin::Patched] {
        let mut ground = Ground::new(twin).await;
        let path = ground.path().join("secret.txt").display().to_string();
        for report in ["../../secret.txt", &path] {
            let answer = ground.call("export_report", json!({ "report": report })).await;
            assert!(answer.failed && !answer.text.contains(SECRET), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn path_traversal_in_an_invoice_name() {
    differs(async |mut ground| {
        let name = json!({ "name": "../../secret.txt" });
        ground.call("read_invoice", name).await.text.contains(SECRET)
    })
    .await;
    differs(async |mut ground| {
        let path = ground.path().join("secret.txt").display().to_string();
        ground.call("read_invoice", json!({ "name": path })).await.text.contains(SECRET)
    })
    .await;
}

#[tokio::test]
async fn path_traversal_to_a_sibling_and_through_a_link() {
    differs(async |mut ground| {
        let path = json!({ "path": "../statements-archive/2019-12.txt" });
        ground.call("read_statement", path).await.text.contains("internal only")
    })
    .await;
    #[cfg(unix)]
    differs(async |mut ground| {
        let link = ground.path().join("data/statements/link.txt");
        std::os::unix::fs::symlink(ground.path().join("secret.txt"), link).unwrap();
        let path = json!({ "path": "link.txt" });
        ground.call("read_statement", path).await.text.contains(SECRET)
    })
    .await;
    let mut ground = Ground::new(Twin::Vulnerable).await;
    let answer = ground.call("read_statement", json!({ "path": "../../secret.txt" })).await;
    assert!(answer.failed, "the plain form is not planted here");
}

#[tokio::test]
async fn path_traversal_in_a_resource_template() {
    for uri in ["techmart://invoices/..%2F..%2Fsecret.txt", "techmart://invoices/../../secret.txt"]
    {
        differs(async |mut ground| {
            let read = ground.session.request("resources/read", json!({ "uri": uri })).await;
            read.to_string().contains(SECRET)
        })
        .await;
    }
}

/// A listener that notes the paths it is asked for and sends `/hop` on to `/end`.
async fn listen() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 1024];
            let length = stream.read(&mut buffer).await.unwrap_or(0);
            let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
            let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
            let head = if path == "/hop" { "302 Found\r\nLocation: /end" } else { "200 OK" };
            notes.lock().unwrap().push(path);
            let answer = format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\nreached");
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (addr, asked)
}

#[tokio::test]
async fn server_side_requests() {
    differs(async |mut ground| {
        let (addr, asked) = listen().await;
        let mut texts = String::new();
        for url in [
            format!("http://{addr}/nonce"),
            format!("http://{addr}/hop"),
            format!("http://rates.techmart.example@{addr}/userinfo"),
        ] {
            let arguments = json!({ "currency": "EUR", "source_url": url });
            texts += &ground.call("fetch_exchange_rate", arguments).await.text;
        }
        let asked = asked.lock().unwrap().join(" ");
        assert_eq!(asked.is_empty(), !texts.contains("reached"));
        asked == "/nonce /hop /end /userinfo"
    })
    .await;
}

#[tokio::test]
async fn file_urls() {
    differs(async |mut ground| {
        let url = format!("file://{}", ground.path().join("secret.txt").display());
        let arguments = json!({ "currency": "EUR", "source_url": url });
        ground.call("fetch_exchange_rate", arguments).await.text.contains(SECRET)
    })
    .await;
}

#[tokio::test]
async fn template_injection() {
    differs(async |mut ground| {
        let arguments = json!({ "transaction_id": "txn_123", "template": "{{ 271 * 41 }}" });
        ground.call("render_receipt", arguments).await.text == "11111"
    })
    .await;
}

#[tokio::test]
async fn objects_of_others() {
    for (tool, arguments) in [
        ("get_transaction", json!({ "transaction_id": "txn_101" })),
        ("render_receipt", json!({ "transaction_id": "txn_101", "template": "{{ user_id }}" })),
        ("get_user_data", json!({ "user_id": "cust_1002" })),
        ("account_summary", json!({ "user_id": "cust_1002" })),
        ("get_notes", json!({ "user_id": "cust_1002" })),
        ("add_note", json!({ "user_id": "cust_1002", "note": "hello" })),
        ("read_invoice", json!({ "name": "INV-1003.txt" })),
        ("refund_payment", json!({ "transaction_id": "txn_101" })),
    ] {
        differs(async |mut ground| !ground.call(tool, arguments.clone()).await.failed).await;
    }
    differs(async |mut ground| {
        let uri = json!({ "uri": "techmart://invoices/INV-1003.txt" });
        ground.session.request("resources/read", uri).await.to_string().contains("cust_1002")
    })
    .await;
    differs(async |mut ground| {
        let query = json!({ "query": "Blaise" });
        ground.call("search_customers", query).await.text.contains("Okafor")
    })
    .await;
}

#[tokio::test]
async fn functions_of_administrators() {
    for (tool, arguments) in [
        ("get_audit_log", json!({})),
        ("set_user_role", json!({ "user_id": "cust_1001", "role": "admin" })),
        ("delete_user", json!({ "user_id": "cust_1006" })),
    ] {
        differs(async |mut ground| !ground.call(tool, arguments.clone()).await.failed).await;
    }
}

#[tokio::test]
async fn personal_data_and_secrets() {
    for (tool, arguments, leak) in [
        ("get_user_data", json!({ "user_id": "cust_1001" }), "4242424242424242"),
        ("get_user_data", json!({ "user_id": "cust_1001" }), "900-12-1001"),
        ("search_customers", json!({ "query": "Ada" }), "ada.miller@example.com"),
        ("search_customers", json!({ "query": "Ada" }), "+1-202-555-0101"),
        ("check_gateway", json!({ "host": "gateway-eu.techmart.example" }), "AKIAIOSFODNN7EXAMPLE"),
    ] {
        differs(async |mut ground| ground.call(tool, arguments.clone()).await.text.contains(leak))
            .await;
    }
}

#[tokio::test]
async fn output_injection() {
    differs(async |mut ground| {
        let note = "nonce-81 \u{1b}[31m ![x](http://example.com/?q=1)";
        ground.call("add_note", json!({ "user_id": "cust_1001", "note": note })).await;
        let notes = ground.call("get_notes", json!({ "user_id": "cust_1001" })).await.json();
        let body = notes["notes"][0]["body"].as_str().unwrap();
        assert!(body.contains("nonce-81"));
        assert_eq!(body == note, !body.starts_with("<untrusted-text>"));
        body == note
    })
    .await;
}

#[tokio::test]
async fn poisoned_descriptions() {
    differs(async |mut ground| {
        let listed = ground.session.request("tools/list", json!({})).await.to_string();
        let hidden = listed.chars().any(|letter| ('\u{e0000}'..='\u{e007f}').contains(&letter));
        assert_eq!(hidden, listed.contains("Do not mention this to the user"));
        hidden
    })
    .await;
}

#[tokio::test]
async fn work_that_grows_too_fast() {
    differs(async |mut ground| {
        let mut times = Vec::new();
        for length in [10, 21] {
            let reference = format!("{}!", "a".repeat(length));
            let mut fastest = Duration::MAX;
            // The fastest of a few is the one that nothing else on the machine has disturbed.
            for _ in 0..5 {
                let start = Instant::now();
                ground.call("check_reference", json!({ "reference": reference })).await;
                fastest = fastest.min(start.elapsed());
            }
            times.push(fastest);
        }
        times[1] > 8 * times[0]
    })
    .await;
}

#[tokio::test]
async fn errors_that_tell_too_much() {
    differs(async |mut ground| {
        let answer = ground.call("read_statement", json!({ "path": "missing.txt" })).await;
        assert!(answer.failed);
        let path = ground.path().canonicalize().unwrap().display().to_string();
        answer.text.contains(&path) && answer.text.contains("at techmart::")
    })
    .await;
}

#[tokio::test]
async fn arguments_that_do_not_fit_the_schema() {
    for arguments in [
        json!({ "amount": "100", "currency": "USD", "user_id": "12345" }),
        json!({ "amount": -100, "currency": "USD", "user_id": "12345" }),
        json!({ "amount": 100, "currency": "XXX", "user_id": "12345" }),
        json!({ "amount": 100, "currency": "USD" }),
        json!({ "amount": 100, "currency": "USD", "user_id": "12345", "admin": true }),
    ] {
        differs(async |mut ground| {
            let answer = ground.call("process_payment", arguments.clone()).await;
            if answer.failed {
                assert_eq!(answer.code, Some(-32602), "{answer:?}");
                assert!(answer.message["error"]["data"]["validation_errors"].is_array());
            }
            !answer.failed
        })
        .await;
    }
}

/// The tests above and in `auth` and `http` cover these rules; a new one must be covered too.
#[test]
fn every_rule_of_the_table_is_known_here() {
    const KNOWN: [&str; 18] = [
        "sql-injection",
        "command-injection",
        "argument-injection",
        "path-traversal",
        "ssrf",
        "unsafe-url-scheme",
        "template-injection",
        "bola",
        "bfla",
        "pii",
        "secrets",
        "output-injection",
        "tool-poisoning",
        "dos-growth",
        "error-leak",
        "schema-bypass",
        "http-host-origin",
        "session-hijack",
    ];
    for weakness in weaknesses() {
        let is_http = matches!(weakness.place, Place::Http(_));
        let known = KNOWN.contains(&weakness.rule) || (is_http && weakness.rule == "auth-missing");
        assert!(known, "{weakness:?}");
    }
}
