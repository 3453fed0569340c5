//! The JSON document as YAML.

use std::io::{self, BufWriter, Write};

use quintain_content::registry::Meta;
use quintain_evidence::event::Event;
use serde_json::{Value, json};

use crate::document::{Layout, Prompts, Rest, Stats, graded};
use crate::{Options, Report, Reporter, yaml_text};

const META: Meta = Meta {
    id: "yaml",
    aliases: &["yml"],
    summary: "the JSON document as YAML",
    docs: "\
# What it does
Writes the same document as `json`. Every ambiguous text is quoted, so that readers of YAML 1.1 and 1.2
agree.

# Example
```sh
quintain eval -c suite.yaml -o results.yaml
```
",
    since: "0.1.0",
};

pub(super) struct Yaml;

impl Reporter for Yaml {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[".yaml", ".yml"]
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

impl Document {
    fn is_of_traces(&self) -> bool {
        self.layout.as_ref().is_some_and(|layout| layout.run.of_traces)
    }
}

impl Report for Document {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Started(run) if run.of_traces => {
                write!(self.out, "results:")?;
                self.layout = Some(Layout::new(run));
            }
            Event::Case(case) if self.is_of_traces() => {
                write!(self.out, "\n  ")?;
                yaml_text::entry(&mut self.out, &graded::result(case), 2)?;
                self.rows += 1;
            }
            Event::Finished(summary) if self.is_of_traces() => {
                let Some(layout) = &self.layout else { return Ok(()) };
                let none = if self.rows == 0 { " []" } else { "" };
                write!(self.out, "{none}")?;
                let rest = json!({
                    "summary": graded::totals(summary), "quintain": graded::own(&layout.run),
                });
                yaml_text::value(&mut self.out, &rest, 0)?;
                self.out.write_all(b"\n")?;
                self.out.flush()?;
            }
            Event::Started(run) => {
                let out = &mut self.out;
                writeln!(out, "evalId: {}", yaml_text::string(&run.id))?;
                writeln!(out, "results:\n  version: 3")?;
                writeln!(out, "  timestamp: {}", yaml_text::string(&run.created))?;
                write!(out, "  results:")?;
                self.layout = Some(Layout::new(run));
            }
            Event::Case(case) => {
                let (Some(layout), out) = (&mut self.layout, &mut self.out) else { return Ok(()) };
                let row = serde_json::to_value(layout.row(case, self.options.verbose))?;
                write!(out, "\n    ")?;
                yaml_text::entry(out, &row, 4)?;
                self.rows += 1;
            }
            Event::Finished(summary) => {
                let (Some(layout), out) = (&self.layout, &mut self.out) else { return Ok(()) };
                if self.rows == 0 {
                    write!(out, " []")?;
                }
                let totals =
                    json!({"prompts": Prompts(layout, summary), "stats": Stats::of(summary)});
                yaml_text::value(out, &totals, 2)?;
                let rest: Value = serde_json::to_value(Rest::of(layout, summary, &self.options))?;
                yaml_text::value(out, &rest, 0)?;
                out.write_all(b"\n")?;
                out.flush()?;
            }
            Event::Phase(_) | Event::Finding(_) | Event::Warning(_) => {}
        }
        Ok(())
    }
}
