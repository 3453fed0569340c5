//! `quintain list`: lists the built-ins.

use quintain_content::registry::Meta;
use serde_json::{Value, json};

use super::App;
use super::kinds::Kind;
use crate::console::Tone;
use crate::exit::Exit;

/// List built-in assertions, reporters, detectors, attacks, strategies or launch checks
///
/// Examples:
///   quintain list assertions
///   quintain list reporters --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Kind of built-ins to list
    #[arg(value_name = "KIND", value_enum)]
    kind: Kind,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Exit {
    let metas = args.kind.all();
    if args.json {
        app.console.json(&metas.iter().map(as_json).collect());
        return Exit::Passed;
    }
    let width = metas.iter().map(|meta| meta.id.len()).max().unwrap_or_default();
    for Meta { id, summary, .. } in metas {
        let name = app.console.paint(Tone::Bold, &format!("{id:width$}"));
        app.console.out(&format!("{name}  {summary}"));
    }
    Exit::Passed
}

pub(super) fn as_json(meta: &Meta) -> Value {
    json!({
        "id": meta.id,
        "aliases": meta.aliases,
        "summary": meta.summary,
        "docs": meta.docs,
        "since": meta.since,
    })
}
