//! The reference of grading: checks of traces, metrics and formats of traces. What the list of metrics does not show
//! (thresholds, what a judge would add) and what the writers write comes from grading a small trace.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use serde_json::{Value, json};

use super::pages::{STEM, contents, entries, finished, text_of};
use crate::Result;

const CHECK_HEADINGS: &[&str] = &[
    "What it does",
    "Why it matters",
    "What counts as proof",
    "Severity",
    "When it does not apply",
    "Example",
];
const METRIC_HEADINGS: &[&str] = &["What it does", "When it does not apply", "Example"];
const FORMAT_HEADINGS: &[&str] = &["What it does", "Example"];

/// A trace in deepeval's format, which the writers rewrite.
const TRACE: &str = r#"{"input": "Add 1 and 2", "actual_output": "3", "mcp_tools_called": [{"name": "add", "args": {"a": 1, "b": 2}, "result": "3"}]}"#;
/// Options without which a metric cannot be used.
const REQUIRED: &[(&str, &str, &str)] = &[
    ("pattern-match", "pattern", "x"),
    ("tool-permission", "deniedTools", "x"),
    ("g-eval", "criteria", "x"),
    ("conversational-g-eval", "criteria", "x"),
    (
        "dag",
        "dag",
        r#"{"type": "choice", "criteria": "x", "children": [{"verdict": "x", "score": 1}]}"#,
    ),
    ("prompt-alignment", "promptInstructions", "x"),
    ("misuse", "domain", "x"),
    ("non-advice", "adviceTypes", "x"),
    ("role-violation", "role", "x"),
    ("topic-adherence", "relevantTopics", "x"),
];
/// What selects a writer, and what it leaves out.
const WRITERS: &[(&str, &str, &str)] = &[
    (
        "native",
        "traces.jsonl",
        "Writes everything that is known about a trace. Reading it gives the same trace.",
    ),
    (
        "deepeval",
        "traces.deepeval.jsonl",
        "Writes `LLMTestCase` or `ConversationalTestCase` in snake case, with results as plain JSON. The format has no place\n\
         for times, ids of parents and lists over time; of several lists, the last one is written.",
    ),
];

/// What grading a small trace shows.
pub(super) struct Graded {
    /// Threshold and question for a judge, by metric.
    scores: BTreeMap<String, (f64, Option<String>)>,
    /// What the writers wrote, in the order of `WRITERS`.
    written: Vec<String>,
}

/// Grades the trace with every metric, once for each writer.
pub(super) fn graded(
    folder: &Path,
    metrics: &Value,
    told: &dyn Fn(&[&str]) -> Result<String>,
) -> Result<Graded> {
    let wrong = |error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(wrong)?;
    let path = |name: &str| folder.join(name).display().to_string();
    let (trace, suite, silent) = (path("trace.json"), path("suite.yaml"), path("silent.jsonl"));
    fs::write(&silent, "").map_err(wrong)?;
    fs::write(&trace, TRACE).map_err(wrong)?;
    // JSON is YAML. Nothing fails, so that the exit code reports only mistakes.
    fs::write(&suite, suite_of(metrics)?.to_string()).map_err(wrong)?;
    let mut graded = Graded { scores: BTreeMap::new(), written: Vec::new() };
    for (_, file, _) in WRITERS {
        let file = path(file);
        // Metrics that need a judge are refused without one. Without recorded answers they have no score.
        let text = told(&[
            "grade",
            &trace,
            "-c",
            &suite,
            "--json",
            "--no-write",
            "--judge-replay",
            &silent,
            "--save-traces",
            &file,
        ])?;
        let report: Value =
            serde_json::from_str(&text).map_err(|error| format!("`grade`: {error}"))?;
        for score in report["results"][0]["metrics"].as_array().into_iter().flatten() {
            let threshold = score["threshold"].as_f64().ok_or("a metric without threshold")?;
            let judge = score["judge"].as_str().map(str::to_owned);
            graded.scores.insert(text_of(score, "name")?.to_owned(), (threshold, judge));
        }
        graded.written.push(fs::read_to_string(&file).map_err(wrong)?);
    }
    Ok(graded)
}

fn suite_of(metrics: &Value) -> Result<Value> {
    let mut chosen = Vec::new();
    for metric in metrics.as_array().into_iter().flatten() {
        let id = text_of(metric, "id")?;
        let mut entry = json!({"type": id});
        for (_, option, value) in REQUIRED.iter().filter(|(metric, ..)| *metric == id) {
            entry[*option] = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        }
        chosen.push(entry);
    }
    let never = json!({"severity": null, "metrics": false});
    Ok(json!({"metrics": chosen, "grade": {"failIf": never}}))
}

pub(super) fn checks(checks: &Value) -> Result<String> {
    complete(checks, CHECK_HEADINGS)?;
    let mut page = format!(
        "{STEM}# Checks of traces\n\n\
         `quintain grade` runs all of them on every trace. A check proves one kind of fault with what was recorded; it asks\n\
         no model. [Grading recorded conversations](../guides/grade-conversations.md) explains which findings fail a trace.\n\
         `quintain explain NAME` prints an entry of this page.\n\n"
    );
    contents(checks, &mut page)?;
    entries(checks, "##", &mut page)?;
    Ok(finished(&page))
}

pub(super) fn metrics(metrics: &Value, graded: &Graded) -> Result<String> {
    complete(metrics, METRIC_HEADINGS)?;
    let mut page = format!(
        "{STEM}# Metrics\n\n\
         A metric scores a trace from 0 to 1. Choose metrics with `--metrics a,b` or with `metrics` in a suite; the class\n\
         names of deepeval are aliases. A metric that does not apply to a trace has no score and neither passes nor fails.\n\
         A judge is asked only if one is configured: metrics with a score of their own name in *What a judge would add* what it\n\
         decides beyond them; all others are an error without one. An opinion can add to a proof and never overrules one.\n\
         `quintain explain NAME` prints an entry of this page.\n\n\
         Options of all metrics, in camel case or snake case:\n\n\
         | option | what |\n|---|---|\n\
         | `name` | name in reports, for a metric that is used twice |\n\
         | `threshold` | score from which on the metric passes, from 0 to 1 |\n\
         | `strictMode` | the threshold is 1, and every lower score is reported as 0 |\n\
         | `includeReason` | `false` leaves the reason out |\n\n\
         Options of metrics with a judge:\n\n\
         | option | what |\n|---|---|\n\
         | `model` | the judge: an id of a model, or a map with `id` and `config`; otherwise the judge of the run |\n\
         | `judge` | `false` never asks; `true` or `{{samples: 3, levels: 4, abstain: false, agreement: 0.6, model: ...}}` asks several \
         times for a level of a rubric, until the outcome is certain; with `abstain`, opinions that agree too little give no score |\n\
         | `evaluationTemplate` | a prompt instead of the one that decides, or prompts by their names; variables are `{{{{name}}}}`. \
         `rubricPrompt` is the same |\n\n"
    );
    contents(metrics, &mut page)?;
    let mut list = metrics.clone();
    for entry in list.as_array_mut().into_iter().flatten() {
        let id = text_of(entry, "id")?;
        let (threshold, judge) =
            graded.scores.get(id).ok_or_else(|| format!("`grade` does not know `{id}`"))?;
        let mut added = format!("\n# Threshold\n{threshold}, unless `threshold` sets another.\n");
        if let Some(judge) = judge {
            let judge = format!("{}{}", judge[..1].to_uppercase(), &judge[1..]);
            let _ = write!(added, "\n# What a judge would add\n{judge}.\n");
        }
        added.push_str("\n# Example\n");
        let docs = text_of(entry, "docs")?.replacen("\n# Example\n", &added, 1);
        entry["docs"] = json!(docs);
    }
    entries(&list, "##", &mut page)?;
    Ok(finished(&page))
}

pub(super) fn trace_formats(formats: &Value, graded: &Graded) -> Result<String> {
    complete(formats, FORMAT_HEADINGS)?;
    let mut page = format!(
        "{STEM}# Trace formats\n\n\
         `quintain grade` detects the format of a file from its start; `--format NAME` sets it. A file is a JSON document or\n\
         has one record per line. A record that cannot be read is reported with its line, and the others are graded.\n\
         `quintain explain NAME` prints an entry of this page.\n\n"
    );
    contents(formats, &mut page)?;
    entries(formats, "##", &mut page)?;
    page.push_str(
        "## Writers\n\n\
         `quintain grade --save-traces FILE` writes the traces as they were read, one per line. The suffix selects the\n\
         format. Both examples are this trace:\n\n",
    );
    let _ = write!(page, "```json\n{TRACE}\n```\n\n");
    for ((name, file, what), written) in WRITERS.iter().zip(&graded.written) {
        let suffix = file.trim_start_matches("traces");
        let written = written.trim();
        let _ = write!(page, "### {name}, `{suffix}`\n\n{what}\n\n```json\n{written}\n```\n\n");
    }
    Ok(finished(&page))
}

/// A reference with gaps is not written.
fn complete(list: &Value, headings: &[&str]) -> Result<()> {
    for entry in list.as_array().into_iter().flatten() {
        let docs = text_of(entry, "docs")?;
        for heading in headings {
            if !docs.lines().any(|line| line.strip_prefix("# ") == Some(heading)) {
                let id = text_of(entry, "id")?;
                return Err(format!("the docs of `{id}` lack `# {heading}`"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(docs: &str) -> Value {
        json!([{"id": "a-b", "aliases": [], "summary": "one thing", "docs": docs}])
    }

    #[test]
    fn thresholds_and_questions_for_a_judge_come_before_the_example() {
        let docs =
            "# What it does\nX.\n\n# When it does not apply\nY.\n\n# Example\n```yaml\n```\n";
        let scores = BTreeMap::from([("a-b".to_owned(), (0.5, Some("whether".to_owned())))]);
        let graded = Graded { scores, written: Vec::new() };
        let page = metrics(&entry(docs), &graded).expect("a page");
        let added = "**Threshold**\n\n0.5, unless `threshold` sets another.\n\n**What a judge would add**\n\nWhether.\n\n**Example**";
        assert!(page.contains(added), "{page}");
    }

    #[test]
    fn a_check_without_severity_is_reported() {
        let error = checks(&entry("# What it does\nX.\n")).expect_err("an incomplete entry");
        assert_eq!(error, "the docs of `a-b` lack `# Why it matters`");
    }
}
