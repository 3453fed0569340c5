//! The first records of a file, from which its layout and its format are guessed. Looks at a bounded head only.

use serde_json::Value;

use super::prefix;
use super::record::JsonRecord;
use super::scan::Scan;
use super::tolerant;
use super::walk::{Path, Position};

/// How much of a file is looked at.
pub(crate) const HEAD: usize = 256 << 10;
const MAX_RECORDS: usize = 20;

/// What the head of a file shows.
#[derive(Debug, Default)]
pub struct Sample {
    /// The first records, the last of them perhaps cut short.
    pub records: Vec<Value>,
    /// Lines that are not JSON.
    pub texts: Vec<String>,
    /// Whether every line is a record of its own.
    is_lines: bool,
}

impl Sample {
    /// # Errors
    /// If the bytes are not text.
    pub(crate) fn of(head: &[u8], is_whole: bool) -> Result<Self, &'static str> {
        refuse_binary(head)?;
        let mut sample = Self::default();
        let lines = complete_lines(head, is_whole);
        let parsed: Vec<Option<Value>> = lines.iter().map(|line| parse(line)).collect();
        sample.is_lines = is_lines(head, is_whole, &lines, &parsed);
        if sample.is_lines {
            for (line, value) in lines.iter().zip(parsed) {
                match value {
                    Some(value) => sample.records.push(value),
                    None => sample.texts.push(String::from_utf8_lossy(line).into_owned()),
                }
            }
        } else if let Some(value) = prefix::readable(head) {
            match value {
                Value::Array(items) => {
                    sample.records = items.into_iter().take(MAX_RECORDS).collect();
                }
                value => sample.records.push(value),
            }
        }
        Ok(sample)
    }

    /// Whether to read line by line, with a reader that finds records in these lists.
    pub(crate) fn is_lines(&self, containers: &[Path]) -> bool {
        let holds = |record: &Value, path: &Path| {
            let found = path.iter().try_fold(record, |value, key| value.get(key));
            found.is_some_and(Value::is_array)
        };
        self.is_lines
            && !self.records.iter().any(|record| containers.iter().any(|path| holds(record, path)))
    }

    /// The best answer of a question to each record.
    pub fn best(&self, question: impl Fn(&Value) -> u8) -> u8 {
        self.records.iter().map(question).max().unwrap_or(0)
    }
}

fn refuse_binary(head: &[u8]) -> Result<(), &'static str> {
    let starts: [(&[u8], &'static str); 5] = [
        (b"\xff\xfe", "the file is UTF-16; expected UTF-8"),
        (b"\xfe\xff", "the file is UTF-16; expected UTF-8"),
        (b"\x1f\x8b", "the file is compressed with gzip; decompress it first"),
        (b"\x28\xb5\x2f\xfd", "the file is compressed with zstd; decompress it first"),
        (b"PK\x03\x04", "the file is a zip archive; unpack it first"),
    ];
    let found = starts.iter().find(|(start, _)| head.starts_with(start));
    found.map_or(Ok(()), |(_, problem)| Err(*problem))
}

fn complete_lines(head: &[u8], is_whole: bool) -> Vec<&[u8]> {
    let end = match memchr::memrchr(b'\n', head) {
        _ if is_whole => head.len(),
        Some(last) => last,
        None => 0,
    };
    let lines = head[..end].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty()).take(MAX_RECORDS).collect()
}

fn is_container(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'{' | b'['))
}

fn parse(line: &[u8]) -> Option<Value> {
    let line = line.strip_prefix(b"\x1e").unwrap_or(line);
    let record = JsonRecord { bytes: line, at: Position::START, is_element: false };
    // A record beyond the limits of the parser cannot be read, but shows the format.
    let beyond_limits = || std::str::from_utf8(line).ok().and_then(tolerant::parse);
    is_container(line).then(|| record.value().ok().or_else(beyond_limits)).flatten()
}

fn is_lines(head: &[u8], is_whole: bool, lines: &[&[u8]], parsed: &[Option<Value>]) -> bool {
    let Some(first) = parsed.first() else { return false };
    let is_only_line = is_whole && lines.len() == 1;
    match first {
        // A list in one line is a document; a list in each of several lines is a record.
        Some(value) => !(value.is_array() && is_only_line),
        None if is_only_line => false,
        None if !lines.first().is_some_and(|line| is_container(line)) => true,
        None => {
            let mut scan = Scan::new();
            let head = head.trim_ascii_start();
            let fed = scan.feed(head);
            // `[client] {...}` starts like a list, but is not one.
            let end = fed.fault_at.or(fed.ended.then_some(fed.taken));
            let Some(end) = end else { return false };
            let is_in_first_line = !head[..end].contains(&b'\n');
            is_in_first_line || parsed.iter().flatten().count() * 2 >= lines.len()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> (bool, usize) {
        let sample = Sample::of(text.as_bytes(), true).unwrap();
        (sample.is_lines, sample.records.len())
    }

    #[test]
    fn lines_and_documents_are_told_apart() {
        assert_eq!(layout("{\"a\": 1}\n{\"a\": 2}\n"), (true, 2));
        assert_eq!(layout("{\"a\": 1}"), (true, 1));
        assert_eq!(layout("{\n\"a\": 1\n}\n"), (false, 1));
        assert_eq!(layout("[{\"a\": 1}, {\"a\": 2}]"), (false, 2));
        assert_eq!(layout("[\n{\"a\": 1}\n]"), (false, 1));
        assert_eq!(layout("[1]\n[2]\n"), (true, 2));
        assert_eq!(layout("[client] {\"a\": 1}\n[server] {}\n"), (true, 0));
        assert_eq!(layout(""), (false, 0));
        assert_eq!(layout(r#"[{"a": "\ud800", "b": 1}]"#), (false, 1));
    }

    #[test]
    fn a_broken_first_line_does_not_hide_the_lines_after_it() {
        assert_eq!(layout("{\"a\": \n{\"a\": 2}\n{\"a\": 3}\n"), (true, 2));
        assert_eq!(layout("{\"a\": [1,\n{\"a\": 2}\n{\"a\": 3}\n"), (true, 2));
        assert_eq!(layout("{\"a\": \"x\n{\"a\": 2}\n{\"a\": 3}\n"), (true, 2));
    }

    #[test]
    fn a_first_record_beyond_the_limits_shows_the_format() {
        let sample = Sample::of(b"{\"id\": 1e99999}\n{\"id\": 2}\n", true).unwrap();
        assert!(sample.is_lines && sample.records.len() == 2, "{sample:?}");
    }

    #[test]
    fn a_line_that_holds_the_list_of_records_is_a_document() {
        let sample = Sample::of(br#"{"cases": [1]}"#, true).unwrap();
        assert!(sample.is_lines(&[]));
        assert!(!sample.is_lines(&[&["cases"]]));
    }

    #[test]
    fn files_that_are_no_text_are_refused() {
        assert!(Sample::of(b"\x1f\x8b\x08", true).is_err());
        assert!(Sample::of(b"\xff\xfe[\0", true).is_err());
    }
}
