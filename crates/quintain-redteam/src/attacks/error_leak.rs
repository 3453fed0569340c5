//! Error messages that expose internals of the server.

use std::borrow::Cow;
use std::path::Path;

use quintain_content::detect::{self, Family};
use quintain_content::internals;
use quintain_content::json_value;
use quintain_content::registry::Meta;
use quintain_content::text::short::shortened;
use quintain_evidence::accepted::accepted;
use quintain_evidence::evidence::Outcome;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use quintain_evidence::tool_call::ToolCall;
use quintain_evidence::weakness::Weakness;
use serde_json::{Map, Value, json};

use super::{leaks, tool_actions};
use crate::attack::{Action, Aim, Attack, Attempt, Brief, Hit, Kind, TargetView, Trial, Tried};
use crate::knowledge::{put, words};

pub(super) struct ErrorLeak;

static META: Meta = Meta {
    id: "error-leak",
    aliases: &["error-disclosure", "verbose-errors"],
    summary: "An error message exposes a stack trace, a path, an SQL statement or a secret",
    docs: "\
# What it does
Provokes errors with values of the wrong type, missing arguments, unknown names and ids, and characters that need quoting, and searches
the error messages.

# Why it matters
Stack traces, paths and SQL statements show an attacker how a server is built and what to try next. Some errors contain passwords.

# What counts as proof
The error contains a stack trace (Python, Node, Java, .NET, Go, Rust, Ruby, PHP), an absolute path, the text of an SQL statement or a
secret. Text that Quintain sent, text that normal results contain as well, and folders that the server names on purpose do not count.
Paths of a server that its client starts have the severity info.

# Example
```yaml
redteam:
  plugins: [error-leak]
```

# References
- CWE-209
",
    since: "0.1.0",
};

static WEAKNESS: Weakness =
    Weakness { severity: Severity::Low, cwe: &[209], frameworks: &["MCP10", "LLM02"] };

/// The maximum number of arguments to try per tool.
const MAX_LEAVES: usize = 4;
/// The number of bytes that are read of one response.
const MAX_SAID: usize = 65_536;

/// Words in the names of arguments that are paths.
const PATHS: [&str; 14] = [
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filepath",
    "dir",
    "directory",
    "folder",
    "repo",
    "repository",
    "root",
    "cwd",
    "uri",
];

impl Attack for ErrorLeak {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let tools = view.tools().filter(|(_, tool)| tool_actions::may_call(view, tool));
        tools
            .filter_map(|(server, tool)| {
                let name = tool.name()?;
                let place = Place::Tool { server: server.to_owned(), tool: name.to_owned() };
                let baseline = view.knowledge.baseline(server, name).cloned();
                let schema = tool.input_schema().cloned().unwrap_or(Value::Null);
                Some(Aim { baseline, schema, ..Aim::at(place) })
            })
            .collect()
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let (Some(view), Place::Tool { server, tool }) = (brief.view, &aim.place) else {
            return Vec::new();
        };
        let args = match aim.baseline.as_ref().map(|known| &known.step) {
            Some(Step::Call(call)) => call.args.clone(),
            _ => Map::new(),
        };
        let mut attempts: Vec<Attempt> = Vec::new();
        let mut add = |form: &str, pointer: &str, payload: Option<Value>, args| {
            let of = Some(server.clone()).filter(|server| !server.is_empty());
            let call = Step::Call(ToolCall { tool: tool.clone(), args, server: of });
            attempts.push(Attempt {
                form: form.to_owned(),
                set: attempts.len(),
                role: pointer.to_owned(),
                action: Action::Steps { steps: vec![call], identity: 0 },
                nonce: brief.nonce(),
                payload,
            });
        };
        for (pointer, known) in leaves(view, server, tool, &args) {
            let whole = Value::Object(args.clone());
            let innocent = whole.pointer(pointer);
            for (form, value) in odd_values(innocent, known.is(Kind::Number), &brief.nonce()) {
                let mut args = args.clone();
                put(&mut args, pointer, value.clone());
                add(form, pointer, Some(value), args);
            }
        }
        if !args.is_empty() {
            add("no arguments", "", None, Map::new());
        }
        attempts
    }

    fn expects(&self, set: &[Attempt], _: &TargetView<'_>) -> Option<(usize, Indicator)> {
        let kinds = vec!["trace".to_owned(), "statement".to_owned()];
        (set.len() == 1).then_some((0, Indicator::Tells { kinds }))
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        for tried in trial.tried {
            for (fault, what) in leaks(trial, tried) {
                // One argument is enough to show how the tool fails.
                if hits.iter().all(|hit| hit.fault != fault) {
                    hits.push(hit(trial, tried, fault, what));
                }
            }
        }
        hits
    }
}

/// The arguments with which errors are provoked, those of the innocent call first.
fn leaves<'f>(
    view: &'f TargetView<'_>,
    server: &str,
    tool: &str,
    args: &Map<String, Value>,
) -> Vec<(&'f str, &'f Aim)> {
    let whole = Value::Object(args.clone());
    let of_tool = view.knowledge.aims.iter().filter_map(|aim| match &aim.place {
        Place::Argument { server: of, tool: name, pointer } if of == server && name == tool => {
            Some((pointer.as_str(), aim))
        }
        _ => None,
    });
    let mut leaves: Vec<_> = of_tool.collect();
    leaves.sort_by_key(|(pointer, _)| whole.pointer(pointer).is_none());
    leaves.truncate(MAX_LEAVES);
    leaves
}

fn odd_values(
    innocent: Option<&Value>,
    number: bool,
    nonce: &crate::attack::Nonce,
) -> Vec<(&'static str, Value)> {
    let mut values = vec![("value of a wrong type", json!({"unexpected": true}))];
    if number {
        values.push(("negative number", json!(-1)));
        return values;
    }
    if let Some(text) =
        innocent.and_then(Value::as_str).filter(|t| t.contains(|c: char| c.is_ascii_digit()))
    {
        // The same format, so that it matches a pattern.
        let other: String =
            text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
        values.push(("unknown value of the same shape", Value::String(other)));
    }
    values.push(("unknown value", json!(nonce.as_str())));
    values.push(("quotation marks", json!(format!("'\"`\\{nonce}"))));
    values
}

/// What an error exposes: the fault and the evidence.
fn leaks(trial: &Trial<'_>, tried: &Tried) -> Vec<(&'static str, String)> {
    let Some(last) = tried.last() else { return Vec::new() };
    let is_error = match &last.outcome {
        Outcome::ToolError(_) | Outcome::RpcError { .. } => true,
        outcome @ Outcome::Reply(_) => !accepted(outcome),
        _ => false,
    };
    if !is_error {
        return Vec::new();
    }
    let mut said = last.outcome.said();
    said.truncate(said.floor_char_boundary(MAX_SAID.min(said.len())));
    let normally = trial.baseline().map(|exchange| exchange.outcome.said()).unwrap_or_default();
    let sent = sent(tried);
    let is_news =
        |found: &str| !normally.contains(found) && !sent.iter().any(|text| text.contains(found));
    let mut found = Vec::new();
    let trace = internals::traces(&said)
        .find(|(_, seen)| is_news(seen))
        .map(|(of, seen)| (of, seen.trim().to_owned()));
    if let Some((of, line)) = &trace {
        found.push(("trace", format!("the error contains a stack trace of {of}: {}", short(line))));
    }
    if let Some(seen) = internals::statement(&said).filter(|seen| is_news(seen)) {
        found.push(("statement", format!("the error contains an SQL statement: {}", short(seen))));
    }
    // The paths of a stack trace are not a second leak.
    if trace.is_none()
        && let Some(path) = path(trial, tried, &said).filter(|path| is_news(path))
    {
        found.push(("path", format!("the error contains the path {}", short(&path))));
    }
    let secrets: Vec<_> = detect::all()
        .iter()
        .copied()
        .filter(|detector| detector.family() == Family::Secret)
        .collect();
    let secret = detect::scan(&said, &secrets)
        .into_iter()
        .find(|hit| hit.confidence >= detect::Confidence::Medium && is_news(hit.text(&said)));
    if let Some(secret) = secret {
        found.push(("secret", format!("the error contains a secret: {}", secret.masked(&said))));
    }
    found
}

/// An absolute path that the server does not name on purpose.
fn path(trial: &Trial<'_>, tried: &Tried, said: &str) -> Option<String> {
    let view = trial.view;
    let is_told = |root: &Path| {
        let root = root.display().to_string();
        let by_surface = view.surfaces.iter().any(|(_, surface)| {
            let tools = surface.tools.iter().filter_map(|tool| tool.description());
            tools.chain(surface.instructions.as_deref()).any(|text| text.contains(&root))
        });
        let mut calls = view.knowledge.baselines.iter();
        by_surface || calls.any(|known| known.exchange.outcome.said().contains(&root))
    };
    let told: Vec<&Path> = view
        .knowledge
        .roots
        .iter()
        .map(std::path::PathBuf::as_path)
        .filter(|r| is_told(r))
        .collect();
    // A tool that gets a path may name paths.
    if words(&tried.attempt.role).iter().any(|word| PATHS.contains(&word.as_str()))
        || takes_paths(trial, &tried.attempt.role)
    {
        return None;
    }
    let mut found = internals::paths(said).into_iter();
    found.find(|path| !told.iter().any(|root| Path::new(path).starts_with(root)))
}

/// Whether an argument is an absolute path in a call that works.
fn takes_paths(trial: &Trial<'_>, pointer: &str) -> bool {
    let Some(Step::Call(call)) = trial.aim.baseline.as_ref().map(|known| &known.step) else {
        return false;
    };
    let args = Value::Object(call.args.clone());
    args.pointer(pointer).and_then(Value::as_str).is_some_and(|text| Path::new(text).is_absolute())
}

/// All texts that were sent.
fn sent(tried: &Tried) -> Vec<&str> {
    let Action::Steps { steps, .. } = &tried.attempt.action else { return Vec::new() };
    let values = steps.iter().flat_map(|step| match step {
        Step::Call(call) => call.args.values(),
        Step::Request { params, .. } => params.values(),
    });
    values.flat_map(json_value::texts).collect()
}

fn short(text: &str) -> Cow<'_, str> {
    shortened(text.lines().next().unwrap_or_default(), 160)
}

fn hit(trial: &Trial<'_>, tried: &Tried, fault: &'static str, what: String) -> Hit {
    let words = match fault {
        "trace" => "a stack trace",
        "statement" => "an SQL statement",
        "path" => "an absolute path",
        _ => "a secret",
    };
    let place = match (&trial.aim.place, tried.attempt.role.as_str()) {
        (Place::Tool { server, tool }, pointer) if !pointer.is_empty() => Place::Argument {
            server: server.clone(),
            tool: tool.clone(),
            pointer: pointer.to_owned(),
        },
        (place, _) => place.clone(),
    };
    let title = format!("Error message of `{place}` exposes {words} ({})", tried.attempt.form);
    let hit = Hit::confirmed(title, what).by(tried).fault(fault).at(place);
    if fault == "secret" {
        let kinds =
            leaks::detectors(Family::Secret).into_iter().map(|one| one.meta().id.to_owned());
        hit.severity(Severity::High).sign(Indicator::leaks(kinds.collect()))
    } else if fault == "path" && !trial.view.capabilities.http {
        // A client that starts the server knows its paths.
        hit.severity(Severity::Info).sign(Indicator::Tells { kinds: vec![fault.to_owned()] })
    } else {
        hit.sign(Indicator::Tells { kinds: vec![fault.to_owned()] })
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;

    use super::*;
    use crate::attacks::testing::{TestTarget, answers, comes};

    fn fails(text: &str) -> Evidence {
        comes(Outcome::ToolError(json!({"content": [{"type": "text", "text": text}]})))
    }

    fn faults(room: &TestTarget, text: &str) -> Vec<&'static str> {
        room.run_attack(&ErrorLeak, |_| fails(text)).into_iter().map(|hit| hit.fault).collect()
    }

    fn room() -> TestTarget {
        TestTarget::with_argument("get_report", "report_id", "rep-1")
    }

    #[test]
    fn traces_of_every_language_are_seen() {
        for text in [
            "Traceback (most recent call last):\n  File \"/x/y.py\", line 3, in f\nKeyError",
            "TypeError: x\n    at load (/srv/app/index.js:12:7)\n    at node:internal/x:1:1",
            "java.lang.NullPointerException\n\tat com.example.App.run(App.java:12)",
            "Oops\n   at App.Run(String x) in C:\\src\\App.cs:line 9",
            "panic: x\n\ngoroutine 1 [running]:\nmain.main()",
            "thread 'main' panicked at src/main.rs:4:5:\nx",
            "app.rb:12:in `fetch': key not found",
            "Fatal error: Uncaught Error in /srv/a.php:12",
        ] {
            assert_eq!(faults(&room(), text), ["trace"], "{text}");
        }
    }

    #[test]
    fn paths_statements_and_secrets_are_seen() {
        let path = "[Errno 2] No such file or directory: '/srv/reports/archive/9999.txt'";
        assert_eq!(faults(&room(), path), ["path"]);
        let sql = "no such column: x while executing SELECT x FROM totals WHERE month = ?";
        assert_eq!(faults(&room(), sql), ["statement"]);
        let url = "cannot connect to postgres://admin:hT7wq9Zk2LmX@db.internal.corp/main";
        let hits = room().run_attack(&ErrorLeak, |_| fails(url));
        assert_eq!((hits[0].fault, hits[0].severity), ("secret", Some(Severity::High)));
    }

    #[test]
    fn plain_refusals_are_none() {
        for text in [
            "No such report: rep-9",
            "Error: not a parcel: x\n    at parcel (input:1:1)",
            "Please select a month from the list, or update the set of months",
            "GET /api/v1/reports failed with 404",
            "see https://example.com/home/user/docs",
        ] {
            assert_eq!(faults(&room(), text), [""; 0], "{text}");
        }
        assert!(room().run_attack(&ErrorLeak, |_| answers("at /srv/app/x.js")).is_empty());
    }

    #[test]
    fn what_was_sent_or_is_shown_anyway_does_not_count() {
        let quote = |attempt: &Attempt| fails(&format!("bad value {:?}", attempt.payload));
        assert!(room().run_attack(&ErrorLeak, quote).is_empty());
        let mut room =
            TestTarget::of_tools(&[json!({"name": "get", "inputSchema": {"type": "object",
            "properties": {"id": {"type": "string"}}}})]);
        let normal = answers("kept in /srv/reports/archive");
        room.works("get", Map::from_iter([("id".into(), json!("1"))]), &normal);
        assert!(faults(&room, "cannot open /srv/reports/archive").is_empty());
    }

    #[test]
    fn folders_that_a_server_names_on_purpose_do_not_count() {
        let mut room = room();
        room.knowledge.roots = vec!["/srv/data".into()];
        room.surfaces[0].1.instructions = Some("All files are below /srv/data.".into());
        assert!(faults(&room, "not found: /srv/data/x").is_empty());
        assert_eq!(faults(&room, "not found: /srv/other/x"), ["path"]);
    }

    #[test]
    fn a_tool_that_is_given_a_path_may_speak_of_paths() {
        for (tool, name) in [("git_log", "repo_path"), ("move", "source")] {
            let room = TestTarget::with_argument(tool, name, "/srv/repo");
            let text = "Path '/srv/x' is outside of the allowed repository '/srv/repo2/y'";
            let place = format!("{tool}.{name}");
            assert!(
                !room.run_attack(&ErrorLeak, |_| fails(text)).iter().any(|hit| {
                    hit.place.as_ref().is_some_and(|found| found.to_string() == place)
                })
            );
        }
    }

    #[test]
    fn the_argument_is_named_and_one_is_enough() {
        let hits = room().run_attack(&ErrorLeak, |attempt| {
            if attempt.role.is_empty() { fails("no") } else { fails("in /srv/app/x/y.py") }
        });
        assert_eq!(hits.len(), 1);
        assert_eq!(hits[0].place.as_ref().unwrap().to_string(), "get_report.report_id");
    }
}
