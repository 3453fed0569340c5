//! Whatever a text contains, an import ends with entries or an error, and within its limits.

use proptest::prelude::*;

use super::{Format, ImportOptions, Limits, import};

/// Pieces of all formats, so that random texts get past detection and the first lines.
const PIECES: &[&str] = &[
    "prompt,category\n",
    "\"a\"\"b\",",
    "\t",
    "- ",
    "vars:",
    "  assert:",
    "tests:\n",
    "seeds:\n",
    "  - value: x\n",
    "prompt_group_alias: g\n",
    "sequence: 9\n",
    "{\"",
    "\": ",
    "[",
    "]",
    "{",
    "}",
    "null",
    "1e999",
    "\\u12",
    "&a ",
    "*a",
    "\"garak_payload_name\"",
    "\"payloads\"",
    "\"entry_type\": \"attempt\"",
    "__expected",
    "contains: x",
    "{{ x }}",
    "{{",
    "}}",
    "{% raw %}",
    "# c\n",
    "// c\n",
    "\r\n",
    "\n\n",
    "|\n",
    "é",
    "\u{feff}",
    "\u{0}",
    ": ",
    ",",
    "turns",
    "role",
    "content",
    "metadata",
];

fn check(bytes: &[u8]) {
    let limits = Limits { max_bytes: 1 << 16, max_entries: 5, max_entry_bytes: 200, max_issues: 3 };
    let options = ImportOptions { limits, ..ImportOptions::default() };
    for format in [None].into_iter().chain(Format::all().map(Some)) {
        let Ok(imported) = import(bytes, format, &options) else { continue };
        assert!(imported.entries.len() <= limits.max_entries);
        assert!(imported.issues.len() <= limits.max_issues + 2);
        for entry in &imported.entries {
            assert!(!entry.value.trim().is_empty() || !entry.turns.is_empty());
            assert!(!entry.license.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes);
    }

    #[test]
    fn pieces_of_formats_never_panic(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..40),
    ) {
        check(pieces.concat().as_bytes());
    }

    #[test]
    fn text_in_csv_is_read_as_it_was(texts in proptest::collection::hash_set("[a-z][a-z \"',;\n]{0,20}[a-z]", 1..8)) {
        let row = |text: &String| format!("\"{}\",1\n", text.replace('"', "\"\""));
        let csv = format!("value,n\n{}", texts.iter().map(row).collect::<String>());
        let imported = import(csv.as_bytes(), Format::named("csv"), &ImportOptions::default()).unwrap();
        let read: Vec<&str> = imported.entries.iter().map(|entry| entry.value.as_str()).collect();
        prop_assert_eq!(read, texts.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
