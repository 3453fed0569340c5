//! `quintain explain`: the documentation of one built-in.

use clap::ValueEnum as _;
use quintain_content::registry::Meta;
use quintain_source::closest;

use super::kinds::Kind;
use super::{App, list};
use crate::console::Tone;
use crate::exit::Exit;

/// Explain an assertion, a reporter or anything else that `quintain list` shows
///
/// Examples:
///   quintain explain contains-json
///   quintain explain error-code --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Name of a built-in; `not-` before the name of an assertion is allowed
    #[arg(value_name = "ID")]
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Exit {
    let console = &app.console;
    let every = || Kind::value_variants().iter().flat_map(|kind| kind.all());
    let find = |name: &str| every().find(|meta| meta.answers_to(name));
    let bare = args.id.strip_prefix("not-").unwrap_or(&args.id);
    let Some(meta) = find(&args.id).or_else(|| find(bare)) else {
        let names: Vec<&str> = every().map(|meta| meta.id).collect();
        let help = match closest(bare, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`quintain list assertions` lists all assertions".to_owned(),
        };
        console.error(&format!("no built-in is named `{}`", args.id), Some(&help));
        return Exit::Usage;
    };
    if args.json {
        console.json(&list::as_json(&meta));
    } else {
        console.out(&text(&meta, app));
    }
    Exit::Passed
}

fn text(meta: &Meta, app: &App) -> String {
    let title = app.console.paint(Tone::Bold, meta.id);
    let mut lines = vec![format!("{title}: {}", meta.summary)];
    if !meta.aliases.is_empty() {
        lines.push(format!("Aliases: {}", meta.aliases.join(", ")));
    }
    lines.push(String::new());
    for line in meta.docs.trim_end().lines() {
        lines.push(match line.strip_prefix("# ") {
            Some(heading) => app.console.paint(Tone::Bold, heading),
            None => line.to_owned(),
        });
    }
    lines.join("\n")
}
