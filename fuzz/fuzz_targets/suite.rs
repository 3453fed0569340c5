//! A suite file of any content: diagnostics or a suite, never a panic, and never neither.

#![no_main]

use std::collections::BTreeMap;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use quintain_suite::suite::{BUILT_IN, Needed, NoFiles, Purpose, SuiteFile, load};

fuzz_target!(|text: &str| {
    let file = SuiteFile { name: "suite.yaml".into(), text: text.into(), base_dir: "".into() };
    let purpose = Purpose::Read(Needed::Nothing);
    let loaded = load(vec![file], &BTreeMap::new(), Arc::new(NoFiles), purpose, BUILT_IN);
    assert!(loaded.suite.is_some() || loaded.diagnostics.has_errors());
});
