//! Code that the fuzz targets share: a stream and the places where it is cut into chunks.

use bytes::Bytes;
use quintain_wire::message::TooLong;
use quintain_wire::transport::lines::Lines;

/// The fuzzer's input: lengths of chunks, then the stream.
pub type Input<'a> = (Vec<u8>, &'a [u8]);

/// The stream in pieces of the given lengths; the rest is the last piece.
pub fn chunks<'a>(lengths: &[u8], mut stream: &'a [u8]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::with_capacity(lengths.len() + 1);
    for &length in lengths {
        let (chunk, rest) = stream.split_at(usize::from(length).min(stream.len()));
        chunks.push(chunk);
        stream = rest;
    }
    chunks.push(stream);
    chunks
}

/// The lines of a stream that comes in chunks, and whether it ended in one that is too long.
pub fn lines(chunks: &[&[u8]], limit: usize) -> (Vec<Bytes>, Result<(), TooLong>) {
    let mut lines = Lines::new(limit);
    let mut out = Vec::new();
    for chunk in chunks {
        lines.buffer().extend_from_slice(chunk);
        loop {
            match lines.next_line() {
                Ok(Some(line)) => out.push(line),
                Ok(None) => break,
                Err(error) => return (out, Err(error)),
            }
        }
    }
    out.extend(lines.rest());
    (out, Ok(()))
}
