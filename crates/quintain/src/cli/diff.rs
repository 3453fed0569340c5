//! `quintain diff`: compares two runs.

use std::fmt::Write as _;

use quintain_engine::store::{Run, StoreError};
use quintain_evidence::run_diff::{Change, Diff, Key, LatencyShift, Shift, Standing, diff};
use quintain_source::visible;
use serde_json::json;

use super::{App, runs, store};
use crate::console::Tone;
use crate::exit::Exit;

/// Compare two runs: new failures, fixed tests, scores, latency
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
        let diff = diff(&store.diff_rows(&before).await?, &store.diff_rows(&after).await?);
        Ok::<_, StoreError>((before, after, diff))
    };
    let (before, after, diff) = match compared.await {
        Ok(compared) => compared,
        Err(error) => return runs::failed(&error, app),
    };
    if args.json {
        app.console.json(&json!({"before": before.id, "after": after.id, "diff": diff}));
    } else {
        app.console.out(text(&before, &after, &diff, app).trim_end());
    }
    if args.fail_on_regression && diff.regressed { Exit::Failed } else { Exit::Passed }
}

fn text(before: &Run, after: &Run, diff: &Diff, app: &App) -> String {
    let mut text = format!("{} → {}\n", before.id, after.id);
    let mut section = |tone: Tone, title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let title = app.console.paint(tone, &format!("{title} ({})", lines.len()));
            let _ = write!(text, "\n{title}\n  {}\n", lines.join("\n  "));
        }
    };
    let changes = |changes: &[Change]| changes.iter().map(change).collect();
    let standings = |standings: &[Standing]| standings.iter().map(standing).collect();
    section(Tone::Red, "new failures", changes(&diff.new_failures));
    section(Tone::Green, "fixed", changes(&diff.fixed));
    section(Tone::Yellow, "still failing", changes(&diff.still_failing));
    section(Tone::Yellow, "changed scores", changes(&diff.changed_scores));
    section(Tone::Bold, "added", standings(&diff.added));
    section(Tone::Bold, "removed", standings(&diff.removed));
    section(Tone::Bold, "latency", diff.latency.iter().map(latency).collect());
    let _ = write!(text, "\n{} unchanged", diff.unchanged);
    text
}

fn change(change: &Change) -> String {
    let Change { key, before, after, worse } = change;
    let rate = |passed: usize, repeats: usize, score: f64| match repeats {
        1 if passed == 1 => format!("passed ({score:.2})"),
        1 => format!("failed ({score:.2})"),
        _ => format!("{passed} of {repeats} passed, {score:.2} on average"),
    };
    let then = rate(before.passed, before.repeats, before.mean_score);
    let now = rate(after.passed, after.repeats, after.mean_score);
    let worse = if *worse && before.passed < before.repeats { ", clearly worse" } else { "" };
    format!("{}: {then} → {now}{worse}", name(key, after.test_idx))
}

fn standing(standing: &Standing) -> String {
    let passed = if standing.score.passed == standing.score.repeats { "passed" } else { "failed" };
    format!("{}: {passed}", name(&standing.key, standing.score.test_idx))
}

/// The name of a case, and the target that it ran on.
fn name(key: &Key, test_idx: usize) -> String {
    let called = key.description.clone().unwrap_or_else(|| format!("test {}", test_idx + 1));
    let mut name = visible(&called).into_owned();
    let _ = write!(name, " [{}]", visible(&key.target));
    name
}

fn latency((target, shift): (&String, &LatencyShift)) -> String {
    let verdict = match shift.verdict {
        Shift::Faster => "faster",
        Shift::Slower => "slower",
        Shift::None => "no difference beyond noise",
    };
    let LatencyShift { before, after, p_value, .. } = shift;
    format!(
        "{}: median {:.1} → {:.1} ms, p95 {:.1} → {:.1} ms, {verdict} (p = {p_value:.3})",
        visible(target),
        before.median,
        after.median,
        before.p95,
        after.p95
    )
}
