//! Broken, huge and odd input: the rest is still read, in bounded time.

use super::*;

const CASE: &str = r#"{"input": "q", "actual_output": "a"}"#;

fn is_bad(record: &Record) -> bool {
    matches!(record, Record::Bad(_))
}

#[test]
fn one_bad_line_does_not_sink_the_rest() {
    for bad in [
        "{\"input\": \"q\", ",
        "{\"input\": ",
        "{\"input\": [",
        "{\"input\": \"unterminated",
        "{\"input\": tru}",
        "not JSON at all",
        "{}",
        "7",
        "[1, 2]",
        "{\"input\": \"q\", \"mcp_tools_called\": [{}]}",
        "\0\0\0",
        "{\"input\": 1e400}",
    ] {
        for position in 0..3 {
            let mut lines = vec![CASE; 4];
            lines.insert(position, bad);
            let (_, records) = read_all(&lines.join("\n"));
            let good = records.iter().filter(|record| !is_bad(record)).count();
            assert_eq!((good, records.len()), (4, 5), "{bad} at {position}: {records:?}");
            let Some(Record::Bad(found)) = records.iter().find(|record| is_bad(record)) else {
                panic!()
            };
            assert_eq!(found.place.line, position + 1, "{found}");
        }
    }
}

#[test]
fn invalid_bytes_spoil_only_their_record() {
    let mut text = Vec::new();
    for line in [CASE.as_bytes(), b"{\"input\": \"\xff\xfe\"}", CASE.as_bytes()] {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    let (_, records) = read_as(&text, None, &ReadOptions::default()).unwrap();
    assert_eq!(records.iter().map(is_bad).collect::<Vec<_>>(), [false, true, false]);
    let Record::Bad(bad) = &records[1] else { panic!() };
    assert_eq!(bad.to_string(), "f.json:2:1: invalid UTF-8 in the record that starts at line 2");
}

#[test]
fn a_truncated_list_gives_what_is_whole() {
    let text = format!("[{CASE},\n{CASE},\n{{\"input\": \"q\", \"actual");
    let (_, records) = read_all(&text);
    assert_eq!(records.iter().map(is_bad).collect::<Vec<_>>(), [false, false, true]);
    let Record::Bad(bad) = &records[2] else { panic!() };
    assert_eq!(bad.to_string(), "f.json:3:1: the file ends inside of this record");
}

#[test]
fn a_broken_element_does_not_sink_the_list() {
    let text = format!("[{CASE}, {{\"input\": tru}}, {{\"input\": [1}}, {{}}, {CASE}]");
    let (_, records) = read_all(&text);
    assert_eq!(records.iter().map(is_bad).collect::<Vec<_>>(), [false, true, true, true, false]);
}

#[test]
fn depth_is_limited_per_record() {
    let deep = format!(
        "{{\"input\": \"q\", \"metadata\": {}1{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let (_, records) = read_all(&format!("{CASE}\n{deep}\n{CASE}\n"));
    assert_eq!(records.iter().map(is_bad).collect::<Vec<_>>(), [false, true, false]);
    let (_, records) = read_all(&format!("[{CASE},{deep},{CASE}]"));
    assert_eq!(records.iter().map(is_bad).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn a_record_above_the_limit_is_skipped() {
    let large = format!("{{\"input\": \"{}\"}}", "x".repeat(5 << 20));
    let options = ReadOptions { max_record: 1 << 20, ..ReadOptions::default() };
    let text = format!("{CASE}\n{large}\n{CASE}\n");
    let (_, records) = read_as(text.as_bytes(), None, &options).unwrap();
    let Record::Bad(bad) = &records[1] else { panic!() };
    assert_eq!((records.len(), bad.problem.as_str()), (3, "the record is larger than 1 MB"));
}

#[test]
fn large_results_and_long_conversations_are_read() {
    let result = "x".repeat(50 << 20);
    let case = format!(
        "{{\"input\": \"q\", \"mcp_tools_called\": [{{\"name\": \"t\", \"args\": {{}}, \"result\": \"{result}\"}}]}}"
    );
    let (_, trace) = one(&case);
    assert_eq!(trace.calls().next().unwrap().text().len(), 50 << 20);

    let turn = r#"{"role": "user", "content": "x"}, {"role": "assistant", "content": "y", "mcp_tools_called": [{"name": "t", "args": {}}]}"#;
    let turns = vec![turn; 10_000].join(", ");
    let (_, trace) = one(&format!("{{\"turns\": [{turns}]}}"));
    assert_eq!(trace.calls().count(), 10_000);

    let message = r#"{"role": "assistant", "tool_calls": [{"id": "same", "function": {"name": "t", "arguments": "{}"}}]}"#;
    let messages = vec![message; 50_000].join(", ");
    let (_, trace) = one(&format!("[{messages}]"));
    assert_eq!(trace.calls().count(), 50_000);
}

#[test]
fn a_first_line_beyond_the_head_of_the_file_changes_nothing() {
    let long = format!("{{\"input\": \"q\", \"actual_output\": \"{}\"}}", "x".repeat(600 << 10));
    for bad in ["{\"input\": \"q", "{\"input\": [1,", "nonsense", "{\"input\": tru}", "{}"] {
        let text = [&long, CASE, bad, CASE, CASE].join("\n");
        let (format, records) = read_all(&text);
        assert_eq!(format, "deepeval");
        let found: Vec<bool> = records.iter().map(is_bad).collect();
        // A bracket that is open at the end of the line takes the next record with it.
        let good = if bad.ends_with(',') { 3 } else { 4 };
        assert_eq!(found.iter().filter(|bad| !**bad).count(), good, "{bad}: {found:?}");
        assert!(found[2] && !found[0] && !found[1], "{bad}: {found:?}");
    }
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let error = |text: &[u8]| read_as(text, None, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(error(b" \n\n"), "`f.json` is empty");
    assert!(error(b"hello world").starts_with(
        "the format of `f.json` is unknown; name it with --format, one of: native, capture"
    ));
    assert!(error(br#"{"a": 1}"#).contains("unknown"));
    assert!(error(b"\x1f\x8b\x08\x00").contains("gzip"));
    assert!(error(b"[1, 2, 3]").contains("unknown"));
}

#[test]
fn a_forced_format_reports_each_record() {
    let (format, records) =
        read_as(b"{\"a\": 1}\n{\"input\": \"q\"}\n", Some("deepeval"), &ReadOptions::default())
            .unwrap();
    assert_eq!(
        (format, records.iter().map(is_bad).collect::<Vec<_>>()),
        ("deepeval", vec![true, false])
    );
}

#[test]
fn the_sink_can_stop_early() {
    let text = [CASE; 10].join("\n");
    let mut seen = 0;
    let mut sink = |_: Record| {
        seen += 1;
        if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    read(text.as_bytes(), "f", None, &ReadOptions::default(), &mut sink).unwrap();
    assert_eq!(seen, 3);
}

/// A stream that never ends is read in constant memory: nothing is kept between records.
#[test]
fn a_long_stream_is_read_record_by_record() {
    struct Endless(usize);
    impl io::Read for Endless {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let line = b"{\"input\": \"q\", \"actual_output\": \"a\"}\n";
            for byte in out.iter_mut() {
                *byte = line[self.0 % line.len()];
                self.0 += 1;
            }
            Ok(out.len())
        }
    }
    let mut count = 0_usize;
    let mut sink = |record: Record| {
        assert!(!is_bad(&record));
        count += 1;
        if count == 200_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    read(BufReader::new(Endless(0)), "f", None, &ReadOptions::default(), &mut sink).unwrap();
    assert_eq!(count, 200_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Any bytes in any format lead to records or an error, never to a panic.
    #[test]
    fn any_text_is_survived(
        parts in prop::collection::vec(prop::sample::select(PARTS), 0..12),
        format in prop::option::of(0..READERS.len()),
    ) {
        let text: String = parts.concat();
        let reader = format.map(|at| READERS[at]);
        let router = Some(Router::default());
        let options = ReadOptions { router, ..ReadOptions::default() };
        let mut sink = |_: Record| ControlFlow::Continue(());
        let _ = read(text.as_bytes(), "f", reader, &options, &mut sink);
    }
}

/// The example of each format, with pieces moved, doubled, removed and replaced.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>(), 0_u8..4);
    let changes = prop::collection::vec(change, 0..8);
    (0..READERS.len(), changes).prop_map(|(reader, changes)| {
        let mut text = example(READERS[reader]).repeat(2).into_bytes();
        for (from, to, byte, kind) in changes {
            let (from, to) = (from.index(text.len() + 1), to.index(text.len() + 1));
            let range = from.min(to)..from.max(to).min(from.min(to) + 30);
            let piece = text[range.clone()].to_vec();
            match kind {
                0 => drop(text.splice(range, [])),
                1 => drop(text.splice(to..to, piece)),
                2 => text.insert(from, byte),
                _ => drop(text.splice(range, [byte])),
            }
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever the input, the size of the chunks in which it arrives does not matter.
    #[test]
    fn mutated_examples_are_read_the_same_in_any_chunks(text in mutated(), size in 1_usize..50) {
        let read_in = |size: usize| {
            let mut records = Vec::new();
            let mut sink = |record: Record| {
                records.push(record);
                ControlFlow::Continue(())
            };
            let input = BufReader::with_capacity(size, text.as_slice());
            let format = read(input, "f", None, &ReadOptions::default(), &mut sink);
            (format.map(|reader| reader.meta().id).map_err(|error| error.to_string()), records)
        };
        let whole = read_in(1 << 16);
        prop_assert_eq!(read_in(size), whole);
    }
}

const PARTS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\n",
    "\"",
    "null",
    "7",
    "{}",
    "[]",
    "\"input\": \"q\"",
    "\"turns\": [",
    "\"messages\": ",
    "\"role\": \"user\"",
    "\"content\": ",
    "\"jsonrpc\": \"2.0\"",
    "\"id\": 1",
    "\"method\": \"tools/call\"",
    "\"params\": {}",
    "\"result\": ",
    "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\"}\n",
    "{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": 7}\n",
    "{\"t\": 1, \"note\": \"exit\"}\n",
    "\"steps\": []",
    "\"resourceSpans\": [",
    "{\"traceId\": \"a\", \"spanId\": \"b\", \"startTimeUnixNano\": 1700000000}",
    "\"results\": ",
    "\"response\": ",
    "\"prompt\": ",
    "\"testCase\": {}",
    "{\"role\": \"tool\", \"content\": []}\n",
    "{\"type\": \"mcp_call\", \"name\": \"x\", \"error\": []}",
    "{\"input\": \"q\", \"mcp_tools_called\": [{\"name\": \"e\", \"args\": {\"server\": \"s\", \"tool\": \"t\"}}]}\n",
];
