use std::io::BufReader;

use proptest::prelude::*;

use super::*;

fn show(piece: &Piece<'_>) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match piece {
        Piece::Value { bytes, at, .. } => format!("{}:{} {}", at.line, at.column, text(bytes)),
        Piece::Envelope { bytes } => format!("envelope {}", text(bytes)),
        Piece::Text { bytes, at } => format!("{} text {}", at.line, text(bytes)),
        Piece::Broken { at, problem } => format!("{}:{} ! {problem}", at.line, at.column),
    }
}

fn walked(text: &str, containers: &[Path], size: usize, limit: usize) -> Vec<String> {
    let mut input = BufReader::with_capacity(size, text.as_bytes());
    let mut seen = Vec::new();
    let mut on = |piece: Piece<'_>| {
        seen.push(show(&piece));
        ControlFlow::Continue(())
    };
    let _ = document(&mut input, containers, limit, &mut on).unwrap();
    seen
}

fn of_lines(text: &str, size: usize, limit: usize) -> Vec<String> {
    let mut input = BufReader::with_capacity(size, text.as_bytes());
    let mut seen = Vec::new();
    let mut on = |piece: Piece<'_>| {
        seen.push(show(&piece));
        ControlFlow::Continue(())
    };
    let _ = lines(&mut input, limit, &mut on).unwrap();
    seen
}

const CASES: &[Path] = &[&["cases"], &["results", "results"]];

#[test]
fn elements_of_a_list_come_one_by_one() {
    let text = "[\n  {\"a\": 1},\n  {\"b\": [2, \"]\"]}\n]\n";
    for size in [1, 3, 64] {
        assert_eq!(walked(text, CASES, size, 99), ["2:3 {\"a\": 1}", "3:3 {\"b\": [2, \"]\"]}"]);
    }
}

#[test]
fn elements_of_a_list_in_an_object_come_one_by_one() {
    let text = r#"{"id": "x", "results": {"version": 3, "results": [{"a": 1}, {"a": 2}], "stats": {}}, "cases": [7]}"#;
    for size in [1, 5, 999] {
        assert_eq!(
            walked(text, CASES, size, 999),
            [
                r#"envelope {"id": "x", "results": {"version": 3}}"#,
                r#"1:51 {"a": 1}"#,
                r#"1:61 {"a": 2}"#,
                "1:96 7"
            ]
        );
    }
}

#[test]
fn an_object_without_such_a_list_is_a_record() {
    let text = "{\n \"a\": {\"cases\": []}, \"results\": {\"x\": 1}\n}\n{\"b\": 2}";
    assert_eq!(
        walked(text, CASES, 4, 999),
        ["1:1 {\n \"a\": {\"cases\": []}, \"results\": {\"x\": 1}\n}", "4:1 {\"b\": 2}"]
    );
}

#[test]
fn a_broken_element_costs_only_itself() {
    let text = "[{\"a\": [1}, {\"a\": 2},\n{\"a\": \"x\n\"}, {\"a\": 3}";
    assert_eq!(
        walked(text, &[], 7, 999),
        [
            "1:2 ! invalid JSON: a bracket is not closed at line 1 column 10",
            "1:13 {\"a\": 2}",
            "2:1 ! invalid JSON: a string is not closed at the end of its line at line 2 column 9",
            "1:1 ! the file ends inside of a list",
        ]
    );
    assert_eq!(walked("[{\"a\": 1}, {\"b\": ", &[], 7, 999).len(), 2);
    let lines = "{\"a\": [1,\n{\"b\": 1}\n{\"c\": 1}\n{\"d\": \"x\n{\"e\": 1}";
    assert_eq!(
        walked(lines, CASES, 7, 999),
        [
            "1:1 ! invalid JSON: expected `,` or a closing bracket at line 3 column 1",
            "3:1 {\"c\": 1}",
            "4:1 ! invalid JSON: a string is not closed at the end of its line at line 4 column 9",
            "5:1 {\"e\": 1}",
        ]
    );
    assert_eq!(
        walked("{\"a\" 1, \"b\": {}}\n{\"c\": 1}", CASES, 7, 999),
        ["1:1 ! invalid JSON: expected `:` at line 1 column 6", "2:1 {\"c\": 1}"]
    );
}

#[test]
fn a_record_above_the_limit_is_skipped() {
    let text = format!("[{{\"a\": \"{}\"}}, {{\"a\": 2}}]", "x".repeat(3 << 20));
    assert_eq!(
        walked(&text, &[], 64, 1 << 20),
        ["1:2 ! the record is larger than 1 MB", "1:3145741 {\"a\": 2}"]
    );
    let text = format!("{{\"a\": \"{}\"}}\n{{\"a\": 2}}\n", "x".repeat(3 << 20));
    assert_eq!(
        of_lines(&text, 64, 1 << 20),
        ["1:1 ! the record is larger than 1 MB", "2:1 {\"a\": 2}"]
    );
}

#[test]
fn lines_may_be_blank_text_or_end_in_carriage_returns() {
    for size in [1, 4, 99] {
        assert_eq!(
            of_lines("{\"a\":1}\r\n\r\n  [2]\nnoise\n\u{1e}{}", size, 99),
            ["1:1 {\"a\":1}", "3:3 [2]", "4 text noise", "5:2 {}"]
        );
    }
}

proptest! {
    #[test]
    fn any_text_is_walked_to_its_end(text in r#"[\[\]{}:,"\\a1 \ncases]{0,80}"#, size in 1_usize..20) {
        let whole = walked(&text, &[&["a"]], 4096, 40);
        prop_assert_eq!(walked(&text, &[&["a"]], size, 40), whole);
        prop_assert_eq!(of_lines(&text, size, 40), of_lines(&text, 4096, 40));
    }

    #[test]
    fn sound_lists_are_split_as_the_parser_does(items in prop::collection::vec(any::<(u8, String)>(), 0..8), size in 1_usize..30) {
        let items: Vec<serde_json::Value> =
            items.into_iter().map(|(n, text)| serde_json::json!({"n": n, "t": [text]})).collect();
        let text = serde_json::to_string_pretty(&items).unwrap();
        let mut found = Vec::new();
        let mut input = BufReader::with_capacity(size, text.as_bytes());
        let mut on = |piece: Piece<'_>| {
            if let Piece::Value { bytes, .. } = piece {
                found.push(serde_json::from_slice::<serde_json::Value>(bytes).unwrap());
            }
            ControlFlow::Continue(())
        };
        let _ = document(&mut input, &[], 1 << 20, &mut on).unwrap();
        prop_assert_eq!(found, items);
    }
}
