//! A minimal MCP server: reads lines, responds by searching for a few keys, parses nothing.
//!
//! It is the other end of every stdio measurement, so that only the client differs.

use std::io::{self, BufRead, BufReader, Write};

use quintain_bench::answer;

fn main() -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut output = io::stdout().lock();
    let (mut line, mut out) = (Vec::new(), Vec::with_capacity(1 << 16));
    while input.read_until(b'\n', &mut line)? > 0 {
        if answer::write(&line, &mut out) {
            out.push(b'\n');
        }
        line.clear();
        // A waiting client has sent everything: respond before reading more.
        if input.buffer().is_empty() {
            output.write_all(&out)?;
            output.flush()?;
            out.clear();
        }
    }
    Ok(())
}
