//! Log lines on standard error, filtered by level, with secrets masked.

use std::io::{self, Write};

use quintain_source::visible;
use quintain_wire::redact::Redactor;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::context::Context;

/// Starts logging: `-v` logs more, `-vv` everything; `QUINTAIN_LOG` sets a filter.
///
/// `debug` and `MCP_DEBUG` mean `-vv`; `verbose` and `MCP_VERBOSE` mean `-v`. `debug` and `verbose` are options of a target.
pub(crate) fn start(context: &Context, verbosity: u8, quiet: bool, redactor: &Redactor) {
    let level = match verbosity {
        _ if quiet => "error",
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    // Only our own crates: the debug log of an HTTP library contains secrets.
    let default = format!(
        "off,quintain={level},quintain_wire={level},quintain_engine={level},quintain_suite={level},quintain_redteam={level}"
    );
    let filter = context.env.get("QUINTAIN_LOG").map_or(default, Clone::clone);
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("warn"));
    // Only the first call in a process has an effect.
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
        io::stderr().write_all(visible(&self.0.text(&text)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
