//! `quintain login`: logs in to a protected server with OAuth, and stores the tokens for later runs.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use quintain_engine::secrets::learn_url;
use quintain_wire::auth::oauth::opener::Opener;
use quintain_wire::auth::{AuthContext, AuthError, LoginOptions, StoredTokens, TokenStore, login};
use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;

use super::App;
use crate::exit::Exit;

/// Log in to a protected MCP server (OAuth authorization code with PKCE) and store the tokens
///
/// The tokens are stored in a file that only you can read, in the state directory (`QUINTAIN_HOME`).
/// Other commands use them for the same URL; in CI, pass `--stored-auth-only` to them.
///
/// Examples:
///   quintain login https://mcp.example.com/mcp
///   quintain login --list
///   quintain login --forget https://mcp.example.com/mcp
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// URL of the MCP server
    #[arg(required_unless_present = "list", value_parser = server_url)]
    url: Option<Url>,
    /// List the stored logins, without the tokens
    #[arg(long, conflicts_with = "url")]
    list: bool,
    /// Delete the stored login of this server
    #[arg(long, requires = "url")]
    forget: bool,
    /// Client id, if you registered the client manually
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Environment variable that contains the client's secret
    #[arg(long, value_name = "VARIABLE")]
    client_secret_env: Option<String>,
    /// Scope to request; repeatable
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// Port of the redirect URI [default: any free port]
    #[arg(long, value_name = "PORT")]
    redirect_port: Option<u16>,
    /// Print the URL to open instead of starting a browser
    #[arg(long)]
    no_browser: bool,
    /// Print the stored login as JSON, without the tokens
    #[arg(long)]
    json: bool,
}

fn server_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| "expected a URL that starts with http:// or https://".to_owned())
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    app.start_logging(false, false);
    let console = &app.console;
    let named = args.client_secret_env.as_ref();
    let client_secret = named.and_then(|name| app.context.env.get(name));
    if let (Some(name), None) = (named, client_secret) {
        console.error(&format!("environment variable `{name}` is not set"), None);
        return Exit::Usage;
    }
    let client_secret = client_secret.map(|secret| SecretString::from(secret.as_str()));
    let Some(state_dir) = app.context.state_dir() else {
        console.error("no directory to store the login in", Some("set QUINTAIN_HOME"));
        return Exit::Usage;
    };
    if let Some(url) = &args.url {
        learn_url(url.as_str(), &app.redactor);
    }
    let store = TokenStore::new(&state_dir);
    let done = match &args.url {
        None => store.list().map(|kept| show(&kept, &args, app)),
        Some(url) if args.forget => store.delete(url).await.map(|deleted| {
            let forgotten = if deleted == 0 { "no login is stored" } else { "deleted the login" };
            console.note(forgotten);
        }),
        Some(url) => {
            let options = LoginOptions {
                client_id: args.client_id.clone(),
                client_secret,
                scopes: args.scopes.clone(),
                redirect_port: args.redirect_port,
                ..LoginOptions::default()
            };
            let mut context = AuthContext::new(app.redactor.clone());
            context.state_dir = Some(state_dir);
            let opener = Arc::new(Browser { start: !args.no_browser });
            login(url, options, opener, context).await.map(|kept| {
                console.note(&format!("logged in at {} for {}", kept.issuer, kept.server_url));
                if args.json {
                    show(&[kept], &args, app);
                }
            })
        }
    };
    match done {
        Ok(()) => Exit::Passed,
        Err(error) => {
            console.error(&format!("the login failed: {error}"), None);
            Exit::Unreachable
        }
    }
}

fn show(kept: &[StoredTokens], args: &Args, app: &App) {
    for kept in kept {
        learn_url(kept.server_url.as_str(), &app.redactor);
    }
    if args.json {
        let rows = kept.iter().map(|kept| {
            json!({
                "url": kept.server_url.as_str(),
                "issuer": kept.issuer,
                "clientId": kept.client_id,
                "scopes": kept.scopes,
                "expiresAt": kept.expires_at,
                "renewable": kept.renewable(),
            })
        });
        app.console.json(&Value::Array(rows.collect()));
        return;
    }
    for kept in kept {
        let renewable = if kept.renewable() { "renewable" } else { "not renewable" };
        app.console.out(&format!("{}  issued by {}, {renewable}", kept.server_url, kept.issuer));
    }
}

/// Starts the user's browser, and always prints the URL.
#[derive(Debug)]
struct Browser {
    start: bool,
}

impl Opener for Browser {
    #[expect(clippy::print_stderr, reason = "the URL contains no secret and must not be masked")]
    fn open<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<(), AuthError>> {
        Box::pin(async move {
            eprintln!("open this URL to log in:\n  {url}");
            if self.start {
                let program = if cfg!(target_os = "macos") {
                    "open"
                } else if cfg!(windows) {
                    "explorer"
                } else {
                    "xdg-open"
                };
                // If no browser starts, the user opens the printed URL.
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
