//! `quintain count`: how many built-ins there are of every kind.

use clap::ValueEnum as _;

use super::App;
use super::kinds::Kind;
use crate::exit::Exit;

/// Count what is built in
///
/// Example:
///   quintain count
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {}

pub(super) async fn run(_: Args, app: &App) -> Exit {
    for kind in Kind::value_variants() {
        let name = kind.to_possible_value();
        let name = name.as_ref().map_or("", |value| value.get_name());
        app.console.out(&format!("{:5}  {name}", kind.all().len()));
    }
    Exit::Passed
}
