//! The event-stream parser: chunking never changes the events, and no event exceeds the limit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain_fuzz::{Input, chunks};
use quintain_wire::message::TooLong;
use quintain_wire::transport::events::{Event, Events};

const LIMIT: usize = 64;

fuzz_target!(|input: Input<'_>| {
    let (lengths, stream) = input;
    let cut = chunks(&lengths, stream);
    let (mut once, mut pieces) = (Events::new(usize::MAX), Events::new(usize::MAX));
    assert_eq!(parse(&mut pieces, &cut), parse(&mut once, &[stream]));
    assert_eq!(pieces.last_id(), once.last_id());
    assert_eq!(pieces.retry_ms(), once.retry_ms());

    // Where the limit applies depends on the chunks, because a long comment may arrive whole; that no
    // event exceeds it must not.
    let (events, _) = parse(&mut Events::new(LIMIT), &cut);
    assert!(events.iter().all(|event| !event.data.is_empty() && event.data.len() <= LIMIT));
});

fn parse(events: &mut Events, chunks: &[&[u8]]) -> (Vec<Event>, Result<(), TooLong>) {
    let mut out = Vec::new();
    for chunk in chunks {
        events.push(chunk);
        loop {
            match events.next_event() {
                Ok(Some(event)) => out.push(event),
                Ok(None) => break,
                Err(error) => return (out, Err(error)),
            }
        }
    }
    (out, Ok(()))
}
