//! One HTML file that works offline: summary and charts first, then every case in a table
//! that a small script builds from data in the file. Without scripts there is a plain table.
//!
//! The content security policy of the page forbids loading anything; its script and style are allowed by hash.

mod chart;
mod conversation;
mod data;
mod graded;
mod redteam;
mod selection;

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quintain_content::registry::Meta;
use quintain_evidence::event::{Event, RunInfo};
use quintain_evidence::result::CaseResult;
use quintain_evidence::tally::Summary;
use quintain_source::visible;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::document::column_of;
use crate::spool::Spool;
use crate::text::{count, duration, line};
use crate::{Options, Report, Reporter, RuleDocs, gist};

const META: Meta = Meta {
    id: "html",
    aliases: &[],
    summary: "one HTML file that works offline",
    docs: "\
# What it does
Writes a page with the totals, charts of pass rate and latency, and a table of all cases that you can
search and filter. A case expands to its prompt, output, assertions with their lines in the suite and the
exchanges. A red-team run starts with its risk, the findings with baseline call and attempt side by side,
a matrix of tools and attacks, success rates, what the run learned, and frameworks with what did not run.
A run of `grade` shows each conversation with every finding at its call, findings by check, metrics, and
the choice of tools as a confusion matrix.
The file needs no network and blocks any access to it; without scripts it shows a plain table.

# Example
```sh
quintain eval -c suite.yaml -o report.html
```
",
    since: "0.1.0",
};

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");
/// Maximum size for browsers; details of passed cases are omitted first.
const ROOM_FOR_PASSED: usize = 48 << 20;
const ROOM_FOR_ALL: usize = 192 << 20;
/// Maximum rows of the plain table.
const MAX_PLAIN: usize = 300;

pub(super) struct Html;

impl Reporter for Html {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[".html", ".htm"]
    }

    fn open(&self, out: Box<dyn Write + Send>, options: &Options) -> Box<dyn Report> {
        Box::new(Page {
            rules: options.rules,
            out: BufWriter::new(out),
            run: None,
            rows: Spool::default(),
            details: Spool::default(),
            plain_failures: Spool::default(),
            plain_passed: Spool::default(),
            cases: 0,
            plain: [0; 2],
            written: 0,
            latencies: Vec::new(),
        })
    }
}

struct Page {
    rules: RuleDocs,
    out: BufWriter<Box<dyn Write + Send>>,
    run: Option<RunInfo>,
    rows: Spool,
    details: Spool,
    plain_failures: Spool,
    plain_passed: Spool,
    cases: usize,
    plain: [usize; 2],
    /// Bytes of details.
    written: usize,
    /// By column.
    latencies: Vec<Vec<f64>>,
}

impl Report for Page {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Started(run) => {
                self.latencies = vec![Vec::new(); run.columns.len()];
                self.run = Some(RunInfo { config: Value::Null, ..(**run).clone() });
                Ok(())
            }
            Event::Case(case) => self.case(case),
            Event::Finished(summary) => self.finish(summary),
            Event::Phase(_) | Event::Finding(_) | Event::Warning(_) => Ok(()),
        }
    }
}

impl Page {
    fn case(&mut self, case: &CaseResult) -> io::Result<()> {
        let Some(run) = &self.run else { return Ok(()) };
        let Some(column) = column_of(run, case) else { return Ok(()) };
        if let Some(latencies) = self.latencies.get_mut(column) {
            latencies.push(case.latency_ms);
        }
        let test = case.test_idx;
        self.rows.write_all(if self.cases == 0 { b"\n" } else { b",\n" })?;
        data::write(&mut self.rows, &data::row(case, test, column))?;
        self.cases += 1;
        let passed = gist::passed(case);
        let room = if passed { ROOM_FOR_PASSED } else { ROOM_FOR_ALL };
        if self.written < room {
            let mut detail = Vec::new();
            data::write(&mut detail, &data::Detail::of(case))?;
            self.written += detail.len();
            let ordinal = case.ordinal;
            write!(self.details, "<script type=\"application/json\" id=\"d{ordinal}\">")?;
            self.details.write_all(&detail)?;
            writeln!(self.details, "</script>")?;
        }
        self.plain(case, passed)
    }

    fn plain(&mut self, case: &CaseResult, passed: bool) -> io::Result<()> {
        let written = &mut self.plain[usize::from(passed)];
        *written += 1;
        if *written > MAX_PLAIN {
            return Ok(());
        }
        let out = if passed { &mut self.plain_passed } else { &mut self.plain_failures };
        let text = data::gist_text(case);
        let place = gist::place(case).map(ToString::to_string).unwrap_or_default();
        writeln!(
            out,
            "<tr><td class=\"{}\">{}</td><td class=\"test\">{}<small>{}</small></td><td>{}</td>\
             <td>{}</td><td class=\"n\">{}</td></tr>",
            data::status_class(case.status),
            gist::status(case.status),
            escape(&gist::name(case)),
            escape(&place),
            escape(&line(case.target.name(), 80)),
            escape(&text),
            duration(case.latency_ms),
        )
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let Some(run) = self.run.take() else { return Ok(()) };
        let out = &mut self.out;
        let title =
            run.description.as_deref().map_or("Quintain".to_owned(), |text| line(text, 200));
        let title = escape(&title).into_owned();
        head(out, &title)?;
        if let Some(report) = &summary.redteam {
            opening(out, &title, &run, summary, "findings", redteam::verdict(report))?;
            redteam::write(out, report, summary, self.rules)?;
            let trials = count(self.cases, "trial", "trials");
            writeln!(out, "<details class=\"panel fold\"><summary>{trials}</summary>")?;
        } else {
            opening(out, &title, &run, summary, "cases", verdict(summary))?;
            cards(out, summary)?;
        }
        if let Some(grade) = &summary.grade {
            graded::write(out, grade)?;
        }
        if !run.of_traces {
            chart::write(out, &run, summary, &self.latencies)?;
        }
        write!(out, "{}", include_str!("html/cases.html"))?;
        write!(out, "<noscript><div class=\"scroll\"><table><thead><tr><th>Status</th>")?;
        write!(out, "<th>Test</th><th>Target</th><th>Result</th><th class=\"n\">Latency</th>")?;
        writeln!(out, "</tr></thead><tbody>")?;
        self.plain_failures.copy_to(out)?;
        self.plain_passed.copy_to(out)?;
        writeln!(out, "</tbody></table></div>")?;
        let left_out: usize = self.plain.iter().map(|n| n.saturating_sub(MAX_PLAIN)).sum();
        if left_out > 0 {
            let cases = count(left_out, "case needs", "cases need");
            writeln!(out, "<p class=\"empty\">{cases} JavaScript to be shown.</p>")?;
        }
        writeln!(out, "</noscript></section>")?;
        if summary.redteam.is_some() {
            writeln!(out, "</details>")?;
        }
        writeln!(out, "</main>")?;
        let id = escape(&run.id);
        let version = escape(&run.version);
        writeln!(out, "<footer>Run {id} · Quintain {version}</footer></div>")?;
        write!(out, "{}", include_str!("html/dialog.html"))?;
        write!(out, "<script type=\"application/json\" id=\"run\">")?;
        data::write(out, &data::Run::of(&run))?;
        write!(out, "</script>\n<script type=\"application/json\" id=\"rows\">[")?;
        self.rows.copy_to(out)?;
        writeln!(out, "\n]</script>")?;
        self.details.copy_to(out)?;
        writeln!(out, "<script>{SCRIPT}</script>\n</body>\n</html>")?;
        out.flush()
    }
}

fn head(out: &mut impl Write, title: &str) -> io::Result<()> {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">",
        hash(SCRIPT),
        hash(STYLE)
    )?;
    writeln!(out, "<meta name=\"referrer\" content=\"no-referrer\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>")
}

/// Class and text of the verdict at the top.
fn verdict(summary: &Summary) -> (&'static str, String) {
    match (summary.total(), summary.passed) {
        (0, _) => ("error", "No test ran".into()),
        (all, passed) if all == passed => ("pass", "Passed".into()),
        _ => ("fail", "Failed".into()),
    }
}

fn opening(
    out: &mut impl Write,
    title: &str,
    run: &RunInfo,
    summary: &Summary,
    skip_to: &str,
    (class, word): (&str, String),
) -> io::Result<()> {
    writeln!(out, "<a class=\"skip\" href=\"#{skip_to}\">Skip to the {skip_to}</a>")?;
    writeln!(out, "<div class=\"wrap\">\n<header><div class=\"top\"><h1>{title}</h1>")?;
    writeln!(out, "<span class=\"pill {class}\">{word}</span></div><p class=\"about\">")?;
    write!(out, "<span>{}</span>", escape(&run.created))?;
    write!(out, "<span>{}</span>", duration(summary.duration_ms))?;
    for (key, value) in run.tags.iter().take(20) {
        write!(out, "<span>{}: {}</span>", escape(&line(key, 60)), escape(&line(value, 60)))?;
    }
    writeln!(out, "</p></header>\n<main>")?;
    if summary.interrupted {
        let missing = count(summary.missing, "case was", "cases were");
        writeln!(out, "<p class=\"notice\">Interrupted: {missing} not run.</p>")?;
    }
    Ok(())
}

fn cards(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let (class, _) = verdict(summary);
    writeln!(out, "<section class=\"cards\" aria-label=\"Summary\">")?;
    let mut card = |value: &str, class: &str, label: &str| {
        let class = if value == "0" { "" } else { class };
        writeln!(
            out,
            "<div class=\"card\"><b class=\"{class}\">{value}</b><small>{label}</small></div>"
        )
    };
    card(&format!("{:.0}%", (summary.pass_rate() * 100.0).floor()), class, "pass rate")?;
    card(&summary.passed.to_string(), "pass", "passed")?;
    card(&summary.failed.to_string(), "fail", "failed")?;
    card(&summary.errored.to_string(), "error", "errors")?;
    if summary.missing > 0 {
        card(&summary.missing.to_string(), "error", "not run")?;
    }
    if summary.flaky > 0 || summary.varying > 0 {
        card(&summary.flaky.to_string(), "error", "flaky")?;
    }
    if let Some(latency) = &summary.latency {
        card(&duration(latency.p50), "", "median latency")?;
        card(&duration(latency.p95), "", "95th percentile")?;
    }
    writeln!(out, "</section>")
}

/// Text escaped for HTML elements and quoted attributes.
fn escape(text: &str) -> Cow<'_, str> {
    let text = visible(text);
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}
