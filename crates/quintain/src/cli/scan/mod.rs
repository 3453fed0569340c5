//! `quintain scan`: checks the MCP servers that the clients on this machine would start.

mod files;
mod judge;
mod machine;
mod markdown;
mod output;
mod pins;
mod sheet;
mod start;
mod table;

use std::path::PathBuf;

use output::Outputs;
use quintain_evidence::finding::Severity;
use quintain_scan::clients::Config;
use sheet::{Line, Scan};

use super::reports::output_help;
use super::{App, baseline};
use crate::exit::Exit;

/// Check the MCP servers in client configurations without starting them
///
/// Without FILE, searches for the configurations of all known clients on this machine and in this folder.
/// A FILE is a configuration of any client, or a saved response to `tools/list`.
///
/// Starts no server without `--start`, because that runs its command; asks before each start.
///
/// Examples:
///   quintain scan
///   quintain scan .cursor/mcp.json tools.json --fail-on medium
///   quintain scan --start --lock
///   quintain scan --start --yes --verify -o scan.json
///   quintain scan --baseline accepted.yaml -o scan.sarif
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Client configurations and saved lists of tools [default: all on this machine]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Start or connect to each server, after asking, and check what it lists
    #[arg(long)]
    start: bool,
    /// Start all servers without asking
    #[arg(long, requires = "start")]
    yes: bool,
    /// Milliseconds to wait for a response of a started server [default: 60000]
    #[arg(long, value_name = "MS", requires = "start")]
    timeout: Option<u64>,
    /// Pin what the servers list in `quintain.lock`
    #[arg(long, conflicts_with = "verify")]
    lock: bool,
    /// Compare with `quintain.lock`, and fail if it does not exist; an existing one is always compared
    #[arg(long)]
    verify: bool,
    /// Exit with code 100 if a finding is at least this severe: info, low, medium, high, critical, none
    #[arg(long, value_name = "SEVERITY", default_value = "high", value_parser = severity)]
    fail_on: Threshold,
    /// Accepted findings: a YAML or JSON list of `fingerprint`, `reason`, `expires`
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    #[arg(short, long, value_name = "FILE", help = output_help("Write a report", output::suffixes()))]
    output: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Minimum severity of findings that fail the scan.
#[derive(Debug, Clone, Copy)]
struct Threshold(Option<Severity>);

fn severity(word: &str) -> Result<Threshold, String> {
    if word.eq_ignore_ascii_case("none") {
        return Ok(Threshold(None));
    }
    let known = || "expected one of info, low, medium, high, critical, none".to_owned();
    Severity::find(word).map(|severity| Threshold(Some(severity))).ok_or_else(known)
}

/// The configurations of all clients of this machine.
/// The folders where clients keep their configurations.
pub(super) fn folders(app: &App) -> quintain_scan::clients::Dirs {
    files::dirs(&app.context)
}

pub(super) fn configurations(app: &App) -> Vec<Config> {
    let found = files::discover(app);
    judge::learn_secrets(&found.configs, &app.redactor);
    found.configs
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    app.start_logging(false, false);
    if let Err(why) = Outputs::check(&args.output) {
        return refuse(&args, &why, None, app);
    }
    let accepted = match args.baseline.as_deref().map(|file| baseline::read(file, app)) {
        Some(Ok(accepted)) => accepted,
        Some(Err(exit)) => return exit,
        None => Vec::new(),
    };
    let found = if args.files.is_empty() {
        files::discover(app)
    } else {
        match files::named(&args.files, app) {
            Ok(found) => found,
            Err(whys) => {
                if args.json {
                    app.console.json(&serde_json::json!({"error": whys.join("; ")}));
                }
                whys.iter().for_each(|why| app.console.error(why, None));
                return Exit::Usage;
            }
        }
    };
    found.paths().chain(args.files.iter()).for_each(|path| {
        app.files.looked_at(&app.context.cwd.join(path));
    });
    let outputs = match Outputs::open(&args.output, app) {
        Ok(outputs) => outputs,
        Err(wrong) => {
            let what = wrong.report(app);
            if args.json {
                app.console.json(&serde_json::json!({"error": what}));
            }
            return Exit::Usage;
        }
    };
    let broken = found.is_broken();
    judge::learn_secrets(&found.configs, &app.redactor);
    let mut scan = Scan::new(found);
    if scan.is_empty() {
        let what = if args.files.is_empty() {
            "no MCP server found in the configurations of known clients on this machine"
        } else {
            "the files contain neither MCP servers nor a list of tools"
        };
        if broken || scan.has_problems() {
            table::problems(&scan, app);
        }
        let help = "name a configuration, or a saved response to `tools/list`";
        refuse(&args, what, Some(help), app);
        return if broken && !args.files.is_empty() { Exit::Usage } else { Exit::Nothing };
    }
    judge::launches(&mut scan, &machine::LocalMachine { context: &app.context });
    if args.start {
        if !args.yes && !app.context.answers && start::is_asked(&scan) {
            let what = "cannot ask whether to start the servers: there is no terminal";
            let help = "read their commands, then use `--yes` to start all of them";
            return refuse(&args, what, Some(help), app);
        }
        start::start(&mut scan, args.yes, args.timeout, app).await;
    }
    judge::surfaces(&mut scan);
    let pinned = match pins::apply(&mut scan, args.lock, args.verify, app) {
        Ok(pinned) => pinned,
        Err((why, help)) => return refuse(&args, &why, Some(&help), app),
    };
    scan.accept(&accepted, &baseline::today(app));
    scan.sort();
    if args.json {
        app.console.json(&output::json(&scan));
    } else {
        app.console.out(table::text(&scan, app).trim_end());
    }
    scan.unused.iter().for_each(|unused| app.console.warn(&unused.to_string()));
    let written = outputs.write(&scan, app);
    for line in pinned.iter().chain(&scan.remarks) {
        app.console.note(&quintain_source::visible(line));
    }
    conclude(&args, &scan, broken && !args.files.is_empty(), written, app)
}

fn conclude(args: &Args, scan: &Scan, broken: bool, written: bool, app: &App) -> Exit {
    let failures: Vec<&str> = scan.lines().filter_map(Line::failure).collect();
    for why in &failures {
        app.console.error(&quintain_source::visible(why), None);
    }
    if !failures.is_empty() {
        return Exit::Unreachable;
    }
    if broken || !written {
        return Exit::Usage;
    }
    let counts = |severity: Severity| args.fail_on.0.is_some_and(|least| severity >= least);
    // Findings that are by design are reported, but do not fail the scan.
    let fails = scan.findings().any(|finding| finding.note.is_none() && counts(finding.severity));
    if fails { Exit::Failed } else { Exit::Passed }
}

fn refuse(args: &Args, what: &str, help: Option<&str>, app: &App) -> Exit {
    if args.json {
        app.console.json(&serde_json::json!({"error": what}));
    }
    app.console.error(what, help);
    Exit::Usage
}
