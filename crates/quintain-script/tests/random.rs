//! No text breaks the engine or exceeds its limits.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use quintain_script::{Host, Limits, Pattern, Script};
use serde_json::json;

const LIMITS: Limits = Limits { time: Duration::from_millis(100), memory: 8 << 20 };
/// Generous, because the machine may be busy.
const ABOUT: Duration = Duration::from_secs(3);

/// Words that are likely to have an effect when combined randomly.
fn token() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "output",
        "context",
        "x",
        "f",
        "return ",
        "const ",
        "let ",
        "function ",
        "async ",
        "await ",
        "=>",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ",",
        ".",
        "=",
        "+",
        "*",
        "/",
        "`",
        "${",
        "'",
        "\"",
        "\n",
        "while(true)",
        "for(;;)",
        "throw ",
        "new ",
        "class ",
        "yield ",
        "delete ",
        "this",
        "null",
        "undefined",
        "1e9",
        "2n",
        "NaN",
        "Promise",
        ".then",
        ".constructor",
        "Proxy",
        "eval",
        "Function",
        "JSON",
        ".parse",
        ".stringify",
        "Array(1e8)",
        ".repeat(1e9)",
        ".fill(1)",
        "/(a+)+$/",
        ".test",
        "setTimeout",
        "require",
        "process",
        "globalThis",
        "Symbol",
        "import",
        "export default ",
        "module.exports",
        "try",
        "catch",
        "finally",
        "...",
        "?.",
        "\\u{10ffff}",
        "console.log",
        "Date",
        "toJSON",
        "get x()",
        "super",
        "#p",
        "@",
        "\0",
        "é",
        "😀",
    ]);
    prop_oneof![9 => words.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}

fn code() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::collection::vec(token(), 0..25).prop_map(|tokens| tokens.concat()),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn random_code_ends_in_time(code in code(), as_file in any::<bool>()) {
        let host = Host { limits: LIMITS, ..Host::default() };
        let started = Instant::now();
        let script = if as_file { Script::file("x.js", &code, None) } else { Script::inline(&code) };
        let (output, context) = (json!("text"), json!({"a": [1, {"b": null}]}));
        let _ = script.run(&[("output", &output), ("context", &context)], &host);
        prop_assert!(started.elapsed() < LIMITS.time + ABOUT);
    }

    #[test]
    fn random_patterns_end_in_time(
        source in "([a-c.^$|*+?(){}\\[\\]\\\\,0-9dwsbBpkux<>=!:-]|\\(\\?[:=!]|\\(a\\+\\)\\+){0,14}",
        flags in "[gimsuyvd]{0,2}",
        text in "(a{0,40}|[a-c😀\n]{0,20})",
    ) {
        let started = Instant::now();
        if let Ok(pattern) = Pattern::new(&source, &flags) {
            let _ = pattern.with_limits(LIMITS).is_match(&text);
        }
        prop_assert!(started.elapsed() < LIMITS.time + ABOUT);
    }

    #[test]
    fn what_goes_in_comes_out(text in any::<String>(), number in any::<i32>(), keys in prop::collection::vec("[a-zé_]{1,8}", 0..8)) {
        let object: serde_json::Map<_, _> = keys.into_iter().map(|key| (key, json!([number, text]))).collect();
        let value = serde_json::Value::Object(object);
        prop_assert_eq!(Script::inline("v").run(&[("v", &value)], &Host::default()), Ok(value));
    }
}
