//! Compares the output of a case with the expected output, and reports all differences.

use std::{fs, path::Path};

use similar::TextDiff;

use crate::{case::Case, run::Seen};

pub(crate) fn compare(case: &Case, seen: &Seen) -> Result<(), String> {
    let mut complaints = Vec::new();
    if seen.timed_out {
        complaints.push(format!("no end within {} s, killed", case.limit.as_secs()));
    }
    if !seen.survivors.is_empty() {
        let list = seen.survivors.join("\n  ");
        complaints.push(format!("processes survived the command:\n  {list}"));
    }
    if seen.peak_rss_mb > case.max_rss_mb {
        let (peak, limit) = (seen.peak_rss_mb, case.max_rss_mb);
        complaints.push(format!("used {peak} MB of memory, at most {limit}"));
    }
    let files = seen.files.iter().filter_map(|(_, text)| text.as_ref());
    let outputs: Vec<&String> = [&seen.stdout, &seen.stderr].into_iter().chain(files).collect();
    for secret in &case.secrets {
        if outputs.iter().any(|text| text.contains(secret)) {
            complaints.push(format!("the secret `{secret}` leaked"));
        }
    }
    complaints.extend(seen.leaks.iter().map(|leak| format!("the secret {leak} was written")));
    let exit = case.expected("exit");
    let exit = if exit.is_empty() { "0\n".repeat(case.commands.len()) } else { exit };
    complaints.extend(difference("exit", &exit, &seen.exit));
    complaints.extend(difference("stdout", &case.expected("stdout"), &seen.stdout));
    complaints.extend(difference("stderr", &case.expected("stderr"), &seen.stderr));
    for (name, text) in &seen.files {
        let label = format!("expected/{}", name.display());
        match text {
            Some(text) => complaints.extend(difference(&label, &case.expected(&label), text)),
            None => complaints.push(format!("{} was not written", name.display())),
        }
    }
    if complaints.is_empty() {
        return Ok(());
    }
    complaints.push("BLESS=1 accepts the new output".into());
    Err(complaints.join("\n\n"))
}

fn difference(name: &str, expected: &str, seen: &str) -> Option<String> {
    if expected == seen {
        return None;
    }
    let diff = TextDiff::from_lines(expected, seen);
    let shown = diff.unified_diff().context_radius(3).header("expected", "seen").to_string();
    Some(format!("{name} differs:\n{shown}"))
}

/// Writes the output as the expected output; empty files are the default and are removed.
pub(crate) fn bless(case: &Case, seen: &Seen) -> Result<(), String> {
    let write = |name: &str, text: &str, default: bool| {
        let file = case.folder.join(name);
        let done = if default { remove(&file) } else { fs::write(&file, text) };
        done.map_err(|error| format!("{}: {error}", file.display()))
    };
    write("stdout", &seen.stdout, seen.stdout.is_empty())?;
    write("stderr", &seen.stderr, seen.stderr.is_empty())?;
    write("exit", &seen.exit, seen.exit == "0\n".repeat(case.commands.len()))?;
    for (name, text) in &seen.files {
        if let Some(text) = text {
            write(&format!("expected/{}", name.display()), text, false)?;
        }
    }
    Ok(())
}

fn remove(file: &Path) -> std::io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
