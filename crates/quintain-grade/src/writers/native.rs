//! Quintain's own traces: everything that a trace contains.

use std::io::{self, Write};

use quintain_content::registry::Meta;
use quintain_evidence::trace::Trace;

use super::Writer;

pub(super) struct Native;

static META: Meta = Meta {
    id: "native",
    aliases: &["quintain"],
    summary: "traces as Quintain reads them, one per line",
    docs: "\
# What it does
Writes everything that is known about a trace, so that reading it gives the same trace.
",
    since: "0.2.0",
};

impl Writer for Native {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn write(&self, trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, trace)?;
        out.write_all(b"\n")
    }
}
