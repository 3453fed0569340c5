//! Runs a suite again whenever one of its files changes.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::args::Args;
use super::run::once;
use crate::cli::{Desk, suite};
use crate::exit::Exit;

/// How often files are looked at. Editors replace files, which watchers of the system handle each in
/// their own way; a look at a few time stamps costs nothing.
const LOOK: Duration = Duration::from_millis(300);

pub(super) async fn run(args: Args, desk: &Desk) -> Exit {
    let mut stop = desk.stop.clone();
    loop {
        let exit = once(&args, desk).await;
        if exit == Exit::Interrupted {
            return exit;
        }
        let before = stamps(&args, desk);
        desk.console.note("waiting for a change; Ctrl-C ends");
        let changed = async {
            loop {
                tokio::time::sleep(LOOK).await;
                if stamps(&args, desk) != before {
                    return;
                }
            }
        };
        tokio::select! {
            () = changed => {}
            _ = stop.wait_for(|stopped| *stopped) => return exit,
        }
    }
}

/// When the files of the suite were changed: the suite itself, and what lies beside it.
fn stamps(args: &Args, desk: &Desk) -> Vec<(PathBuf, Option<SystemTime>)> {
    let mut files: Vec<PathBuf> = Vec::new();
    for file in suite::find(&args.config, desk) {
        let path = desk.context.cwd.join(file);
        let beside = path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
        files.extend(beside.into_iter().flatten().flatten().map(|entry| entry.path()));
        files.push(path);
    }
    files.retain(|path| !is_output(path, args));
    files.sort();
    files.dedup();
    files
        .into_iter()
        .map(|path| {
            let changed = std::fs::metadata(&path).and_then(|data| data.modified()).ok();
            (path, changed)
        })
        .collect()
}

/// What a run itself writes must not start the next one.
fn is_output(path: &std::path::Path, args: &Args) -> bool {
    let is = |output: &PathBuf| output.file_name() == path.file_name();
    args.show.output.iter().any(is) || path.is_dir()
}
