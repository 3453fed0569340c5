//! Injections: SQL, a command, an option, a path, a URL, a template.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use quintain_demo::Twin;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::{DemoServer, SECRET, differs};

#[tokio::test]
async fn sql_injection_by_union() {
    differs(async |mut demo_server| {
        let query = "' UNION SELECT 11, 41 * 271, 'x', 'y' -- ";
        demo_server.call("search_customers", json!({ "query": query })).await.text.contains("11111")
    })
    .await;
}

#[tokio::test]
async fn sql_injection_by_a_boolean_pair() {
    differs(async |mut demo_server| {
        let mut counts = Vec::new();
        for query in ["zzz' OR '1'='1' -- ", "zzz' AND '1'='2' -- "] {
            let answer = demo_server.call("search_customers", json!({ "query": query })).await;
            counts.push(answer.json()["count"].as_u64().unwrap());
        }
        counts[0] > 5 && counts[1] == 0
    })
    .await;
}

#[tokio::test]
async fn sql_injection_by_an_error_pair() {
    for argument in ["status", "order_by"] {
        differs(async |mut demo_server| {
            let one = demo_server.call("list_transactions", json!({ argument: "id'" })).await;
            one.text.contains("SELECT")
        })
        .await;
    }
    differs(async |mut demo_server| {
        let one = demo_server.call("search_customers", json!({ "query": "'" })).await;
        let two = demo_server.call("search_customers", json!({ "query": "''" })).await;
        one.failed && !two.failed
    })
    .await;
    differs(async |mut demo_server| {
        let filter = json!({ "status": "x' OR '1'='1" });
        demo_server.call("list_transactions", filter).await.text.contains("cust_1002")
    })
    .await;
    differs(async |mut demo_server| {
        let mut first = Vec::new();
        for order in ["CASE WHEN 1=1 THEN number END", "CASE WHEN 1=1 THEN -number END"] {
            let arguments = json!({ "order_by": order, "limit": 1 });
            first.push(demo_server.call("list_transactions", arguments).await);
        }
        !first[0].failed && !first[1].failed && first[0].text != first[1].text
    })
    .await;
}

#[tokio::test]
async fn sql_injection_cannot_write() {
    let mut demo_server = DemoServer::new(Twin::Vulnerable).await;
    let file = demo_server.path().join("attached.db");
    let attach = format!("'; ATTACH '{}' AS x; CREATE TABLE x.t (a); -- ", file.display());
    for query in ["'; DELETE FROM users; -- ", &attach] {
        demo_server.call("search_customers", json!({ "query": query })).await;
    }
    let answer = demo_server.call("search_customers", json!({ "query": "Ada" })).await;
    assert_eq!(answer.json()["count"], 1);
    assert!(!file.exists());
}

#[tokio::test]
async fn sql_injection_cannot_run_for_ever() {
    let mut demo_server = DemoServer::new(Twin::Vulnerable).await;
    let query = "' UNION SELECT 1, 2, 3, count(*) FROM (WITH RECURSIVE n(i) AS \
        (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n) -- ";
    let answer = demo_server.call("search_customers", json!({ "query": query })).await;
    assert!(answer.failed && answer.text.contains("interrupted"), "{answer:?}");
    assert!(!demo_server.call("search_customers", json!({ "query": "Ada" })).await.failed);
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
        differs(async |mut demo_server| {
            demo_server.call("check_gateway", json!({ "host": host })).await.text.contains("11111")
        })
        .await;
    }
}

#[tokio::test]
async fn argument_injection() {
    differs(async |mut demo_server| {
        let marker = demo_server.path().join("marker");
        let report = format!("--output={}", marker.display());
        demo_server.call("export_report", json!({ "report": report })).await;
        marker.exists()
    })
    .await;
    for twin in [Twin::Vulnerable, Twin::Patched] {
        let mut demo_server = DemoServer::new(twin).await;
        let path = demo_server.path().join("secret.txt").display().to_string();
        for report in ["../../secret.txt", &path] {
            let answer = demo_server.call("export_report", json!({ "report": report })).await;
            assert!(answer.failed && !answer.text.contains(SECRET), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn path_traversal_in_an_invoice_name() {
    differs(async |mut demo_server| {
        let name = json!({ "name": "../../secret.txt" });
        demo_server.call("read_invoice", name).await.text.contains(SECRET)
    })
    .await;
    differs(async |mut demo_server| {
        let path = demo_server.path().join("secret.txt").display().to_string();
        demo_server.call("read_invoice", json!({ "name": path })).await.text.contains(SECRET)
    })
    .await;
}

#[tokio::test]
async fn path_traversal_to_a_sibling_and_through_a_link() {
    differs(async |mut demo_server| {
        let path = json!({ "path": "../statements-archive/2019-12.txt" });
        demo_server.call("read_statement", path).await.text.contains("internal only")
    })
    .await;
    #[cfg(unix)]
    differs(async |mut demo_server| {
        let link = demo_server.path().join("data/statements/link.txt");
        std::os::unix::fs::symlink(demo_server.path().join("secret.txt"), link).unwrap();
        let path = json!({ "path": "link.txt" });
        demo_server.call("read_statement", path).await.text.contains(SECRET)
    })
    .await;
    let mut demo_server = DemoServer::new(Twin::Vulnerable).await;
    let answer = demo_server.call("read_statement", json!({ "path": "../../secret.txt" })).await;
    assert!(answer.failed, "the plain form is not planted here");
}

#[tokio::test]
async fn path_traversal_in_a_resource_template() {
    for uri in ["techmart://invoices/..%2F..%2Fsecret.txt", "techmart://invoices/../../secret.txt"]
    {
        differs(async |mut demo_server| {
            let read = demo_server.session.request("resources/read", json!({ "uri": uri })).await;
            read.to_string().contains(SECRET)
        })
        .await;
    }
}

/// A listener that records the requested paths and redirects `/hop` to `/end`.
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
    differs(async |mut demo_server| {
        let (addr, asked) = listen().await;
        let mut texts = String::new();
        for url in [
            format!("http://{addr}/nonce"),
            format!("http://{addr}/hop"),
            format!("http://rates.techmart.example@{addr}/userinfo"),
        ] {
            let arguments = json!({ "currency": "EUR", "source_url": url });
            texts += &demo_server.call("fetch_exchange_rate", arguments).await.text;
        }
        let asked = asked.lock().unwrap().join(" ");
        assert_eq!(asked.is_empty(), !texts.contains("reached"));
        asked == "/nonce /hop /end /userinfo"
    })
    .await;
}

#[tokio::test]
async fn file_urls() {
    differs(async |mut demo_server| {
        let url = format!("file://{}", demo_server.path().join("secret.txt").display());
        let arguments = json!({ "currency": "EUR", "source_url": url });
        demo_server.call("fetch_exchange_rate", arguments).await.text.contains(SECRET)
    })
    .await;
}

#[tokio::test]
async fn template_injection() {
    differs(async |mut demo_server| {
        let arguments = json!({ "transaction_id": "txn_123", "template": "{{ 271 * 41 }}" });
        demo_server.call("render_receipt", arguments).await.text == "11111"
    })
    .await;
}
