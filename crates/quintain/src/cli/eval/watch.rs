//! Runs a suite again whenever one of its files changes.

use std::collections::BTreeSet;
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
        // A run writes files beside the suite, but never the suite: who changes that while it goes on
        // wants another one.
        let suite = stamps(named(&args, desk));
        let exit = once(&args, desk).await;
        if exit == Exit::Interrupted {
            return exit;
        }
        let others = stamps(beside(&args, desk));
        desk.console.note("waiting for a change; Ctrl-C ends");
        let changed = async {
            while stamps(named(&args, desk)) == suite && stamps(beside(&args, desk)) == others {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            () = changed => {}
            _ = stop.wait_for(|stopped| *stopped) => return exit,
        }
    }
}

/// The files of the suite.
fn named(args: &Args, desk: &Desk) -> Vec<PathBuf> {
    suite::find(&args.config, desk).into_iter().map(|file| desk.context.cwd.join(file)).collect()
}

/// What lies beside the files of the suite.
fn beside(args: &Args, desk: &Desk) -> Vec<PathBuf> {
    let folders = named(args, desk).into_iter().filter_map(|path| Some(path.parent()?.to_owned()));
    let folders: BTreeSet<PathBuf> = folders.collect();
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| !is_output(path, args));
    files.sort();
    files
}

/// When files were changed.
fn stamps(files: Vec<PathBuf>) -> Vec<(PathBuf, Option<SystemTime>)> {
    let stamp = |path: PathBuf| {
        let changed = std::fs::metadata(&path).and_then(|data| data.modified()).ok();
        (path, changed)
    };
    files.into_iter().map(stamp).collect()
}

/// What a run itself writes must not start the next one.
fn is_output(path: &std::path::Path, args: &Args) -> bool {
    let is = |output: &PathBuf| output.file_name() == path.file_name();
    args.show.output.iter().any(is) || path.is_dir()
}
