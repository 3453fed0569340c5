//! All printing goes through here: data to standard output, everything else to standard error.
//!
//! Text from targets is made visible before it reaches a terminal, and secrets are masked.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::sync::OnceLock;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use quintain_source::{visible, visible_json};
use quintain_wire::redact::Redactor;
use serde_json::Value;

use crate::context::Context;

/// Style of a piece of text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tone {
    Bold,
    Dim,
    Red,
    Yellow,
    Green,
}

/// The two output streams of a command.
pub(crate) struct Console {
    colour_stdout: bool,
    colour_stderr: bool,
    watched: bool,
    quiet: bool,
    redactor: Redactor,
    /// The first error while writing data.
    lost: OnceLock<io::Error>,
}

impl Console {
    pub(crate) fn new(context: &Context, quiet: bool, redactor: Redactor) -> Self {
        Self {
            colour_stdout: context.colour_stdout,
            colour_stderr: context.colour_stderr,
            watched: context.watched,
            quiet,
            redactor,
            lost: OnceLock::new(),
        }
    }

    /// Whether diagnostics may be coloured.
    pub(crate) fn colours_errors(&self) -> bool {
        self.colour_stderr
    }

    /// Whether to show progress: standard error is a terminal, and `--quiet` is not set.
    pub(crate) fn is_watched(&self) -> bool {
        self.watched && !self.quiet
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints data.
    pub(crate) fn out(&self, text: &str) {
        self.write(&self.redactor.text(text));
    }

    fn write(&self, text: &str) {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.write_all(b"\n"));
        written.unwrap_or_else(|error| self.lose(error));
    }

    /// Records that data could not be written. A closed pipe is not an error: its reader has read enough.
    pub(crate) fn lose(&self, error: io::Error) {
        if error.kind() != io::ErrorKind::BrokenPipe {
            let _ = self.lost.set(error);
        }
    }

    /// Whether all data was written; prints the error otherwise.
    pub(crate) fn is_complete(&self) -> bool {
        io::stdout().flush().unwrap_or_else(|error| self.lose(error));
        let Some(error) = self.lost.get() else { return true };
        self.error(&format!("cannot write to standard output: {error}"), None);
        false
    }

    /// Prints data as pretty JSON. Values are masked one by one, so that the output stays valid JSON.
    pub(crate) fn json(&self, value: &Value) {
        let masked = self.redactor.json(value);
        self.write(&visible_json(&format!("{:#}", *masked)));
    }

    /// Prints a remark; `--quiet` suppresses it.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.err(text);
        }
    }

    /// Prints a warning.
    pub(crate) fn warn(&self, text: &str) {
        let label = self.paint_err(Tone::Yellow, "warning");
        self.drawn(&format!("{label}: {}", visible(text)));
    }

    /// Prints an error, with advice if there is any.
    pub(crate) fn error(&self, text: &str, help: Option<&str>) {
        let label = self.paint_err(Tone::Red, "error");
        let mut message = format!("{label}: {}", visible(text));
        if let Some(help) = help {
            let label = self.paint_err(Tone::Bold, "help");
            let _ = write!(message, "\n{label}: {}", visible(help));
        }
        self.drawn(&message);
    }

    /// Prints text to standard error without a label.
    pub(crate) fn err(&self, text: &str) {
        self.drawn(&visible(text));
    }

    /// Prints text with colours of this program to standard error. The caller makes untrusted text in it visible;
    /// everything without colours goes through the functions above.
    pub(crate) fn drawn(&self, text: &str) {
        let text = self.redactor.text(text);
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.write_all(b"\n"));
    }

    /// Styles text for standard output.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        paint(self.colour_stdout, tone, text)
    }

    fn paint_err(&self, tone: Tone, text: &str) -> String {
        paint(self.colour_stderr, tone, text)
    }

    /// Shows a spinner until the guard is dropped, if progress is shown at all.
    pub(crate) fn busy(&self, what: &str) -> Busy {
        if !self.is_watched() {
            return Busy(None);
        }
        let bar = ProgressBar::new_spinner()
            .with_message(visible(&self.redactor.text(what)).into_owned());
        bar.set_style(ProgressStyle::default_spinner());
        bar.enable_steady_tick(Duration::from_millis(100));
        Busy(Some(bar))
    }
}

/// A running spinner.
pub(crate) struct Busy(Option<ProgressBar>);

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

fn paint(colour: bool, tone: Tone, text: &str) -> String {
    if !colour {
        return text.to_owned();
    }
    let code = match tone {
        Tone::Bold => 1,
        Tone::Dim => 2,
        Tone::Red => 31,
        Tone::Yellow => 33,
        Tone::Green => 32,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// A number with its noun: `1 tool`, `2 tools`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Several lines of text from a target, made visible and indented.
pub(crate) fn indented(text: &str, indent: &str) -> String {
    let lines = text.lines().map(|line| format!("{indent}{}", visible(line)));
    lines.collect::<Vec<_>>().join("\n")
}
