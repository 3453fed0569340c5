//! `quintain redteam init`: writes a suite that attacks a target.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use quintain_engine::World;
use quintain_engine::jobs::config;
use quintain_evidence::connection::{Launch, McpTarget};
use quintain_redteam::attack::{Attack, Capabilities, Identity};
use quintain_redteam::attacks;
use quintain_redteam::orders::{Fit, Orders, fitting};
use quintain_redteam::suits::Receiver;
use quintain_report::{yaml_block, yaml_string};
use quintain_scan::clients::words;

use super::{orders, writing};
use crate::cli::App;
use crate::cli::ask_user::ask_user;
use crate::cli::target::{self, TargetArgs};
use crate::exit::Exit;

/// Write a suite that attacks a target
///
/// Lists what the target offers, and chooses the attacks that apply to it; calls no tools. Without a target, uses the
/// practice target. At a terminal, asks for missing options.
///
/// Examples:
///   quintain redteam init -- python3 server.py
///   quintain redteam init attacks --purpose 'Books rooms for employees' --url http://127.0.0.1:3000/mcp
///   quintain redteam run -c attacks/quintain.yaml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Folder to write the suite to
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Purpose of the target, in one sentence
    #[arg(long, value_name = "TEXT")]
    purpose: Option<String>,
    /// Attacks and collections, separated by commas [default: those that suit the target]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    plugins: Vec<String>,
    /// Maximum number of places for each attack [default: 10]
    #[arg(long, value_name = "N")]
    num_tests: Option<usize>,
    /// Do not start or contact the target
    #[arg(long)]
    offline: bool,
    /// Overwrite an existing suite
    #[arg(long)]
    force: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    // Last, because its heading would also cover the options that follow it.
    #[command(flatten)]
    target: TargetArgs,
}

const FILE: &str = "quintain.yaml";
const NUM_TESTS: usize = 10;

pub(super) async fn run(args: Args, app: &App) -> Exit {
    match attempt(args, app).await {
        Ok(exit) | Err(exit) => exit,
    }
}

async fn attempt(mut args: Args, app: &App) -> Result<Exit, Exit> {
    let here = args.dir == Path::new(".");
    let path = if here { PathBuf::from(FILE) } else { args.dir.join(FILE) };
    if app.context.cwd.join(&path).exists() && !args.force {
        let help = "name another folder, or overwrite it with `--force`";
        app.console.error(&format!("`{}` already exists", path.display()), Some(help));
        return Err(Exit::Usage);
    }
    orders::choose(&mut Orders::default(), &args.plugins, app)?;
    if app.context.answers && !args.json {
        ask(&mut args, app).await;
    }
    let practice = !args.target.is_named();
    if practice {
        let words = ["quintain", "demo", "--stdio", "--vulnerable"];
        args.target = TargetArgs::for_command(words.map(str::to_owned).to_vec());
        // The running program may have another name than the one in the suite.
        args.offline = true;
    }
    let (target, world) = args.target.resolve(app, args.json)?;
    let chosen = if args.offline || !args.plugins.is_empty() {
        None
    } else {
        suited(&target, &world, app).await
    };
    let text = text(&args, &target, chosen.as_deref(), practice, app);
    writing::write(&path, &text, args.force, app).map_err(|what| {
        app.console.error(&what, None);
        Exit::Usage
    })?;
    let next = if here {
        "quintain redteam run".to_owned()
    } else {
        format!("quintain redteam run -c {}", path.display())
    };
    if args.json {
        let file = path.display().to_string();
        app.console.json(&serde_json::json!({"files": [file], "next": next}));
    } else {
        app.console.out(&path.display().to_string());
        app.console.note(&format!("next: {next}"));
    }
    Ok(Exit::Passed)
}

/// Asks for missing options; an empty line chooses the default in brackets.
async fn ask(args: &mut Args, app: &App) {
    if !args.target.is_named() {
        let how = "Command or URL of the server? [the practice target]";
        let line = ask_user(how, app).await;
        if line.starts_with("http://") || line.starts_with("https://") {
            args.target = TargetArgs::for_url(line);
        } else if !line.is_empty() {
            args.target = TargetArgs::for_command(words(&line));
        }
    }
    if args.purpose.is_none() {
        let line = ask_user("Purpose of the server, in one sentence? [none]", app).await;
        args.purpose = Some(line).filter(|line| !line.is_empty());
    }
    if args.plugins.is_empty() {
        let which = "Attacks, separated by commas? [those that suit the server]";
        args.plugins = loop {
            let line = ask_user(which, app).await;
            let names = line.split(',').map(|name| name.trim().to_owned());
            let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
            if orders::choose(&mut Orders::default(), &names, app).is_ok() {
                break names;
            }
        };
    }
    while args.num_tests.is_none() {
        let how_many = format!("Maximum number of places for each attack? [{NUM_TESTS}]");
        args.num_tests = match ask_user(&how_many, app).await.as_str() {
            "" => Some(NUM_TESTS),
            line => line.parse().ok().filter(|number| *number > 0),
        };
    }
}

type Fits = Vec<(&'static dyn Attack, Fit)>;

/// The attacks that suit a target; none if it cannot be opened.
async fn suited(target: &McpTarget, world: &World, app: &App) -> Option<Fits> {
    let sessions = match target::open(target, world, app).await {
        Ok(sessions) => sessions,
        Err(error) => {
            let what = format!("{error}; the suite lists all attacks, including unsuitable ones");
            app.console.warn(&what);
            return None;
        }
    };
    let listed = sessions.survey().await.into_iter();
    let surfaces: Vec<_> = listed.map(|(server, surface, _)| (server, surface)).collect();
    sessions.close().await;
    let started = |launch: &Launch| !matches!(launch, Launch::Url { .. });
    let here = target.servers.iter().all(|server| match &server.launch {
        Launch::Url { url, .. } => {
            ["//127.", "//localhost", "//[::1]"].iter().any(|host| url.contains(host))
        }
        _ => true,
    });
    // A run without `identities` has one: the target as configured.
    let tools = surfaces.iter().flat_map(|(_, surface)| &surface.tools);
    let tools = tools.filter_map(|tool| Some(tool.name()?.to_owned())).collect();
    let own = Identity { name: "default".to_owned(), tools, ..Identity::default() };
    let capabilities = Capabilities {
        identities: vec![own],
        same_host: here,
        http: !target.servers.iter().all(|server| started(&server.launch)),
        loopback: here,
        ..Capabilities::default()
    };
    Some(fitting(&surfaces, &capabilities))
}

fn text(
    args: &Args,
    target: &McpTarget,
    fits: Option<&[(&'static dyn Attack, Fit)]>,
    practice: bool,
    app: &App,
) -> String {
    let name = target.servers.first().map_or("mcp", |server| server.name.as_str());
    let config = config(name, target, &Orders::default(), &app.redactor);
    let mut text = String::from(
        "# yaml-language-server: $schema=quintain.schema.json\n\
         # (`quintain schema > quintain.schema.json` lets editors complete and check this file.)\n\
         #\n\
         # `quintain redteam run` attacks the target with this suite; `quintain redteam generate` writes the attempts\n\
         # as tests. `quintain explain NAME` explains an attack and its proof.\n\n",
    );
    let _ = writeln!(text, "description: {}", yaml_string(&format!("Attacks on {name}")));
    if practice {
        text += "# The practice target; replace it with your own server.\n";
    }
    let _ = writeln!(text, "targets:{}\n", yaml_block(&config["targets"], 2));
    text += "redteam:\n  # The purpose of the target, used to judge attacks on access control.\n";
    match &args.purpose {
        Some(purpose) => {
            let _ = writeln!(text, "  purpose: {}", yaml_string(purpose));
        }
        None => text += "  # purpose: Manages the payments of customers.\n",
    }
    let _ = writeln!(
        text,
        "\n  # Maximum number of places for each attack.\n  numTests: {}\n",
        args.num_tests.unwrap_or(NUM_TESTS)
    );
    text += "  plugins:\n";
    text += &plugins(args, fits);
    text += "\n  # Strategies rewrite attempts; `basic` is the plain form. `quintain redteam strategies` lists them.\n  \
             strategies:\n    - basic\n    # - base64\n    # - leetspeak\n";
    text += identities(target);
    text
}

fn plugins(args: &Args, fits: Option<&[(&'static dyn Attack, Fit)]>) -> String {
    if !args.plugins.is_empty() {
        let lines = args.plugins.iter().map(|name| format!("    - {}\n", yaml_string(name.trim())));
        return lines.collect();
    }
    let width = attacks::suiting(Receiver::Arguments)
        .map(|attack| attack.meta().id.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    let mut line = |off: &str, id: &str, why: &str| {
        let _ = writeln!(text, "    {off}- {id:width$}  # {why}");
    };
    let Some(fits) = fits else {
        for attack in attacks::suiting(Receiver::Arguments) {
            line("", attack.meta().id, attack.meta().summary);
        }
        return text;
    };
    for (attack, _) in fits.iter().filter(|(_, fit)| *fit == Fit::Suits) {
        line("", attack.meta().id, attack.meta().summary);
    }
    for (attack, fit) in fits {
        match fit {
            Fit::Suits => {}
            Fit::Lacks(why) => line("# ", attack.meta().id, why),
            Fit::NoPlace => line("# ", attack.meta().id, "does not apply: no matching tools"),
        }
    }
    text
}

/// A commented example with two identities.
fn identities(target: &McpTarget) -> &'static str {
    let http = matches!(target.servers.first().map(|one| &one.launch), Some(Launch::Url { .. }));
    if http {
        "\n  # With two identities, attacks request the data of the first as the second.\n  \
         # identities:\n  \
         #   - {name: alice, role: admin, auth: {type: bearer, token: '{{env.ALICE_TOKEN}}'}}\n  \
         #   - {name: bob, role: user, auth: {type: bearer, token: '{{env.BOB_TOKEN}}'}}\n"
    } else {
        "\n  # With two identities, attacks request the data of the first as the second.\n  \
         # identities:\n  \
         #   - {name: alice, role: admin, env: {API_TOKEN: '{{env.ALICE_TOKEN}}'}}\n  \
         #   - {name: bob, role: user, env: {API_TOKEN: '{{env.BOB_TOKEN}}'}}\n"
    }
}
