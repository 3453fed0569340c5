//! The document of promptfoo's version 3 with our own parts; one row per line.

use std::io::{self, BufWriter, Write};

use quintain_content::registry::Meta;
use quintain_evidence::event::Event;
use quintain_source::visible_json;
use serde::Serialize;
use serde_json::ser::Formatter;

use crate::document::{Layout, Prompts, Rest, Stats, graded};
use crate::{Options, Report, Reporter};

const META: Meta = Meta {
    id: "json",
    aliases: &[],
    summary: "one JSON document with everything, in promptfoo's layout",
    docs: "\
# What it does
Writes `results.results[]`, `results.prompts[]` and `results.stats` in the layout of promptfoo's version
3. `quintain` adds percentiles, flaky tests and whether the run was interrupted and, per row, the place in
the suite, attempts, proofs, and the exchanges of cases that did not pass. A red-team run adds `findings`,
`suppressed`, `unusedSuppressions` (entries of a baseline that match nothing) and `coverage`: what was
attacked, what was not, and why. A run of `grade` has its own layout: `results[]` with `name`, `success`,
`findings[]` and `metrics[]`, `summary`, and `quintain`. Invisible characters are escaped. The totals follow the rows.

# Example
```sh
quintain eval -c suite.yaml -o results.json
```
",
    since: "0.1.0",
};

pub(super) struct Json;

impl Reporter for Json {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[".json"]
    }

    fn open(&self, out: Box<dyn Write + Send>, options: &Options) -> Box<dyn Report> {
        let out = BufWriter::new(out);
        Box::new(Document { out, options: options.clone(), layout: None, rows: 0 })
    }
}

struct Document {
    out: BufWriter<Box<dyn Write + Send>>,
    options: Options,
    layout: Option<Layout>,
    rows: usize,
}

impl Report for Document {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let out = &mut self.out;
        match event {
            Event::Started(run) if run.of_traces => {
                write!(out, "{{\"results\":[")?;
                self.layout = Some(Layout::new(run));
            }
            Event::Case(case) if self.layout.as_ref().is_some_and(|one| one.run.of_traces) => {
                write!(out, "{}", if self.rows == 0 { "\n" } else { ",\n" })?;
                write_json(out, &graded::result(case))?;
                self.rows += 1;
            }
            Event::Finished(summary)
                if self.layout.as_ref().is_some_and(|one| one.run.of_traces) =>
            {
                let Some(layout) = &self.layout else { return Ok(()) };
                write!(out, "\n],\n\"summary\":")?;
                write_json(out, &graded::totals(summary))?;
                write!(out, ",\n\"quintain\":")?;
                write_json(out, &graded::own(&layout.run))?;
                writeln!(out, "}}")?;
                out.flush()?;
            }
            Event::Started(run) => {
                write!(out, "{{\"evalId\":")?;
                write_json(out, &run.id)?;
                write!(out, ",\n\"results\":{{\"version\":3,\"timestamp\":")?;
                write_json(out, &run.created)?;
                write!(out, ",\n\"results\":[")?;
                self.layout = Some(Layout::new(run));
            }
            Event::Case(case) => {
                let Some(layout) = &mut self.layout else { return Ok(()) };
                write!(out, "{}", if self.rows == 0 { "\n" } else { ",\n" })?;
                write_json(out, &layout.row(case, self.options.verbose))?;
                self.rows += 1;
            }
            Event::Finished(summary) => {
                let Some(layout) = &self.layout else { return Ok(()) };
                write!(out, "\n],\n\"prompts\":")?;
                write_json(out, &Prompts(layout, summary))?;
                write!(out, ",\n\"stats\":")?;
                write_json(out, &Stats::of(summary))?;
                writeln!(out, "}},")?;
                let mut rest = Vec::new();
                write_json(&mut rest, &Rest::of(layout, summary, &self.options))?;
                // Its entries continue the open document.
                out.write_all(rest.strip_prefix(b"{").unwrap_or(&rest))?;
                out.write_all(b"\n")?;
                out.flush()?;
            }
            Event::Phase(_) | Event::Finding(_) | Event::Warning(_) => {}
        }
        Ok(())
    }
}

/// JSON on one line, with deceptive characters escaped.
pub(super) fn write_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(out, Visible);
    Ok(value.serialize(&mut serializer)?)
}

struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        out.write_all(visible_json(fragment).as_bytes())
    }
}
