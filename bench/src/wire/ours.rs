//! The measured client: `Session::call_tool` on a current-thread runtime, as in the product.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use quintain_wire::auth::{AuthError, Authorizer, Credentials, Refusal};
use quintain_wire::connect::{Address, HttpKind, Options, connect};
use quintain_wire::era::Choice;
use quintain_wire::frame::Recording;
use quintain_wire::limits::Limits;
use quintain_wire::rpc::{Deadline, Script};
use quintain_wire::transport::courier::HttpConfig;
use quintain_wire::transport::stdio::StdioConfig;
use serde_json::json;

use super::drive::{Threads, drive, runtime};
use crate::Failure;

/// Time for `calls` calls over stdio.
pub fn stdio(server: &Path, calls: usize, in_flight: usize) -> Result<Duration, Failure> {
    let command = server.to_string_lossy().into_owned();
    let address = Address::Stdio(StdioConfig { command, ..StdioConfig::default() });
    run(address, calls, in_flight)
}

/// Time for `calls` calls over streamable HTTP.
pub fn http(port: u16, calls: usize, in_flight: usize) -> Result<Duration, Failure> {
    let config = HttpConfig {
        url: format!("http://127.0.0.1:{port}/mcp").parse()?,
        headers: http::HeaderMap::new(),
        authorizer: Arc::new(Nobody),
        connect_timeout: Duration::from_secs(5),
        destinations: quintain_wire::destination::Destinations::default(),
    };
    run(Address::Http(config, HttpKind::Streamable), calls, in_flight)
}

fn run(address: Address, calls: usize, in_flight: usize) -> Result<Duration, Failure> {
    let options = Options {
        protocol: Choice::Auto,
        deadline: Deadline::after(Duration::from_secs(60)),
        responder: Arc::new(Script::default()),
        recording: Recording::default(),
        limits: Limits::default(),
    };
    runtime(Threads::One)?.block_on(async {
        let session = Arc::new(connect(&address, &options).await?);
        let caller = session.clone();
        let took = drive(calls, in_flight, move || {
            let session = caller.clone();
            async move {
                let reply = session.call_tool("echo", json!({"message": "hi"})).await?;
                // As a caller would: the result as a value, not only as bytes.
                reply.value()?;
                Ok(())
            }
        })
        .await;
        session.close().await;
        took
    })
}

struct Nobody;

impl Authorizer for Nobody {
    fn credentials(&self) -> BoxFuture<'_, Result<Credentials, AuthError>> {
        Box::pin(async { Ok(Credentials::default()) })
    }

    fn refused(&self, _: Refusal) -> BoxFuture<'_, Result<bool, AuthError>> {
        Box::pin(async { Ok(false) })
    }
}
