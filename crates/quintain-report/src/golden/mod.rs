//! Every reporter on a fixed run, compared with files under `tests/golden`. BLESS=1 rewrites them.

mod fixture;
mod graded;
mod reader;
mod redteam;
mod sarif;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quintain_evidence::event::{Event, RunInfo};
use quintain_evidence::result::CaseResult;
use quintain_evidence::tally::{Summary, Tally};

use crate::RuleDocs;
use crate::{Options, Reporter, all, find};

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn summary(run: &RunInfo, cases: &[CaseResult], interrupted: bool) -> Summary {
    let mut tally = Tally::new(run);
    for case in cases {
        tally.add(case);
    }
    let mut summary = tally.finish(Duration::from_millis(61_234), interrupted);
    if let Some(column) = summary.columns.first_mut().filter(|_| !cases.is_empty()) {
        column.derived.insert("derived".into(), 0.25);
    }
    summary
}

/// The docs of the real attacks and assertions.
pub(super) fn rules() -> RuleDocs {
    RuleDocs {
        attack: |id| {
            let check = || quintain_scan::launch_checks::all().iter().find(|one| one.meta.id == id);
            let attack = quintain_redteam::attacks::find(id).map(|attack| attack.meta());
            attack.or_else(|| check().map(|check| check.meta))
        },
        assertion: |id| quintain_suite::assertions::find(id).map(|assertion| *assertion.meta()),
    }
}

fn options() -> Options {
    Options { rules: rules(), ..Options::default() }
}

pub(super) fn report(
    reporter: &dyn Reporter,
    options: &Options,
    cases: &[CaseResult],
    planned: usize,
) -> String {
    let run = fixture::run(planned);
    let summary = summary(&run, cases, planned > cases.len());
    render(reporter, options, &run, cases, &summary)
}

fn render(
    reporter: &dyn Reporter,
    options: &Options,
    run: &RunInfo,
    cases: &[CaseResult],
    summary: &Summary,
) -> String {
    let out = Shared::default();
    let mut report = reporter.open(Box::new(out.clone()), options);
    report.event(&Event::Started(Arc::new(run.clone()))).unwrap();
    for case in cases {
        report.event(&Event::Case(Arc::new(case.clone()))).unwrap();
    }
    for finding in summary.redteam.iter().flat_map(|report| &report.findings) {
        report.event(&Event::Finding(Arc::new(finding.clone()))).unwrap();
    }
    report.event(&Event::Finished(Arc::new(summary.clone()))).unwrap();
    let bytes = std::mem::take(&mut *out.0.lock().unwrap());
    String::from_utf8(bytes).unwrap()
}

fn golden(name: &str, actual: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    // The machine that runs the tests is not part of the format.
    let actual = actual
        .replace(&format!("\"{}\"", std::env::consts::OS), "\"OS\"")
        .replace(&format!("\"{}\"", std::env::consts::ARCH), "\"ARCH\"")
        .replace(&format!("platform: {}\n", std::env::consts::OS), "platform: OS\n")
        .replace(&format!("arch: {}\n", std::env::consts::ARCH), "arch: ARCH\n");
    let is_sarif = path.extension().is_some_and(|extension| extension == "sarif");
    let actual = if is_sarif { sarif::without_docs(&actual) } else { actual };
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = expected.lines().zip(actual.lines()).position(|(left, right)| left != right);
    assert!(expected == actual, "{name} differs, first in line {differs:?}; BLESS=1 rewrites");
}

/// Formats that are too large for golden files have their own tests.
fn small() -> Vec<CaseResult> {
    let mut cases = fixture::cases();
    cases.retain(|case| case.description.as_deref() != Some("a lot"));
    cases
}

#[test]
fn every_format_writes_what_it_should() {
    for reporter in all() {
        let meta = reporter.meta();
        let human = ["console", "txt", "markdown", "junit", "html"].contains(&meta.id);
        let cases = if human { fixture::cases() } else { small() };
        let text = report(*reporter, &options(), &cases, cases.len());
        golden(&format!("full.{}", meta.id), &text);
    }
}

#[test]
fn an_interrupted_run_is_reported_as_far_as_it_went() {
    for reporter in all() {
        let text = report(*reporter, &options(), &small()[..2], 9);
        golden(&format!("interrupted.{}", reporter.meta().id), &text);
    }
}

#[test]
fn a_run_without_cases_is_reported() {
    for reporter in all() {
        let text = report(*reporter, &options(), &[], 0);
        golden(&format!("empty.{}", reporter.meta().id), &text);
    }
}

#[test]
fn the_console_limits_rows_and_can_be_coloured() {
    let options = Options { width: 60, colour: true, max_rows: 1, max_cell: 80, ..options() };
    let text = report(find("console").unwrap(), &options, &fixture::cases(), 12);
    golden("narrow.console", &text);
}

#[test]
fn lines_of_the_console_fit_the_terminal() {
    for width in [60, 80, 132] {
        let options = Options { width, ..options() };
        let text = report(find("console").unwrap(), &options, &fixture::cases(), 12);
        for line in text.lines() {
            assert!(crate::text::columns(line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn formats_for_people_stay_short_and_show_what_hides() {
    for id in ["console", "txt", "markdown", "junit", "html"] {
        let text = report(find(id).unwrap(), &options(), &fixture::cases(), 12);
        assert!(text.len() < 250_000, "{id}: {}", text.len());
        for hidden in ['\u{1b}', '\u{202e}', '\u{202c}', '\u{0}', '\r'] {
            assert!(!text.contains(hidden), "{id} shows {hidden:?}");
        }
        assert!(text.contains("U+202E"), "{id} hides it");
    }
}
