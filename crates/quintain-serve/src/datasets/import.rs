//! Reads a text of a known or recognised format into entries. One bad record does not affect the others.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use serde_json::{Map, Value};

use super::entry::Entry;
use super::fields;
use super::format::Format;

/// How a text is imported. The defaults suit most files.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Names of fields or columns: `(theirs, ours)`. The other order is accepted where only one side is a name of ours.
    pub mapping: BTreeMap<String, String>,
    pub limits: Limits,
    /// For entries that name no licence.
    pub license: Option<String>,
    /// For entries that name no source.
    pub source: Option<String>,
}

/// What an import may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the whole text.
    pub max_bytes: usize,
    /// Entries; what follows is skipped.
    pub max_entries: usize,
    /// Bytes of one entry.
    pub max_entry_bytes: usize,
    /// Problems that are listed; the others are only counted.
    pub max_issues: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 16 << 20,
            max_entries: 100_000,
            max_entry_bytes: 256 << 10,
            max_issues: 100,
        }
    }
}

/// What was read. Nothing is stored, so an import is its own dry run.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub format: Format,
    pub entries: Vec<Entry>,
    /// Records that are not among the entries: bad ones, duplicates, and those above the limit.
    pub skipped: usize,
    pub issues: Vec<ImportIssue>,
}

/// A problem of one record, or a remark about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportIssue {
    /// Starts at 1; absent where the problem is in no particular line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub message: String,
}

/// Why nothing could be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    #[error("the text has {bytes} bytes; at most {limit} are allowed")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the text is empty")]
    Empty,
    #[error("the text is not UTF-8: invalid byte at offset {0}")]
    NotUtf8(usize),
    #[error("the text is not {format}: {reason}")]
    Syntax { format: &'static str, line: Option<usize>, reason: String },
    #[error("`{0}` is not a field of entries")]
    UnknownField(String),
}

/// Reads a text. Without a format, the most likely one is used.
pub fn import(
    bytes: &[u8],
    format: Option<Format>,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    let limit = options.limits.max_bytes;
    if bytes.len() > limit {
        return Err(ImportError::TooLarge { bytes: bytes.len(), limit });
    }
    let text = decode(bytes)?;
    if text.trim().is_empty() {
        return Err(ImportError::Empty);
    }
    let mapping = fields::mapping(&options.mapping)?;
    let format = format.unwrap_or_else(|| Format::sniff(&text));
    let mut sink = Sink::new(options, mapping);
    format.read(&text, &mut sink)?;
    Ok(sink.finish(format))
}

/// UTF-8 with or without a byte order mark, or UTF-16 with one, as spreadsheets write it.
fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, ImportError> {
    let wide = |units: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|pair| units([pair[0], pair[1]]));
        let text: String = char::decode_utf16(units)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        Ok(Cow::Owned(text))
    };
    match bytes {
        [0xFF, 0xFE, ..] => wide(u16::from_le_bytes),
        [0xFE, 0xFF, ..] => wide(u16::from_be_bytes),
        _ => {
            let bytes = bytes.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(bytes);
            let text = std::str::from_utf8(bytes);
            text.map(Cow::Borrowed).map_err(|error| ImportError::NotUtf8(error.valid_up_to()))
        }
    }
}

/// Collects what a format reads, within the limits.
pub(super) struct Sink<'o> {
    options: &'o ImportOptions,
    mapping: BTreeMap<String, String>,
    entries: Vec<Entry>,
    seen: HashSet<String>,
    skipped: usize,
    issues: Vec<ImportIssue>,
    unlisted: usize,
}

impl<'o> Sink<'o> {
    fn new(options: &'o ImportOptions, mapping: BTreeMap<String, String>) -> Self {
        Self {
            options,
            mapping,
            entries: Vec::new(),
            seen: HashSet::new(),
            skipped: 0,
            issues: Vec::new(),
            unlisted: 0,
        }
    }

    /// Whether further records cannot become entries.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= self.options.limits.max_entries
    }

    /// Whether a field or column of this name contains the text of entries.
    pub(super) fn is_text(&self, name: &str) -> bool {
        self.mapping.get(name).map_or_else(
            || matches!(fields::ours(name), Some("value" | "turns")),
            |ours| ours == "value" || ours == "turns",
        )
    }

    /// The text among variables: the mapped one, one with a usual name, or the only one.
    pub(super) fn text_of<'v>(&self, vars: &'v Map<String, Value>) -> Option<&'v Value> {
        let mapped = vars
            .iter()
            .find(|(name, _)| self.mapping.get(*name).is_some_and(|ours| ours == "value"));
        let usual = || vars.iter().find(|(name, _)| fields::is_value(name));
        let only = || vars.iter().next().filter(|_| vars.len() == 1);
        mapped.or_else(usual).or_else(only).map(|(_, value)| value)
    }

    /// Adds a record of named fields, after the mapping.
    pub(super) fn record(&mut self, line: Option<usize>, record: Map<String, Value>) {
        self.record_with(line, record, |_| {});
    }

    /// The same, with a change to the entry before it is added.
    pub(super) fn record_with(
        &mut self,
        line: Option<usize>,
        record: Map<String, Value>,
        change: impl FnOnce(&mut Entry),
    ) {
        match fields::entry(record, &self.mapping) {
            Ok((mut entry, remarks)) => {
                remarks.into_iter().for_each(|remark| self.remark(line, remark));
                change(&mut entry);
                self.entry(line, entry);
            }
            Err(message) => self.bad(line, message),
        }
    }

    /// Adds an entry.
    pub(super) fn entry(&mut self, line: Option<usize>, mut entry: Entry) {
        if self.is_full() {
            self.skipped += 1;
            return;
        }
        let bytes = serde_json::to_string(&entry).map_or(0, |text| text.len());
        let limit = self.options.limits.max_entry_bytes;
        if bytes > limit {
            return self
                .bad(line, format!("the entry has {bytes} bytes; at most {limit} are allowed"));
        }
        if entry.value.trim().is_empty() && entry.turns.is_empty() {
            return self.bad(line, "the entry has no text".to_owned());
        }
        if !self.seen.insert(entry.hash()) {
            return self.bad(line, "the same text occurs before".to_owned());
        }
        if let Some(license) = self.options.license.as_ref().filter(|_| entry.license == "unknown")
        {
            entry.license.clone_from(license);
        }
        if let Some(source) = self.options.source.as_ref().filter(|_| entry.source.is_empty()) {
            entry.source.clone_from(source);
        }
        self.entries.push(entry);
    }

    /// Skips a record and lists why.
    pub(super) fn bad(&mut self, line: Option<usize>, message: String) {
        self.skipped += 1;
        self.remark(line, message);
    }

    /// Lists something about a record that is imported.
    pub(super) fn remark(&mut self, line: Option<usize>, message: String) {
        if self.issues.len() < self.options.limits.max_issues {
            self.issues.push(ImportIssue { line, message });
        } else {
            self.unlisted += 1;
        }
    }

    fn finish(mut self, format: Format) -> Imported {
        if self.is_full() && self.skipped > 0 {
            let limit = self.options.limits.max_entries;
            let message = format!("only the first {limit} entries were imported");
            self.issues.push(ImportIssue { line: None, message });
        }
        if self.unlisted > 0 {
            let message = format!("{} further problems are not listed", self.unlisted);
            self.issues.push(ImportIssue { line: None, message });
        }
        let Self { entries, skipped, issues, .. } = self;
        Imported { format, entries, skipped, issues }
    }
}

#[cfg(test)]
mod tests;
