//! Skills: files are read only when needed, and must match the listing.

use crate::skills::{self, SkillError};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::script::{Log, Target, answer};
use quintain_wire::session::Session;

const SKILL: &str = "skill://pdf/SKILL.md";
const FORMS: &str = "skill://pdf/FORMS.md";
const TEXT: &str = "---\nname: pdf\n---\nBody.\n";

fn promise(uri: &str, text: &str) -> Value {
    let digest = format!("sha256:{:x}", Sha256::digest(text));
    json!({"uri": uri, "digest": digest, "size": text.len()})
}

/// A server with one skill, whose `SKILL.md` contains `served`.
async fn server(resources: Value, served: &'static str) -> (Session, Log) {
    Target::default()
        .session("2025-11-25", move |seen, sink| {
            let uri = &seen.json["params"]["uri"];
            answer(
                sink,
                seen,
                match seen.method() {
                    "skills/list" => json!({"skills": [
                        {"uri": SKILL, "frontmatter": {"name": "pdf"}, "resources": resources}]}),
                    _ if uri == SKILL => json!({"contents": [{"uri": uri, "text": served}]}),
                    _ => json!({"contents": [{"uri": uri, "blob": "Rm9ybXMu"}]}),
                },
            );
        })
        .await
}

fn complete() -> Value {
    json!([promise(SKILL, TEXT), promise(FORMS, "Forms.")])
}

#[tokio::test]
async fn listing_reads_no_file_and_loading_reads_one() {
    let (session, log) = server(complete(), TEXT).await;
    let skill = skills::list(&session).await.unwrap().remove(0);
    assert_eq!(log.methods(), ["skills/list"]);
    let file = skill.load(&session).await.unwrap();
    assert!(file.verified && file.bytes == TEXT.as_bytes());
    assert_eq!(log.methods(), ["skills/list", "resources/read"]);
    let forms = skill.read(&session, FORMS).await.unwrap();
    assert!(forms.verified && forms.bytes == "Forms.".as_bytes());
}

#[tokio::test]
async fn what_differs_from_the_listing_is_not_handed_out() {
    for served in ["---\nname: pdf\n---\nEvil.\n", "---\nname: pdf\n---\nBody. And more.\n"] {
        let (session, _) = server(complete(), served).await;
        let skill = skills::list(&session).await.unwrap().remove(0);
        let error = skill.load(&session).await.unwrap_err();
        assert!(matches!(error, SkillError::Broken { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_file_that_is_not_listed_is_not_even_asked_for() {
    let (session, log) = server(json!([promise(SKILL, TEXT)]), TEXT).await;
    let skill = skills::list(&session).await.unwrap().remove(0);
    assert!(skill.read(&session, FORMS).await.is_err());
    assert_eq!(log.methods(), ["skills/list"]);
}

#[tokio::test]
async fn without_digests_nothing_is_called_verified_and_the_front_matter_still_counts() {
    let (session, _) = server(json!("dynamic"), TEXT).await;
    let skill = skills::list(&session).await.unwrap().remove(0);
    assert!(!skill.load(&session).await.unwrap().verified);
    let (session, _) = server(json!("dynamic"), "---\nname: other\n---\n").await;
    assert!(skill.load(&session).await.unwrap_err().to_string().contains("`name`"));
}
