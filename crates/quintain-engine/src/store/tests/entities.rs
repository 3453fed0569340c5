//! Entities belong to their owner, and two writers do not overwrite each other.

use secrecy::SecretString;

use super::*;

fn new<'a>(
    owner: &'a str,
    id: &'a str,
    name: &'a str,
    body: &'a quintain_wire::redact::Masked<'a, serde_json::Value>,
) -> NewEntity<'a> {
    NewEntity { owner, kind: EntityKind::Generator, id, name, body, now: "2026-01-01T00:00:00Z" }
}

#[tokio::test]
async fn owners_share_nothing_and_versions_decide_between_writers() {
    let (store, directory) = store().await;
    let redactor = Redactor::default();
    redactor.learn(&SecretString::from("s3cret-value"));
    let (kind, body) = (EntityKind::Generator, json!({"token": "s3cret-value", "n": 1}));
    let body = redactor.masked(&body).unwrap();
    assert!(store.insert_entity(new("ann", "gen_1", "a", &body)).await.unwrap());
    assert!(!store.insert_entity(new("ann", "gen_2", "a", &body)).await.unwrap(), "same name");
    assert!(!store.insert_entity(new("ann", "gen_1", "b", &body)).await.unwrap(), "same id");
    assert!(store.insert_entity(new("bob", "gen_1", "a", &body)).await.unwrap());
    assert!(store.entity("cid", kind, "gen_1").await.unwrap().is_none());
    let read = store.entity("ann", kind, "gen_1").await.unwrap().unwrap();
    assert_eq!((read.version, &read.body), (1, &json!({"token": "***", "n": 1})));
    assert!(store.update_entity(new("ann", "gen_1", "c", &body), 1).await.unwrap());
    assert!(!store.update_entity(new("ann", "gen_1", "d", &body), 1).await.unwrap(), "too late");
    assert!(store.stored_bytes("ann").await.unwrap() > 0);
    assert_eq!(store.stored_bytes("cid").await.unwrap(), 0);
    store.close().await;
    let store = Store::open(directory.path()).await.unwrap();
    let read = store.entity_of_name("ann", kind, "c").await.unwrap().unwrap();
    assert_eq!((read.version, read.id.as_str()), (2, "gen_1"));
    assert!(store.delete_entity("ann", kind, "gen_1").await.unwrap());
    assert!(!store.delete_entity("ann", kind, "gen_1").await.unwrap());
    assert_eq!(store.entities("bob", kind).await.unwrap().len(), 1);
}
