//! The document of promptfoo's version 3, in pieces that can be written one after the other:
//! rows as they arrive, totals at the end.

pub(crate) mod graded;
mod grading;
mod row;
mod totals;

use std::collections::HashSet;

use quintain_evidence::event::RunInfo;
use quintain_evidence::result::CaseResult;
use sha2::{Digest, Sha256};

pub(crate) use row::Row;
pub(crate) use totals::{Prompts, Rest, Stats};

/// Maximum number of variable names to list.
const MAX_VARS: usize = 1_000;

/// What is needed to write the rows of a run.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) run: RunInfo,
    prompt_ids: Vec<String>,
    vars: Vec<String>,
    known_vars: HashSet<String>,
}

impl Layout {
    pub(crate) fn new(run: &RunInfo) -> Self {
        let prompt_ids = run.columns.iter().map(|column| prompt_id(&column.label)).collect();
        Self { run: run.clone(), prompt_ids, vars: Vec::new(), known_vars: HashSet::new() }
    }

    /// The row of a case. Call it once per case, in the order of the plan.
    pub(crate) fn row<'a>(&mut self, case: &'a CaseResult, evidence: bool) -> Row<'a> {
        for name in case.vars.keys() {
            if self.vars.len() < MAX_VARS && !self.known_vars.contains(name) {
                self.known_vars.insert(name.clone());
                self.vars.push(name.clone());
            }
        }
        let column = self.column(case);
        let known = column.and_then(|column| self.prompt_ids.get(column));
        let prompt_id = known.cloned().unwrap_or_else(|| prompt_id(&case.prompt.label));
        Row {
            case,
            id: row_id(&self.run.id, case.ordinal),
            prompt_id,
            prompt_idx: column.unwrap_or(case.prompt_idx),
            evidence: evidence || !row::passed(case),
        }
    }

    /// The column of a case: a prompt for a target.
    pub(crate) fn column(&self, case: &CaseResult) -> Option<usize> {
        column_of(&self.run, case)
    }

    pub(crate) fn vars(&self) -> &[String] {
        &self.vars
    }
}

pub(crate) fn column_of(run: &RunInfo, case: &CaseResult) -> Option<usize> {
    run.columns.iter().position(|column| {
        column.prompt_idx == case.prompt_idx && column.target.name() == case.target.name()
    })
}

fn prompt_id(label: &str) -> String {
    hex_digest(label)
}

/// The SHA-256 of a text, in 64 hexadecimal digits.
pub(crate) fn hex_digest(text: &str) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A UUID that is the same every time the same run is written.
fn row_id(run: &str, ordinal: usize) -> String {
    let digest = Sha256::new().chain_update(run).chain_update(ordinal.to_le_bytes()).finalize();
    let mut bytes = [0_u8; 16];
    bytes.copy_from_slice(&digest[..16]);
    let high = u128::from_be_bytes(bytes);
    // Version 8: custom UUIDs.
    let id = (high & !(0xf << 76) & !(0x3 << 62)) | (0x8 << 76) | (0x2 << 62);
    let hex = format!("{id:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_have_the_ids_that_promptfoo_gives_them() {
        let known = "652b7c016734eedbef52857a9b0ed99076468635861e3a29201b847f71e86da7";
        assert_eq!(prompt_id("Hello {{name}}"), known);
    }

    #[test]
    fn rows_have_uuids_that_stay() {
        let id = row_id("eval-1", 7);
        assert_eq!(id, row_id("eval-1", 7));
        assert_ne!(id, row_id("eval-1", 8));
        let parts: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(&id[14..15], "8");
        assert!("89ab".contains(&id[19..20]), "{id}");
    }
}
