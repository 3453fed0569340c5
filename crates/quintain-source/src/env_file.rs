//! Files of variables (`--env-file`), as dotenv tools read them. Nothing is substituted: a `$` in a password is
//! a `$`, and no variable of the process gets into a value.

use std::cell::Cell;
use std::io::Read;

/// The first line of an invalid entry.
#[derive(Debug, PartialEq, Eq)]
pub struct BadLine(pub usize);

impl BadLine {
    /// The help for this error.
    pub const HELP: &str =
        "write NAME=VALUE; a value that starts with a quote must end with the same quote";
}

/// Names and values, in the order of the file.
///
/// # Errors
/// With the line of the first invalid entry.
pub fn read_env_file(text: &str) -> Result<Vec<(String, String)>, BadLine> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // The parser fills in variables of the process for `$NAME`, and cannot be asked not to.
    let dollar = stand_in(text);
    let hidden = hide_dollars(text, dollar);
    let lines: Vec<&str> = hidden.split_inclusive('\n').collect();
    let (mut entries, mut at) = (Vec::new(), 0);
    while let Some(line) = lines.get(at) {
        let is_empty = matches!(line.trim_start().chars().next(), None | Some('#'));
        let (entry, read) = if is_empty {
            (None, 1)
        } else if let Some(plain) = unquoted(line) {
            (Some(plain), 1)
        } else {
            quoted(&lines[at..]).ok_or(BadLine(at + 1))?
        };
        let shown = |text: String| text.replace(dollar, "$");
        entries.extend(entry.map(|(name, value)| (name, shown(value))));
        at += read;
    }
    Ok(entries)
}

type Entry = (String, String);

/// A value without quotes is read as written, with spaces and backslashes, up to a comment.
fn unquoted(line: &str) -> Option<Entry> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let name = name.strip_prefix("export").filter(|rest| rest.starts_with(' ')).unwrap_or(name);
    let name = name.trim_start();
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if !name.starts_with(is_start) || !name.chars().all(is_name) {
        return None;
    }
    let value = value.trim();
    let after = |(at, _): &(usize, &str)| {
        *at == 0 || value[..*at].ends_with(|before: char| before.is_whitespace())
    };
    let comment = value.match_indices('#').find(after);
    let value = comment.map_or(value, |(at, _)| value[..at].trim_end());
    (!value.starts_with(['"', '\''])).then(|| (name.to_owned(), value.to_owned()))
}

/// A value in quotes may span several lines. Returns their number.
fn quoted(lines: &[&str]) -> Option<(Option<Entry>, usize)> {
    let count = Cell::new(0);
    let entry =
        dotenvy::from_read_iter(Lines { unread: lines, rest: &[], count: &count }).next()?.ok()?;
    Some((Some(entry), count.get().max(1)))
}

/// A character that the text does not contain.
fn stand_in(text: &str) -> char {
    let mut private = '\u{e000}'..='\u{f8ff}';
    private.find(|c| !text.contains(*c)).unwrap_or('\u{f8ff}')
}

/// Replaces every `$` that is not escaped with a backslash.
fn hide_dollars(text: &str, stand_in: char) -> String {
    let mut escaped = false;
    let hide = |c: char| {
        let hidden = if c == '$' && !escaped { stand_in } else { c };
        escaped = c == '\\' && !escaped;
        hidden
    };
    text.chars().map(hide).collect()
}

/// Returns one line at a time, to count the lines of an entry.
struct Lines<'a> {
    unread: &'a [&'a str],
    /// The rest of the current line.
    rest: &'a [u8],
    count: &'a Cell<usize>,
}

impl Read for Lines<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.rest.is_empty() {
            let Some((line, lines)) = self.unread.split_first() else { return Ok(0) };
            (self.rest, self.unread) = (line.as_bytes(), lines);
            self.count.set(self.count.get() + 1);
        }
        let (now, later) = self.rest.split_at(self.rest.len().min(out.len()));
        out[..now.len()].copy_from_slice(now);
        self.rest = later;
        Ok(now.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> String {
        let entries = read_env_file(text).unwrap();
        assert_eq!(entries.len(), 1, "{text}");
        entries.into_iter().next().map(|(_, value)| value).unwrap()
    }

    #[test]
    fn comments_quotes_export_and_several_lines_are_read_as_dotenv_tools_do() {
        assert_eq!(value("A=one # of two"), "one");
        assert_eq!(value("A=one#two"), "one#two");
        assert_eq!(value("A=# nothing"), "");
        assert_eq!(value("A="), "");
        assert_eq!(value("export A='x # y' # z"), "x # y");
        assert_eq!(value("export=x"), "x");
        assert_eq!(value("\u{feff}# first\n\n  A = \"two\\nlines\"\r\n"), "two\nlines");
        assert_eq!(value("A=\"first\nsecond # kept\"\n"), "first\nsecond # kept");
        let long = "x".repeat(20_000);
        assert_eq!(value(&format!("A=\"{long}\n{long}\"")), format!("{long}\n{long}"));
        let both = read_env_file("A=\"1\n2\"\nB=3").unwrap();
        assert_eq!(both, [("A".into(), "1\n2".into()), ("B".into(), "3".into())]);
    }

    #[test]
    fn values_without_quotes_are_taken_as_they_are() {
        for kept in ["two words", "it's", r"C:\dir\new", r#"{"a": 1}"#, "a=b"] {
            assert_eq!(value(&format!("A={kept}")), kept);
        }
    }

    #[test]
    fn nothing_is_substituted() {
        for text in ["A=pa$HOME${PATH}$$", "A=\"pa$HOME${PATH}$$\"", "A='pa$HOME${PATH}$$'"] {
            assert_eq!(value(text), "pa$HOME${PATH}$$", "{text}");
        }
        assert_eq!(value("A=\"pa\\$HOME\""), "pa$HOME");
        assert_eq!(read_env_file("A=1\nB=$A").unwrap()[1].1, "$A");
        assert_eq!(value("A=\u{e000}$"), "\u{e000}$");
    }

    #[test]
    fn the_line_of_a_mistake_is_known() {
        assert_eq!(read_env_file("A=1\n# x\n\nnonsense\nB=2"), Err(BadLine(4)));
        assert_eq!(read_env_file("A=\"1\n2\"\nB='x' y"), Err(BadLine(3)));
        assert_eq!(read_env_file("A=1\nB='open\nC=2\nD=3\n"), Err(BadLine(2)));
        assert_eq!(read_env_file("=1"), Err(BadLine(1)));
        assert_eq!(read_env_file("two words=1"), Err(BadLine(1)));
    }
}
