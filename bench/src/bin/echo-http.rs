//! A minimal streamable HTTP server.

use quintain_bench::{answer, serve};

fn main() -> std::io::Result<()> {
    serve::run(answer::write)
}
