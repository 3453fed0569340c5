use quintain_evidence::evidence::{Evidence, Outcome};
use quintain_evidence::finding::Confidence;
use serde_json::{Map, json};

use super::*;
use crate::attack::{Action, Identity};
use crate::attacks::testing::{TestTarget, answers, args, comes};

fn learned(identity: usize, name: &str, value: &str, tool: &str) -> Learned {
    Learned { name: name.into(), value: json!(value), tool: tool.into(), identity }
}

fn people(room: &mut TestTarget) {
    for name in ["alice", "bob"] {
        room.capabilities.identities.push(Identity { name: name.into(), ..Identity::default() });
    }
}

/// Notes of two users: alice has n-1, bob has n-9.
fn notes(tool: &str) -> TestTarget {
    let schema = json!({"type": "object", "required": ["note_id"],
        "properties": {"note_id": {"type": "string"}}});
    let mut room = TestTarget::of_tools(&[
        json!({"name": "list_notes"}),
        json!({"name": tool, "inputSchema": schema}),
    ]);
    people(&mut room);
    room.works("list_notes", Map::new(), &answers("n-1: Gift for mum"));
    room.works(tool, Map::from_iter([("note_id".into(), json!("n-1"))]), &answers("Gift for mum"));
    room.knowledge.values = vec![
        learned(0, "note_id", "n-1", "list_notes"),
        learned(0, "title", "Gift for mum", "list_notes"),
        learned(1, "note_id", "n-9", "list_notes"),
    ];
    room
}

fn who(attempt: &Attempt) -> usize {
    match &attempt.action {
        Action::Steps { identity, .. } => *identity,
        other => panic!("{other:?}"),
    }
}

fn id(attempt: &Attempt) -> String {
    args(attempt).get("note_id").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn fails(text: &str) -> Evidence {
    comes(Outcome::ToolError(json!({"isError": true, "content": [{"type": "text", "text": text}]})))
}

fn listing(attempt: &Attempt) -> Evidence {
    answers(if who(attempt) == 0 { "n-1: Gift for mum" } else { "n-9: Taxes" })
}

#[test]
fn data_of_the_owner_in_the_hands_of_another_is_proof() {
    let hits = notes("read_note").run_attack(&Bola, |attempt| match id(attempt).as_str() {
        "" => listing(attempt),
        "n-1" => answers(r#"{"note_id": "n-1", "title": "Gift for mum", "text": "a bicycle"}"#),
        other => fails(&format!("No note {other}")),
    });
    assert_eq!(hits.len(), 1, "{hits:?}");
    assert_eq!((hits[0].confidence, hits[0].fault), (Confidence::Confirmed, "read"));
}

#[test]
fn a_server_that_checks_the_owner_is_clean() {
    let hits = notes("read_note").run_attack(&Bola, |attempt| {
        match (id(attempt).as_str(), who(attempt)) {
            ("", _) => listing(attempt),
            ("n-1", 0) => answers(r#"{"title": "Gift for mum"}"#),
            (other, _) => fails(&format!("No note {other}")),
        }
    });
    assert!(hits.is_empty(), "{hits:?}");
}

#[test]
fn what_everybody_can_list_is_no_secret() {
    let hits = notes("read_note").run_attack(&Bola, |attempt| match id(attempt).as_str() {
        "" => answers("n-1: Gift for mum\nn-9: Taxes"),
        "n-1" => answers(r#"{"title": "Gift for mum"}"#),
        other => fails(&format!("No note {other}")),
    });
    assert!(hits.is_empty(), "{hits:?}");
}

#[test]
fn echoes_and_constant_answers_prove_nothing() {
    for answer in ["note {} is fine", "Gift for mum", "https://notes.example/{}"] {
        let hits = notes("read_note").run_attack(&Bola, |attempt| match id(attempt).as_str() {
            "" => listing(attempt),
            id => answers(&answer.replace("{}", id)),
        });
        assert!(hits.is_empty(), "{answer}: {hits:?}");
    }
}

#[test]
fn public_tools_are_let_be() {
    let aims = Bola.aims(&notes("read_public_note").view());
    assert!(aims.iter().all(|aim| aim.place.tool() != Some("read_public_note")));
}

#[test]
fn a_change_that_the_owner_sees_is_proof() {
    let done = std::cell::Cell::new(false);
    let weak = |attempt: &Attempt| match (id(attempt).as_str(), attempt.role.as_str()) {
        ("n-1", "other") => {
            done.set(true);
            answers("done")
        }
        ("", "list") => answers("n-9: Taxes"),
        ("", _) => {
            answers(if done.get() { "n-1: Gift for mum (done)" } else { "n-1: Gift for mum" })
        }
        (other, _) => fails(&format!("No note {other}")),
    };
    let hits = notes("finish_note").run_attack(&Bola, weak);
    assert_eq!((hits[0].confidence, hits[0].fault), (Confidence::Confirmed, "change"));
    let fixed = notes("finish_note").run_attack(&Bola, |attempt| match id(attempt).as_str() {
        "" => listing(attempt),
        other => fails(&format!("No note {other}")),
    });
    assert!(fixed.is_empty());
}

#[test]
fn an_answer_kept_for_another_names_its_owner() {
    let mut room = TestTarget::of_tools(&[json!({"name": "get_profile"})]);
    people(&mut room);
    room.works("get_profile", Map::new(), &answers("alice, plan gold"));
    let hits = room.run_attack(&Bola, |_| answers("alice, plan gold"));
    assert_eq!((hits[0].confidence, hits[0].fault), (Confidence::Confirmed, "identity"));
    let right = ["alice, plan gold", "bob, plan tin"];
    assert!(room.run_attack(&Bola, |attempt| answers(right[who(attempt)])).is_empty());
    assert!(room.run_attack(&Bola, |_| answers("rates: 1, 2, 3")).is_empty());
}

#[test]
fn neighbours_are_a_suspicion() {
    let mut room = notes("read_note");
    room.capabilities.identities.clear();
    let hits = room.run_attack(&Bola, |attempt| match id(attempt).as_str() {
        "" => listing(attempt),
        "n-1" => answers("Gift for mum"),
        "n-2" => answers("Letter to the bank"),
        other => fails(&format!("No note {other}")),
    });
    assert_eq!((hits[0].confidence, hits[0].fault), (Confidence::Suspected, "neighbour"));
    let same = room.run_attack(&Bola, |attempt| match id(attempt).as_str() {
        "n-1" => answers("Gift for mum"),
        other => fails(&format!("No note {other}")),
    });
    assert!(same.is_empty());
}

#[test]
fn ids_behind_an_own_one_are_tried() {
    let schema = json!({"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "string"}}}});
    let mut room = TestTarget::of_tools(&[json!({"name": "get_notes", "inputSchema": schema})]);
    people(&mut room);
    room.works("get_notes", Map::from_iter([("ids".into(), json!(["n-1"]))]), &answers("x"));
    room.knowledge.values = vec![learned(0, "id", "n-1", "list"), learned(1, "id", "n-9", "list")];
    let view = room.view();
    let aim = &Bola.aims(&view)[0];
    let attempts = Bola.attempts(aim, &room.brief().on(&view));
    let lists: Vec<Value> =
        attempts.iter().filter_map(|one| args(one).get("ids").cloned()).collect();
    assert!(lists.contains(&json!(["n-9", "n-1"])), "{lists:?}");
}
