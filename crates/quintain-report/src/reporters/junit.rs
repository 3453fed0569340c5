//! JUnit XML for CI servers: a suite per prompt and target, with the full reasons.
//!
//! Suites state their totals before their cases, so cases wait in spools. Libraries for this format
//! keep the whole report in memory instead.

mod redteam;

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

use quintain_content::registry::Meta;
use quintain_evidence::event::{Event, RunInfo};
use quintain_evidence::redteam_report::RedteamReport;
use quintain_evidence::result::{CaseResult, CaseStatus};
use quintain_evidence::tally::{ColumnTally, Summary};
use quintain_source::visible;
use serde_json::Value;

use crate::document::column_of;
use crate::spool::Spool;
use crate::text::{excerpt, line};
use crate::{Options, Report, Reporter, exchanges, findings, gist};

const META: Meta = Meta {
    id: "junit",
    aliases: &["xml"],
    summary: "JUnit XML for CI servers",
    docs: "\
# What it does
Writes a `testsuite` per prompt and target and a `testcase` per case. `failure` and `error` contain the
reason of every failed assertion with its place in the suite, `system-out` contains the exchange,
truncated if long. A failed case of a red-team run contains its finding and the proofs; attacks that did
not run are skipped tests, and the suite has properties for risk, rates, phases and frameworks.
A run that was interrupted has one more error, which says how many tests did not run.
Characters that XML does not allow are escaped.

# Example
```sh
quintain eval -c suite.yaml -o results.junit.xml
```
",
    since: "0.1.0",
};

const MAX_REASON: usize = 20_000;
const MAX_SIDE: usize = 4_000;
/// The name of the error of a run that did not finish.
const UNFINISHED: &str = "run is incomplete";

pub(super) struct Junit;

impl Reporter for Junit {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[".junit.xml", ".xml"]
    }

    fn open(&self, out: Box<dyn Write + Send>, options: &Options) -> Box<dyn Report> {
        let out = BufWriter::new(out);
        Box::new(Document {
            out,
            verbose: options.verbose,
            run: None,
            suites: Vec::new(),
            trials: Spool::default(),
        })
    }
}

struct Document {
    out: BufWriter<Box<dyn Write + Send>>,
    verbose: bool,
    run: Option<RunInfo>,
    /// By column.
    suites: Vec<Spool>,
    /// The failed cases of all columns.
    trials: Spool,
}

impl Report for Document {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Started(run) => {
                self.suites = run.columns.iter().map(|_| Spool::default()).collect();
                self.run = Some(RunInfo { config: Value::Null, ..(**run).clone() });
            }
            Event::Case(case) => {
                let Some(run) = &self.run else { return Ok(()) };
                let Some(column) = column_of(run, case) else { return Ok(()) };
                let (before, after) = testcase(case, self.verbose);
                match findings::attack_of_trial(case).filter(|_| !gist::passed(case)) {
                    Some(attack) => self.trials.record(&redteam::FailedTrial {
                        column,
                        attack: attack.to_owned(),
                        name: case.description.clone().unwrap_or_default(),
                        reason: gist::reason(case).to_owned(),
                        before,
                        after,
                    })?,
                    None => {
                        if let Some(suite) = self.suites.get_mut(column) {
                            write!(suite, "{before}{after}")?;
                        }
                    }
                }
            }
            Event::Finished(summary) => self.finish(summary)?,
            Event::Phase(_) | Event::Finding(_) | Event::Warning(_) => {}
        }
        Ok(())
    }
}

impl Document {
    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let Some(run) = &self.run else { return Ok(()) };
        let out = &mut self.out;
        let name = run.description.as_deref().unwrap_or("quintain");
        let nothing = RedteamReport::default();
        let report = summary.redteam.as_deref().unwrap_or(&nothing);
        let late = redteam::late(&mut self.trials, report)?;
        let skipped = report.not_run.len();
        let tests = summary.total() + late.len() + skipped;
        let failures = summary.failed + late.len();
        let unfinished = unfinished(summary);
        let tests = tests + usize::from(unfinished.is_some());
        let errors = summary.errored + usize::from(unfinished.is_some());
        let time = summary.duration_ms / 1e3;
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            out,
            "<testsuites name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" \
             errors=\"{errors}\" skipped=\"{skipped}\" time=\"{time:.3}\">",
            attribute(name)
        )?;
        let none = ColumnTally::default();
        for (at, (column, cases)) in run.columns.iter().zip(&mut self.suites).enumerate() {
            let tally = summary.columns.get(at).unwrap_or(&none);
            // A red-team run has one column.
            let late = if at == 0 { &late[..] } else { &[] };
            let skipped = if at == 0 { skipped } else { 0 };
            writeln!(
                out,
                "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" \
                 skipped=\"{skipped}\" time=\"{:.3}\" timestamp=\"{}\">",
                attribute(&format!("[{}] {}", column.target.name(), line(&column.label, 120))),
                tally.total() + late.len() + skipped,
                tally.failed + late.len(),
                tally.errored,
                tally.total_latency_ms / 1e3,
                attribute(&run.created),
            )?;
            if at == 0 && summary.redteam.is_some() {
                redteam::properties(out, report)?;
            }
            redteam::write(out, &mut self.trials, at, report)?;
            late.iter().try_for_each(|finding| redteam::write_late(out, finding))?;
            cases.copy_to(out)?;
            if at == 0 {
                redteam::write_skipped(out, report)?;
            }
            writeln!(out, "  </testsuite>")?;
        }
        if let Some(why) = unfinished {
            let why = attribute(&why).into_owned();
            writeln!(
                out,
                "  <testsuite name=\"{UNFINISHED}\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" \
                 time=\"0.000\" timestamp=\"{}\">",
                attribute(&run.created)
            )?;
            writeln!(
                out,
                "    <testcase classname=\"quintain\" name=\"{UNFINISHED}\" time=\"0.000\">\n      \
                 <error message=\"{why}\" type=\"interrupted\"/>\n    </testcase>"
            )?;
            writeln!(out, "  </testsuite>")?;
        }
        writeln!(out, "</testsuites>")?;
        out.flush()
    }
}

/// Why the run is not complete. CI servers show a report without failures as green, so this must be an error.
fn unfinished(summary: &Summary) -> Option<String> {
    let missing = match summary.missing {
        1 => "1 test did not run".to_owned(),
        more => format!("{more} tests did not run"),
    };
    match (summary.interrupted, summary.missing) {
        (true, 0) => Some("interrupted".to_owned()),
        (true, _) => Some(format!("interrupted: {missing}")),
        // A red-team run lists what did not run as skipped tests.
        (false, 1..) if summary.redteam.is_none() => Some(missing),
        (false, _) => None,
    }
}

/// The element of a case, up to the end of the reasons.
fn testcase(case: &CaseResult, verbose: bool) -> (String, String) {
    use std::fmt::Write as _;
    let (mut before, mut after) = (String::new(), String::new());
    let suite = case.place.as_ref().map_or("suite", |place| place.file.as_str());
    let class = format!("{suite}/{}", case.target.name());
    let _ = write!(
        before,
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        attribute(&line(&class, 300)),
        attribute(&gist::name(case)),
        case.latency_ms / 1e3
    );
    let place = gist::place(case);
    if let Some(place) = place {
        let _ = write!(before, " file=\"{}\" line=\"{}\"", attribute(&place.file), place.line);
    }
    before.push_str(">\n");
    if let Some(place) = place {
        let place = attribute(&place.to_string()).into_owned();
        before.push_str("      <properties>\n");
        let _ = writeln!(before, "        <property name=\"place\" value=\"{place}\"/>");
        before.push_str("      </properties>\n");
    }
    let (element, kind) = match case.status {
        CaseStatus::Passed => ("", String::new()),
        CaseStatus::Failed => {
            ("failure", gist::failures(case).next().map_or("assertion".into(), gist::kind_text))
        }
        CaseStatus::Errored => ("error", "error".to_owned()),
    };
    if !element.is_empty() {
        let message = line(gist::reason(case), 300);
        let _ = write!(
            before,
            "      <{element} message=\"{}\" type=\"{}\">{}",
            attribute(&message),
            attribute(&kind),
            content(&reasons(case))
        );
        let _ = writeln!(after, "</{element}>");
    }
    if !element.is_empty() || verbose {
        let text = exchanges::transcript(case, MAX_SIDE);
        let _ = writeln!(after, "      <system-out>{}</system-out>", content(&text));
    }
    after.push_str("    </testcase>\n");
    (before, after)
}

/// Every reason with its place; the overall reason if no assertion ran.
fn reasons(case: &CaseResult) -> String {
    let each = gist::failures(case).take(50).map(|component| {
        let reason = excerpt(&component.verdict.reason, MAX_REASON);
        format!("{}: {reason}", gist::kind_and_place(component))
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { excerpt(gist::reason(case), MAX_REASON) } else { each.join("\n") }
}

fn content(text: &str) -> Cow<'_, str> {
    escape(text, false)
}

fn attribute(text: &str) -> Cow<'_, str> {
    escape(text, true)
}

/// Text for XML 1.0, which cannot represent most control characters.
fn escape(text: &str, attribute: bool) -> Cow<'_, str> {
    let text = visible(text);
    if !text.contains(['&', '<', '>', '"', '\n', '\t', '\u{fffe}', '\u{ffff}']) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' if attribute => escaped.push_str("&#10;"),
            '\t' if attribute => escaped.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_xml() {
        let hostile = "]]></failure><x a=\"1\"/>\u{0}\u{1b}\u{ffff}&\n";
        let shown = content(hostile);
        assert!(!shown.contains('<') || !shown.contains("</"), "{shown}");
        assert!(shown.contains("&lt;U+0000&gt;&lt;U+001B&gt;\u{fffd}&amp;\n"), "{shown}");
        assert!(attribute("a\nb\"").ends_with("a&#10;b&quot;"));
        assert!(matches!(content("plain"), Cow::Borrowed(_)));
    }
}
