//! `quintain serve install`: adds the server to the configuration of a client. Shows the change, and writes it only after
//! consent; the former file is kept.

use std::path::PathBuf;

use quintain_scan::clients::{NewEntry, NewServer, installable, place_of_new_entry};
use quintain_source::closest;
use url::Url;

use crate::cli::ask_user::ask_user;
use crate::cli::{App, client_file, scan};
use crate::exit::Exit;

/// Add Quintain to the configuration of an MCP client
///
/// Shows the change and asks before writing it. The former file is kept next to it.
///
/// Examples:
///   quintain serve install --client claude-code
///   quintain serve install --client vscode --scope project --yes
///   quintain serve install --client cursor --url https://quintain.example/mcp
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Client to configure, such as claude-code, vscode, cursor, claude-desktop, windsurf, gemini, zed
    #[arg(long, value_name = "CLIENT")]
    client: String,
    /// Configuration of the user, or of the current folder
    #[arg(long, value_name = "SCOPE", value_parser = ["user", "project"], default_value = "user")]
    scope: String,
    /// Another configuration file of that client
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    file: Option<PathBuf>,
    /// Name of the server in the configuration
    #[arg(long, value_name = "NAME", default_value = "quintain")]
    name: String,
    /// Connect to a running `quintain serve --http` instead of starting a server
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Tools to list: core (14) or full
    #[arg(long, value_name = "SET", value_parser = ["core", "full"], conflicts_with = "url")]
    toolset: Option<String>,
    /// Write the configuration without asking
    #[arg(short, long)]
    yes: bool,
}

pub(super) async fn run(args: &Args, app: &App) -> Exit {
    let console = &app.console;
    let Some(place) = place(args, app) else { return Exit::Usage };
    let Some(server) = server(args, app) else { return Exit::Usage };
    let file = place.path.display();
    let former = match std::fs::read_to_string(&place.path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            console.error(&format!("cannot read {file}: {error}"), None);
            return Exit::Usage;
        }
    };
    let edited = match place.add(former.as_deref().unwrap_or_default(), &args.name, &server) {
        Ok(Some(edited)) => edited,
        Ok(None) => {
            console.out(&format!("{file} already has this server"));
            return Exit::Passed;
        }
        Err(why) => {
            let entry = place.entry(&server);
            console.out(&format!("add to {file} as `{}`:\n{entry:#}", args.name));
            console.error(&format!("not written: {why}"), Some("edit the file yourself"));
            return Exit::Usage;
        }
    };
    console.out(&format!("{}: server `{}` in {file}\n", place.title, args.name));
    for line in edited.before.lines() {
        console.out(&format!("- {line}"));
    }
    for line in edited.after.lines() {
        console.out(&format!("+ {line}"));
    }
    if !args.yes {
        if !app.context.answers {
            console.note("not written: there is no terminal to ask at; `--yes` writes it");
            return Exit::Passed;
        }
        let answer = ask_user(&format!("change {file}? [y/N]"), app).await;
        if !matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes") {
            console.note("not written");
            return Exit::Passed;
        }
    }
    let written = match &former {
        Some(former) => {
            client_file::replace(&place.path, former, &edited.text, ".before-quintain").map(Some)
        }
        None => client_file::create(&place.path, &edited.text).map(|()| None),
    };
    match written {
        Ok(copy) => {
            let kept = copy.map(|copy| format!("; the former file is {}", copy.display()));
            console.note(&format!("changed {file}{}", kept.unwrap_or_default()));
            console.note(&format!("restart {} to use it", place.title));
            Exit::Passed
        }
        Err(why) => {
            console.error(&format!("cannot change {file}: {why}"), None);
            Exit::Usage
        }
    }
}

fn place(args: &Args, app: &App) -> Option<NewEntry> {
    let client = args.client.to_ascii_lowercase().replace('_', "-");
    let of_project = args.scope == "project";
    let place = place_of_new_entry(&client, of_project, &scan::folders(app));
    let Some(place) = place else {
        let known = installable();
        let (what, help) = if known.contains(&client.as_str()) {
            let what = if of_project {
                format!("{client} has no configuration of a project")
            } else {
                "the folder of the user is unknown".to_owned()
            };
            (what, "name the file with `--file`".to_owned())
        } else {
            let near = closest(&client, known.iter().copied());
            let help =
                near.map_or_else(|| known.join(", "), |near| format!("did you mean `{near}`?"));
            (format!("unknown client `{}`", args.client), help)
        };
        app.console.error(&what, Some(&help));
        return None;
    };
    Some(match &args.file {
        Some(file) => place.at(app.context.cwd.join(file)),
        None => place,
    })
}

fn server(args: &Args, app: &App) -> Option<NewServer> {
    if let Some(url) = &args.url {
        let is_web = Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if !is_web {
            app.console
                .error(&format!("`{url}` is not a valid URL"), Some("write https://HOST/mcp"));
            return None;
        }
        return Some(NewServer::Url(url.clone()));
    }
    let program = app.context.program_for_files().display().to_string();
    let mut words = vec!["serve".to_owned()];
    if let Some(set) = &args.toolset {
        words.extend(["--toolset".to_owned(), set.clone()]);
    }
    Some(NewServer::Command { program, args: words })
}
