//! `quintain eval`: runs a suite.

mod args;
mod begun;
mod dry_run;
mod progress;
mod run;
mod watch;

pub(super) use args::Args;
pub(super) use begun::Begun;
pub(super) use progress::Progress;

use super::Desk;
use crate::exit::Exit;

pub(super) async fn run(args: Args, desk: &Desk) -> Exit {
    if args.dry_run {
        dry_run::run(&args, desk)
    } else if args.watch {
        watch::run(async || run::once(&args, desk).await, desk).await
    } else {
        run::once(&args, desk).await
    }
}
