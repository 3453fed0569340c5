//! From chunks over lines to messages: nothing panics, every body is a piece of its frame, and an id
//! survives being read.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use quintain_fuzz::{Input, chunks, lines};
use quintain_wire::message::{self, Id, Message};
use serde_json::Value;

fuzz_target!(|input: Input<'_>| {
    let (lengths, stream) = input;
    let (frames, _) = lines(&chunks(&lengths, stream), 1 << 16);
    for frame in &frames {
        message::read(frame, |message| check(frame, &message));
    }
});

fn check(frame: &Bytes, message: &Message) {
    match message {
        Message::Response { id, body } => {
            check_id(frame, id);
            if let Ok(body) = body {
                check_body(frame, body);
            }
        }
        Message::Request { id, params, .. } => {
            check_id(frame, id);
            check_body(frame, params);
        }
        Message::Notification { params, .. } => check_body(frame, params),
        Message::Garbled { why } => assert!(!why.is_empty()),
    }
}

/// A body is borrowed from its frame, unless it represents an absent one.
fn check_body(frame: &Bytes, body: &Bytes) {
    assert!(frame.as_ptr_range().contains(&body.as_ptr()) || body == "null");
}

/// Our response must carry the id that was received, not one that only looks like it.
fn check_id(frame: &Bytes, id: &Id) {
    let Ok(Value::Object(whole)) = serde_json::from_slice(frame) else { return };
    let Ok(id) = serde_json::from_str::<Value>(&id.to_string()) else { return };
    assert_eq!(whole.get("id"), Some(&id));
}
