//! `quintain diff`: compares two runs.

mod graded;

use std::fmt::Write as _;

use quintain_engine::store::{Run, StoreError};
use quintain_evidence::run_diff::{
    CaseChange, Diff, Key, LATENCY_SIGNIFICANT, LatencyShift, Shift, UnmatchedCase,
};
use quintain_source::visible;
use serde_json::json;

use self::graded::Graded;
use super::{App, runs, store};
use crate::console::Tone;
use crate::exit::Exit;

/// Compare two runs: new failures, fixed tests, scores, latency
///
/// Two runs of `grade` are also compared by verdict, metric, tool selection and finding, with
/// McNemar's test. Traces are matched by id, otherwise by name.
///
/// Examples:
///   quintain diff latest~1 latest
///   quintain diff eval-abc latest --fail-on-regression
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Earlier run
    #[arg(value_name = "BEFORE", default_value = "latest~1")]
    before: String,
    /// Later run
    #[arg(value_name = "AFTER", default_value = "latest")]
    after: String,
    /// Exit with code 100 if anything got worse
    #[arg(long)]
    fail_on_regression: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    let compared = async {
        let store = store::open(app).await?;
        let before = store.find(&args.before).await?;
        let after = store.find(&args.after).await?;
        let (diff, graded) = graded::diff_runs(&store, &before, &after).await?;
        Ok::<_, StoreError>((before, after, diff, graded))
    };
    let (before, after, diff, graded) = match compared.await {
        Ok(compared) => compared,
        Err(error) => return runs::failed(&error, app),
    };
    if args.json {
        let mut found = json!({"before": before.id, "after": after.id, "diff": diff});
        if let Some(graded) = &graded {
            found["grade"] = json!(graded.grade);
            found["selection"] = json!(graded.selection);
        }
        app.console.json(&found);
    } else {
        app.console.out(text(&before, &after, &diff, graded.as_ref(), app).trim_end());
    }
    if args.fail_on_regression && diff.regressed { Exit::Failed } else { Exit::Passed }
}

fn text(before: &Run, after: &Run, diff: &Diff, graded: Option<&Graded>, app: &App) -> String {
    // All traces have the same target.
    let has_target = graded.is_none();
    let mut text = format!("{} → {}\n", before.id, after.id);
    let mut section = |tone: Tone, title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let title = app.console.paint(tone, &format!("{title} ({})", lines.len()));
            let _ = write!(text, "\n{title}\n  {}\n", lines.join("\n  "));
        }
    };
    let changes =
        |changes: &[CaseChange]| changes.iter().map(|one| change(one, has_target)).collect();
    let standings = |standings: &[UnmatchedCase]| {
        standings.iter().map(|one| standing(one, has_target)).collect()
    };
    section(Tone::Red, "new failures", changes(&diff.new_failures));
    section(Tone::Green, "fixed", changes(&diff.fixed));
    section(Tone::Yellow, "still failing", changes(&diff.still_failing));
    section(Tone::Yellow, "changed scores", changes(&diff.changed_scores));
    section(Tone::Bold, "added", standings(&diff.added));
    section(Tone::Bold, "removed", standings(&diff.removed));
    section(Tone::Bold, "latency", diff.latency.iter().map(latency).collect());
    if let Some(graded) = graded {
        text.push_str(&graded::text(graded, app));
    }
    let _ = write!(text, "\n{} unchanged", diff.unchanged);
    text
}

fn change(change: &CaseChange, has_target: bool) -> String {
    let CaseChange { key, before, after, worse } = change;
    let rate = |passed: usize, repeats: usize, score: f64| match repeats {
        1 if passed == 1 => format!("passed ({score:.2})"),
        1 => format!("failed ({score:.2})"),
        _ => format!("{passed} of {repeats} passed, {score:.2} on average"),
    };
    let then = rate(before.passed, before.repeats, before.mean_score);
    let now = rate(after.passed, after.repeats, after.mean_score);
    let worse = if *worse && before.passed < before.repeats { ", clearly worse" } else { "" };
    format!("{}: {then} → {now}{worse}", name(key, after.test_idx, has_target))
}

fn standing(standing: &UnmatchedCase, has_target: bool) -> String {
    let passed = if standing.score.passed == standing.score.repeats { "passed" } else { "failed" };
    format!("{}: {passed}", name(&standing.key, standing.score.test_idx, has_target))
}

/// The name of a case, and the target that it ran on.
fn name(key: &Key, test_idx: usize, has_target: bool) -> String {
    let called = key.description.clone().unwrap_or_else(|| format!("test {}", test_idx + 1));
    let mut name = visible(&called).into_owned();
    if has_target {
        let _ = write!(name, " [{}]", visible(&key.target));
    }
    name
}

fn latency((target, shift): (&String, &LatencyShift)) -> String {
    let verdict = match shift.verdict {
        Shift::Faster => "faster",
        Shift::Slower => "slower",
        Shift::None => "no difference beyond noise",
    };
    let LatencyShift { before, after, p_value, .. } = shift;
    let is_small = shift.verdict == Shift::None && *p_value < 0.05;
    let needed = if is_small {
        format!("; a difference needs p < {LATENCY_SIGNIFICANT} and enough cases")
    } else {
        String::new()
    };
    format!(
        "{}: median {:.1} → {:.1} ms, p95 {:.1} → {:.1} ms, {verdict} (p = {p_value:.3}{needed})",
        visible(target),
        before.median,
        after.median,
        before.p95,
        after.p95
    )
}
