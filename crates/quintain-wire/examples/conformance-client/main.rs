//! The client that the official conformance suite drives: our connection code, and a script per scenario.
//!
//! All MCP and OAuth code is in the library, except what only this suite asks for. The suite passes the scenario in three variables and its server's URL as the
//! last argument; see `peers/conformance/NOTES.md`.

mod credentials;
mod headless;
mod script;
mod skills;

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use quintain_wire::auth::{self, AuthContext};
use quintain_wire::connect::{Address, HttpKind, Options, connect};
use quintain_wire::destination::Destinations;
use quintain_wire::era::{Choice, Era, Version};
use quintain_wire::frame::Recording;
use quintain_wire::limits::Limits;
use quintain_wire::redact::Redactor;
use quintain_wire::rpc::Deadline;
use quintain_wire::transport::courier::HttpConfig;
use serde_json::Value;
use url::Url;

/// Errors end the program and are printed for people.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Shorter than the limit of the suite (30 s), so that our error is reported instead of its time limit.
const TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "the suite keeps what a client prints")]
            {
                eprintln!("error: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<()> {
    let url: Url = env::args().next_back().unwrap_or_default().parse()?;
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context: Value = match env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => Value::Null,
    };
    let redactor = Redactor::default();
    let authorizer = auth::authorizer(
        credentials::config(&scenario, &context)?,
        &url,
        AuthContext::new(redactor.clone()),
    )?;
    let http = HttpConfig {
        url,
        headers: http::HeaderMap::new(),
        authorizer,
        connect_timeout: Duration::from_secs(5),
        destinations: Destinations::everywhere(),
    };
    let options = Options {
        protocol: protocol(env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").ok().as_deref()),
        deadline: Deadline::after(TIMEOUT),
        responder: script::responder(&scenario),
        recording: Recording::new(None, redactor),
        limits: Limits::default(),
    };
    let session = connect(&Address::Http(http, HttpKind::Streamable), &options).await?;
    let played = script::play(&session, &scenario, &context).await;
    session.close().await;
    played
}

/// The suite names the version of its server: the era is fixed, the handshake finds the version.
fn protocol(version: Option<&str>) -> Choice {
    let era = version.and_then(Version::find).map_or(Era::Legacy, Version::era);
    Choice::Newest(era)
}
