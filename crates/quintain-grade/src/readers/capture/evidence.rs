//! The start of a message, which proves a violation of the protocol.

use serde_json::Value;

/// The start of a message, without writing out all of a large one.
pub(super) fn start_of(message: &Value) -> String {
    let mut start = Start(Vec::new());
    // Writing fails once there is enough.
    let _ = serde_json::to_writer(&mut start, message);
    shorten(String::from_utf8_lossy(&start.0).into_owned())
}

pub(super) fn shorten(mut text: String) -> String {
    if text.len() > SHOWN {
        text.truncate(text.floor_char_boundary(SHOWN));
        text.push('…');
    }
    text
}

const SHOWN: usize = 200;

struct Start(Vec<u8>);

impl std::io::Write for Start {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() > SHOWN {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        let kept = bytes.len().min(2 * SHOWN);
        self.0.extend_from_slice(&bytes[..kept]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
