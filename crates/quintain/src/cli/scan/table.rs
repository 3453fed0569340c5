//! A scan as text for a terminal.

use std::fmt::Write as _;
use std::path::Path;

use quintain_evidence::connection::Launch;
use quintain_evidence::finding::{Confidence, Finding, Severity};
use quintain_evidence::surface::Surface;
use quintain_scan::clients::Problem;
use quintain_scan::launch_checks;
use quintain_source::visible;

use super::sheet::{Line, Scan, State};
use crate::cli::App;
use crate::console::{Tone, counted, indented};

/// Up to this number, findings of the same kind are shown in full.
const MAX_ALIKE: usize = 5;
/// Of more findings, the number that is shown in full.
const SHOWN_ALIKE: usize = 2;

/// Prints the errors of files without servers.
pub(super) fn problems(scan: &Scan, app: &App) {
    for config in &scan.configs {
        for problem in &config.problems {
            app.console.warn(&format!("{}:{}", short(&config.path, app), told(problem)));
        }
    }
}

/// The whole scan, grouped by client and server.
pub(super) fn text(scan: &Scan, app: &App) -> String {
    let mut out = String::new();
    let mut client = "";
    for sheet in &scan.sheets {
        let config = scan.config(sheet);
        let title = config.map_or("Saved lists", |config| config.client.title);
        if title != client {
            let gap = if client.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{}", app.console.paint(Tone::Bold, title));
            client = title;
        }
        let scope = config.map_or("", |config| config.scope.word());
        let scope =
            if matches!(scope, "" | "file") { String::new() } else { format!(" ({scope})") };
        let _ = writeln!(out, "  {}{scope}", short(&sheet.path, app));
        for problem in config.into_iter().flat_map(|config| &config.problems) {
            let label = app.console.paint(Tone::Yellow, "problem");
            let _ = writeln!(out, "    {label} {}", told(problem));
        }
        let shown = |line: &Line| visible(&line.name).chars().count();
        let width = sheet.lines.iter().map(shown).max().unwrap_or_default().min(32);
        for (at, line) in sheet.lines.iter().enumerate() {
            let entry = config.map(|config| &config.entries[at]);
            let launch = entry.and_then(|entry| entry.launch.as_ref()).map(launch);
            let mut about: Vec<String> = launch.into_iter().collect();
            if let Some(entry) = entry {
                about.extend(entry.project.as_ref().map(|folder| format!("[in {folder}]")));
                about.extend(entry.disabled.then(|| "[disabled]".to_owned()));
            }
            about.extend(state(&line.state));
            let name = visible(&line.name).into_owned();
            let name = app.console.paint(Tone::Bold, &format!("{name:width$}"));
            let row = format!("    {name}  {}", visible(&about.join(" ")));
            let _ = writeln!(out, "{}", row.trim_end());
            for problem in entry.into_iter().flat_map(|entry| &entry.problems) {
                let label = app.console.paint(Tone::Yellow, "problem");
                let _ = writeln!(out, "      {label} {}", told(problem));
            }
            for problem in line.surface().into_iter().flat_map(|surface| &surface.problems) {
                let label = app.console.paint(Tone::Yellow, "problem");
                let _ = writeln!(out, "      {label} {}", visible(problem));
            }
            findings(&line.findings, &mut out, app);
        }
    }
    if !scan.together.is_empty() {
        let _ = writeln!(out, "\n{}", app.console.paint(Tone::Bold, "Servers together"));
        findings(&scan.together, &mut out, app);
    }
    let _ = writeln!(out, "\n{}", summary(scan));
    out
}

/// Writes findings. Many of the same kind below high severity would bury the others: only the first ones are shown in full.
fn findings(findings: &[Finding], out: &mut String, app: &App) {
    let is_same = |one: &Finding, other: &Finding| {
        (one.severity, &one.rule, one.confidence) == (other.severity, &other.rule, other.confidence)
    };
    for (at, one) in findings.iter().enumerate() {
        let alike = findings.iter().filter(|other| is_same(one, other)).count();
        let before = findings[..at].iter().filter(|other| is_same(one, other)).count();
        if one.severity >= Severity::High || alike <= MAX_ALIKE || before < SHOWN_ALIKE {
            out.push_str(&finding(one, app));
        } else if before == SHOWN_ALIKE {
            let more = findings[at..].iter().filter(|other| is_same(one, other));
            let places =
                more.map(|other| format!("{} ({})", visible(&other.place.to_string()), other.id));
            let places: Vec<String> = places.collect();
            let title = format!("{} at {} more places", one.rule, places.len());
            let _ = writeln!(out, "      {:8} {title}:", one.severity.word());
            let _ = writeln!(out, "{}", indented(&places.join(", "), &" ".repeat(15)));
        }
    }
}

fn finding(finding: &Finding, app: &App) -> String {
    let word = finding.severity.word();
    let tone = match finding.severity {
        Severity::Critical | Severity::High => Tone::Red,
        Severity::Medium => Tone::Yellow,
        Severity::Low | Severity::Info => Tone::Dim,
    };
    let sure = match finding.confidence {
        Confidence::Confirmed => "",
        Confidence::Suspected => ", suspected",
    };
    let mut out = String::new();
    let place = finding.place.to_string();
    let _ = writeln!(
        out,
        "      {} {} at {}{sure}: {} {}",
        app.console.paint(tone, &format!("{word:8}")),
        finding.rule,
        visible(&place),
        visible(&finding.title),
        app.console.paint(Tone::Dim, &format!("({})", finding.id))
    );
    let indent = " ".repeat(15);
    for proof in &finding.proofs {
        let _ = writeln!(out, "{}", indented(&proof.what, &indent));
    }
    if let Some(note) = &finding.note {
        let _ = writeln!(out, "{}", indented(&format!("by design: {note}"), &indent));
    }
    if let Some(help) = help(finding) {
        let label = app.console.paint(Tone::Bold, "help");
        let _ = writeln!(out, "{indent}{label}: {}", visible(help));
    }
    out
}

pub(super) fn help(finding: &Finding) -> Option<&str> {
    finding.metadata.get("help").and_then(serde_json::Value::as_str)
}

fn told(problem: &Problem) -> String {
    format!("{}:{}: {}", problem.line, problem.column, visible(&problem.what))
}

/// A remark about the state of a server, if there is any.
pub(super) fn state(state: &State) -> Option<String> {
    match state {
        State::Written => None,
        State::Skipped(why) => Some(format!("[not started: {why}]")),
        State::Failed(_) => Some("[failed]".to_owned()),
        State::Listed(surface) => Some(format!("[{}]", offers(surface))),
    }
}

fn offers(surface: &Surface) -> String {
    let counts = [
        (surface.tools.len(), "tool"),
        (surface.resources.len(), "resource"),
        (surface.templates.len(), "template"),
        (surface.prompts.len(), "prompt"),
    ];
    let named = |(count, word): &(usize, &str)| counted(*count, word);
    let told: Vec<String> =
        counts.iter().filter(|(count, word)| *count > 0 || *word == "tool").map(named).collect();
    told.join(", ")
}

/// A launch in one line. Values of variables and headers are never shown.
pub(super) fn launch(launch: &Launch) -> String {
    let launch = &launch_checks::masked(launch);
    let names = |label: &str, names: Vec<&String>| {
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        if names.is_empty() { String::new() } else { format!(" ({label} {})", names.join(", ")) }
    };
    match launch {
        Launch::Url { url, headers, .. } => {
            let headers = names("headers", headers.iter().map(|(name, _)| name).collect());
            format!("{url}{headers}")
        }
        Launch::Command { command, args, env, cwd } => {
            let words: Vec<String> = std::iter::once(command).chain(args).map(quoted).collect();
            let cwd =
                cwd.as_ref().map_or_else(String::new, |cwd| format!(" (in {})", cwd.display()));
            format!("{}{}{cwd}", words.join(" "), names("env", env.keys().collect()))
        }
        // Client configurations do not have this kind.
        Launch::Path { path, .. } => path.display().to_string(),
    }
}

fn quoted(word: &String) -> String {
    let plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '"');
    if plain { word.clone() } else { format!("{word:?}") }
}

/// A path relative to the working directory or to the home directory.
pub(super) fn short(path: &Path, app: &App) -> String {
    if let Ok(below) = path.strip_prefix(&app.context.cwd) {
        return visible(&below.display().to_string()).into_owned();
    }
    let home = app.context.env.get("HOME").filter(|home| !home.is_empty());
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    let shown = match below {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    };
    visible(&shown).into_owned()
}

/// `5 servers (1 disabled) in 3 files: 2 high, 1 medium`
pub(super) fn summary(scan: &Scan) -> String {
    let servers = scan.lines().count();
    let disabled = scan.entries().filter(|(.., entry)| entry.disabled).count();
    let listed = scan.lines().filter(|line| line.surface().is_some()).count();
    let mut told = vec![];
    for (word, severity) in Severity::WORDS.iter().rev() {
        let count = scan.count(*severity);
        if count > 0 {
            told.push(format!("{count} {word}"));
        }
    }
    let told = if told.is_empty() { "no findings".to_owned() } else { told.join(", ") };
    let disabled = if disabled > 0 { format!(" ({disabled} disabled)") } else { String::new() };
    let count = |is: fn(&Line) -> bool| scan.lines().filter(|line| is(line)).count();
    let failed = count(|line| line.failure().is_some());
    let skipped = count(|line| matches!(line.state, State::Skipped(_)));
    let incomplete =
        count(|line| line.surface().is_some_and(|surface| !surface.problems.is_empty()));
    let mut not_run = match (listed, failed, skipped) {
        (0, 0, 0) => {
            "; no server was started, so what they list was not checked (use `--start`)".to_owned()
        }
        (0, 0, _) => "; no server was started, so what they list was not checked".to_owned(),
        (_, 0, _) => String::new(),
        (_, 1, _) => "; 1 server failed, so what it lists was not checked".to_owned(),
        _ => format!("; {failed} servers failed, so what they list was not checked"),
    };
    if incomplete > 0 {
        let servers = counted(incomplete, "server");
        let _ = write!(not_run, "; {servers} with problems, so not everything was checked");
    }
    let accepted = match scan.suppressed.len() {
        0 => String::new(),
        count => format!(" ({count} accepted)"),
    };
    format!(
        "{}{disabled} in {}: {told}{accepted}{not_run}",
        counted(servers, "server"),
        counted(scan.sheets.len(), "file"),
    )
}
