//! The source texts of a run, and places inside them.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Identifies one text of [`Sources`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct FileId(u32);

/// A place in a text, in bytes; `start..end`, always on character boundaries of its file.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Span {
    pub file: FileId,
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(file: FileId, range: Range<usize>) -> Self {
        Self { file, start: range.start, end: range.end.max(range.start) }
    }

    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// One text with its line starts. `Debug` shows the name only: suites contain credentials.
#[derive(Clone)]
pub struct SourceFile {
    name: String,
    text: Arc<str>,
    lines: Vec<usize>,
}

/// A position for people: both numbers start at one, columns are characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl std::fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceFile").field("name", &self.name).finish_non_exhaustive()
    }
}

impl SourceFile {
    /// Drops a leading byte order mark, which is not part of the document.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        let mut text: Arc<str> = text.into();
        if let Some(rest) = text.strip_prefix('\u{feff}') {
            text = rest.into();
        }
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        Self { name: name.into(), text, lines }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text as a shared value.
    pub fn shared_text(&self) -> Arc<str> {
        self.text.clone()
    }

    /// The text of a range, limited to the file.
    pub fn slice(&self, range: Range<usize>) -> &str {
        let start = self.floor(range.start);
        let end = self.floor(range.end).max(start);
        &self.text[start..end]
    }

    pub fn position(&self, offset: usize) -> Position {
        let offset = self.floor(offset);
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = self.lines[line - 1];
        Position { line, column: self.text[start..offset].chars().count() + 1 }
    }

    fn floor(&self, offset: usize) -> usize {
        self.text.floor_char_boundary(offset.min(self.text.len()))
    }
}

/// All texts that spans can point into.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&mut self, file: SourceFile) -> FileId {
        self.files.push(file);
        FileId(u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX))
    }

    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    pub fn iter(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }

    /// `quintain.yaml:12:3`, for reports without source excerpts.
    pub fn describe(&self, span: Span) -> Option<String> {
        let file = self.get(span.file)?;
        let Position { line, column } = file.position(span.start);
        Some(format!("{}:{line}:{column}", file.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let file = SourceFile::new("a.yaml", "å: 1\nbé: 2\n");
        assert_eq!(file.position(0), Position { line: 1, column: 1 });
        assert_eq!(file.position(2), Position { line: 1, column: 2 });
        assert_eq!(file.position(6), Position { line: 2, column: 1 });
        assert_eq!(file.position(9), Position { line: 2, column: 3 });
        assert_eq!(file.position(999), Position { line: 3, column: 1 });
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_text() {
        assert_eq!(SourceFile::new("a", "\u{feff}a: 1").text(), "a: 1");
    }

    #[test]
    fn a_slice_outside_the_text_is_cut() {
        let file = SourceFile::new("a", "é");
        assert_eq!(file.slice(1..9), "é");
        assert_eq!(file.slice(7..9), "");
    }
}
