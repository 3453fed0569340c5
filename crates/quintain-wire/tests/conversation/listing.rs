//! Pages of listings, and tools that must not be used.

use quintain_wire::rpc::CallError;
use quintain_wire::session::Listable;
use serde_json::json;

use crate::script::{Target, answer, refuse};

#[tokio::test]
async fn pages_are_followed_to_the_end_and_items_kept_as_they_came() {
    let (session, _log) = Target::default()
        .session("2025-06-18", |seen, sink| {
            let page = seen.json["params"]["cursor"].as_str().map_or(0, str::len);
            let tool = json!({"name": format!("tool{page}"), "x-unknown": {"kept": [1.50, null]}});
            let mut result = json!({"tools": [tool]});
            if page < 3 {
                result["nextCursor"] = "x".repeat(page + 1).into();
            }
            answer(sink, seen, result);
        })
        .await;
    let listing = session.list(Listable::Tools).await.unwrap();
    assert_eq!(listing.pages, 4);
    assert_eq!(listing.items[3]["name"], "tool3");
    assert_eq!(listing.items[0]["x-unknown"], json!({"kept": [1.50, null]}));
}

#[tokio::test]
async fn a_listing_without_an_end_is_an_error() {
    for repeat in [true, false] {
        let (session, log) = Target::default()
            .session("2025-06-18", move |seen, sink| {
                let cursor = if repeat { "again".to_owned() } else { seen.id().to_string() };
                answer(sink, seen, json!({"tools": [], "nextCursor": cursor}));
            })
            .await;
        let error = session.list(Listable::Tools).await.unwrap_err();
        assert!(matches!(error, CallError::Endless { .. }), "{error}");
        assert!(log.seen().len() <= 20);
    }
}

#[tokio::test]
async fn marked_arguments_are_mirrored_after_listing_and_bad_marks_cost_the_tool() {
    let (session, log) = Target::default()
        .over_http()
        .session("2026-07-28", |seen, sink| match seen.method() {
            "tools/list" => {
                let tool = |name: &str, mark: &str| {
                    json!({"name": name, "inputSchema": {"properties": {
                        "region": {"type": "string", "x-mcp-header": mark}}}})
                };
                answer(sink, seen, json!({"tools": [tool("good", "Region"), tool("bad", "a b")]}));
            }
            _ => answer(sink, seen, json!({"content": []})),
        })
        .await;
    let listing = session.list(Listable::Tools).await.unwrap();
    assert_eq!(listing.items.len(), 1);
    assert_eq!(listing.refused[0].0, "bad");
    session.call_tool("good", json!({"region": "eu"})).await.unwrap();
    let headers = &log.seen()[1].headers;
    for expected in [("mcp-method", "tools/call"), ("mcp-name", "good"), ("mcp-param-region", "eu")]
    {
        let expected = (expected.0.to_owned(), expected.1.to_owned());
        assert!(headers.contains(&expected), "{headers:?}");
    }
}

#[tokio::test]
async fn a_header_mismatch_makes_us_list_the_tools_and_try_once_more() {
    let (session, log) = Target::default()
        .over_http()
        .session("2026-07-28", |seen, sink| match seen.method() {
            "tools/list" => answer(sink, seen, json!({"tools": []})),
            _ => refuse(sink, seen, -32020, "Header mismatch"),
        })
        .await;
    let error = session.call_tool("x", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Rpc { error, .. } if error.code == -32020));
    assert_eq!(log.methods(), ["tools/call", "tools/list", "tools/call"]);
}
