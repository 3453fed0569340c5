//! Writers of traces: each turns traces into one format, a line per trace. One file each; the registry below lists them
//! all.

use std::io::{self, Write};

use quintain_content::registry::Meta;
use quintain_evidence::trace::Trace;

mod deepeval;
mod native;

/// One format.
pub trait Writer: Sync {
    fn meta(&self) -> &'static Meta;

    /// Writes a trace and the end of its line.
    ///
    /// # Errors
    /// If the output cannot be written.
    fn write(&self, trace: &Trace, out: &mut dyn Write) -> io::Result<()>;
}

/// All formats.
pub static WRITERS: &[&dyn Writer] = &[&native::Native, &deepeval::DeepEval];

/// A format by its id or an alias.
pub fn by_name(name: &str) -> Option<&'static dyn Writer> {
    WRITERS.iter().copied().find(|writer| writer.meta().answers_to(name))
}

#[cfg(test)]
mod tests;
