//! `quintain.lock`: what servers listed when the user last approved them.

use std::path::Path;

use quintain_evidence::finding::Finding;
use quintain_evidence::surface::Surface;
use quintain_evidence::surface::lock::{Scope, lock};
use quintain_scan::clients::{Config, Entry, Scope as Reach};
use quintain_scan::rug_pull;
use quintain_wire::redact::Redactor;
use serde_json::{Value, json};

use super::sheet::Scan;
use crate::cli::{App, own_file};

const FILE: &str = "quintain.lock";

/// An error message, and advice.
type CliError = (String, String);

/// Writes the pins, or compares with them. Returns remarks to print.
pub(super) fn apply(
    scan: &mut Scan,
    write: bool,
    verify: bool,
    app: &App,
) -> Result<Vec<String>, CliError> {
    let path = app.context.cwd.join(FILE);
    let listed = listed(scan, &app.redactor);
    let kept = read(&path)?;
    if listed.is_empty() {
        if write || verify {
            let help = "use `--start`, or files with saved responses to `tools/list`";
            return Err(("no server listed anything".into(), help.into()));
        }
        let remark =
            kept.is_some().then(|| format!("{FILE} was not compared: no server was started"));
        return Ok(remark.into_iter().collect());
    }
    if write {
        return pin(&app.context.cwd, kept, &listed);
    }
    match kept {
        Some(kept) => Ok(compare(scan, &kept, &listed)),
        None if verify => {
            let help = "write it with `quintain scan --start --lock`";
            Err((format!("{FILE} not found"), help.into()))
        }
        None => Ok(Vec::new()),
    }
}

/// A server, and what it listed.
struct Listed {
    sheet: usize,
    line: usize,
    key: String,
    surface: Surface,
}

/// What the servers listed, with secrets masked.
fn listed(scan: &Scan, redactor: &Redactor) -> Vec<Listed> {
    let mut found = Vec::new();
    for (at, sheet) in scan.sheets.iter().enumerate() {
        let config = scan.config(sheet);
        for (number, line) in sheet.lines.iter().enumerate() {
            let Some(surface) = line.surface() else { continue };
            let key = match config {
                Some(config) => key(config, &config.entries[number]),
                None => line.name.clone(),
            };
            let surface = redactor.masked_or(surface, Surface::default).into_owned();
            found.push(Listed { sheet: at, line: number, key, surface });
        }
    }
    found
}

/// The key of a server in the lock file.
fn key(config: &Config, entry: &Entry) -> String {
    let client = config.client.id;
    let name = &entry.name;
    match (&entry.project, config.scope) {
        (Some(project), _) => format!("{client}/{project}/{name}"),
        (None, Reach::Project) => format!("{client}/./{name}"),
        (None, _) => format!("{client}/{name}"),
    }
}

fn read(path: &Path) -> Result<Option<Value>, CliError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err((format!("cannot read {FILE}: {error}"), "move it away".into())),
    };
    let value = serde_json::from_str::<Value>(&text).map_err(|error| error.to_string());
    let sound = value.and_then(|value| {
        let servers = value.get("servers").is_some_and(Value::is_object);
        if servers { Ok(value) } else { Err("it has no `servers`".to_owned()) }
    });
    sound.map(Some).map_err(|why| {
        (format!("cannot read {FILE}: {why}"), "restore it, or delete it and pin again".into())
    })
}

fn pin(folder: &Path, kept: Option<Value>, listed: &[Listed]) -> Result<Vec<String>, CliError> {
    let mut remarks = Vec::new();
    let mut whole = kept.unwrap_or_else(|| json!({"version": 1, "servers": {}}));
    let mut pinned = 0;
    for Listed { key, surface, .. } in listed {
        if let Some(problem) = surface.problems.first() {
            remarks.push(format!("`{key}` was not pinned: {problem}"));
            continue;
        }
        let one = lock(&[(key.clone(), surface.clone())], &Scope::default());
        whole["servers"][key.as_str()] = one["servers"][key.as_str()].clone();
        pinned += 1;
    }
    whole.sort_all_objects();
    let text = format!("{whole:#}\n");
    own_file::write(folder, Path::new(FILE), &text)
        .map_err(|what| (what, "check the permissions of the folder".to_owned()))?;
    remarks.push(format!("wrote {FILE}: {pinned} pinned"));
    Ok(remarks)
}

fn compare(scan: &mut Scan, kept: &Value, listed: &[Listed]) -> Vec<String> {
    let mut remarks = Vec::new();
    let (mut compared, mut changed) = (0, 0);
    for Listed { sheet, line, key, surface } in listed {
        if let Some(problem) = surface.problems.first() {
            remarks.push(format!("`{key}` was not compared with {FILE}: {problem}"));
            continue;
        }
        if !rug_pull::is_kept(kept, key) {
            remarks.push(format!("`{key}` is not pinned; use `--lock` to pin it"));
            continue;
        }
        let (target, written) = (scan.target(*sheet), scan.written(*sheet, *line));
        let own = &mut scan.sheets[*sheet].lines[*line];
        let differences = rug_pull::findings(target, &own.name, kept, key, surface);
        compared += 1;
        changed += usize::from(!differences.is_empty());
        let placed = |one: Finding| Finding { written: written.clone(), ..one };
        own.findings.extend(differences.into_iter().map(placed));
    }
    remarks
        .push(format!("compared with {FILE}: {compared} of {} ({changed} changed)", listed.len()));
    remarks
}
