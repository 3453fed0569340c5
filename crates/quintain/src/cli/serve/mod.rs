//! `quintain serve`: Quintain as an MCP server, for applications on this machine or for a team.

mod check;
mod install;
mod settings;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use quintain_engine::store::LOCAL_OWNER;
use quintain_serve::audit::Audit;
use quintain_serve::auth::folder_in;
use quintain_serve::catalogue::Catalogue;
use quintain_serve::http;
use quintain_serve::platform::{Allowances, Platform};
use quintain_serve::principal::Principal;
use quintain_serve::server::{Server, serve_stdio};
use quintain_serve::settings::{Effective, Transport, warnings};
use serde_json::json;

use super::{App, job, runs, store};
use crate::exit::Exit;

/// Serve Quintain's tools, prompts and resources to MCP applications
///
/// Over standard input and output by default, for one application of this machine and without authentication. `--http` serves
/// a team: streamable HTTP at /mcp, HTTP+SSE at /mcp/sse, with tokens of `quintain token new` or of an OpenID Connect issuer.
/// Settings come from the `serve:` section of quintain.yaml, from environment variables and from flags.
///
/// Examples:
///   quintain serve
///   quintain serve --http 127.0.0.1:8765
///   quintain serve install --client claude-code
///   quintain serve check
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Install(install::Args),
}

/// The flags that change settings.
#[derive(Debug, Clone, clap::Args)]
struct Options {
    /// Serve one client on standard input and output [default]
    #[arg(long, conflicts_with = "http")]
    stdio: bool,
    /// Serve over HTTP at this address [default: 127.0.0.1:8765]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = quintain_serve::settings::DEFAULT_ADDRESS)]
    http: Option<SocketAddr>,
    /// Tools to list: core (14) or full
    #[arg(long, value_name = "SET", value_parser = ["core", "full"])]
    toolset: Option<String>,
    /// URL of this server as clients see it, behind a reverse proxy
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// PEM file with the certificate chain, to serve HTTPS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// PEM file with the private key
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Configuration file with a `serve:` section [default: quintain.yaml, if it exists]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Also serve what tests of the protocol need
    #[arg(long, hide = true)]
    fixtures: bool,
    /// Also serve what the official conformance suite asks for
    #[arg(long, hide = true)]
    conformance: bool,
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    app.start_logging(false, false);
    match args.command {
        Some(Command::Check(check)) => check::run(&check, app),
        Some(Command::Install(install)) => install::run(&install, app).await,
        None => match settings::read(&args.options, app) {
            Ok(effective) => serve(effective, &args.options, app).await,
            Err(exit) => exit,
        },
    }
}

async fn serve(effective: Effective, options: &Options, app: &App) -> Exit {
    let settings = effective.settings;
    let store = match store::open(app).await {
        Ok(store) => store,
        Err(error) => {
            app.console.error(&error.to_string(), runs::help(&error));
            return Exit::Usage;
        }
    };
    let audit = match app.context.state_dir().map(|folder| Audit::open(&folder)) {
        Some(Ok(audit)) => Some(audit),
        Some(Err(error)) => {
            app.console.error(&format!("cannot open the audit log: {error}"), None);
            return Exit::Usage;
        }
        None => None,
    };
    let jobs = job::jobs(app, Some(store.clone()));
    let mut catalogue = if options.fixtures {
        Catalogue::with_fixtures(settings.toolset)
    } else {
        Catalogue::of(settings.toolset)
    };
    catalogue.is_for_conformance = options.conformance;
    if let Some(folder) = &settings.prompt_template_dir {
        match quintain_serve::prompts::load_own(folder) {
            Ok(prompts) => catalogue.add_prompts(prompts),
            Err(why) => {
                app.console.error(&format!("cannot read the prompts in {why}"), None);
                return Exit::Usage;
            }
        }
    }
    let transport = settings.transport;
    let allowances = match Allowances::of(&settings, app.context.cwd.clone()) {
        Ok(allowances) => allowances,
        Err(errors) => {
            let help = "write a host, or a host and a port: `staging.example:443`";
            errors.iter().for_each(|error| app.console.error(error, Some(help)));
            return Exit::Usage;
        }
    };
    let platform = Platform::new(jobs, store, settings, allowances);
    let server = Server::new(platform, catalogue, audit);
    match transport {
        Transport::Stdio => {
            let mut stop = app.stop.clone();
            tokio::select! {
                () = serve_stdio(Arc::clone(&server), Principal::local(LOCAL_OWNER)) => {}
                _ = stop.wait_for(|stopped| *stopped) => {
                    server.stop();
                    server.finished().await;
                }
            }
            Exit::Passed
        }
        Transport::Http => serve_http(server, app).await,
    }
}

/// Serves until the user stops it. Runs that are under way can be resumed later.
async fn serve_http(server: Arc<Server>, app: &App) -> Exit {
    let Some(folder) = app.context.state_dir() else {
        app.console.error("no directory for the keys of the server", Some("set QUINTAIN_HOME"));
        return Exit::Usage;
    };
    for what in warnings(server.settings()) {
        app.console.warn(&what);
    }
    let listening = match http::listen(server, &folder_in(&folder)).await {
        Ok(listening) => listening,
        Err(error) => {
            app.console.error(&error.to_string(), None);
            return Exit::Usage;
        }
    };
    // Scripts read the port that the system chose from standard output.
    app.console.out(&json!({"url": listening.url(), "sse": listening.sse_url()}).to_string());
    match listening.serve(app.stop.clone()).await {
        Ok(()) => Exit::Passed,
        Err(error) => {
            app.console.error(&error.to_string(), None);
            Exit::Unreachable
        }
    }
}
