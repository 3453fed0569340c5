//! Only the rows of the JSON document, one per line.

use std::io::{self, BufWriter, Write};

use quintain_content::registry::Meta;
use quintain_evidence::event::Event;

use super::json::write_json;
use crate::document::{Layout, graded};
use crate::{Options, Report, Reporter};

const META: Meta = Meta {
    id: "jsonl",
    aliases: &["ndjson"],
    summary: "one line of JSON per case, written and flushed when the case ends",
    docs: "\
# What it does
Writes each case as a line of JSON, with the keys of `results.results[]` of the JSON document; a trace
of `grade` with those of `results[]`. A line is flushed as soon as its case is reported, so another program can follow the run.

# Example
```sh
quintain eval -c suite.yaml -o results.jsonl
```
",
    since: "0.1.0",
};

pub(super) struct JsonLines;

impl Reporter for JsonLines {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[".jsonl", ".ndjson"]
    }

    fn open(&self, out: Box<dyn Write + Send>, options: &Options) -> Box<dyn Report> {
        Box::new(Lines { out: BufWriter::new(out), verbose: options.verbose, layout: None })
    }
}

struct Lines {
    out: BufWriter<Box<dyn Write + Send>>,
    verbose: bool,
    layout: Option<Layout>,
}

impl Report for Lines {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Started(run) => self.layout = Some(Layout::new(run)),
            Event::Case(case) => {
                let Some(layout) = &mut self.layout else { return Ok(()) };
                if layout.run.of_traces {
                    write_json(&mut self.out, &graded::result(case))?;
                } else {
                    write_json(&mut self.out, &layout.row(case, self.verbose))?;
                }
                self.out.write_all(b"\n")?;
                self.out.flush()?;
            }
            Event::Finished(_) => self.out.flush()?,
            Event::Phase(_) | Event::Finding(_) | Event::Warning(_) => {}
        }
        Ok(())
    }
}
