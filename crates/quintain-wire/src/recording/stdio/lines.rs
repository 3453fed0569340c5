//! Records a stream of bytes line by line, however the bytes are cut.

use crate::recording::capture::{Batch, Capture, FrameMeta};
use crate::recording::{HEAD_OF_LONG_FRAME, MAX_FRAME};

/// Splits bytes into lines and records each at its end.
pub(super) struct LineRecorder {
    meta: FrameMeta<'static>,
    /// The line so far; only its head once it exceeds the limit.
    line: Vec<u8>,
    /// Length of a line that exceeds the limit.
    whole: Option<u64>,
}

impl LineRecorder {
    pub(super) fn new(meta: FrameMeta<'static>) -> Self {
        Self { meta, line: Vec::new(), whole: None }
    }

    /// Records the lines that end in these bytes, all in one write.
    pub(super) fn record(&mut self, bytes: &[u8], capture: &Capture) {
        let Some(end) = memchr::memrchr(b'\n', bytes) else {
            self.append(bytes);
            return;
        };
        let (ended, rest) = bytes.split_at(end + 1);
        let mut lines =
            ended.split_inclusive(|byte| *byte == b'\n').map(|line| &line[..line.len() - 1]);
        if !self.line.is_empty() || self.whole.is_some() {
            self.append(lines.next().unwrap_or_default());
            let first = std::mem::take(&mut self.line);
            let meta = FrameMeta { whole: self.whole.take(), ..self.meta };
            let mut batch = Batch::default();
            add(&mut batch, meta, &first, capture);
            lines.for_each(|line| add(&mut batch, self.meta, line, capture));
            capture.write(batch);
        } else {
            let mut batch = Batch::default();
            lines.for_each(|line| add(&mut batch, self.meta, line, capture));
            capture.write(batch);
        }
        self.append(rest);
    }

    fn append(&mut self, bytes: &[u8]) {
        if let Some(whole) = &mut self.whole {
            *whole += bytes.len() as u64;
        } else if self.line.len() + bytes.len() > MAX_FRAME {
            self.whole = Some((self.line.len() + bytes.len()) as u64);
            let missing = HEAD_OF_LONG_FRAME.saturating_sub(self.line.len()).min(bytes.len());
            self.line.truncate(HEAD_OF_LONG_FRAME);
            self.line.extend_from_slice(&bytes[..missing]);
            self.line.shrink_to_fit();
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    /// Records what follows the last line end.
    pub(super) fn end(&mut self, capture: &Capture) {
        let line = std::mem::take(&mut self.line);
        let meta = FrameMeta { whole: self.whole.take(), ..self.meta };
        let mut batch = Batch::default();
        add(&mut batch, meta, &line, capture);
        capture.write(batch);
    }
}

/// Blank lines are not frames.
fn add<'a>(batch: &mut Batch<'a>, meta: FrameMeta<'_>, line: &'a [u8], capture: &Capture) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if !line.iter().all(u8::is_ascii_whitespace) {
        batch.frame(meta, line, capture.masking());
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _};

    use proptest::prelude::*;

    use serde_json::{Value, json};

    use super::*;
    use crate::recording::capture::{Side, Via};
    use crate::recording::mask::tests::masking;

    fn recorded(chunks: &[&[u8]]) -> Vec<Value> {
        let mut file = tempfile::tempfile().unwrap();
        let capture = Capture::new(file.try_clone().unwrap(), masking(), Box::new(|_| {}));
        let mut lines = LineRecorder::new(FrameMeta::new(Side::Client, Via::Stdio));
        chunks.iter().for_each(|chunk| lines.record(chunk, &capture));
        lines.end(&capture);
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        let line = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        text.lines().map(line).collect()
    }

    #[test]
    fn lines_are_recorded_at_their_end_and_the_rest_at_the_end() {
        let lines = recorded(&[b"{\"a\":1}\r\n\n{\"b\":", b"2}\n  \r\nno", b" json"]);
        let frames: Vec<&Value> = lines.iter().map(|line| &line["frame"]).collect();
        assert_eq!(frames, [&json!({"a": 1}), &json!({"b": 2}), &json!("no json")]);
    }

    #[test]
    fn a_line_beyond_the_limit_is_recorded_in_part_with_its_length() {
        let piece = vec![b'x'; 8 << 20];
        let mut chunks: Vec<&[u8]> = vec![&piece; 9];
        chunks.push(b"y\n{}\n");
        let lines = recorded(&chunks);
        assert_eq!(lines[0]["bytes"], 9 * (8 << 20) + 1);
        assert_eq!(lines[0]["frame"].as_str().unwrap().len(), HEAD_OF_LONG_FRAME);
        assert_eq!(lines[1]["frame"], json!({}));
    }

    proptest! {
        #[test]
        fn chunks_never_change_what_is_recorded(cuts in prop::collection::vec(0usize..=60, 0..10)) {
            let text = b"{\"id\":1}\nplain\n\n[1,2]\r\n{\"id\":2,\"x\":\"y\"}\nrest without end";
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
            let frames = |chunks: &[&[u8]]| -> Vec<Value> {
                recorded(chunks).iter().map(|line| line["frame"].clone()).collect()
            };
            prop_assert_eq!(frames(&chunks), frames(&[text]));
        }
    }
}
