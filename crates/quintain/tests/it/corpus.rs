//! Compares `eval` with verdicts recorded from promptfoo: every folder of `tests/corpus` with an `expected.json` is one
//! test. `differences.json` lists known differences and their reasons; an entry that no longer applies fails the test,
//! too.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

/// Scores may differ in the last digits, because sums are added in another order.
const TOLERANCE: f64 = 1e-9;

pub(crate) fn trials() -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let read = fs::read_to_string(folder.join("differences.json"));
    let differences: Value =
        read.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let cases = crate::folders(&folder).unwrap_or_default();
    let cases = cases.into_iter().filter(|case| case.join("expected.json").is_file());
    cases
        .map(|case| {
            let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let known: Vec<Value> = differences
                .as_array()
                .into_iter()
                .flatten()
                .filter(|entry| entry["case"] == name.as_str())
                .cloned()
                .collect();
            Trial::test(format!("corpus::{name}"), move || check(&case, &known))
        })
        .collect()
}

fn check(case: &Path, known: &[Value]) -> Result<(), Failed> {
    let expected: Value = serde_json::from_str(&fs::read_to_string(case.join("expected.json"))?)?;
    let (seen, exit, errors) = run(case)?;
    let found = if expected["stats"].is_null() {
        refusal(exit, &errors)
    } else {
        match seen {
            Some(seen) => differences(&expected, &seen, exit),
            None => vec![("result".to_owned(), format!("no result, exit {exit}"))],
        }
    };
    let listed: BTreeSet<String> = known
        .iter()
        .flat_map(|entry| entry["rows"].as_array().into_iter().flatten())
        .filter_map(|row| row.as_str().map(str::to_owned))
        .collect();
    let places: BTreeSet<String> = found.iter().map(|(place, _)| place.clone()).collect();
    let fresh: Vec<String> = found
        .iter()
        .filter(|(place, _)| !listed.contains(place))
        .map(|(place, what)| format!("{place}: {what}"))
        .collect();
    let stale: Vec<&String> = listed.difference(&places).collect();
    if fresh.is_empty() && stale.is_empty() {
        return Ok(());
    }
    let stale =
        if stale.is_empty() { String::new() } else { format!("\nno longer true: {stale:?}") };
    Err(format!("{}{stale}\n{errors}", fresh.join("\n")).into())
}

/// A suite that promptfoo refuses must end with the exit code for a wrong suite.
fn refusal(exit: i32, errors: &str) -> Vec<(String, String)> {
    if exit == 2 {
        return Vec::new();
    }
    vec![("refusal".to_owned(), format!("the suite is accepted, exit {exit}\n{errors}"))]
}

/// A scripted model, which is stopped when it is dropped.
struct Judge {
    process: Child,
    url: String,
}

impl Judge {
    /// Starts the model, if the case has a file `judge`.
    fn of(case: &Path) -> Result<Option<Self>, Failed> {
        if !case.join("judge").is_file() {
            return Ok(None);
        }
        let script = case.parent().unwrap_or(case).join("judge.py");
        let mut command = Command::new("python3");
        command.arg(script).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let mut url = String::new();
        if let Some(stdout) = process.stdout.take() {
            BufReader::new(stdout).read_line(&mut url)?;
        }
        Ok(Some(Self { process, url: url.trim().to_owned() }))
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn run(case: &Path) -> Result<(Option<Value>, i32, String), Failed> {
    let out = tempfile::tempdir()?;
    let judge = Judge::of(case)?;
    let url = judge.as_ref().map(|judge| judge.url.as_str()).unwrap_or_default();
    let file: PathBuf = out.path().join("out.json");
    let args = fs::read_to_string(case.join("args"));
    let args = args.unwrap_or_else(|_| "-c\npromptfooconfig.yaml".to_owned());
    let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
    command
        .arg("eval")
        .args(args.lines())
        .args(["--no-write", "--no-table", "--no-cache", "-o"])
        .arg(&file);
    command.current_dir(case).env_clear().env("NO_COLOR", "1").env("HOME", out.path());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    if !url.is_empty() {
        command.env("JUDGE_URL", url);
    }
    if let Ok(env) = fs::read_to_string(case.join("env")) {
        let env = env.replace("$JUDGE_URL", url);
        command.envs(env.lines().filter_map(|line| line.split_once('=')));
    }
    let output = command.output()?;
    let seen = fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str(&text).ok());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok((seen, output.status.code().unwrap_or(-1), errors))
}

fn differences(expected: &Value, seen: &Value, exit: i32) -> Vec<(String, String)> {
    let mut found = Vec::new();
    // An unusable target has its own exit code here.
    if expected["exit"] != exit && exit != 3 {
        found.push(("exit".to_owned(), format!("expected {}, found {exit}", expected["exit"])));
    }
    let mut rows: Vec<&Value> =
        seen["results"]["results"].as_array().into_iter().flatten().collect();
    let key = |row: &Value| (row["testIdx"].as_u64(), row["promptIdx"].as_u64());
    rows.sort_by_key(|row| key(row));
    let wanted: Vec<&Value> = expected["results"].as_array().into_iter().flatten().collect();
    if rows.len() != wanted.len() {
        let what = format!("{} rows instead of {}", rows.len(), wanted.len());
        found.push(("rows".to_owned(), what));
        return found;
    }
    for (row, wanted) in rows.into_iter().zip(wanted) {
        let place = format!("{}/{}", wanted["testIdx"], wanted["promptIdx"]);
        let (mut ours, theirs) = (verdict(row), verdict(wanted));
        // Quintain keeps the response of a target even if it could not be judged.
        if theirs["failureReason"] == 2 && theirs["output"].is_null() {
            ours["output"] = Value::Null;
        }
        if let Some(what) = unlike(&ours, &theirs, "") {
            let reason = &wanted["gradingResult"]["reason"];
            let ours = &row["gradingResult"]["reason"];
            found.push((
                place,
                format!("{what}\n    reason there: {reason}\n    reason here: {ours}\n    error there: {}\n    error here: {}", wanted["error"], row["error"]),
            ));
        }
    }
    let columns = |value: &Value| -> Value {
        let prompts = value.as_array().into_iter().flatten();
        prompts
            .map(|prompt| prompt.get("metrics").unwrap_or(prompt)["namedScores"].clone())
            .collect()
    };
    let (ours, theirs) = (columns(&seen["results"]["prompts"]), columns(&expected["prompts"]));
    if let Some(what) = unlike(&ours, &theirs, "/prompts") {
        found.push(("prompts".to_owned(), what));
    }
    found
}

/// The parts that must agree: everything except the words of reasons and errors.
fn verdict(row: &Value) -> Value {
    let parts = row["gradingResult"]["componentResults"].as_array().into_iter().flatten();
    let parts: Vec<Value> = parts
        .map(|part| {
            let kind = part["assertion"].get("type").filter(|kind| *kind != "assert-set");
            json!({"pass": part["pass"], "score": part["score"], "type": kind})
        })
        .collect();
    json!({
        "description": row.get("description").or_else(|| row["testCase"].get("description")),
        "vars": compact(&row["vars"]),
        "prompt": compact(&row["prompt"]["raw"]),
        "success": row["success"],
        "score": row["score"],
        "failureReason": row["failureReason"],
        "namedScores": row["namedScores"],
        "output": row["response"].get("output"),
        "pass": row["gradingResult"].get("pass"),
        "parts": parts,
    })
}

/// Normalises JSON in texts, because the recording reformatted it.
fn compact(value: &Value) -> Value {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(json @ (Value::Object(_) | Value::Array(_))) => {
                Value::String(compact(&json).to_string())
            }
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(compact).collect(),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(name, value)| (name.clone(), compact(value)));
            Value::Object(entries.collect())
        }
        // JavaScript has only one number type.
        Value::Number(number) => match number.as_f64() {
            Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => json!(whole as i64),
            _ => value.clone(),
        },
        other => other.clone(),
    }
}

/// The first place where two values differ.
fn unlike(ours: &Value, theirs: &Value, place: &str) -> Option<String> {
    let same = match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= TOLERANCE * b.abs().max(1.0)
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            return pairs
                .into_iter()
                .find_map(|(at, (a, b))| unlike(a, b, &format!("{place}/{at}")));
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            let missing = Value::Null;
            return a.iter().find_map(|(name, a)| {
                unlike(a, b.get(name).unwrap_or(&missing), &format!("{place}/{name}"))
            });
        }
        _ => ours == theirs,
    };
    (!same).then(|| format!("{place}: expected {theirs}, found {ours}"))
}
