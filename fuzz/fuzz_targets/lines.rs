//! The line splitter: chunking never changes the lines, and no line exceeds the limit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain_fuzz::{Input, chunks, lines};

const LIMIT: usize = 64;

fuzz_target!(|input: Input<'_>| {
    let (lengths, stream) = input;
    let whole = lines(&[stream], LIMIT);
    assert_eq!(lines(&chunks(&lengths, stream), LIMIT), whole);
    for line in &whole.0 {
        assert!(!line.is_empty() && line.len() <= LIMIT && !line.contains(&b'\n'));
    }
    // Without a limit, the splitter gives the result of a plain split.
    let expected: Vec<&[u8]> =
        stream.split_inclusive(|&byte| byte == b'\n').filter_map(plain).collect();
    assert_eq!(lines(&chunks(&lengths, stream), usize::MAX), (to_bytes(&expected), Ok(())));
});

/// A line without its end; the last one may have none, and is kept unless it is blank.
fn plain(line: &[u8]) -> Option<&[u8]> {
    match line.strip_suffix(b"\n") {
        Some(line) => {
            Some(line.strip_suffix(b"\r").unwrap_or(line)).filter(|line| !line.is_empty())
        }
        None => Some(line).filter(|line| !line.iter().all(u8::is_ascii_whitespace)),
    }
}

fn to_bytes(lines: &[&[u8]]) -> Vec<bytes::Bytes> {
    lines.iter().map(|line| bytes::Bytes::copy_from_slice(line)).collect()
}
