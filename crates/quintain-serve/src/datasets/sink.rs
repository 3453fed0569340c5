//! Collects the entries that a format reads, within the limits of an import.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use serde_json::{Map, Value};

use super::entry::Entry;
use super::fields;

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

/// A problem of one record, or a remark about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportIssue {
    /// Starts at 1; absent where the problem is in no particular line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub message: String,
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
    pub(super) fn new(options: &'o ImportOptions, mapping: BTreeMap<String, String>) -> Self {
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

    /// The entries, how many records were skipped, and why.
    pub(super) fn finish(mut self) -> (Vec<Entry>, usize, Vec<ImportIssue>) {
        if self.is_full() && self.skipped > 0 {
            let limit = self.options.limits.max_entries;
            let message = format!("only the first {limit} entries were imported");
            self.issues.push(ImportIssue { line: None, message });
        }
        if self.unlisted > 0 {
            let message = format!("{} further problems are not listed", self.unlisted);
            self.issues.push(ImportIssue { line: None, message });
        }
        (self.entries, self.skipped, self.issues)
    }
}
