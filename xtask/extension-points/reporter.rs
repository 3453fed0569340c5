//! The Test Anything Protocol: one line per case.

use std::io::{self, Write};

use quintain_content::registry::Meta;
use quintain_evidence::event::Event;
use quintain_evidence::result::CaseStatus;
use quintain_source::visible;

use crate::{Options, Report, Reporter};

const META: Meta = Meta {
    id: "tap",
    aliases: &[],
    summary: "Test Anything Protocol, one line per case",
    docs: "\
# What it does
Writes `ok` or `not ok` for each case, with its description, and the number of cases at the end.

# Example
```sh
quintain eval -c suite.yaml -o results.tap
```
",
    since: "0.1.0",
};

pub(super) struct Tap;

impl Reporter for Tap {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[".tap"]
    }

    fn open(&self, out: Box<dyn Write + Send>, _: &Options) -> Box<dyn Report> {
        Box::new(Lines { out, cases: 0 })
    }
}

struct Lines {
    out: Box<dyn Write + Send>,
    cases: usize,
}

impl Report for Lines {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Case(case) => {
                self.cases += 1;
                let word = if case.status == CaseStatus::Passed { "ok" } else { "not ok" };
                let description = case.description.as_deref().unwrap_or_default();
                // A line break in a description must not look like another case.
                let line = format!("{word} {} {}", self.cases, visible(description));
                writeln!(self.out, "{}", line.trim_end())
            }
            Event::Finished(_) => {
                writeln!(self.out, "1..{}", self.cases)?;
                self.out.flush()
            }
            Event::Started(_) | Event::Phase(_) | Event::Finding(_) | Event::Warning(_) => Ok(()),
        }
    }
}
