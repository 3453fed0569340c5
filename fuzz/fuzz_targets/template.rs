//! A template of any content: text or an error, within its bounds.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain_source::Nunjucks;
use serde_json::{Map, json};

fuzz_target!(|text: &str| {
    let mut vars = Map::new();
    vars.insert("a".into(), json!("x"));
    vars.insert("b".into(), json!([1, {"c": null}]));
    let _ = Nunjucks::default().render(text, &vars);
});
