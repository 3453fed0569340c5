//! A suite file of any content: diagnostics or a suite, never a panic, and never both silent.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use quintain_core::suite::{NoFiles, SuiteFile, load};

fuzz_target!(|text: &str| {
    let file = SuiteFile { name: "suite.yaml".into(), text: text.into(), base_dir: "".into() };
    let loaded = load(vec![file], &BTreeMap::new(), &NoFiles);
    assert!(loaded.suite.is_some() || loaded.diagnostics.has_errors());
});
