//! `quintain eval`: runs a suite.

mod args;
mod dry_run;
mod progress;
mod resumed_run;
mod run;
mod watch;

pub(super) use args::Args;
pub(super) use progress::Progress;
pub(super) use resumed_run::ResumedRun;

use super::App;
use crate::exit::Exit;

pub(super) async fn run(args: Args, app: &App) -> Exit {
    if args.dry_run {
        dry_run::run(&args, app)
    } else if args.watch {
        watch::run(async || run::once(&args, app).await, app).await
    } else {
        run::once(&args, app).await
    }
}
