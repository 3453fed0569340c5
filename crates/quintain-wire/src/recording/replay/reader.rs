//! Reads the frames of a capture, line by line. A cut last line is ignored, and another broken line is reported with its
//! number; the rest is read.

use std::io::{self, BufRead, Read as _};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::recording::json_text::decoded;

/// Longer lines are skipped; no recorder writes them.
const MAX_LINE: u64 = 256 << 20;

/// The version that recorders write into the first line.
const VERSION: u64 = 1;

/// A frame of a capture.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RecordedFrame {
    pub(super) at: f64,
    pub(super) is_client: bool,
    /// Number of the process that recorded it; one file can contain several.
    pub(super) part: usize,
    pub(super) exchange: Option<String>,
    pub(super) session: Option<String>,
    pub(super) is_stdio: bool,
    /// Whether all messages of a session come on the same stream: not over streamable HTTP.
    pub(super) is_one_stream: bool,
    /// Kind of the event, unless it is a message.
    pub(super) event: Option<String>,
    /// JSON, or the text where it is not JSON.
    pub(super) text: String,
}

/// What a capture contains.
#[derive(Debug, Default)]
pub(super) struct CaptureContent {
    pub(super) frames: Vec<RecordedFrame>,
    /// Path of the recorded URL.
    pub(super) path: Option<String>,
    /// What could not be read.
    pub(super) problems: Vec<String>,
}

/// Other programs may write other types under the keys that are not promised.
#[derive(Deserialize)]
struct Line<'a> {
    quintain_capture: Option<Value>,
    t: Option<Value>,
    direction: Option<String>,
    transport: Option<Value>,
    exchange: Option<Value>,
    session: Option<Value>,
    event: Option<Value>,
    note: Option<Value>,
    url: Option<Value>,
    truncated: Option<Value>,
    #[serde(borrow)]
    frame: Option<&'a RawValue>,
}

/// # Errors
/// When the file cannot be read, or has another version.
pub(super) fn read(mut file: impl BufRead) -> io::Result<CaptureContent> {
    let mut content = CaptureContent::default();
    let mut part = 0;
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        if file.fill_buf()?.first() == Some(&0) {
            content
                .problems
                .push(format!("line {number} is not text; nothing from there on is read"));
            break;
        }
        let length = file.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes)?;
        if length == 0 {
            break;
        }
        let is_whole = bytes.ends_with(b"\n");
        if !is_whole && length as u64 == MAX_LINE {
            content.problems.push(format!("line {number} is longer than {} MiB", MAX_LINE >> 20));
            skip_line(&mut file)?;
            continue;
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Line<'_>>(&bytes) {
            Ok(Line { quintain_capture: Some(version), .. }) if version != VERSION => {
                let what = format!(
                    "it is a capture of version {version}, and this program reads version {VERSION}"
                );
                return Err(io::Error::other(what));
            }
            Ok(line) => add(line, &mut part, &mut content),
            Err(_) if !is_whole => {}
            Err(error) => {
                content.problems.push(format!("line {number} is not a line of a capture: {error}"));
            }
        }
    }
    Ok(content)
}

fn skip_line(file: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = file.fill_buf()?;
        let (used, ended) = match memchr::memchr(b'\n', buffer) {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        file.consume(used);
        if ended {
            return Ok(());
        }
    }
}

fn add(line: Line<'_>, part: &mut usize, content: &mut CaptureContent) {
    let text = |value: Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
    if text(line.note).as_deref() == Some("start") {
        *part += 1;
        let url = text(line.url).and_then(|url| url::Url::parse(&url).ok());
        content.path = content.path.take().or_else(|| url.map(|url| url.path().to_owned()));
    }
    let is_whole = line.truncated != Some(Value::Bool(true));
    let (Some(frame), Some(direction), true) = (line.frame, line.direction, is_whole) else {
        return;
    };
    let is_client = match direction.as_str() {
        "client" => true,
        "server" => false,
        _ => return,
    };
    let raw = frame.get();
    let transport = text(line.transport).unwrap_or_else(|| "stdio".to_owned());
    // Other programs do not number the exchanges, and then nothing shows which stream a message came on.
    let is_one_stream = transport != "http" || line.exchange.is_none();
    content.frames.push(RecordedFrame {
        at: line.t.and_then(|t| t.as_f64()).unwrap_or_default(),
        is_client,
        part: *part,
        exchange: line.exchange.map(|exchange| exchange.to_string()),
        session: line.session.map(|session| session.to_string()),
        is_stdio: transport == "stdio",
        is_one_stream,
        event: text(line.event).filter(|kind| kind != "message"),
        text: if raw.starts_with('"') { decoded(raw).into_owned() } else { raw.to_owned() },
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_refused_and_empty_blocks_end_the_file() {
        let error = read(&b"{\"quintain_capture\":99,\"note\":\"start\"}\n"[..]).unwrap_err();
        assert!(error.to_string().contains("version 99"), "{error}");
        let frame = r#"{"quintain_capture":1,"direction":"client","frame":{}}"#;
        let text = format!("{frame}\n{}\n{frame}\n", "\0".repeat(100));
        let content = read(text.as_bytes()).unwrap();
        assert_eq!((content.frames.len(), content.problems.len()), (1, 1));
    }

    #[test]
    fn a_cut_last_line_is_ignored_and_a_broken_one_is_named() {
        let text = "{\"t\":1,\"note\":\"start\",\"url\":\"http://h/x\"}\n\
            {\"t\":1.5,\"direction\":\"client\",\"transport\":\"stdio\",\"frame\":{\"id\":12345678901234567890123}}\n\
            nonsense\n\n{\"t\":2,\"direction\":\"server\",\"transport\":\"http\",\"exchange\":3,\"frame\":\"a\\nb\",\"new\":1}\n\
            {\"t\":3,\"direction\":\"cli";
        let content = read(text.as_bytes()).unwrap();
        assert_eq!(content.frames.len(), 2);
        assert_eq!(content.frames[0].text, "{\"id\":12345678901234567890123}");
        assert_eq!(content.frames[1].text, "a\nb");
        assert_eq!(content.frames[1].exchange.as_deref(), Some("3"));
        assert_eq!(content.path.as_deref(), Some("/x"));
        assert_eq!(content.problems.len(), 1);
        assert!(content.problems[0].starts_with("line 3 "), "{:?}", content.problems);
    }
}
