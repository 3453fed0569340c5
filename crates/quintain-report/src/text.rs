//! Prepares text from targets for people: visible, truncated, wrapped. The cost depends on the size
//! of what is shown, not of what was sent.

use std::borrow::Cow;
use std::io::{self, Write};

use quintain_source::{visible, visible_json};
use serde::Serialize;
use unicode_width::UnicodeWidthChar as _;

/// The first characters of a text, and the number of omitted bytes.
pub(crate) fn head(text: &str, max_chars: usize) -> (&str, usize) {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => (&text[..end], text.len() - end),
        None => (text, 0),
    }
}

/// Makes invisible characters visible; Windows line ends count as line ends.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(visible(&text.replace("\r\n", "\n")).into_owned())
    } else {
        visible(text)
    }
}

/// On several lines; omitted bytes are counted.
pub(crate) fn excerpt(text: &str, max_chars: usize) -> String {
    let (start, left_out) = head(text, max_chars);
    let mut shown = plain(start).into_owned();
    if left_out > 0 {
        shown.push_str(&left_out_note(left_out));
    }
    shown
}

pub(crate) fn left_out_note(bytes: usize) -> String {
    format!("… ({} more)", bytes_text(bytes))
}

pub(crate) fn bytes_text(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// On one line: runs of white space become one space.
pub(crate) fn line(text: &str, max_chars: usize) -> String {
    let (start, left_out) = head(text.trim_start(), max_chars);
    let mut shown = String::with_capacity(start.len());
    for word in plain(start).split([' ', '\n', '\t']).filter(|word| !word.is_empty()) {
        if !shown.is_empty() {
            shown.push(' ');
        }
        shown.push_str(word);
    }
    if left_out > 0 {
        shown.push('…');
    }
    shown
}

/// The start of a value as JSON text, without serialising the rest.
pub(crate) fn json_excerpt(value: &impl Serialize, pretty: bool, max_bytes: usize) -> String {
    let mut out = Limited { bytes: Vec::new(), left: max_bytes };
    let written = if pretty {
        serde_json::to_writer_pretty(&mut out, value)
    } else {
        serde_json::to_writer(&mut out, value)
    };
    let text = String::from_utf8_lossy(&out.bytes);
    let mut shown = visible_json(text.trim_end_matches('\u{fffd}')).into_owned();
    if written.is_err() {
        shown.push_str("… (cut off)");
    }
    shown
}

/// The start of a value as JSON text, and the number of bytes that are not in it. Costs as much as the whole value.
pub(crate) fn json_measured(
    value: &impl Serialize,
    pretty: bool,
    max_bytes: usize,
) -> (String, usize) {
    let mut out = Measured { bytes: Vec::new(), max_bytes, left_out: 0 };
    let written = if pretty {
        serde_json::to_writer_pretty(&mut out, value)
    } else {
        serde_json::to_writer(&mut out, value)
    };
    debug_assert!(written.is_ok(), "memory takes everything");
    let text = String::from_utf8_lossy(&out.bytes);
    (visible_json(text.trim_end_matches('\u{fffd}')).into_owned(), out.left_out)
}

struct Measured {
    bytes: Vec<u8>,
    max_bytes: usize,
    left_out: usize,
}

impl Write for Measured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.max_bytes - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..taken]);
        self.left_out += bytes.len() - taken;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Limited {
    bytes: Vec<u8>,
    left: usize,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = &bytes[..bytes.len().min(self.left)];
        self.bytes.extend_from_slice(taken);
        self.left -= taken.len();
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The width of a text in terminal columns.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Truncated or padded to exactly `width` columns.
pub(crate) fn cell(text: &str, width: usize) -> String {
    let mut shown = fit(text, width).into_owned();
    let taken = columns(&shown);
    shown.extend(std::iter::repeat_n(' ', width.saturating_sub(taken)));
    shown
}

/// Truncated to `width` columns, with an ellipsis in the last one.
pub(crate) fn fit(text: &str, width: usize) -> Cow<'_, str> {
    if columns(text) <= width {
        return Cow::Borrowed(text);
    }
    let mut taken = 0;
    let mut shown = String::new();
    for c in text.chars() {
        taken += c.width().unwrap_or(0);
        if taken + 1 > width {
            break;
        }
        shown.push(c);
    }
    if width > 0 {
        shown.push('…');
    }
    Cow::Owned(shown)
}

/// Lines of at most `width` columns, broken at spaces if possible, at most `max` of them.
pub(crate) fn wrap(text: &str, width: usize, max: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut rest = paragraph;
        loop {
            if lines.len() == max {
                if let Some(last) = lines.last_mut() {
                    *last = format!("{}…", fit(last, width - 1).trim_end_matches('…'));
                }
                return lines;
            }
            let (now, later) = break_at(rest, width);
            lines.push(now.trim_end().to_owned());
            if later.is_empty() {
                break;
            }
            rest = later;
        }
    }
    lines
}

fn break_at(text: &str, width: usize) -> (&str, &str) {
    let (mut taken, mut space) = (0, None);
    for (at, c) in text.char_indices() {
        taken += c.width().unwrap_or(0);
        if taken > width {
            let end = match space {
                Some(space) if space > 0 => space,
                _ => at.max(c.len_utf8()),
            };
            return (&text[..end], text[end..].trim_start_matches(' '));
        }
        if c == ' ' {
            space = Some(at);
        }
    }
    (text, "")
}

/// `1.4 ms`, `120 ms`, `3.2 s`, `2 min 5 s`.
pub(crate) fn duration(millis: f64) -> String {
    match millis {
        m if !m.is_finite() || m < 0.0 => "-".to_owned(),
        m if m < 9.95 => format!("{m:.1} ms"),
        m if m < 999.5 => format!("{m:.0} ms"),
        m if m < 59_950.0 => format!("{:.1} s", m / 1e3),
        m => {
            let seconds = (m / 1e3).round() as u64;
            format!("{} min {} s", seconds / 60, seconds % 60)
        }
    }
}

/// `1 case`, `2 cases`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_are_one_line_and_show_what_hides() {
        assert_eq!(line("  a\n\n\tb \u{202e}c", 50), "a b <U+202E>c");
        assert_eq!(line("abcdef", 3), "abc…");
        assert_eq!(line("", 3), "");
    }

    #[test]
    fn cells_have_their_width_whatever_is_in_them() {
        assert_eq!(cell("漢字漢字", 5), "漢字…");
        assert_eq!(columns(&cell("漢字漢字", 4)), 4);
        assert_eq!(cell("ab", 4), "ab  ");
        assert_eq!(cell("abc", 0), "");
    }

    #[test]
    fn wrapping_breaks_at_spaces_and_through_long_words() {
        assert_eq!(wrap("one two three four", 9, 9), ["one two", "three", "four"]);
        assert_eq!(wrap("abcdefghijkl", 8, 9), ["abcdefgh", "ijkl"]);
        assert_eq!(wrap("漢漢漢漢漢漢", 8, 9), ["漢漢漢漢", "漢漢"]);
        assert_eq!(wrap("a\nb\nc", 9, 2), ["a", "b…"]);
        assert!(wrap("", 9, 2).is_empty());
    }

    #[test]
    fn huge_values_are_cut_before_they_are_written_out() {
        let value = json!({"a": "é".repeat(10_000)});
        let shown = json_excerpt(&value, false, 20);
        assert!(shown.starts_with("{\"a\":\"éé") && shown.ends_with("… (cut off)"), "{shown}");
        assert_eq!(json_excerpt(&json!([1]), false, 20), "[1]");
        assert!(excerpt(&"x".repeat(5_000), 10).ends_with("xx… (4.9 KiB more)"));
    }

    #[test]
    fn durations_have_a_fitting_unit() {
        let shown = [0.04, 9.96, 999.6, 61_000.0, f64::NAN].map(duration);
        assert_eq!(shown, ["0.0 ms", "10 ms", "1.0 s", "1 min 1 s", "-"]);
    }
}
