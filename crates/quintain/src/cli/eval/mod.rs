//! `quintain eval`: run a suite.

mod args;
mod begun;
mod choices;
mod progress;
mod run;
mod watch;

pub(super) use args::Args;

use super::Desk;
use crate::exit::Exit;

pub(super) async fn run(args: Args, desk: &Desk) -> Exit {
    if args.watch { watch::run(args, desk).await } else { run::once(&args, desk).await }
}
