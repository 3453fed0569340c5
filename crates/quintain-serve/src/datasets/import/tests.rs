use serde_json::json;

use std::collections::HashSet;

use super::*;
use crate::datasets::Limits;
use crate::datasets::{Expected, Role};

fn read(text: &str, format: Option<&str>) -> Imported {
    let format = format.map(|name| Format::named(name).unwrap());
    import(text.as_bytes(), format, &ImportOptions::default()).unwrap()
}

/// Detects the format, which must be the expected one.
fn sniffed(text: &str, format: &str) -> Imported {
    let imported = read(text, None);
    assert_eq!(imported.format.name(), format);
    imported
}

fn values(imported: &Imported) -> Vec<&str> {
    imported.entries.iter().map(|entry| entry.value.as_str()).collect()
}

fn lines(imported: &Imported) -> Vec<Option<usize>> {
    imported.issues.iter().map(|issue| issue.line).collect()
}

#[test]
fn csv_with_comments_quotes_and_a_byte_order_mark() {
    let text = "\u{feff}# dataset_version=2\r\nprompt,category,n\r\n\"a, \"\"b\"\"\nc\",x;y,1\r\nd,,2\r\nonly two,cells\r\ne,z,3\r\n";
    let imported = sniffed(text, "csv");
    assert_eq!(values(&imported), ["a, \"b\"\nc", "d", "e"]);
    assert_eq!(imported.entries[0].harm_categories, ["x", "y"]);
    assert_eq!(imported.entries[1].metadata["n"], json!("2"));
    assert_eq!(imported.entries[1].license, "unknown");
    assert_eq!((imported.skipped, lines(&imported)), (1, vec![Some(6)]));
}

#[test]
fn a_table_without_a_known_column_asks_for_a_mapping() {
    let text = "frage\tthema\nwas?\tx\nwie?\ty\n";
    let error =
        import(text.as_bytes(), Format::named("tsv"), &ImportOptions::default()).unwrap_err();
    assert!(error.to_string().contains("frage, thema"), "{error}");
    let mapping = [("frage".to_owned(), "value".to_owned())].into();
    let options = ImportOptions {
        mapping,
        license: Some("MIT".into()),
        source: Some("q.tsv".into()),
        ..ImportOptions::default()
    };
    let imported = import(text.as_bytes(), None, &options).unwrap();
    assert_eq!((imported.format.name(), values(&imported)), ("tsv", vec!["was?", "wie?"]));
    assert_eq!(
        (imported.entries[0].license.as_str(), imported.entries[0].source.as_str()),
        ("MIT", "q.tsv")
    );
}

#[test]
fn json_in_several_shapes() {
    assert_eq!(values(&sniffed("[\"a\", \"b\"]", "json")), ["a", "b"]);
    let wrapped = "{\"license\": \"MIT\", \"data\": [{\"text\": \"a\"}, 5,\n {\"x\": 1}, null, [\"hi\", \"ho\"]]}";
    let imported = sniffed(wrapped, "json");
    assert_eq!(values(&imported), ["a", "5", "ho"]);
    assert_eq!(imported.entries[0].license, "MIT");
    assert_eq!(imported.entries[2].messages(), ["hi", "ho"]);
    assert_eq!((imported.skipped, lines(&imported)), (2, vec![Some(2), Some(2)]));
    let error = import(b"[1, ", Format::named("json"), &ImportOptions::default()).unwrap_err();
    assert!(matches!(error, ImportError::Syntax { format: "json", .. }));
}

#[test]
fn one_bad_line_of_json_lines_does_not_affect_the_others() {
    let imported = sniffed(
        "# note\n{\"prompt\": \"a\", \"intents\": [\"i\"]}\n{\"prompt\": \n\n// x\n\"b\"\n7\n",
        "jsonl",
    );
    assert_eq!(values(&imported), ["a", "b"]);
    assert_eq!(imported.entries[0].harm_categories, ["i"]);
    assert_eq!((imported.skipped, lines(&imported)), (2, vec![Some(3), Some(7)]));
}

#[test]
fn yaml_lists_and_alias_bombs() {
    assert_eq!(
        values(&sniffed("- a\n- value: b\n  answers: [x]\n- [c, d]\n", "yaml")),
        ["a", "b", "d"]
    );
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let alias = format!("*a{}, ", level - 1).repeat(10);
        bomb.extend([format!("a{level}: &a{level} [{alias}]\n")]);
    }
    bomb.push_str("entries: *a9\n");
    assert!(import(bomb.as_bytes(), Format::named("yaml"), &ImportOptions::default()).is_err());
}

#[test]
fn plain_text_is_the_last_resort() {
    let imported = sniffed(
        "Hello there, friend.\r\n\r\n# comment\n#hashtag stays\nHello there, friend.\n",
        "txt",
    );
    assert_eq!(values(&imported), ["Hello there, friend.", "#hashtag stays"]);
    assert_eq!((imported.skipped, lines(&imported)), (1, vec![Some(5)]));
}

#[test]
fn seeds_of_pyrit() {
    let text = "dataset_name: demo\nharm_categories: [a]\nsource: https://x.example\nauthors: [me]\ndata_type: text\nseeds:\n  - value: one\n  - value: |\n      {% raw %}two {{ x }}{% endraw %}\n    harm_categories: [b]\n  - value: first\n    prompt_group_alias: g\n    sequence: 0\n    role: user\n  - value: third\n    prompt_group_alias: g\n    sequence: 2\n  - value: second\n    prompt_group_alias: g\n    sequence: 1\n    role: assistant\n  - [bad]\n";
    let imported = sniffed(text, "pyrit");
    assert_eq!(values(&imported), ["one", "two {{ x }}\n", "third"]);
    assert_eq!(
        (imported.entries[0].source.as_str(), &imported.entries[0].harm_categories[..]),
        ("https://x.example", &["a".to_owned()][..])
    );
    assert_eq!(imported.entries[1].harm_categories, ["b"]);
    assert_eq!(imported.entries[0].metadata["authors"], json!(["me"]));
    let turns: Vec<_> =
        imported.entries[2].turns.iter().map(|turn| (turn.role, turn.text.as_str())).collect();
    assert_eq!(turns, [(Role::User, "first"), (Role::Assistant, "second"), (Role::User, "third")]);
    assert_eq!((imported.skipped, lines(&imported)), (1, vec![Some(22)]));
}

#[test]
fn templates_of_pyrit() {
    let text = "name: wrap\ndescription: d\nparameters:\n  - prompt\ndata_type: text\nvalue: >\n  Please {{ prompt }} {% if x %}now{% endif %}\n";
    let imported = sniffed(text, "pyrit");
    assert_eq!(imported.entries[0].metadata["parameters"], json!(["prompt"]));
    assert_eq!(imported.issues.len(), 1);
}

#[test]
fn payloads_of_garak() {
    let text = "{\"garak_payload_name\": \"demo\", \"payload_types\": [\"Text\"], \"intent\": \"S1\", \"detector_name\": \"d\",\n\"payloads\": [\"a\",\n 3,\n \"b\"]}";
    let imported = sniffed(text, "garak_payload");
    assert_eq!(values(&imported), ["a", "b"]);
    assert_eq!(imported.entries[0].harm_categories, ["Text", "S1"]);
    assert_eq!(imported.entries[1].metadata["detector_name"], json!("d"));
    assert_eq!((imported.skipped, lines(&imported)), (1, vec![Some(3)]));
}

#[test]
fn reports_of_garak_give_each_attempt_once() {
    let text = "{\"entry_type\": \"start_run setup\", \"x\": 1}\n{\"entry_type\": \"attempt\", \"uuid\": \"u1\", \"status\": 1, \"probe_classname\": \"dan.Dan\", \"prompt\": \"a\"}\n{\"entry_type\": \"attempt\", \"uuid\": \"u1\", \"status\": 2, \"probe_classname\": \"dan.Dan\", \"prompt\": \"a\", \"notes\": {\"triggers\": [\"t\"]}}\n{\"entry_type\": \"attempt\", \"uuid\": \"u2\", \"prompt\": {\"turns\": [{\"role\": \"system\", \"content\": {\"text\": \"s\"}}, {\"role\": \"user\", \"content\": {\"text\": \"b\", \"lang\": \"en\"}}]}}\n{\"entry_type\": \"attempt\", \"uuid\": \"u3\"}\n{broken\n{\"entry_type\": \"completion\"}\n";
    let imported = sniffed(text, "garak_report");
    assert_eq!(values(&imported), ["a", "b"]);
    assert_eq!(imported.entries[0].metadata["status"], json!(2));
    assert_eq!(imported.entries[0].success_marks, ["t"]);
    assert_eq!(imported.entries[0].harm_categories, ["dan"]);
    assert_eq!(imported.entries[1].system_prompt.as_deref(), Some("s"));
    assert_eq!((imported.skipped, lines(&imported)), (2, vec![Some(6), Some(5)]));
}

#[test]
fn tests_of_promptfoo_in_yaml() {
    let text = "prompts:\n  - 'Answer: {{ question }} {{missing}}'\ntests:\n  - description: d\n    vars: {question: What?}\n    assert:\n      - {type: icontains, value: yes it is}\n      - {type: not-contains, value: bad}\n      - {type: llm-rubric, value: is polite}\n  - oops\n";
    let imported = sniffed(text, "promptfoo");
    let entry = &imported.entries[0];
    assert_eq!(entry.value, "Answer: What? {{missing}}");
    assert_eq!(
        (&entry.answers[..], &entry.success_marks[..]),
        (&["yes it is".to_owned()][..], &["bad".to_owned()][..])
    );
    assert_eq!(
        (entry.expected, entry.expected_behavior.as_str()),
        (Some(Expected::Answer), "is polite")
    );
    assert_eq!((imported.skipped, lines(&imported)), (1, vec![Some(10)]));
    let list =
        "- vars:\n    topic: [a, b]\n  assert:\n    - type: is-refusal\n- vars: {x: 1, y: 2}\n";
    let imported = sniffed(list, "promptfoo");
    assert_eq!(values(&imported), ["a", "b"]);
    assert_eq!(imported.entries[0].expected, Some(Expected::Refuse));
    assert!(imported.issues[0].message.ends_with("x, y"));
}

#[test]
fn tests_of_promptfoo_in_csv_and_json() {
    let imported = sniffed(
        "question,__expected,__metadata:level\nWhy?,contains: because,hard\nHow?,42,easy\n",
        "promptfoo",
    );
    assert_eq!(values(&imported), ["Why?", "How?"]);
    assert_eq!(
        (&imported.entries[0].answers[0][..], &imported.entries[1].answers[0][..]),
        ("because", "42")
    );
    assert_eq!(imported.entries[0].metadata["level"], json!("hard"));
    let imported = sniffed("[{\"vars\": {\"prompt\": \"p\"}, \"assert\": []}]", "promptfoo");
    assert_eq!(values(&imported), ["p"]);
}

#[test]
fn limits_hold() {
    let limits = Limits { max_bytes: 60, max_entries: 2, max_entry_bytes: 50, max_issues: 1 };
    let options = ImportOptions { limits, ..ImportOptions::default() };
    let txt = Format::named("txt");
    let error = import(&[b'x'; 61], txt, &options).unwrap_err();
    assert_eq!(error, ImportError::TooLarge { bytes: 61, limit: 60 });
    assert_eq!(import(b" \n", txt, &options), Err(ImportError::Empty));
    assert_eq!(import(b"ab\xff", txt, &options), Err(ImportError::NotUtf8(2)));
    let long = import("x".repeat(55).as_bytes(), txt, &options).unwrap();
    assert_eq!((long.entries.len(), long.skipped), (0, 1));
    let limits = Limits { max_entry_bytes: 500, ..limits };
    let options = ImportOptions { limits, ..ImportOptions::default() };
    let imported = import(b"a\na\na\nb\nc\nd\n", txt, &options).unwrap();
    assert_eq!((imported.entries.len(), imported.skipped), (2, 4));
    let messages: Vec<_> = imported.issues.iter().map(|issue| issue.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "the same text occurs before",
            "only the first 2 entries were imported",
            "1 further problems are not listed"
        ]
    );
}

#[test]
fn utf_16_of_spreadsheets_is_read() {
    let text = "\u{feff}prompt,n\nä,1\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [little, big] {
        let imported = import(&bytes, None, &ImportOptions::default()).unwrap();
        assert_eq!((imported.format.name(), values(&imported)), ("csv", vec!["ä"]));
    }
}

#[test]
fn formats_have_unique_names_and_are_found_by_them() {
    let names: HashSet<&str> = Format::all().map(Format::name).collect();
    assert_eq!(names.len(), Format::all().count());
    for format in Format::all() {
        assert_eq!(Format::named(format.name()), Some(format));
        assert!(format.meta().description.ends_with('.'));
    }
    assert!(Format::named("xlsx").is_none());
}

#[test]
fn built_in_data_sets_survive_a_round_trip() {
    for dataset in crate::datasets::builtin() {
        let text = serde_json::to_string(dataset).unwrap();
        let imported = read(&text, Some("json"));
        assert_eq!(imported.entries, dataset.entries, "{}", dataset.id);
        assert_eq!(imported.skipped, 0);
    }
}
