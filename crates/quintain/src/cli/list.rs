//! `quintain list`: lists the built-ins.

use clap::ValueEnum;
use quintain_content::registry::Meta;
use serde_json::{Value, json};

use super::App;
use super::kinds::Kind;
use crate::console::Tone;
use crate::exit::Exit;

#[derive(Debug, clap::Args)]
#[command(about = about(), long_about = format!("{}\n\n{EXAMPLES}", about()))]
pub(super) struct Args {
    /// Kind of built-ins to list
    #[arg(value_name = "KIND", value_enum)]
    kind: Kind,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  quintain list assertions
  quintain list reporters --json";

/// Names every kind, so that a new one appears in the help.
fn about() -> String {
    let names = Kind::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let names: Vec<String> = names.map(|name| name.get_name().replace('-', " ")).collect();
    let (others, last) = names.split_at(names.len() - 1);
    format!("List built-in {} or {}", others.join(", "), last.concat())
}

pub(super) fn run(args: &Args, app: &App) -> Exit {
    let metas = args.kind.all();
    if args.json {
        let entry = |meta: &Meta| {
            let mut entry = as_json(meta);
            if let Some(suits) = args.kind.suits(meta.id) {
                entry["suits"] = suits.describe().into();
            }
            entry
        };
        app.console.json(&metas.iter().map(entry).collect());
        return Exit::Passed;
    }
    let width = metas.iter().map(|meta| meta.id.len()).max().unwrap_or_default();
    for Meta { id, summary, .. } in metas {
        let name = app.console.paint(Tone::Bold, &format!("{id:width$}"));
        match args.kind.suits(id) {
            Some(suits) => app.console.out(&format!("{name}  {:6}  {summary}", suits.word())),
            None => app.console.out(&format!("{name}  {summary}")),
        }
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
