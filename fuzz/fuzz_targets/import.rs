//! A data set of any content, in every format: entries within the limits or an error, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain_serve::datasets::{Format, ImportOptions, Limits, import};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { max_entries: 100, ..Limits::default() };
    let options = ImportOptions { limits, ..ImportOptions::default() };
    for format in [None].into_iter().chain(Format::all().map(Some)) {
        if let Ok(imported) = import(bytes, format, &options) {
            assert!(imported.entries.len() <= limits.max_entries);
        }
    }
});
