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
/// A name that several kinds have is explained for all of them; `KIND:NAME` selects one.
///
/// Examples:
///   quintain explain contains-json
///   quintain explain error-code --json
///   quintain explain providers:openai
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Name of a built-in; `not-` before the name of an assertion is allowed, and `KIND:` as in `quintain list KIND`
    #[arg(value_name = "ID")]
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Built-ins of a name, with their kinds.
fn find(name: &str) -> Vec<(Kind, Meta)> {
    let of_kinds = |kinds: &[Kind], name: &str| -> Vec<(Kind, Meta)> {
        let all = kinds.iter().flat_map(|kind| kind.all().into_iter().map(|meta| (*kind, meta)));
        all.filter(|(_, meta)| meta.answers_to(name)).collect()
    };
    let found = of_kinds(Kind::value_variants(), name);
    if !found.is_empty() {
        // A name of its own comes before an alias.
        let (mut exact, aliases): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(_, meta)| meta.id == name);
        exact.extend(aliases);
        return exact;
    }
    let chosen = name.split_once(':').and_then(|(kind, name)| {
        let kind =
            Kind::from_str(kind, true).or_else(|_| Kind::from_str(&format!("{kind}s"), true));
        Some((kind.ok()?, name))
    });
    if let Some((kind, name)) = chosen {
        return of_kinds(&[kind], name);
    }
    // `openai:chat:gpt-5` names a model of a provider.
    let provider = name.split(':').next().filter(|provider| *provider != name);
    provider.map_or_else(Vec::new, |provider| of_kinds(&[Kind::Providers], provider))
}

pub(super) fn run(args: &Args, app: &App) -> Exit {
    let console = &app.console;
    let bare = args.id.strip_prefix("not-").unwrap_or(&args.id);
    let found = Some(find(&args.id)).filter(|found| !found.is_empty());
    let found = found.unwrap_or_else(|| find(bare));
    if found.is_empty() {
        let all = Kind::value_variants().iter().flat_map(|kind| kind.all());
        let names: Vec<&str> = all.map(|meta| meta.id).collect();
        let help = match closest(bare, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`quintain list --help` names the kinds, `quintain list KIND` lists the names"
                .to_owned(),
        };
        console.error(&format!("no built-in is named `{}`", args.id), Some(&help));
        return Exit::Usage;
    }
    match (&found[..], args.json) {
        ([(_, meta)], true) => console.json(&list::as_json(meta)),
        ([(_, meta)], false) => console.out(&text(meta, app)),
        (several, true) => {
            let entries = several.iter().map(|(kind, meta)| {
                let mut entry = list::as_json(meta);
                entry["kind"] = name_of(*kind).into();
                entry
            });
            console.json(&entries.collect());
        }
        (several, false) => {
            let names =
                several.iter().map(|(kind, meta)| format!("{}:{}", name_of(*kind), meta.id));
            let names: Vec<String> = names.collect();
            for ((_, meta), name) in several.iter().zip(&names) {
                let title = console.paint(Tone::Bold, &format!("# {name}"));
                console.out(&format!("{title}\n\n{}\n", text(meta, app)));
            }
            let commands = names.iter().map(|name| format!("`quintain explain {name}`"));
            let commands: Vec<String> = commands.collect();
            console.note(&format!(
                "several kinds have this name; {} explains one of them",
                commands.join(" or ")
            ));
        }
    }
    Exit::Passed
}

/// As `quintain list` takes it.
fn name_of(kind: Kind) -> String {
    kind.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
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
