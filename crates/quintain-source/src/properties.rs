//! Properties of any text.

use proptest::prelude::*;
use serde_json::Value;

use crate::testing::{parse, parse_as};
use crate::{Diagnostics, Node, Scope, Sources, Span, Templates};

/// Text that gets further into the reader than noise.
fn yaml_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("a: "),
        Just("- "),
        Just("\n"),
        Just("  "),
        Just("&a "),
        Just("*a "),
        Just("<<: "),
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(", "),
        Just("? "),
        Just(": "),
        Just("|\n"),
        Just(">-\n"),
        Just("'"),
        Just("\""),
        Just("#c\n"),
        Just("---\n"),
        Just("...\n"),
        Just("!!str "),
        Just("%TAG ! x:\n"),
        Just("é"),
        Just("\u{feff}"),
        Just("\\u00"),
        Just("{{env.X}}"),
        Just("\t"),
        Just("\r\n"),
        Just("x"),
        Just("012"),
        Just("~"),
        Just("\u{2028}"),
        Just("|2+\n"),
        Just("\u{85}"),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn check(name: &str, text: &str) {
    let parsed = parse_as(name, text);
    let labels = parsed.dx.iter().flat_map(|diagnostic| &diagnostic.labels);
    labels.for_each(|label| inside(&parsed.sources, label.span));
    parsed.drawn();
    let templates = Templates::new([("X".to_owned(), "1".to_owned())].into());
    let Some(node) = &parsed.node else { return };
    node.to_json();
    node.walk(&mut |node: &Node| {
        inside(&parsed.sources, node.span);
        node.as_map()
            .unwrap_or_default()
            .iter()
            .for_each(|(key, _)| inside(&parsed.sources, key.span));
        for scope in [Scope::Env, Scope::Bare] {
            let mut dx = Diagnostics::new();
            templates.fill(node, scope, &mut dx);
            let spans = dx.iter().filter_map(crate::Diagnostic::span);
            spans.for_each(|span| inside(&parsed.sources, span));
        }
    });
}

fn inside(sources: &Sources, span: Span) {
    let text = sources.get(span.file).expect("a file").text();
    assert!(text.get(span.range()).is_some(), "{span:?} in {text:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        check("x.yaml", &text);
        check("x.json", &text);
    }

    #[test]
    fn any_yaml_like_text_is_survived(text in yaml_like()) {
        check("x.yaml", &text);
        check("x.json", &text);
    }

    #[test]
    fn json_survives_the_round_trip(value in json()) {
        for text in [value.to_string(), format!("{value:#}")] {
            let parsed = parse_as("x.json", &text);
            prop_assert_eq!(parsed.node.map(|node| node.to_json()), Some(value.clone()), "{}", text);
        }
    }

    #[test]
    fn short_json_is_yaml(value in json()) {
        let text = value.to_string();
        // YAML limits keys of one line to 1024 characters, and excludes some that JSON allows.
        prop_assume!(text.len() < 1000 && text.chars().all(|c| !c.is_control() && c != '\u{feff}'));
        let parsed = parse(&text);
        prop_assert_eq!(parsed.node.map(|node| node.to_json()), Some(value), "{}", text);
    }
}
