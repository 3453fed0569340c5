use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;

fn redactor(secret: &str) -> Redactor {
    let redactor = Redactor::default();
    redactor.learn(&SecretString::from(secret));
    redactor
}

#[test]
fn escapes_of_every_character_are_masked() {
    let redactor = Redactor::default();
    redactor.learn(&SecretString::from("kX9vQ2mL7pR4"));
    for text in [
        "%6B%58%39%76%51%32%6D%4C%37%70%52%34",
        "&#107;&#88;&#57;&#118;&#81;&#50;&#109;&#76;&#55;&#112;&#82;&#52;",
        "\\u006b\\u0058\\u0039\\u0076\\u0051\\u0032\\u006d\\u004c\\u0037\\u0070\\u0052\\u0034",
    ] {
        assert_eq!(redactor.text(text), MASK, "{text}");
    }
}

#[test]
fn masks_a_secret_in_every_encoding_it_travels_in() {
    let redactor = redactor("p@ss \"wörd\"/9");
    for form in [
        "p@ss \"wörd\"/9",
        r#"p@ss \"wörd\"/9"#,
        r#"p@ss \"w\u00f6rd\"/9"#,
        r#"p@ss \"wörd\"\/9"#,
        r#"p@ss \\\"wörd\\\"/9"#,
        "p@ss &quot;wörd&quot;/9",
        "p@ss &#34;wörd&#34;/9",
        "p%40ss+%22w%C3%B6rd%22%2F9",
        "p%40ss%20%22w%C3%B6rd%22%2F9",
        "p%40ss%20%22w%c3%b6rd%22%2f9",
        "cEBzcyAid8O2cmQiLzk=",
        "cEBzcyAid8O2cmQiLzk",
        "70407373202277c3b67264222f39",
        "70407373202277C3B67264222F39",
    ] {
        assert_eq!(redactor.text(&format!("<{form}>")), "<***>", "{form}");
    }
}

#[test]
fn masks_a_secret_inside_of_something_longer_in_base64() {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    let redactor = redactor("hunter2-is-my-password?>");
    for before in ["", "u", "us", "use", "user:"] {
        for after in ["", "}", "\"}", "xyz"] {
            let text = format!("{before}hunter2-is-my-password?>{after}");
            for encoded in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                let masked = redactor.text(&encoded).into_owned();
                assert!(masked.contains(MASK) && masked.len() < 17, "{text}: {encoded}: {masked}");
            }
        }
    }
}

#[test]
fn leaves_text_without_secrets_untouched_and_unallocated() {
    let redactor = redactor("tok_canary");
    assert!(matches!(redactor.text("nothing here"), Cow::Borrowed(_)));
}

#[test]
fn ignores_secrets_too_short_to_be_told_from_ordinary_text() {
    assert_eq!(redactor("abc").text("abcdef abc"), "abcdef abc");
}

#[test]
fn masks_short_secrets_and_numbers_as_whole_words_only() {
    assert_eq!(redactor("test").text("the latest test, tests"), "the latest ***, tests");
    assert_eq!(redactor("123456789").text("0123456789 (123456789)"), "0123456789 (***)");
    assert_eq!(redactor("123456789").text("id123456789x"), "id***x");
    for escaped in ["\\ntest", "\\ttest\\n", "%20test", "&lt;test"] {
        assert!(!redactor("test").text(escaped).contains("test"), "{escaped}");
    }
}

#[test]
fn masks_the_longer_of_two_nested_secrets_whole() {
    let redactor = redactor("token");
    redactor.learn(&SecretString::from("token-and-more"));
    assert_eq!(redactor.text("x token-and-more y token z"), "x *** y *** z");
}

#[test]
fn a_word_that_is_not_whole_does_not_hide_a_longer_secret_inside_of_it() {
    let redactor = redactor("12345");
    redactor.learn(&SecretString::from("2345-longer-secret"));
    assert_eq!(redactor.text("912345-longer-secret"), "91***");
}

#[test]
fn lines_of_a_key_and_values_of_a_document_are_secrets_too() {
    let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIG1n\n-----END PRIVATE KEY-----\n";
    assert_eq!(redactor(pem).text("stderr: MC4CAQAwBQYDK2VwBCIEIG1n"), "stderr: ***");
    let document = r#"{"type": "service_account", "private_key": "abcdefghijklmnop12"}"#;
    assert_eq!(redactor(document).text("key abcdefghijklmnop12"), "key ***");
}

#[test]
fn a_text_with_readable_parts_is_shown_with_them() {
    let redactor = Redactor::default();
    let url = SecretString::from("https://u:pw@host/p?a=1&b=2");
    redactor.learn_as(&url, "https://u:***@host/p?a=***&b=***");
    assert_eq!(
        redactor.text("GET https://u:pw@host/p?a=1&b=2."),
        "GET https://u:***@host/p?a=***&b=***."
    );
    let html = redactor.text("https://u:pw@host/p?a=1&amp;b=2").into_owned();
    assert_eq!(html, "https://u:***@host/p?a=***&amp;b=***");
}

#[test]
fn searching_without_the_automaton_finds_the_same() {
    let redactor = redactor("token");
    redactor.learn(&SecretString::from("token-and-more"));
    let known = redactor.ready();
    let slow = |at| known.next_slowly(b"a token-and-more b token", at);
    assert_eq!(slow(0), known.next(b"a token-and-more b token", 0));
    assert_eq!(slow(9), known.next(b"a token-and-more b token", 9));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    secret: String,
    count: u64,
    score: f64,
    state: State,
    seen: Vec<Seen>,
    free: Value,
    named: std::collections::BTreeMap<String, f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Passed,
    Failed { code: i64, why: String },
    Said(Value),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
enum Seen {
    File { path: std::path::PathBuf, step: usize },
}

fn row(secret: &str, state: State) -> Row {
    Row {
        secret: format!("a {secret} b"),
        count: 123_456_789,
        score: 0.5,
        state,
        seen: vec![Seen::File { path: format!("/x/{secret}").into(), step: 1 }],
        free: json!({secret: [secret, 7, {"secret": secret}], "n": 123_456_789}),
        named: [(secret.to_owned(), 1.0)].into(),
    }
}

#[test]
fn data_is_masked_where_its_types_hold_free_text() {
    let redactor = redactor("s3cr3t-canary");
    redactor.learn(&SecretString::from("123456789"));
    let state = State::Failed { code: 123_456_789, why: "s3cr3t-canary".into() };
    let masked = redactor.masked(&row("s3cr3t-canary", state)).unwrap().into_owned();
    assert_eq!(masked.secret, "a *** b");
    assert_eq!(masked.count, 123_456_789, "counts are not masked");
    assert_eq!(masked.state, State::Failed { code: 0, why: MASK.into() });
    assert_eq!(masked.seen, [Seen::File { path: "/x/***".into(), step: 1 }]);
    assert_eq!(masked.free, json!({MASK: [MASK, 7, {"secret": MASK}], "n": MASK}));
    assert_eq!(masked.named, [(MASK.to_owned(), 1.0)].into());
}

#[test]
fn a_secret_that_is_one_of_our_words_breaks_nothing() {
    for secret in ["passed", "failed", "state", "secret", "count", "why"] {
        let redactor = redactor(secret);
        for state in [
            State::Passed,
            State::Failed { code: 1, why: secret.into() },
            State::Said(json!({"passed": secret})),
        ] {
            let mut row = row(secret, state);
            row.score = f64::NAN;
            let masked = redactor.masked(&row).unwrap().into_owned();
            let text = format!("{:?}", (&masked.secret, &masked.free, &masked.seen, &masked.named));
            assert!(secret.len() < 4 || !text.contains(&format!("\"{secret}\"")), "{text}");
            assert!(masked.score.is_nan());
        }
    }
}

#[test]
fn a_field_that_only_a_tag_tells_apart_from_a_key_stays_if_it_is_a_plain_word() {
    let masked = redactor("path").masked(&row("path", State::Passed)).unwrap().into_owned();
    assert_eq!(masked.seen, [Seen::File { path: "/x/***".into(), step: 1 }]);
}

#[test]
fn data_that_cannot_be_masked_is_an_error_and_never_the_value() {
    #[derive(Clone, Serialize)]
    struct Short(String);
    impl<'de> Deserialize<'de> for Short {
        fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
            let text = String::deserialize(input)?;
            if text.contains(MASK) { Err(serde::de::Error::custom(text)) } else { Ok(Self(text)) }
        }
    }
    assert!(redactor("s3cr3t-canary").masked(&Short("s3cr3t-canary".into())).is_err());
}

#[test]
fn keys_that_become_the_same_are_both_kept() {
    let redactor = redactor("first-secret");
    redactor.learn(&SecretString::from("second-secret"));
    let masked = redactor.json(&json!({"first-secret": 1, "second-secret": 2})).into_owned();
    assert_eq!(masked, json!({"***": 1, "*** (2)": 2}));
}

#[test]
fn a_secret_across_the_structure_of_json_is_no_reason_to_fail() {
    let redactor = redactor("a\":\"b");
    assert_eq!(redactor.json(&json!({"a": "b"})).into_owned(), json!({"a": "b"}));
}

#[test]
fn a_fork_starts_with_what_is_known_and_learns_separately() {
    let client = Redactor::default();
    client.learn(&"known-before".to_owned().into());
    let (one, other) = (client.fork(), client.fork_reporting_to(&client));
    one.learn(&"secret-of-one".to_owned().into());
    other.learn(&"secret-of-other".to_owned().into());
    let text = "known-before secret-of-one secret-of-other";
    assert_eq!(one.text(text), "*** *** secret-of-other");
    assert_eq!(other.text(text), "*** secret-of-one ***");
    assert_eq!(client.text(text), "*** secret-of-one ***");
    assert_eq!(client.fork().text(text), client.text(text));
}
