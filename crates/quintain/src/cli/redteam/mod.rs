//! `quintain redteam`: attacks with proofs.

mod budget;
mod destructive;
mod generate;
mod init;
mod orders;
mod plugins;
mod report;
mod run;
mod strategies;
mod suite;
mod writing;

pub(super) use destructive::DestructiveArgs;
pub(super) use run::{failed, named};

use clap::Subcommand;

use super::App;
use crate::exit::Exit;

/// Attack a target and prove what works
///
/// Examples:
///   quintain redteam init -- python3 server.py
///   quintain redteam run -- npx -y @modelcontextprotocol/server-everything
///   quintain redteam run -c quintain.yaml -o report.json --fail-on high
///   quintain redteam generate -c quintain.yaml -o redteam.yaml
///   quintain redteam suite -o regression.yaml
///   quintain redteam plugins
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(Box<init::Args>),
    Run(Box<run::Args>),
    Generate(Box<generate::Args>),
    Report(report::Args),
    Suite(Box<suite::Args>),
    Plugins(plugins::Args),
    Strategies(strategies::Args),
}

impl Args {
    /// Whether it reports its results after an interruption.
    pub(super) fn is_patient(&self) -> bool {
        matches!(self.command, Command::Run(_))
    }
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    match args.command {
        Command::Init(args) => init::run(*args, app).await,
        Command::Run(args) => Box::pin(run::run(*args, app)).await,
        Command::Generate(args) => Box::pin(generate::run(*args, app)).await,
        Command::Report(args) => report::run(args, app).await,
        Command::Suite(args) => suite::run(*args, app).await,
        Command::Plugins(args) => plugins::run(&args, app),
        Command::Strategies(args) => strategies::run(&args, app),
    }
}
