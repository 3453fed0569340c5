//! Reports of a scan as files and as JSON.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use quintain_evidence::connection::{Launch, Transport};
use quintain_evidence::finding::{Finding, Severity};
use quintain_report::{LogStatus, sarif_log};
use quintain_scan::clients::{Entry, Problem};
use quintain_scan::launch_checks;
use quintain_source::visible_json;
use serde_json::{Map, Value, json};

use super::markdown;
use super::sheet::{Line, Scan, State};
use crate::cli::kinds::rule_docs;
use crate::cli::suite::{CliError, cli_error};
use crate::cli::{App, output_files};

/// Report files, opened before the scan starts.
pub(super) struct Outputs(Vec<(PathBuf, Format, File)>);

#[derive(Clone, Copy)]
enum Format {
    Json,
    Sarif,
    Markdown,
}

impl Format {
    /// Suffixes of each format, the usual one first.
    const ENDS: [(&'static [&'static str], Self); 3] = [
        (&[".json"], Self::Json),
        (&[".sarif", ".sarif.json"], Self::Sarif),
        (&[".md", ".markdown"], Self::Markdown),
    ];

    /// The longest suffix wins.
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let all =
            Self::ENDS.iter().flat_map(|(ends, format)| ends.iter().map(move |end| (end, format)));
        let fitting = all.filter(|(end, _)| name.ends_with(**end));
        fitting.max_by_key(|(end, _)| end.len()).map(|(_, format)| *format)
    }
}

/// The usual suffixes of reports.
pub(super) fn suffixes() -> impl Iterator<Item = &'static str> {
    Format::ENDS.iter().filter_map(|(ends, _)| ends.first().copied())
}

fn format_of(path: &Path) -> Result<Format, String> {
    Format::of(path).ok_or_else(|| {
        let known: Vec<&str> = suffixes().collect();
        format!("unknown format of `{}`; use one of {}", path.display(), known.join(" "))
    })
}

impl Outputs {
    /// Whether all names have a known suffix.
    pub(super) fn check(paths: &[PathBuf]) -> Result<(), String> {
        paths.iter().try_for_each(|path| format_of(path).map(drop))
    }

    /// Opens all files, unless one of them is also an input.
    pub(super) fn open(paths: &[PathBuf], app: &App) -> Result<Self, CliError> {
        output_files::check(paths.iter().map(PathBuf::as_path), app)?;
        let open = |path: &PathBuf| {
            let format = format_of(path).map_err(|what| cli_error(what, None))?;
            Ok((path.clone(), format, output_files::create(path, app)?))
        };
        paths.iter().map(open).collect::<Result<_, _>>().map(Self)
    }

    /// Writes all reports; returns whether that succeeded.
    pub(super) fn write(self, scan: &Scan, app: &App) -> bool {
        let mut complete = true;
        let document = |value: Value| {
            let masked = app.redactor.json(&value);
            format!("{}\n", visible_json(&format!("{:#}", *masked)))
        };
        for (path, format, mut file) in self.0 {
            let text = match format {
                Format::Json => document(json(scan)),
                Format::Sarif => document(sarif(scan)),
                Format::Markdown => app.redactor.text(&markdown::text(scan, app)).into_owned(),
            };
            match file.write_all(text.as_bytes()) {
                Ok(()) => app.console.note(&format!("wrote {}", path.display())),
                Err(error) => {
                    complete = false;
                    app.console.error(&format!("cannot write `{}`: {error}", path.display()), None);
                }
            }
        }
        complete
    }
}

/// The findings as SARIF, for code scanning.
fn sarif(scan: &Scan) -> Value {
    let failures = scan.lines().filter_map(|line| line.failure().map(str::to_owned));
    let failures: Vec<String> = failures.collect();
    let status = LogStatus {
        complete: failures.is_empty() && !scan.has_problems(),
        remarks: scan.remarks.iter().cloned().chain(failures).collect(),
    };
    let findings: Vec<&Finding> = scan.findings().collect();
    sarif_log(env!("CARGO_PKG_VERSION"), rule_docs(), &findings, &scan.suppressed, &status)
}

/// The whole scan as JSON.
pub(super) fn json(scan: &Scan) -> Value {
    let files: Vec<Value> = scan
        .sheets
        .iter()
        .map(|sheet| {
            let config = scan.config(sheet);
            let servers = sheet
                .lines
                .iter()
                .enumerate()
                .map(|(at, line)| server(line, config.map(|config| &config.entries[at])));
            json!({
                "client": config.map(|config| config.client.id),
                "title": config.map(|config| config.client.title),
                "scope": config.map(|config| config.scope.word()),
                "path": sheet.path.display().to_string(),
                "problems": config.map_or_else(Vec::new, |config| problems(&config.problems)),
                "servers": servers.collect::<Vec<_>>(),
            })
        })
        .collect();
    let counts: Map<String, Value> = Severity::WORDS
        .iter()
        .map(|(word, severity)| ((*word).to_owned(), scan.count(*severity).into()))
        .collect();
    let listed = scan.lines().filter(|line| line.surface().is_some()).count();
    let mut whole = json!({
        "files": files,
        "findings": scan.findings().collect::<Vec<_>>(),
        "suppressed": scan.suppressed,
        "summary": {
            "servers": scan.lines().count(),
            "disabled": scan.entries().filter(|(.., entry)| entry.disabled).count(),
            "listed": listed,
            "findings": counts,
        },
        "remarks": scan.remarks,
        "quintain": {"version": env!("CARGO_PKG_VERSION"), "format_version": 1},
    });
    if !scan.unused.is_empty() {
        whole["unusedSuppressions"] = json!(scan.unused);
    }
    whole
}

fn problems(problems: &[Problem]) -> Vec<Value> {
    let one = |problem: &Problem| json!({"line": problem.line, "column": problem.column, "what": problem.what});
    problems.iter().map(one).collect()
}

fn server(line: &Line, entry: Option<&Entry>) -> Value {
    let mut shown = json!({"name": line.name});
    if let Some(entry) = entry {
        shown["line"] = entry.line.into();
        shown["disabled"] = entry.disabled.into();
        shown["project"] = json!(entry.project);
        shown["launch"] = entry.launch.as_ref().map_or(Value::Null, launch);
        shown["problems"] = problems(&entry.problems).into();
    }
    let (word, more) = match &line.state {
        State::Written => ("written", Value::Null),
        State::Skipped(why) => ("skipped", json!(why)),
        State::Failed(why) => ("failed", json!(why)),
        State::Listed(_) => ("listed", Value::Null),
    };
    shown["state"] = word.into();
    if !more.is_null() {
        shown["why"] = more;
    }
    if let Some(surface) = line.surface() {
        shown["lists"] = json!({
            "tools": surface.tools.len(),
            "resources": surface.resources.len(),
            "resourceTemplates": surface.templates.len(),
            "prompts": surface.prompts.len(),
            "problems": surface.problems,
        });
    }
    shown["findings"] = line.findings.iter().map(|finding| json!(finding.id)).collect();
    shown
}

/// Shows the names of variables and headers, never their values.
fn launch(launch: &Launch) -> Value {
    match launch_checks::masked(launch) {
        Launch::Command { command, args, env, cwd } => json!({
            "command": command,
            "args": args,
            "env": env.keys().collect::<Vec<_>>(),
            "cwd": cwd.as_ref().map(|cwd| cwd.display().to_string()),
        }),
        Launch::Url { url, headers, transport, .. } => json!({
            "url": url,
            "headers": headers.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "transport": match transport {
                Transport::Auto => "auto",
                Transport::StreamableHttp => "streamable-http",
                Transport::Sse => "sse",
            },
        }),
        Launch::Path { path, .. } => json!({"path": path.display().to_string()}),
    }
}
