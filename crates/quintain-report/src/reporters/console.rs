//! The report in the terminal: a line per case, then the failures with their details, then the totals.

mod graded;
mod redteam;

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};

use quintain_content::registry::Meta;
use quintain_evidence::event::{Event, RunInfo};
use quintain_evidence::evidence::Outcome;
use quintain_evidence::result::{CaseResult, CaseStatus};
use quintain_evidence::tally::{Summary, Unsteady};

use crate::text::{cell, count, duration, excerpt, fit, json_excerpt, line, wrap};
use crate::{Options, Report, Reporter, exchanges, findings, gist};

const META: Meta = Meta {
    id: "console",
    aliases: &["table"],
    summary: "a table in the terminal",
    docs: "\
# What it does
Shows a line per case up to a limit, then only failures, and repeats the failures at the end with the
reason, the place in the suite, the request and the response. The totals, the latency and the flaky and
varying tests follow.

For a red-team run it shows the findings with their proofs and a command that reproduces each, the
success rate of every attack, what did not run and why, and the totals.

For a run of `grade` it names the findings of every failed trace, and counts findings by check, metrics and
the choice of tools.

# Example
```sh
quintain eval -c suite.yaml
```
",
    since: "0.1.0",
};

/// Maximum number of failures to repeat at the end; the others are counted.
const MAX_FAILURES: usize = 100;
const MAX_UNSTEADY: usize = 10;
const MAX_ASSERTIONS: usize = 5;
/// Column where the text of a row begins, after its status.
const INDENT: usize = 7;

pub(super) struct Console;

impl Reporter for Console {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[]
    }

    fn open(&self, out: Box<dyn Write + Send>, options: &Options) -> Box<dyn Report> {
        open(out, options.clone())
    }
}

pub(super) fn open(out: Box<dyn Write + Send>, options: Options) -> Box<dyn Report> {
    Box::new(Screen {
        out: BufWriter::new(out),
        width: options.width.clamp(40, 400),
        options,
        columns: Columns::default(),
        rows: 0,
        hidden: 0,
        failures: Vec::new(),
        more_failures: 0,
    })
}

struct Screen {
    out: BufWriter<Box<dyn Write + Send>>,
    options: Options,
    width: usize,
    columns: Columns,
    rows: usize,
    /// Passed cases that were not shown.
    hidden: usize,
    /// Formatted for printing.
    failures: Vec<String>,
    more_failures: usize,
}

/// Whether rows must name their target and prompt.
#[derive(Default)]
struct Columns {
    targets: bool,
    prompts: bool,
}

impl Columns {
    fn of(run: &RunInfo) -> Self {
        let targets: HashSet<_> = run.columns.iter().map(|column| column.target.name()).collect();
        let prompts: HashSet<_> = run.columns.iter().map(|column| &column.label).collect();
        Self { targets: targets.len() > 1, prompts: prompts.len() > 1 }
    }

    fn text(&self, case: &CaseResult) -> Option<String> {
        let target = self.targets.then(|| line(case.target.name(), 40));
        let prompt = self.prompts.then(|| line(&case.prompt.label, 40));
        let parts: Vec<_> = target.into_iter().chain(prompt).collect();
        (!parts.is_empty()).then(|| parts.join(" · "))
    }
}

#[derive(Clone, Copy)]
enum Tone {
    Bold,
    Dim,
    Red,
    Yellow,
    Green,
}

impl Report for Screen {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Started(run) => self.start(run),
            Event::Case(case) => self.case(case),
            Event::Finished(summary) => self.finish(summary),
            Event::Phase(_) | Event::Finding(_) | Event::Warning(_) => Ok(()),
        }
    }
}

impl Screen {
    fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.options.colour {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Bold => "1",
            Tone::Dim => "2",
            Tone::Red => "31",
            Tone::Yellow => "33",
            Tone::Green => "32",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    fn status(&self, status: CaseStatus) -> String {
        let tone = match status {
            CaseStatus::Passed => Tone::Green,
            CaseStatus::Failed => Tone::Red,
            CaseStatus::Errored => Tone::Yellow,
        };
        self.paint(tone, &cell(gist::status(status), INDENT - 2))
    }

    fn start(&mut self, run: &RunInfo) -> io::Result<()> {
        self.columns = Columns::of(run);
        if let Some(description) = &run.description {
            let title = line(description, 200);
            let title = self.paint(Tone::Bold, &fit(&title, self.width));
            writeln!(self.out, "{title}\n")?;
        }
        Ok(())
    }

    fn case(&mut self, case: &CaseResult) -> io::Result<()> {
        if findings::attack_of_trial(case).is_some() {
            return Ok(());
        }
        let passed = gist::passed(case);
        if passed && self.rows >= self.options.max_rows {
            self.hidden += 1;
            return Ok(());
        }
        self.rows += 1;
        let row = self.row(case);
        writeln!(self.out, "{row}")?;
        if !passed {
            let reason = line(gist::reason(case), self.options.max_cell);
            let reason = fit(&reason, self.width - INDENT);
            let reason = self.paint(Tone::Dim, &reason);
            writeln!(self.out, "{:INDENT$}{reason}", "")?;
            if self.failures.len() < MAX_FAILURES {
                let text = self.failure(case);
                self.failures.push(text);
            } else {
                self.more_failures += 1;
            }
        }
        // The output is a terminal.
        self.out.flush()
    }

    fn row(&self, case: &CaseResult) -> String {
        if let Some(graded) = case.graded_trace() {
            return self.trace_row(case, graded, &gist::name(case));
        }
        let took = format!("{:>9}", duration(case.latency_ms));
        let score = format!("{:>5.2}", case.score.clamp(-99.0, 99.0));
        let left = self.width.saturating_sub(INDENT + took.len() + score.len() + 2);
        let name = gist::name(case);
        let name = match self.columns.text(case) {
            Some(column) => {
                let column_width = (left / 3).max(8);
                format!("{} {}", cell(&name, left - column_width - 1), cell(&column, column_width))
            }
            None => cell(&name, left),
        };
        let took = self.paint(Tone::Dim, &took);
        format!("{}  {name} {score} {took}", self.status(case.status))
    }

    fn failure(&self, case: &CaseResult) -> String {
        let mut block = Vec::new();
        let name = gist::name(case);
        let name = fit(&name, self.width - INDENT);
        block.push(format!("{}  {}", self.status(case.status), self.paint(Tone::Bold, &name)));
        let mut about = Vec::new();
        about.extend(case.place.as_ref().map(|place| format!("at {place}")));
        about.extend(case.graded_trace().is_none().then(|| line(case.target.name(), 60)));
        about.extend(self.columns.prompts.then(|| line(&case.prompt.label, 60)));
        if case.attempts > 1 {
            about.push(format!("attempt {}", case.attempts));
        }
        let about = line(&about.join(" · "), 400);
        let indented = |text: &str| format!("{:INDENT$}{text}", "");
        block.push(indented(&self.paint(Tone::Dim, &fit(&about, self.width - INDENT))));
        if let Some(graded) = case.graded_trace() {
            self.trace_findings(case, graded, &mut block);
            self.exchange(case, &mut block);
            return block.join("\n");
        }
        let mut failed = 0;
        for component in gist::failures(case) {
            failed += 1;
            if failed > MAX_ASSERTIONS {
                continue;
            }
            let (cells, lines) = room(&component.verdict.reason);
            let reason = excerpt(&component.verdict.reason, self.options.max_cell * cells);
            let text = format!("{}: {reason}", gist::kind_and_place(component));
            block.extend(wrap(&text, self.width - INDENT, lines).iter().map(|text| indented(text)));
        }
        if failed > MAX_ASSERTIONS {
            let more = count(failed - MAX_ASSERTIONS, "assertion", "assertions");
            block.push(indented(&format!("... and {more} more")));
        }
        if failed == 0 {
            let reason = excerpt(gist::reason(case), self.options.max_cell * 2);
            block.extend(wrap(&reason, self.width - INDENT, 6).iter().map(|text| indented(text)));
        }
        self.exchange(case, &mut block);
        block.join("\n")
    }

    fn exchange(&self, case: &CaseResult, block: &mut Vec<String>) {
        if self.options.verbose {
            let text = exchanges::transcript(case, self.options.max_cell * 20);
            block.extend(text.lines().map(|text| format!("{:INDENT$}{text}", "")));
            return;
        }
        let is_trace = case.graded_trace().is_some();
        let data = case.evidence.last().and_then(|exchange| match &exchange.outcome {
            Outcome::RpcError { data, .. } => data.as_ref().filter(|data| !data.is_null()),
            _ => None,
        });
        let sides = [
            (
                if is_trace { "request" } else { "sent" },
                line(&case.prompt.raw, self.options.max_cell),
            ),
            (
                if is_trace { "answer" } else { "response" },
                line(&gist::output(case, self.options.max_cell * 4), self.options.max_cell),
            ),
            (
                "data",
                data.map_or_else(String::new, |data| {
                    line(&json_excerpt(data, false, self.options.max_cell), self.options.max_cell)
                }),
            ),
        ];
        for (label, text) in sides {
            if text.is_empty() {
                continue;
            }
            let wrapped = wrap(&text, self.width - INDENT - 10, 4);
            for (at, text) in wrapped.iter().enumerate() {
                let label = cell(if at == 0 { label } else { "" }, 10);
                block.push(format!("{:INDENT$}{}{text}", "", self.paint(Tone::Dim, &label)));
            }
        }
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        if let Some(report) = &summary.redteam {
            return self.redteam(report, summary);
        }
        if self.hidden > 0 {
            let hidden = count(self.hidden, "passed case", "passed cases");
            writeln!(self.out, "{:INDENT$}... and {hidden} more", "")?;
        }
        if !self.failures.is_empty() {
            let title = self.paint(Tone::Bold, "Failures");
            writeln!(self.out, "\n{title}")?;
            for failure in std::mem::take(&mut self.failures) {
                writeln!(self.out, "\n{failure}")?;
            }
            if self.more_failures > 0 {
                writeln!(self.out, "\n{:INDENT$}... and {} more", "", self.more_failures)?;
            }
        }
        if let Some(grade) = &summary.grade {
            self.grade_totals(grade)?;
        }
        if self.rows > 0 {
            writeln!(self.out)?;
        }
        self.totals(summary)?;
        self.unsteady(summary)?;
        self.out.flush()
    }

    fn totals(&mut self, summary: &Summary) -> io::Result<()> {
        let mut parts = vec![self.tinted(summary.passed, Tone::Green, "passed")];
        parts.push(self.tinted(summary.failed, Tone::Red, "failed"));
        let errors = if summary.errored == 1 { "error" } else { "errors" };
        parts.push(self.tinted(summary.errored, Tone::Yellow, errors));
        if summary.missing > 0 {
            parts.push(self.tinted(summary.missing, Tone::Yellow, "not run"));
        }
        // The duration of a killed run is unknown.
        let known = (summary.duration_ms > 0.0).then(|| duration(summary.duration_ms));
        let took = known.map(|took| format!(" in {took}")).unwrap_or_default();
        writeln!(self.out, "{}{}{took}", self.label("Results"), parts.join(", "))?;
        if let Some(latency) = &summary.latency {
            let [p50, p90, p99, max] =
                [latency.p50, latency.p90, latency.p99, latency.max].map(duration);
            let text = format!("p50 {p50}, p90 {p90}, p99 {p99}, max {max}");
            let mut label = self.label("Latency");
            for text in wrap(&text, self.width - 9, 4) {
                writeln!(self.out, "{label}{text}")?;
                label = cell("", 9);
            }
        }
        if summary.interrupted {
            let text = self.paint(Tone::Yellow, "interrupted; the results above are incomplete");
            writeln!(self.out, "{}{text}", self.label("Run"))?;
        }
        Ok(())
    }

    fn tinted(&self, number: usize, tone: Tone, word: &str) -> String {
        let text = format!("{number} {word}");
        if number == 0 { text } else { self.paint(tone, &text) }
    }

    fn label(&self, text: &str) -> String {
        self.paint(Tone::Bold, &cell(text, 9))
    }

    fn unsteady(&mut self, summary: &Summary) -> io::Result<()> {
        if summary.unsteady.is_empty() {
            return Ok(());
        }
        let flaky = count(summary.flaky, "flaky test", "flaky tests");
        let varying = count(summary.varying, "test", "tests");
        let label = self.label("Repeats");
        writeln!(self.out, "{label}{flaky}; {varying} with different responses")?;
        for unsteady in summary.unsteady.iter().take(MAX_UNSTEADY) {
            let text = unsteady_text(unsteady);
            writeln!(self.out, "{:9}{}", "", fit(&text, self.width - 9))?;
        }
        let more = summary.unsteady.len().saturating_sub(MAX_UNSTEADY);
        if more > 0 {
            writeln!(self.out, "{:9}... and {more} more", "")?;
        }
        Ok(())
    }
}

/// Maximum columns and lines of a reason: a diff or a list needs more than a sentence.
fn room(reason: &str) -> (usize, usize) {
    if reason.contains('\n') { (16, 30) } else { (2, 6) }
}

fn unsteady_text(unsteady: &Unsteady) -> String {
    let name = match &unsteady.description {
        Some(description) => line(description, 60),
        None => format!("test {}", unsteady.test_idx + 1),
    };
    let responses = count(unsteady.distinct, "response", "different responses");
    let place = unsteady.place.as_ref().map(|place| format!(" ({place})"));
    let (passed, runs) = (unsteady.passed, unsteady.runs);
    format!("{name}: {passed} of {runs} passed, {responses}{}", place.unwrap_or_default())
}
