//! Runs a suite again whenever one of its files changes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quintain_suite::suite::{Suite, language_of};
use quintain_suite::target::ProgramFiles;

use crate::cli::App;
use crate::exit::Exit;

/// Interval of checks for changes. Editors replace files, and the file watchers of operating systems differ in how they
/// report that; comparing a few time stamps is cheap.
const LOOK: Duration = Duration::from_millis(300);
/// A slow check, such as for a pattern over many folders, runs less often: it waits this many times its duration.
const REST: u32 = 10;

pub(super) async fn run(once: impl AsyncFn() -> Exit, app: &App) -> Exit {
    let mut stop = app.stop.clone();
    loop {
        let exit = once().await;
        if exit == Exit::Interrupted {
            return exit;
        }
        let files = app.files.take();
        app.console.note("waiting for a change; press Ctrl-C to stop");
        let changed = async {
            loop {
                let resumed_run = Instant::now();
                if files.has_changed() {
                    return;
                }
                tokio::time::sleep(LOOK.max(resumed_run.elapsed() * REST)).await;
            }
        };
        tokio::select! {
            () = changed => {}
            _ = stop.wait_for(|stopped| *stopped) => return exit,
        }
    }
}

/// The programs and scripts that targets are started from, so that a change of the server's code starts a new run.
pub(super) fn programs(suite: &Suite, cwd: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut add = |folder: &Path, program: &Path, args: &[&Path]| {
        // A program without a folder is searched in `PATH`.
        let program = Some(program).filter(|program| program.components().count() > 1);
        // Other arguments may be files that the program writes.
        let scripts = args.iter().copied().filter(|arg| is_code(arg));
        found.extend(program.into_iter().chain(scripts).map(|path| folder.join(path)));
    };
    for target in &suite.targets {
        for ProgramFiles { folder, program, args } in target.settings.programs() {
            add(folder.unwrap_or(cwd), program, &args);
        }
    }
    found
}

fn is_code(path: &Path) -> bool {
    path.extension().and_then(|suffix| suffix.to_str()).and_then(language_of).is_some()
}
