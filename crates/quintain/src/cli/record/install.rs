//! Changes the configuration of a client so that one of its servers is recorded. Shows the change, and writes it only after
//! consent; the former file is kept.

use std::path::{Path, PathBuf};

use quintain_engine::jobs::quoted;
use quintain_engine::secrets::learn_launch;
use quintain_evidence::connection::Launch;
use quintain_scan::clients::{self, Config, EditError, Edited, Entry, EntryName, NewLaunch, edit};
use quintain_source::{closest, visible};
use secrecy::ExposeSecret as _;
use url::Url;

use super::secret_rules::learn_named_values;
use super::{App, Args};
use crate::cli::ask_user::ask_user;
use crate::cli::{client_file, scan};
use crate::exit::Exit;

pub(super) async fn run(client: &str, args: &Args, app: &App) -> Exit {
    let plan = match plan(client, args, app) {
        Ok(plan) => plan,
        Err(Stop { what, help }) => {
            app.console.error(&what, help.as_deref());
            return Exit::Usage;
        }
    };
    let console = &app.console;
    let file = plan.path.display();
    console.out(&format!("{} server `{}` in {file}", plan.title, plan.server));
    let edited = match &plan.edited {
        Ok(edited) => edited,
        Err(why) => {
            console.out(&format!("\nchange it to:\n{}", visible(&plan.by_hand)));
            console.note(&format!("not written: {why}; edit {file} yourself"));
            return Exit::Passed;
        }
    };
    // The file may come from anybody, and the user is about to agree to what it shows.
    let (before, after) = (visible(&edited.before), visible(&edited.after));
    console.out(&format!("\nnow:\n{before}\n\nrecorded:\n{after}"));
    if let Some(advice) = &plan.advice {
        console.note(advice);
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
    match write(&plan, edited) {
        Ok(copy) => {
            console.note(&format!("changed {file}; the former file is {}", copy.display()));
            console.note(&format!(
                "restart {} to record into {}",
                plan.title,
                plan.capture.display()
            ));
            Exit::Passed
        }
        Err(why) => {
            console.error(&format!("cannot change {file}: {why}"), None);
            Exit::Usage
        }
    }
}

/// A problem of the request.
struct Stop {
    what: String,
    help: Option<String>,
}

fn stop(what: impl Into<String>, help: Option<String>) -> Stop {
    Stop { what: what.into(), help }
}

/// What would change.
struct Installation {
    title: &'static str,
    server: String,
    path: PathBuf,
    former: String,
    capture: PathBuf,
    /// Whether to create the capture as a folder.
    is_folder: bool,
    edited: Result<Edited, EditError>,
    /// The new launch, for files that are not edited.
    by_hand: String,
    advice: Option<String>,
}

fn plan(client: &str, args: &Args, app: &App) -> Result<Installation, Stop> {
    let ids: Vec<&str> = clients::all().iter().map(|client| client.id).collect();
    let known = clients::all().iter().find(|known| known.id == client);
    let Some(known) = known else {
        let near = closest(client, ids.iter().copied());
        let help = near.map_or_else(|| ids.join(", "), |near| format!("did you mean `{near}`?"));
        return Err(stop(format!("unknown client `{client}`"), Some(help)));
    };
    let configs = scan::configurations(app);
    let own: Vec<&Config> = configs.iter().filter(|config| config.client.id == known.id).collect();
    let (config, entry) = choose(&own, args.server.as_deref(), known.title)?;
    // The entry is shown, with its variables and arguments.
    if let Some(launch) = &entry.launch {
        learn_launch(launch, &app.redactor);
        if let Launch::Command { args: words, env, .. } = launch {
            let variables = env.iter().map(|(name, value)| (name.as_str(), value.expose_secret()));
            learn_named_values(words.iter().map(String::as_str), variables, &app.redactor);
        }
    }
    let capture = if let Some(file) = &args.output {
        app.context.cwd.join(file)
    } else {
        let help = || Some("name a file with `-o`".to_owned());
        let folder =
            app.context.state_dir().ok_or_else(|| stop("no folder for captures", help()))?;
        folder.join("captures").join(format!("{}-{}", known.id, file_name(&entry.name)))
    };
    let program = app.context.program_for_files().display().to_string();
    let (new, by_hand, advice) = match &entry.launch {
        Some(Launch::Command { command, args: words, .. }) => {
            if is_recorded(command, words) {
                return Err(stop(format!("`{}` is recorded already", entry.name), None));
            }
            let front = ["record", "-o", &capture.display().to_string(), "--"].map(str::to_owned);
            let all = front.iter().chain([command]).chain(words).map(|word| json(word));
            let by_hand = format!(
                "command: {}\nargs: [{}]",
                json(&program),
                all.collect::<Vec<_>>().join(", ")
            );
            (NewLaunch::Before { program, words: front.to_vec() }, by_hand, None)
        }
        Some(Launch::Url { url, .. }) => {
            let (own, command) = url_stand_in(url, &capture, args, app)?;
            (
                NewLaunch::Url(own.clone()),
                format!("url: {own}"),
                Some(format!("keep this running:\n  {command}")),
            )
        }
        Some(Launch::Path { .. }) | None => {
            return Err(stop(format!("`{}` has neither a command nor a URL", entry.name), None));
        }
    };
    let former = std::fs::read_to_string(&config.path)
        .map_err(|error| stop(format!("cannot read {}: {error}", config.path.display()), None))?;
    let name = EntryName { name: &entry.name, project: entry.project.as_deref() };
    let edited = edit(config.client, &config.path, &former, name, &new);
    Ok(Installation {
        title: known.title,
        server: entry.name.clone(),
        path: config.path.clone(),
        former,
        capture,
        is_folder: args.output.is_none(),
        edited,
        by_hand,
        advice,
    })
}

fn choose<'c>(
    configs: &[&'c Config],
    server: Option<&str>,
    title: &str,
) -> Result<(&'c Config, &'c Entry), Stop> {
    let all =
        configs.iter().flat_map(|config| config.entries.iter().map(move |entry| (*config, entry)));
    let all: Vec<(&Config, &Entry)> = all.collect();
    let mut names: Vec<&str> = all.iter().map(|(_, entry)| entry.name.as_str()).collect();
    names.dedup();
    if all.is_empty() {
        let files: Vec<String> =
            configs.iter().map(|config| config.path.display().to_string()).collect();
        let help = match &files[..] {
            [] => "no configuration of this client was found".to_owned(),
            files => format!("read {}", files.join(", ")),
        };
        return Err(stop(format!("{title} has no MCP server"), Some(help)));
    }
    let Some(wanted) = server else {
        if let [one] = &all[..] {
            return Ok(*one);
        }
        let help = format!("name one with `--server`: {}", names.join(", "));
        return Err(stop(format!("{title} has several MCP servers"), Some(help)));
    };
    let found = all.iter().find(|(_, entry)| entry.name == wanted);
    found.copied().ok_or_else(|| {
        let help = format!("known servers: {}", names.join(", "));
        stop(format!("{title} has no MCP server `{wanted}`"), Some(help))
    })
}

/// The URL of the recorder and the command that runs it. A client does not start a server that it reaches by a URL.
fn url_stand_in(
    url: &str,
    capture: &Path,
    args: &Args,
    app: &App,
) -> Result<(String, String), Stop> {
    let parsed =
        Url::parse(url).map_err(|_| stop("the URL of the server is not a valid URL", None))?;
    let Some(listen) = args.listen.as_deref().filter(|listen| !listen.ends_with(":0")) else {
        let help = "name it with `--listen`, for example 127.0.0.1:8080".to_owned();
        return Err(stop("recording a URL needs a fixed address to listen on", Some(help)));
    };
    let program = quoted(&app.context.program_for_shell().display().to_string());
    let file = quoted(&capture.display().to_string());
    let command = format!("{program} record -o {file} --url {} --listen {listen}", quoted(url));
    Ok((format!("http://{listen}{}", parsed.path()), command))
}

fn is_recorded(command: &str, words: &[String]) -> bool {
    let program = Path::new(command).file_stem().is_some_and(|stem| stem == "quintain");
    program && words.first().is_some_and(|word| word == "record")
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A name of a server as part of a file name.
fn file_name(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    name.chars().map(fit).take(80).collect()
}

/// Writes the file and a copy of the former one next to it.
fn write(plan: &Installation, edited: &Edited) -> Result<PathBuf, String> {
    // A client may start a server in several windows, so each session gets a file of its own in this folder.
    let folder = if plan.is_folder { Some(plan.capture.as_path()) } else { plan.capture.parent() };
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    client_file::replace(&plan.path, &plan.former, &edited.text, ".before-record")
}
