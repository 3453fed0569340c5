//! Turns the events of a run into bytes. Reporters write a row when its event arrives, or spool it if
//! the format starts with totals; none of them keeps the results of a run in memory.
//!
//! Text from targets is hostile: every format escapes it, and formats for people make
//! invisible characters visible and truncate long text.

mod document;
mod exchanges;
mod findings;
mod gist;
#[cfg(test)]
mod golden;
mod number;
mod prose;
mod reporters;
mod selection;
mod spool;
mod text;
mod traces;
mod yaml_text;

use std::io::{self, Write};

use quintain_content::registry::Meta;
use quintain_evidence::event::Event;

pub use reporters::{LogStatus, all, find, for_path, markdown_inline, sarif_log, suffixes};
pub use yaml_text::{block as yaml_block, string as yaml_string};

/// A format for results.
pub trait Reporter: Sync {
    fn meta(&self) -> &'static Meta;

    /// Suffixes of its files, with the dot; empty if it does not write files.
    fn suffixes(&self) -> &'static [&'static str];

    fn open(&self, out: Box<dyn Write + Send>, options: &Options) -> Box<dyn Report>;
}

/// A report in progress. `Finished` completes and flushes it, also after an interruption;
/// the report is then valid.
pub trait Report: Send {
    fn event(&mut self, event: &Event) -> io::Result<()>;
}

/// Options of the formats for people.
#[derive(Debug, Clone)]
pub struct Options {
    /// Columns of the terminal.
    pub width: usize,
    pub colour: bool,
    /// After this number of rows the console shows only failures.
    pub max_rows: usize,
    /// Maximum number of characters of a text in a row or an excerpt.
    pub max_cell: usize,
    /// Show whole exchanges, and the evidence of passed cases.
    pub verbose: bool,
    /// RFC 3339. The caller provides the time.
    pub exported_at: Option<String>,
    /// What the store says of a run that is reported from it.
    pub stored: Option<StoredRun>,
    pub rules: RuleDocs,
}

/// What built-in attacks and assertions say about themselves, by their ids. Handed in: reports know none of them.
#[derive(Debug, Clone, Copy)]
pub struct RuleDocs {
    pub attack: fn(&str) -> Option<Meta>,
    pub assertion: fn(&str) -> Option<Meta>,
}

impl Default for RuleDocs {
    fn default() -> Self {
        Self { attack: |_| None, assertion: |_| None }
    }
}

/// A run as the store lists it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct StoredRun {
    pub kind: String,
    pub owner: String,
    pub state: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: 80,
            colour: false,
            max_rows: 50,
            max_cell: 250,
            verbose: false,
            exported_at: None,
            stored: None,
            rules: RuleDocs::default(),
        }
    }
}
