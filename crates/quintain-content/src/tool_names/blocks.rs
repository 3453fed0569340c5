//! JSON in prose that begins and ends with a line. The content of fenced Markdown blocks is an
//! example, not a call.

use serde_json::Value;

use crate::json_text;
use crate::text::js;

const MAX_UNMATCHED: usize = 65_536;

/// Every outermost piece that is JSON and begins a line. A piece that is not JSON is searched for
/// smaller ones.
///
/// # Errors
/// If there is too much to try.
pub(super) fn find(text: &str) -> Result<Vec<Value>, String> {
    let mut found = Vec::new();
    let mut pending = balanced(text, false)?;
    pending.reverse();
    let mut remaining = 4 * text.len();
    while let Some(piece) = pending.pop() {
        remaining = remaining.checked_sub(piece.text.len()).ok_or(
            "Tool Call F1 could not finish parsing malformed output within its work limit",
        )?;
        match json_text::parse(piece.text) {
            Ok(value) if piece.starts_line => found.push(value),
            Ok(_) => {}
            Err(_) => pending.extend(balanced(piece.text, true)?.into_iter().rev()),
        }
    }
    Ok(found)
}

struct Piece<'t> {
    text: &'t str,
    starts_line: bool,
}

/// A brace or bracket outside of quotes.
struct Mark {
    byte: u8,
    at: usize,
    starts_line: bool,
    ends_line: bool,
}

impl Mark {
    fn opens(&self) -> bool {
        matches!(self.byte, b'{' | b'[')
    }
}

/// The outermost pieces with matching braces, or those within the first pair of braces.
fn balanced(text: &str, within: bool) -> Result<Vec<Piece<'_>>, String> {
    let marks = marks(text);
    let unmatched = unmatched(text.as_bytes(), &marks)?;
    let mut skipped = unmatched.iter().peekable();
    let mut pieces = Vec::new();
    let mut depth = 0_usize;
    let mut begin: Option<(usize, &Mark)> = None;
    for mark in marks.iter().flatten() {
        if skipped.next_if(|at| **at == mark.at).is_some() {
            continue;
        }
        if mark.opens() {
            if begin.is_none() && depth == usize::from(within) {
                begin = Some((depth, mark));
            }
            depth += 1;
            continue;
        }
        depth = depth.saturating_sub(1);
        if let Some((_, first)) = begin.filter(|(level, _)| *level == depth) {
            if mark.ends_line {
                let text = &text[first.at..=mark.at];
                pieces.push(Piece { text, starts_line: first.starts_line });
            }
            begin = None;
        }
    }
    Ok(pieces)
}

/// The positions of unmatched braces.
fn unmatched(text: &[u8], marks: &[Option<Mark>]) -> Result<Vec<usize>, String> {
    let mut unmatched: Vec<usize> = Vec::new();
    // What lies before this cannot find a partner any more.
    let mut floor = 0;
    for mark in marks {
        let Some(mark) = mark else {
            floor = unmatched.len();
            continue;
        };
        let partner = if mark.byte == b'}' { b'{' } else { b'[' };
        let last = unmatched.last().and_then(|at| text.get(*at));
        if mark.opens() {
            unmatched.push(mark.at);
        } else if unmatched.len() > floor && last == Some(&partner) {
            unmatched.pop();
        } else {
            unmatched.push(mark.at);
            floor = unmatched.len();
        }
        if unmatched.len() > MAX_UNMATCHED {
            return Err(format!("Tool Call F1 exceeded its delimiter limit ({MAX_UNMATCHED})"));
        }
    }
    Ok(unmatched)
}

/// All braces and brackets; nothing where a fence or a broken quote separates them.
fn marks(text: &str) -> Vec<Option<Mark>> {
    let mut marks = Vec::new();
    let mut markdown = Markdown::default();
    let mut start = 0;
    for line in text.split('\n') {
        let content = line.trim_end_matches(js::is_space);
        if !markdown.is_prose(content, &mut marks) {
            start += line.len() + 1;
            continue;
        }
        let first = content.find(|c| !js::is_space(c));
        let (mut quoted, mut escaped) = (false, false);
        for (column, byte) in content.bytes().enumerate() {
            if quoted {
                (quoted, escaped) = match byte {
                    _ if escaped => (true, false),
                    b'\\' => (true, true),
                    byte => (byte != b'"', false),
                };
            } else if byte == b'"' {
                quoted = true;
            } else if matches!(byte, b'{' | b'[' | b'}' | b']') {
                marks.push(Some(Mark {
                    byte,
                    at: start + column,
                    starts_line: Some(column) == first,
                    ends_line: column + 1 == content.len(),
                }));
            }
        }
        if quoted {
            marks.push(None);
        }
        start += line.len() + 1;
    }
    marks
}

/// Which lines are in fenced blocks, also in those of lists.
#[derive(Default)]
struct Markdown<'t> {
    /// The marks that opened the block, and how far its list is indented.
    fence: Option<(&'t str, usize)>,
    lists: Vec<usize>,
}

impl<'t> Markdown<'t> {
    fn is_prose(&mut self, line: &'t str, marks: &mut Vec<Option<Mark>>) -> bool {
        let indent = width(&line[..line.len() - line.trim_start_matches(js::is_space).len()]);
        if let Some((_, list)) = self.fence
            && !line.is_empty()
            && indent < list
        {
            self.fence = None;
            marks.push(None);
        }
        if let Some((open, list)) = self.fence {
            if let Some((mark, rest)) = fence(line)
                && indent <= list + 3
                && mark.as_bytes().first() == open.as_bytes().first()
                && mark.len() >= open.len()
                && js::trim(rest).is_empty()
            {
                self.fence = None;
            }
            return false;
        }
        while !line.is_empty() && self.lists.last().is_some_and(|list| indent < *list) {
            self.lists.pop();
        }
        let bullet = bullet(line);
        self.lists.extend(bullet.map(width));
        let list = self.lists.last().copied().unwrap_or(0);
        let content = &line[bullet.map_or(0, str::len)..];
        if let Some((mark, rest)) = fence(content)
            && (bullet.is_some() || indent <= list + 3)
            && (!mark.starts_with('`') || !rest.contains('`'))
        {
            self.fence = Some((mark, list));
            marks.push(None);
            return false;
        }
        true
    }
}

/// How wide a text is when tabs go to every fourth column.
fn width(text: &str) -> usize {
    text.chars().fold(0, |column, c| if c == '\t' { column + 4 - column % 4 } else { column + 1 })
}

/// The marks of a fence, and what follows them.
fn fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start_matches([' ', '\t']);
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= 3).then(|| line.split_at(length))
}

/// The beginning of a line that is an item of a list.
fn bullet(line: &str) -> Option<&str> {
    let blank = |text: &str| text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let start = blank(line);
    let rest = &line[start..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match rest.as_bytes().get(digits)? {
        b'.' | b')' if digits > 0 => digits + 1,
        b'-' | b'+' | b'*' if digits == 0 => 1,
        _ => return None,
    };
    let space = blank(&rest[mark..]);
    (space > 0).then(|| &line[..start + mark + space])
}
