//! The official SDK's client, `rmcp`, with the same calls.

use std::path::Path;
use std::time::Duration;

use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{Peer, ServiceExt};
use serde_json::{Map, Value};
use tokio::process::Command;

use super::drive::{Threads, drive, runtime};
use crate::Failure;

/// Time for `calls` calls over stdio.
pub fn stdio(
    server: &Path,
    threads: Threads,
    calls: usize,
    in_flight: usize,
) -> Result<Duration, Failure> {
    runtime(threads)?.block_on(async {
        let transport = TokioChildProcess::new(Command::new(server))?;
        run(().serve(transport).await?, calls, in_flight).await
    })
}

/// Time for `calls` calls over streamable HTTP.
pub fn http(
    port: u16,
    threads: Threads,
    calls: usize,
    in_flight: usize,
) -> Result<Duration, Failure> {
    runtime(threads)?.block_on(async {
        let url = format!("http://127.0.0.1:{port}/mcp");
        let transport = StreamableHttpClientTransport::from_uri(url);
        run(().serve(transport).await?, calls, in_flight).await
    })
}

async fn run(
    service: RunningService<RoleClient, ()>,
    calls: usize,
    in_flight: usize,
) -> Result<Duration, Failure> {
    let peer: Peer<RoleClient> = service.peer().clone();
    let took = drive(calls, in_flight, move || {
        let peer = peer.clone();
        async move {
            let mut arguments = Map::new();
            arguments.insert("message".into(), Value::from("hi"));
            let params = CallToolRequestParams::new("echo").with_arguments(arguments);
            peer.call_tool(params).await?;
            Ok(())
        }
    })
    .await;
    service.cancel().await?;
    took
}
