//! A formula of any content: a number or an error.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use quintain_suite::formula::evaluate;

fuzz_target!(|text: &str| {
    let numbers = BTreeMap::from([("a".to_owned(), 1.5), ("__count".to_owned(), 3.0)]);
    let _ = evaluate(text, &numbers);
});
