//! A summary for CI job pages: counts, failures first, expandable details.

mod graded;
mod redteam;

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};

use quintain_content::registry::Meta;
use quintain_evidence::event::{Event, RunInfo};
use quintain_evidence::result::CaseResult;
use quintain_evidence::tally::Summary;
use quintain_source::visible;
use serde_json::Value;

use crate::spool::Spool;
use crate::text::{count, duration, line};
use crate::{Options, Report, Reporter, exchanges, findings, gist};

const META: Meta = Meta {
    id: "markdown",
    aliases: &["md"],
    summary: "a summary for CI job pages: counts, failures first, expandable details",
    docs: "\
# What it does
Writes GitHub Markdown for a job summary or a comment: the counts, the failures with their line in the
suite and expandable exchanges, a table per prompt and target, and the passed cases. For a red-team run
it contains the findings with their proofs, what did not run, the attacks on each argument, what the run
learned, and the coverage of frameworks. A run of `grade` lists findings by check, metrics and the choice
of tools. Text from targets cannot inject markup: Markdown, pipes,
backticks and HTML are escaped.

# Example
```sh
quintain eval -c suite.yaml -o \"$GITHUB_STEP_SUMMARY.md\"
```
",
    since: "0.1.0",
};

/// CI servers reject summaries larger than a mebibyte.
const MAX_FAILURES: usize = 100;
const MAX_DETAILS: usize = 30;
const MAX_PASSED: usize = 200;
const MAX_SIDE: usize = 2_000;

pub(super) struct Markdown;

impl Reporter for Markdown {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[".md", ".markdown"]
    }

    fn open(&self, out: Box<dyn Write + Send>, options: &Options) -> Box<dyn Report> {
        Box::new(Page {
            out: BufWriter::new(out),
            max_cell: options.max_cell,
            run: None,
            failures: Spool::default(),
            details: Spool::default(),
            passed: Spool::default(),
            failed: 0,
            fine: 0,
        })
    }
}

struct Page {
    out: BufWriter<Box<dyn Write + Send>>,
    max_cell: usize,
    run: Option<RunInfo>,
    failures: Spool,
    details: Spool,
    passed: Spool,
    failed: usize,
    fine: usize,
}

impl Report for Page {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Started(run) => {
                self.run = Some(RunInfo { config: Value::Null, ..(**run).clone() });
                Ok(())
            }
            // The findings describe them.
            Event::Case(case) if findings::attack_of_trial(case).is_some() => Ok(()),
            Event::Case(case) if gist::passed(case) => self.fine(case),
            Event::Case(case) => self.failure(case),
            Event::Finished(summary) => self.finish(summary),
            Event::Phase(_) | Event::Finding(_) | Event::Warning(_) => Ok(()),
        }
    }
}

impl Page {
    fn fine(&mut self, case: &CaseResult) -> io::Result<()> {
        self.fine += 1;
        if self.fine > MAX_PASSED {
            return Ok(());
        }
        writeln!(
            self.passed,
            "| {} | {} | {:.2} | {} |",
            inline(&gist::name(case)),
            inline(&line(case.target.name(), 60)),
            case.score,
            duration(case.latency_ms)
        )
    }

    fn failure(&mut self, case: &CaseResult) -> io::Result<()> {
        self.failed += 1;
        if self.failed > MAX_FAILURES {
            return Ok(());
        }
        let name = inline(&gist::name(case));
        let place = gist::place(case).map_or_else(String::new, |place| code(&place.to_string()));
        let reason = line(gist::reason(case), self.max_cell);
        writeln!(
            self.failures,
            "| {} | {name} | {} | {place} | {} |",
            gist::status(case.status),
            inline(&line(case.target.name(), 60)),
            inline(&reason),
        )?;
        if self.failed > MAX_DETAILS {
            return Ok(());
        }
        let status = gist::status(case.status);
        writeln!(self.details, "<details><summary>{status}: {name} {place}</summary>\n")?;
        if let Some(graded) = case.graded_trace() {
            graded::findings(&mut self.details, case, graded)?;
        }
        let components = gist::failures(case).filter(|_| case.graded_trace().is_none());
        for component in components.take(20) {
            let place = component.place.as_ref().map(|place| code(&place.to_string()));
            let kind = code(&gist::kind_text(component));
            let reason = inline(&line(&component.verdict.reason, 1_000));
            writeln!(self.details, "- {kind}: {reason} {}", place.unwrap_or_default())?;
        }
        writeln!(self.details, "\n{}\n</details>\n", fenced(&exchanges::transcript(case, MAX_SIDE)))
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let Some(run) = &self.run else { return Ok(()) };
        let out = &mut self.out;
        if let Some(report) = &summary.redteam {
            redteam::write(out, run, report, summary)?;
            return end(out, run);
        }
        let title = run.description.as_deref().map_or("Quintain".into(), |text| line(text, 200));
        let verdict = if summary.passed == summary.total() { "passed" } else { "failed" };
        writeln!(out, "## {}: {verdict}\n", inline(&title))?;
        if summary.interrupted {
            writeln!(out, "> **Interrupted**: {} cases did not run.\n", summary.missing)?;
        }
        writeln!(out, "| passed | failed | errors | not run | flaky | duration |")?;
        writeln!(out, "| ---: | ---: | ---: | ---: | ---: | ---: |")?;
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |\n",
            summary.passed,
            summary.failed,
            summary.errored,
            summary.missing,
            summary.flaky,
            duration(summary.duration_ms)
        )?;
        if let Some(grade) = &summary.grade {
            graded::totals(out, grade)?;
        }
        if self.failed > 0 {
            writeln!(out, "### Failures\n")?;
            writeln!(out, "| | test | target | place | reason |\n| --- | --- | --- | --- | --- |")?;
            self.failures.copy_to(out)?;
            if self.failed > MAX_FAILURES {
                writeln!(out, "\n... and {} more.", self.failed - MAX_FAILURES)?;
            }
            writeln!(out)?;
            self.details.copy_to(out)?;
        }
        targets(out, run, summary)?;
        unsteady(out, summary)?;
        if self.fine > 0 {
            let passed = count(self.fine, "case", "cases");
            writeln!(out, "<details><summary>{passed} passed</summary>\n")?;
            writeln!(out, "| test | target | score | latency |\n| --- | --- | ---: | ---: |")?;
            self.passed.copy_to(out)?;
            if self.fine > MAX_PASSED {
                writeln!(out, "\n... and {} more.", self.fine - MAX_PASSED)?;
            }
            writeln!(out, "\n</details>\n")?;
        }
        end(out, run)
    }
}

fn end(out: &mut impl Write, run: &RunInfo) -> io::Result<()> {
    let (id, version) = (inline(&run.id), inline(&run.version));
    writeln!(out, "<sub>Run {id}, Quintain {version}</sub>")?;
    out.flush()
}

fn targets(out: &mut impl Write, run: &RunInfo, summary: &Summary) -> io::Result<()> {
    if let Some(latency) = &summary.latency {
        let [p50, p90, p95, p99, max] =
            [latency.p50, latency.p90, latency.p95, latency.p99, latency.max].map(duration);
        writeln!(out, "Latency: p50 {p50}, p90 {p90}, p95 {p95}, p99 {p99}, max {max}.\n")?;
    }
    if run.columns.len() < 2 {
        return Ok(());
    }
    writeln!(out, "| target | prompt | passed | failed | errors |")?;
    writeln!(out, "| --- | --- | ---: | ---: | ---: |")?;
    for (column, tally) in run.columns.iter().zip(&summary.columns) {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            inline(&line(column.target.name(), 60)),
            inline(&line(&column.label, 60)),
            tally.passed,
            tally.failed,
            tally.errored
        )?;
    }
    writeln!(out)
}

fn unsteady(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    if summary.unsteady.is_empty() {
        return Ok(());
    }
    writeln!(out, "### Flaky and varying tests\n")?;
    for unsteady in summary.unsteady.iter().take(20) {
        let name = match &unsteady.description {
            Some(description) => inline(&line(description, 100)),
            None => format!("test {}", unsteady.test_idx + 1),
        };
        let place = unsteady.place.as_ref().map(|place| code(&place.to_string()));
        let responses = count(unsteady.distinct, "response", "different responses");
        writeln!(
            out,
            "- {name}: {} of {} passed, {responses} {}",
            unsteady.passed,
            unsteady.runs,
            place.unwrap_or_default()
        )?;
    }
    writeln!(out)
}

/// Text on one line, with Markdown and HTML markup escaped.
pub fn inline(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in visible(text).chars() {
        match c {
            '\n' | '\t' => escaped.push(' '),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // As character references: a backslash does not work everywhere, nor against autolinks.
            '|' | '`' | '*' | '_' | '~' | '[' | ']' | '\\' | '#' | '@' | '!' | '$' => {
                let _ = write!(escaped, "&#{};", c as u32);
            }
            c => escaped.push(c),
        }
    }
    // URLs must not become links.
    escaped.replace("://", "&#58;//").replace("www.", "www&#46;")
}

/// `<code>` instead of backticks, which cannot be escaped inside code.
fn code(text: &str) -> String {
    format!("<code>{}</code>", inline(text))
}

/// A block with a fence that is longer than any fence in it.
fn fenced(text: &str) -> String {
    let text = visible(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_a_cell() {
        let shown =
            inline("a | b `c` <img src=x onerror=1> **d** [e](http://f) @team #1\n\u{202e}");
        for bad in ["|", "`", "<", "*", "[", "](", "@", "\n", "://", "\u{202e}"] {
            assert!(!shown.contains(bad), "{bad} in {shown}");
        }
    }

    #[test]
    fn fences_are_longer_than_what_they_hold() {
        let shown = fenced("````\n</details>\n");
        assert!(shown.starts_with("`````text\n````\n") && shown.ends_with("\n`````"), "{shown}");
        assert!(fenced("plain").starts_with("```text\n"));
    }
}
