//! `quintain schema`: prints the JSON Schema of suite files, for editors.

use super::App;
use crate::exit::Exit;

/// Print the JSON Schema of suite files
///
/// Editors with support for YAML schemas complete and check suites with it: write
/// `# yaml-language-server: $schema=quintain.schema.json` at the top of the suite.
///
/// Example:
///   quintain schema > quintain.schema.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, app: &App) -> Exit {
    let (redteam, kinds) = (quintain_redteam::orders::schema(), quintain_engine::target_kinds());
    app.console.json(&quintain_suite::suite::schema(redteam, &kinds));
    Exit::Passed
}
