//! `quintain demo`: runs a suite on the practice target, grades a conversation with it and attacks it, or serves it to other
//! clients.

mod attack;
mod attack_suites;
mod findings;
mod folder;
mod grading;
mod practise;
mod verdict;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use quintain_demo::{ApiKeyPlacement, Auth, DemoConfig, Twin, serve_http, serve_stdio, weaknesses};
use serde_json::{Value, json};

use self::attack_suites::ATTACK_SUITES;
use super::target::{self, TargetArgs};
use super::{App, render};
use crate::exit::Exit;

/// Try Quintain on a built-in payments server: test it, grade a conversation, attack it
///
/// Needs no argument, no key and no network. The server has two variants: the vulnerable twin, where all planted weaknesses must
/// be found, and the patched twin, where nothing must be found. Writes reports and suites to quintain-demo/. `--stdio` and
/// `--http` serve the target instead, for other clients and for your own suites.
///
/// Examples:
///   quintain demo
///   quintain redteam run -- quintain demo --stdio --vulnerable
///   quintain inspect -- quintain demo --stdio --vulnerable
///   quintain demo --http 127.0.0.1:8080 --auth bearer
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Serve the practice target on standard input and output
    #[arg(long, conflicts_with = "http")]
    stdio: bool,
    /// Serve the practice target at this address: streamable HTTP at /mcp, HTTP+SSE at /sse
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// Use the twin with planted weaknesses
    #[arg(long, conflicts_with = "patched")]
    vulnerable: bool,
    /// Use the twin without them [default]
    #[arg(long)]
    patched: bool,
    /// User that calls with `--stdio`: a customer or an employee [default: cust_1001]
    #[arg(long, value_name = "ID", env = "DEMO_USER")]
    user: Option<String>,
    /// Authentication of callers over HTTP
    #[arg(long, value_name = "KIND", default_value = "none",
        value_parser = ["none", "bearer", "basic", "api-key", "api-key-query", "oauth"])]
    auth: String,
    /// Lifetime of OAuth access tokens in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 90)]
    token_ttl: u64,
    /// Items per page of a listing
    #[arg(long, value_name = "N")]
    page_size: Option<usize>,
    /// Directory for the target's files, kept at the end [default: a temporary one, removed]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// List the planted weaknesses and their places
    #[arg(long)]
    weaknesses: bool,
    /// Only show the target and run the suite
    #[arg(long)]
    no_attack: bool,
    /// Attack only with one of the suites
    #[arg(long, value_name = "SUITE", conflicts_with = "no_attack", value_parser = ["server", "people", "roles", "stream"])]
    only: Option<String>,
    /// Print the findings as JSON; with `--weaknesses`, the planted weaknesses
    #[arg(long, conflicts_with_all = ["stdio", "http"])]
    json: bool,
}

impl Args {
    /// Whether it serves the target until it is stopped.
    pub(super) fn serves(&self) -> bool {
        self.stdio || self.http.is_some()
    }
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    if args.weaknesses {
        return list_weaknesses(args.json, app);
    }
    let served = if args.stdio {
        serve_stdio(config(&args)).await.map_err(|error| error.to_string())
    } else if args.http.is_some() {
        serve(config(&args), app).await
    } else {
        return show(&args, app).await;
    };
    match served {
        Ok(()) => Exit::Passed,
        Err(error) => {
            app.console.error(&format!("the practice target failed: {error}"), None);
            Exit::Unreachable
        }
    }
}

fn config(args: &Args) -> DemoConfig {
    let twin = if args.vulnerable { Twin::Vulnerable } else { Twin::Patched };
    let auth = match args.auth.as_str() {
        "bearer" => Auth::Bearer,
        "basic" => Auth::Basic,
        "api-key" => Auth::api_key(),
        "api-key-query" => {
            Auth::ApiKey { name: "api_key".into(), placement: ApiKeyPlacement::Query }
        }
        "oauth" => Auth::OAuth,
        _ => Auth::None,
    };
    let mut config =
        DemoConfig::new(twin).with_auth(auth).with_token_ttl(Duration::from_secs(args.token_ttl));
    if let Some(user) = &args.user {
        config = config.with_user(user);
    }
    if let Some(bind) = args.http {
        config = config.with_bind(bind);
    }
    if let Some(page_size) = args.page_size {
        config = config.with_page_size(page_size);
    }
    if let Some(data_dir) = &args.data_dir {
        config = config.with_data_dir(data_dir);
    }
    config
}

async fn serve(config: DemoConfig, app: &App) -> Result<(), String> {
    let mut running = serve_http(config).await.map_err(|error| error.to_string())?;
    // Scripts read the port that the system chose from standard output.
    app.console.out(&json!({"url": running.url(), "sse": running.sse_url()}).to_string());
    running.wait().await.map_err(|error| error.to_string())
}

fn list_weaknesses(as_json: bool, app: &App) -> Exit {
    if as_json {
        let rows: Vec<Value> = weaknesses()
            .iter()
            .map(|weakness| {
                json!({"rule": weakness.rule, "place": weakness.place.to_string(), "what": weakness.what})
            })
            .collect();
        app.console.json(&Value::Array(rows));
    } else {
        for weakness in weaknesses() {
            let place = weakness.place.to_string();
            app.console.out(&format!("{:<20} {place:<34} {}", weakness.rule, weakness.what));
        }
    }
    Exit::Passed
}

/// Shows the target, runs a suite on it, and attacks it.
async fn show(args: &Args, app: &App) -> Exit {
    let console = &app.console;
    let twin = if args.vulnerable { "--vulnerable" } else { "--patched" };
    if !args.json {
        if let Err(exit) = present(twin, app).await {
            return exit;
        }
        console.out("");
        let outcome = match practise::run(twin, app).await {
            Ok(outcome) => outcome,
            Err(exit) => return exit,
        };
        if outcome.summary.interrupted {
            return Exit::Interrupted;
        }
        if !outcome.unreachable.is_empty() {
            return Exit::Unreachable;
        }
    }
    if !args.json {
        let graded = grading::run(app).await;
        if graded.is_err() || *app.stop.borrow() {
            return graded.err().unwrap_or(Exit::Interrupted);
        }
    }
    ATTACK_SUITES.iter().for_each(|attack_suite| attack_suite.write(app));
    let exit = if args.no_attack {
        Exit::Passed
    } else {
        Box::pin(attack::run(args.only.as_deref(), args.json, app)).await
    };
    if exit == Exit::Passed && !args.json {
        console.note(&outlook(!args.no_attack, app));
    }
    exit
}

/// Names the report and three next commands, with the name or path of this program that works in the user's shell.
fn outlook(attacked: bool, app: &App) -> String {
    let report = if attacked {
        let report = ATTACK_SUITES[0].report(Twin::Vulnerable);
        format!("report: {} (the others are in the same folder)", report.display())
    } else {
        format!("report: {}", folder::path(practise::REPORT).display())
    };
    let program =
        quintain_engine::jobs::quoted(&app.context.program_for_shell().display().to_string());
    let suite = folder::path(practise::FILE);
    let attack = ATTACK_SUITES[0].file();
    let conversation = folder::path(grading::FILE);
    let again = if attacked { "attack again" } else { "attack the target" };
    format!(
        "\n{report}\nnext:\n  \
         {program} eval -c {}  # run the suite again\n  \
         {program} redteam run -c {}  # {again}\n  \
         {program} grade {}  # grade the conversation again",
        suite.display(),
        attack.display(),
        conversation.display(),
    )
}

/// Starts the target as a separate process and prints what it offers.
async fn present(twin: &str, app: &App) -> Result<(), Exit> {
    let console = &app.console;
    let mut command = vec![app.context.program.display().to_string()];
    command.extend(["demo", "--stdio", twin].map(str::to_owned));
    let (target, world) = TargetArgs::for_command(command).resolve(app, false)?;
    let sessions = target::open(&target, &world, app).await.map_err(|error| {
        console.error(&error.to_string(), None);
        Exit::Unreachable
    })?;
    for (name, surface, _) in sessions.survey().await {
        console.out(&render::surface_in_short(&name, &surface, console));
    }
    sessions.close().await;
    Ok(())
}
