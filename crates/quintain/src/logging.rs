//! Log lines on standard error, filtered by level and cleaned of secrets.

use std::io::{self, Write};

use quintain_wire::redact::Redactor;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::context::Context;

/// Starts logging: `-v` says more, `-vv` everything; `QUINTAIN_LOG` takes a filter of its own.
///
/// `debug` and `verbose` of a target, and `MCP_DEBUG` and `MCP_VERBOSE`, mean `-vv` and `-v`.
pub(crate) fn start(context: &Context, verbosity: u8, quiet: bool, redactor: &Redactor) {
    let level = match verbosity {
        _ if quiet => "error",
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    // Our own crates only: an HTTP library's debug log holds what we take care not to show.
    let default = format!(
        "off,quintain={level},quintain_wire={level},quintain_engine={level},quintain_suite={level},quintain_redteam={level}"
    );
    let filter = context.env.get("QUINTAIN_LOG").map_or(default, Clone::clone);
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("warn"));
    // Only the first call of a process takes effect, which is the one that counts.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(Clean(redactor.clone()))
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .try_init();
}

#[derive(Clone)]
struct Clean(Redactor);

impl<'a> MakeWriter<'a> for Clean {
    type Writer = Self;

    fn make_writer(&'a self) -> Self::Writer {
        self.clone()
    }
}

impl Write for Clean {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        io::stderr().write_all(self.0.text(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
