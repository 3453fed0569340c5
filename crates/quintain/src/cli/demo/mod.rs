//! `quintain demo`: the practice target, shown at work, or served for others to practise on.

mod practise;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use quintain_demo::{ApiKeyPlacement, Auth, DemoConfig, Twin, serve_http, serve_stdio, weaknesses};
use serde_json::{Value, json};

use super::target::{self, TargetArgs};
use super::{Desk, render};
use crate::console::Tone;
use crate::exit::Exit;

/// Practise: start the built-in payments server, show what it offers and run a suite over it
///
/// Needs no argument, no key and no network, and writes quintain-demo.html. With `--stdio` or `--http` the practice target is served
/// instead, for other clients and for your own suites; it comes as a vulnerable and a patched twin.
///
/// Examples:
///   quintain demo
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
    /// The twin with planted weaknesses
    #[arg(long, conflicts_with = "patched")]
    vulnerable: bool,
    /// The twin without them [default]
    #[arg(long)]
    patched: bool,
    /// Who calls, on standard input and output: a customer or an employee [default: cust_1001]
    #[arg(long, value_name = "ID", env = "DEMO_USER")]
    user: Option<String>,
    /// How callers prove who they are over HTTP
    #[arg(long, value_name = "KIND", default_value = "none",
        value_parser = ["none", "bearer", "basic", "api-key", "api-key-query", "oauth"])]
    auth: String,
    /// Seconds that an OAuth access token lives
    #[arg(long, value_name = "SECONDS", default_value_t = 90)]
    token_ttl: u64,
    /// Items per page of a listing
    #[arg(long, value_name = "N")]
    page_size: Option<usize>,
    /// Directory for the target's files, left behind at the end [default: a temporary one, removed]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print the planted weaknesses and where they are
    #[arg(long)]
    weaknesses: bool,
    /// Print JSON, with `--weaknesses`
    #[arg(long, requires = "weaknesses")]
    json: bool,
}

impl Args {
    /// Whether it serves others until it is stopped.
    pub(super) fn serves(&self) -> bool {
        self.stdio || self.http.is_some()
    }
}

pub(super) async fn run(args: Args, desk: &Desk) -> Exit {
    if args.weaknesses {
        return list_weaknesses(args.json, desk);
    }
    let served = if args.stdio {
        serve_stdio(config(&args)).await.map_err(|error| error.to_string())
    } else if args.http.is_some() {
        serve(config(&args), desk).await
    } else {
        return show(&args, desk).await;
    };
    match served {
        Ok(()) => Exit::Passed,
        Err(error) => {
            desk.console.error(&format!("the practice target failed: {error}"), None);
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

async fn serve(config: DemoConfig, desk: &Desk) -> Result<(), String> {
    let mut running = serve_http(config).await.map_err(|error| error.to_string())?;
    // On standard output, so that a script can read where the system put it.
    desk.console.out(&json!({"url": running.url(), "sse": running.sse_url()}).to_string());
    running.wait().await.map_err(|error| error.to_string())
}

fn list_weaknesses(as_json: bool, desk: &Desk) -> Exit {
    if as_json {
        let rows: Vec<Value> = weaknesses()
            .iter()
            .map(|weakness| {
                json!({"rule": weakness.rule, "place": weakness.place.to_string(), "what": weakness.what})
            })
            .collect();
        desk.console.json(&Value::Array(rows));
    } else {
        for weakness in weaknesses() {
            let place = weakness.place.to_string();
            desk.console.out(&format!("{:<20} {place:<34} {}", weakness.rule, weakness.what));
        }
    }
    Exit::Passed
}

/// Starts the target as a process of its own and talks to it as to any other.
async fn show(args: &Args, desk: &Desk) -> Exit {
    let console = &desk.console;
    let mut command = vec![desk.context.program.display().to_string()];
    command.extend(["demo", "--stdio"].map(str::to_owned));
    let twin = if args.vulnerable { "--vulnerable" } else { "--patched" };
    command.push(twin.to_owned());
    let resolved = TargetArgs::for_command(command).resolve(desk, false);
    let (target, world) = match resolved {
        Ok(resolved) => resolved,
        Err(exit) => return exit,
    };
    let sessions = match target::open(&target, &world, desk).await {
        Ok(sessions) => sessions,
        Err(error) => {
            console.error(&error.to_string(), None);
            return Exit::Unreachable;
        }
    };
    for (name, surface, _) in sessions.survey().await {
        console.out(&render::surface(&name, &surface, console));
    }
    sessions.close().await;
    console.out(&format!("\n{}\n", console.paint(Tone::Bold, "A suite over it")));
    let outcome = match practise::run(twin, desk).await {
        Ok(outcome) => outcome,
        Err(wrong) => {
            wrong.report(desk);
            return Exit::Usage;
        }
    };
    if outcome.summary.interrupted {
        return Exit::Interrupted;
    }
    console.note(
        "\nnext: quintain init, quintain inspect -- COMMAND, quintain call TOOL JSON -- COMMAND, \
         quintain demo --help",
    );
    if outcome.unreachable.is_empty() { Exit::Passed } else { Exit::Unreachable }
}
