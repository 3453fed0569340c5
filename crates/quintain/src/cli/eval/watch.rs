//! Runs a suite again whenever one of its files changes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quintain_evidence::connection::Launch;
use quintain_suite::suite::{Suite, TargetKind, language_of};

use super::args::Args;
use super::run::once;
use crate::cli::Desk;
use crate::exit::Exit;

/// How often files are looked at. Editors replace files, which watchers of the system handle each in
/// their own way; a look at a few time stamps costs nothing.
const LOOK: Duration = Duration::from_millis(300);
/// A look that takes long, at a pattern over many folders, is taken less often.
const REST: u32 = 10;

pub(super) async fn run(args: Args, desk: &Desk) -> Exit {
    let mut stop = desk.stop.clone();
    loop {
        let exit = once(&args, desk).await;
        if exit == Exit::Interrupted {
            return exit;
        }
        let files = desk.files.take();
        desk.console.note("waiting for a change; Ctrl-C ends");
        let changed = async {
            loop {
                let begun = Instant::now();
                if files.has_changed() {
                    return;
                }
                tokio::time::sleep(LOOK.max(begun.elapsed() * REST)).await;
            }
        };
        tokio::select! {
            () = changed => {}
            _ = stop.wait_for(|stopped| *stopped) => return exit,
        }
    }
}

/// The programs and scripts that targets are started from: who writes a server wants to see at once
/// what came of it.
pub(super) fn programs(suite: &Suite, cwd: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut add = |folder: &Path, program: &Path, args: &[&Path]| {
        // Without a folder it is looked up elsewhere.
        let program = Some(program).filter(|program| program.components().count() > 1);
        // Other arguments may be what the program writes.
        let scripts = args.iter().copied().filter(|arg| is_code(arg));
        found.extend(program.into_iter().chain(scripts).map(|path| folder.join(path)));
    };
    for target in &suite.targets {
        match &target.kind {
            TargetKind::Mcp(mcp) => {
                for server in &mcp.servers {
                    let (Launch::Command { cwd: own, .. } | Launch::Path { cwd: own, .. }) =
                        &server.launch
                    else {
                        continue;
                    };
                    if let Some((program, args)) = server.launch.command_line() {
                        add(own.as_deref().unwrap_or(cwd), program, &args);
                    }
                }
            }
            TargetKind::Exec(exec) => {
                let args: Vec<&Path> = exec.args.iter().map(Path::new).collect();
                add(&exec.base_dir, Path::new(&exec.command), &args);
            }
            // What code is read from is noted as it is read.
            TargetKind::Code(_) | TargetKind::Echo | TargetKind::Http(_) | TargetKind::Other => {}
        }
    }
    found
}

fn is_code(path: &Path) -> bool {
    path.extension().and_then(|suffix| suffix.to_str()).and_then(language_of).is_some()
}
