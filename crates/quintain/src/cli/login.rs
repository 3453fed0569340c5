//! `quintain login`: an OAuth login at a protected server, kept for later runs.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use quintain_wire::auth::oauth::opener::Opener;
use quintain_wire::auth::{AuthContext, AuthError, LoginOptions, login};
use secrecy::SecretString;
use serde_json::json;
use url::Url;

use super::Desk;
use crate::exit::Exit;

/// Log in at a protected MCP server (OAuth authorization code with PKCE) and keep the tokens
///
/// The tokens are kept in a file that only you can read, in the state directory (`QUINTAIN_HOME`).
/// Other commands use them for the same URL; in CI, give `--stored-auth-only` to those.
///
/// Example: quintain login https://mcp.example.com/mcp
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Address of the MCP server
    url: Url,
    /// Client id, if the client was registered by hand
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Name of the environment variable that holds the client's secret
    #[arg(long, value_name = "VARIABLE")]
    client_secret_env: Option<String>,
    /// Scope to ask for; any number of times
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// Port of the redirect URI [default: any free port]
    #[arg(long, value_name = "PORT")]
    redirect_port: Option<u16>,
    /// Print the address to open instead of starting a browser
    #[arg(long)]
    no_browser: bool,
    /// Print what was stored as JSON, without the tokens
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: Args, desk: &Desk) -> Exit {
    desk.start_logging(false, false);
    let console = &desk.console;
    let client_secret = match &args.client_secret_env {
        None => None,
        Some(name) => {
            if let Some(secret) = desk.context.env.get(name) {
                Some(SecretString::from(secret.as_str()))
            } else {
                console.error(&format!("environment variable `{name}` is not set"), None);
                return Exit::Usage;
            }
        }
    };
    let Some(state_dir) = desk.context.state_dir() else {
        console.error("there is no directory to keep the login in", Some("set QUINTAIN_HOME"));
        return Exit::Usage;
    };
    let options = LoginOptions {
        client_id: args.client_id.clone(),
        client_secret,
        scopes: args.scopes.clone(),
        redirect_port: args.redirect_port,
        ..LoginOptions::default()
    };
    let mut context = AuthContext::new(desk.redactor.clone());
    context.state_dir = Some(state_dir);
    let opener = Arc::new(Browser { start: !args.no_browser });
    match login(&args.url, options, opener, context).await {
        Ok(stored) => {
            if args.json {
                let report = json!({
                    "url": stored.server_url.as_str(),
                    "issuer": stored.issuer,
                    "clientId": stored.client_id,
                    "scopes": stored.scopes,
                    "expiresAt": stored.expires_at,
                });
                console.json(&report);
            }
            console.note(&format!("logged in at {} for {}", stored.issuer, stored.server_url));
            Exit::Passed
        }
        Err(error) => {
            console.error(&format!("the login failed: {error}"), None);
            Exit::Unreachable
        }
    }
}

/// Starts the user's browser, and always says where it should have gone.
#[derive(Debug)]
struct Browser {
    start: bool,
}

impl Opener for Browser {
    #[expect(clippy::print_stderr, reason = "the address holds no secret and must not be masked")]
    fn open<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<(), AuthError>> {
        Box::pin(async move {
            eprintln!("open this address to log in:\n  {url}");
            if self.start {
                let program = if cfg!(target_os = "macos") {
                    "open"
                } else if cfg!(windows) {
                    "explorer"
                } else {
                    "xdg-open"
                };
                // Without a browser the address above is all there is, and it is enough.
                let _ = tokio::process::Command::new(program)
                    .arg(url.as_str())
                    .stdin(std::process::Stdio::null())
                    .stdout(std::process::Stdio::null())
                    .stderr(std::process::Stdio::null())
                    .spawn();
            }
            Ok(())
        })
    }
}
