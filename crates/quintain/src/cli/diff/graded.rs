//! The comparison of two runs of `grade`: verdict, metrics, choice of tools and findings, each with McNemar's test.

use std::fmt::Write as _;

use futures_util::TryStreamExt as _;
use quintain_engine::store::{Run, Store, StoreError};
use quintain_evidence::mcnemar::{McNemar, Method};
use quintain_evidence::run_diff::graded::{GradeDiff, GradedRow, OutcomeDiff, align, compare};
use quintain_evidence::run_diff::{Diff, Row, diff, pairs};
use quintain_grade::selection::{self, CaseSelection, SelectionDiff};
use quintain_grade::view::View;
use quintain_source::visible;

use super::App;
use crate::console::{Tone, counted};

/// Maximum columns of a name in a table.
const MAX_NAME: usize = 40;

pub(super) struct Graded {
    pub(super) grade: GradeDiff,
    /// None if no case in both runs has expected calls.
    pub(super) selection: Option<SelectionDiff>,
}

/// The cases of a run as far as a comparison needs them.
struct Cases {
    rows: Vec<GradedRow>,
    selections: Vec<Option<CaseSelection>>,
}

/// Compares two runs; the second part only if both grade traces.
pub(super) async fn diff_runs(
    store: &Store,
    before: &Run,
    after: &Run,
) -> Result<(Diff, Option<Graded>), StoreError> {
    if !(store.info(before).await?.of_traces && store.info(after).await?.of_traces) {
        let rows = (store.diff_rows(before).await?, store.diff_rows(after).await?);
        return Ok((diff(&rows.0, &rows.1), None));
    }
    let (mut before, after) = (read(store, before).await?, read(store, after).await?);
    align(&mut before.rows, &after.rows);
    let rows = |cases: &Cases| -> Vec<Row> {
        cases.rows.iter().map(|graded| graded.row.clone()).collect()
    };
    let (old, new) = (rows(&before), rows(&after));
    let both = pairs(&old, &new);
    let mut diff = diff(&old, &new);
    // What calls took is as old as the recording.
    diff.latency.clear();
    let grade = compare(&before.rows, &after.rows, &both);
    let selection = select(&before, &after, &both);
    Ok((diff, Some(Graded { grade, selection })))
}

async fn read(store: &Store, run: &Run) -> Result<Cases, StoreError> {
    let mut read = Cases { rows: Vec::new(), selections: Vec::new() };
    let mut cases = store.cases(run);
    while let Some(case) = cases.try_next().await? {
        let trace = case.evidence.trace.as_deref();
        read.selections.push(trace.and_then(|trace| CaseSelection::of(&View::new(trace))));
        read.rows.push(GradedRow::of(&case));
    }
    Ok(read)
}

fn select(before: &Cases, after: &Cases, both: &[(usize, usize)]) -> Option<SelectionDiff> {
    let cases: Vec<(String, &CaseSelection, &CaseSelection)> = both
        .iter()
        .filter_map(|(then, now)| {
            let then = before.selections.get(*then)?.as_ref()?;
            Some((now.to_string(), then, after.selections.get(*now)?.as_ref()?))
        })
        .collect();
    let then = cases.iter().map(|(name, then, _)| (name.as_str(), *then));
    let now = cases.iter().map(|(name, _, now)| (name.as_str(), *now));
    (!cases.is_empty()).then(|| selection::compare(then, now))
}

pub(super) fn text(graded: &Graded, app: &App) -> String {
    let mut text = String::new();
    let GradeDiff { cases, verdict, metrics, findings } = &graded.grade;
    if *cases == 0 {
        return "\nno case is in both runs\n".to_owned();
    }
    let named = std::iter::once(("verdict", verdict));
    let named = named.chain(metrics.iter().map(|(name, diff)| (name.as_str(), diff)));
    let rows = named.map(|(name, diff)| outcome(name, diff)).collect();
    let heads = ["cases", "before", "after", "worse", "better", "p"];
    table(&mut text, "verdict and metrics", &heads, rows, app);
    if let Some(selection) = &graded.selection {
        let parts = [
            ("expected tools", selection.tools),
            ("no hallucinated names", selection.hallucinated_names),
            ("all expected arguments", selection.all_expected_present),
            ("all required arguments", selection.all_required_present),
            ("values match", selection.values_match),
        ];
        let rows = parts.into_iter().map(|(name, test)| {
            (name.to_owned(), vec![test.worse.to_string(), test.better.to_string(), p(&test)])
        });
        let title = format!("tool selection ({})", counted(selection.cases as usize, "case"));
        table(&mut text, &title, &["worse", "better", "p"], rows.collect(), app);
    }
    let rows = findings.iter().map(|(check, diff)| {
        let mut cells = vec![diff.appeared.to_string(), diff.disappeared.to_string()];
        cells.extend(diff.appeared_in.first().map(|_| shown_cases(&diff.appeared_in)));
        (check.clone(), cells)
    });
    let heads = ["appeared", "disappeared", "new in"];
    table(&mut text, "findings", &heads, rows.collect(), app);
    let _ = write!(text, "\n{}\n", about(graded));
    text
}

/// What the numbers of the tables mean.
fn about(graded: &Graded) -> String {
    let tests = std::iter::once(&graded.grade.verdict).chain(graded.grade.metrics.values());
    let is_exact = tests.clone().all(|diff| diff.test.method == Method::Exact);
    let method = if is_exact { "exact" } else { "exact, or chi-square for many cases" };
    format!(
        "worse, better: cases that changed; p: probability of a split at least as\n\
         uneven if nothing changed (McNemar's test, {method})"
    )
}

fn outcome(name: &str, diff: &OutcomeDiff) -> (String, Vec<String>) {
    let mean = |mean: Option<f64>| mean.map_or("n/a".to_owned(), |mean| format!("{mean:.2}"));
    let OutcomeDiff { cases, before, after, test, .. } = diff;
    let numbers = [test.worse.to_string(), test.better.to_string(), p(test)];
    let cells = [cases.to_string(), mean(*before), mean(*after)].into_iter().chain(numbers);
    (name.to_owned(), cells.collect())
}

fn p(test: &McNemar) -> String {
    if test.p < 0.001 { "<0.001".to_owned() } else { format!("{:.3}", test.p) }
}

/// The first of some cases.
fn shown_cases(names: &[String]) -> String {
    let first: String = visible(&names[0]).chars().take(MAX_NAME).collect();
    if names.len() > 1 { format!("{first}, ...") } else { first }
}

fn table(
    text: &mut String,
    title: &str,
    heads: &[&str],
    rows: Vec<(String, Vec<String>)>,
    app: &App,
) {
    if rows.is_empty() {
        return;
    }
    let rows: Vec<(String, Vec<String>)> = rows
        .into_iter()
        .map(|(name, cells)| (visible(&name).chars().take(MAX_NAME).collect(), cells))
        .collect();
    let names = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let names = names.max(title.chars().count().saturating_sub(2));
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|(_, cells)| cells.get(at)?.chars().count().into());
        cells.chain([heads[at].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &[&str]| -> String {
        cells.iter().zip(&widths).fold(String::new(), |mut line, (cell, width)| {
            let _ = write!(line, "  {cell:>width$}");
            line
        })
    };
    let title = app.console.paint(Tone::Bold, &format!("{title:<0$}", names + 2));
    let _ = writeln!(text, "\n{title}{}", line(heads).trim_end());
    for (name, cells) in &rows {
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let _ = writeln!(text, "  {name:<names$}{}", line(&cells).trim_end());
    }
}
