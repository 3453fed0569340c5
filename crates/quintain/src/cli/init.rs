//! `quintain init`: writes an example suite.

use std::path::{Path, PathBuf};

use quintain_source::closest;
use serde_json::json;

use super::{App, own_file};
use crate::exit::Exit;

/// A file of an example.
struct Sheet {
    name: &'static str,
    text: &'static str,
}

struct Example {
    name: &'static str,
    summary: &'static str,
    files: &'static [Sheet],
    /// The commands to run in its folder.
    next: &'static [&'static str],
}

macro_rules! example {
    ($name:literal, $summary:literal, [$($file:literal),*], $next:expr) => {
        Example {
            name: $name,
            summary: $summary,
            files: &[$(Sheet {
                name: $file,
                text: include_str!(concat!("../../../../examples/", $name, "/", $file)),
            }),*],
            next: &$next,
        }
    };
}

static EXAMPLES: &[Example] = &[
    example!(
        "basic",
        "A first suite for the practice target",
        ["quintain.yaml", "README.md"],
        ["quintain eval"]
    ),
    example!(
        "simple-mcp",
        "Tool calls and assertions in promptfoo's format, with several ways to write a call",
        ["promptfooconfig.yaml", "README.md"],
        ["quintain eval"]
    ),
    example!(
        "redteam-mcp",
        "A target with planted weaknesses, and the suite that attacks it",
        ["promptfooconfig.yaml", "README.md"],
        ["quintain eval", "quintain redteam run"]
    ),
    example!(
        "redteam-mcp-auth",
        "The same target behind OAuth and other kinds of authentication",
        ["promptfooconfig.yaml", "README.md"],
        [
            "quintain demo --http 127.0.0.1:8080 --vulnerable --auth oauth",
            "quintain eval (in another terminal)"
        ]
    ),
    example!(
        "ci",
        "A suite with snapshots, and the CI pipeline that runs it",
        ["quintain.yaml", "workflow.yml", "README.md"],
        ["quintain eval"]
    ),
    example!(
        "grade",
        "A recorded conversation with mistakes, and how to grade it",
        ["quintain.yaml", "conversation.json", "README.md"],
        ["quintain grade conversation.json -c quintain.yaml"]
    ),
];

/// Write an example suite to start from
///
/// Examples:
///   quintain init
///   quintain init shop-tests --example simple-mcp
///   quintain init --list
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Folder to write to [default: the current folder, or a folder named after the example]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Example to write
    #[arg(long, value_name = "NAME")]
    example: Option<String>,
    /// List the examples
    #[arg(long)]
    list: bool,
    /// Print JSON, with `--list`
    #[arg(long, requires = "list")]
    json: bool,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Exit {
    let console = &app.console;
    if args.list {
        list(args.json, app);
        return Exit::Passed;
    }
    let name = args.example.as_deref().unwrap_or("basic");
    let Some(example) = EXAMPLES.iter().find(|example| example.name == name) else {
        let help = match closest(name, EXAMPLES.iter().map(|example| example.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`quintain init --list` lists the examples".to_owned(),
        };
        console.error(&format!("unknown example `{name}`"), Some(&help));
        return Exit::Usage;
    };
    let dir = args.dir.clone().unwrap_or_else(|| match &args.example {
        Some(name) => PathBuf::from(name),
        None => PathBuf::from("."),
    });
    let folder = app.context.cwd.join(&dir);
    let there: Vec<&str> = example
        .files
        .iter()
        .map(|sheet| sheet.name)
        .filter(|name| own_file::exists(&folder.join(name)))
        .collect();
    if !there.is_empty() && !args.force {
        let what = format!("`{}` already has {}", dir.display(), there.join(" and "));
        console.error(&what, Some("name another folder, or overwrite the files with `--force`"));
        return Exit::Usage;
    }
    for sheet in example.files {
        let made = std::fs::create_dir_all(&folder);
        let made = made.map_err(|error| format!("cannot create `{}`: {error}", dir.display()));
        let name = Path::new(sheet.name);
        if let Err(what) = made.and_then(|()| own_file::write(&folder, name, sheet.text)) {
            console.error(&what, None);
            return Exit::Usage;
        }
        console.out(&dir.join(sheet.name).display().to_string());
    }
    let there =
        if dir == Path::new(".") { String::new() } else { format!("cd {} && ", dir.display()) };
    let [first, then @ ..] = example.next else { return Exit::Passed };
    console.note(&format!("next: {there}{first}"));
    then.iter().for_each(|command| console.note(&format!("then: {command}")));
    Exit::Passed
}

fn list(as_json: bool, app: &App) {
    if as_json {
        let entry = |example: &Example| {
            let files: Vec<&str> = example.files.iter().map(|sheet| sheet.name).collect();
            json!({"name": example.name, "summary": example.summary, "files": files})
        };
        app.console.json(&EXAMPLES.iter().map(entry).collect());
        return;
    }
    let width = EXAMPLES.iter().map(|example| example.name.len()).max().unwrap_or_default();
    for Example { name, summary, .. } in EXAMPLES {
        app.console.out(&format!("{name:width$}  {summary}"));
    }
}
