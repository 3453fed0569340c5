//! One file of a suite, parsed.

use std::path::PathBuf;

use quintain_source::{Node, Severity};

use super::loader::SuiteFolder;

pub(super) struct Document {
    pub(super) node: Node,
    pub(super) base_dir: PathBuf,
    pub(super) shown_dir: PathBuf,
    pub(super) strictness: Severity,
}

impl Document {
    pub(super) fn place(&self) -> SuiteFolder<'_> {
        let Self { base_dir, shown_dir, strictness, .. } = self;
        SuiteFolder { base_dir, shown_dir, strictness: *strictness }
    }
}
