//! Turns the events of a run into bytes. Reporters write a row when its event comes, or spool it if
//! a format wants its totals first; none of them keeps the results of a run in memory.
//!
//! What targets said is hostile here too: every format escapes it, and those for people make
//! invisible characters visible and cut what is too long.

mod document;
mod exchanges;
mod findings;
mod gist;
#[cfg(test)]
mod golden;
mod number;
mod prose;
mod reporters;
mod spool;
mod text;
mod yaml_text;

use std::io::{self, Write};

use quintain_content::registry::Meta;
use quintain_evidence::event::Event;

pub use reporters::{Told, all, find, for_path, markdown_inline, sarif_log, suffixes};
pub use yaml_text::{block as yaml_block, string as yaml_string};

/// A format that results can be written in.
pub trait Reporter: Sync {
    fn meta(&self) -> &'static Meta;

    /// How the names of its files end, with the dot; none if it is not for files.
    fn suffixes(&self) -> &'static [&'static str];

    fn open(&self, out: Box<dyn Write + Send>, options: &Options) -> Box<dyn Report>;
}

/// One report in the making. `Finished` completes it and flushes; it comes after an interruption
/// too, and what was written is valid then.
pub trait Report: Send {
    fn event(&mut self, event: &Event) -> io::Result<()>;
}

/// What the formats for people can be asked for.
#[derive(Debug, Clone)]
pub struct Options {
    /// Columns of the terminal.
    pub width: usize,
    pub colour: bool,
    /// After so many rows the console shows failures only.
    pub max_rows: usize,
    /// How many characters of a text are shown in a row or an excerpt.
    pub max_cell: usize,
    /// Show whole exchanges, and evidence of passed cases too.
    pub verbose: bool,
    /// RFC 3339; there is no clock here.
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
