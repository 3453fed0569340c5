//! Labels of people: JSON lines `{id, success}`.

use std::collections::HashMap;
use std::io::BufRead;

use serde::Serialize;
use serde_json::Value;

/// What a person says about a trace. Serialised, it is a line of a file of labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Label {
    pub id: String,
    pub success: bool,
}

/// A line that is not a label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct LabelError {
    /// Counted from 1.
    pub line: usize,
    pub message: String,
}

/// Longer lines are not labels.
const MAX_LINE: usize = 1 << 20;

/// Reads all labels, and all lines that are none. Empty lines and unknown keys are ignored.
pub fn read_labels(mut input: impl BufRead) -> (Vec<Label>, Vec<LabelError>) {
    let mut labels: Vec<Label> = Vec::new();
    let mut errors = Vec::new();
    let mut lines: HashMap<String, usize> = HashMap::new();
    for line in 1.. {
        let mut bytes = Vec::new();
        let mut limited = std::io::Read::take(&mut input, MAX_LINE as u64);
        match limited.read_until(b'\n', &mut bytes) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => {
                errors.push(LabelError { line, message: error.to_string() });
                break;
            }
        }
        if bytes.len() == MAX_LINE {
            errors
                .push(LabelError { line, message: "the line is too long for a label".to_owned() });
            break;
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        let label = label(text).and_then(|label| match lines.insert(label.id.clone(), line) {
            None => Ok(label),
            Some(first) => Err(format!("the id `{}` is already on line {first}", label.id)),
        });
        match label {
            Ok(label) => labels.push(label),
            Err(message) => errors.push(LabelError { line, message }),
        }
    }
    (labels, errors)
}

fn label(text: &str) -> Result<Label, String> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("invalid JSON: {error}"))?;
    let entry = value.as_object().ok_or("expected an object with `id` and `success`")?;
    let id = match entry.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) => id.to_string(),
        Some(_) => return Err("expected a text for `id`".to_owned()),
        None => return Err("`id` is missing".to_owned()),
    };
    match entry.get("success") {
        Some(Value::Bool(success)) => Ok(Label { id, success: *success }),
        Some(_) => Err("expected true or false for `success`".to_owned()),
        None => Err("`success` is missing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_is_in_a_file_every_line_is_a_label_or_an_error(
            lines in proptest::collection::vec("[^\n\r]{0,30}", 0..10)
        ) {
            let (labels, errors) = read_labels(lines.join("\n").as_bytes());
            let filled = |line: &&String| !line.trim_start_matches('\u{feff}').trim().is_empty();
            prop_assert_eq!(labels.len() + errors.len(), lines.iter().filter(filled).count());
        }

        #[test]
        fn labels_survive_a_round_trip(id in ".{0,20}", success: bool) {
            let label = Label { id, success };
            let line = serde_json::to_string(&label).unwrap();
            prop_assert_eq!(read_labels(line.as_bytes()).0, [label]);
        }
    }

    #[test]
    fn bad_lines_are_reported_and_good_ones_kept() {
        let text = "\u{feff}{\"id\": \"a\", \"success\": true}\n\n{\"id\": 7, \"success\": false, \"by\": \"me\"}\n\
                    {\"id\": \"b\"\n[1]\n{\"id\": \"c\", \"success\": \"yes\"}\n{\"success\": true}\n\
                    {\"id\": \"a\", \"success\": false}\n";
        let (labels, errors) = read_labels(text.as_bytes());
        assert_eq!(labels.len(), 2);
        assert_eq!(labels[1], Label { id: "7".to_owned(), success: false });
        let lines: Vec<usize> = errors.iter().map(|error| error.line).collect();
        assert_eq!(lines, [4, 5, 6, 7, 8]);
        assert_eq!(errors[4].to_string(), "line 8: the id `a` is already on line 1");
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let (labels, errors) = read_labels(vec![b'x'; 3 * MAX_LINE].as_slice());
        assert!(labels.is_empty());
        assert_eq!(errors.len(), 1);
        assert!(read_labels(&b""[..]).1.is_empty());
    }
}
