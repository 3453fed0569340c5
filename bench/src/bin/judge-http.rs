//! A model that has one opinion, and gives it after as many milliseconds as the argument says.

use std::io::{Error, ErrorKind};
use std::thread;
use std::time::Duration;

use quintain_bench::serve;

const REPLY: &str = r#"{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"pass\":true,\"score\":0.75,\"reason\":\"canned\"}"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#;

fn main() -> std::io::Result<()> {
    let delay = std::env::args().nth(1).and_then(|delay| delay.parse().ok());
    let delay =
        delay.ok_or_else(|| Error::new(ErrorKind::InvalidInput, "expected milliseconds"))?;
    serve::run(move |_, body| {
        thread::sleep(Duration::from_millis(delay));
        body.extend_from_slice(REPLY.as_bytes());
        true
    })
}
