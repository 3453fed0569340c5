//! The handshake of versions up to 2025-11-25.

use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::{Agreement, Choice, Era, NEWEST_LEGACY, NoAgreement, Version, client_info};
use crate::rpc::{Connection, Deadline, Request};

pub(super) const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Sends `initialize`, agrees on a version, confirms it and starts listening.
///
/// # Errors
/// When the server refuses, or responds with a version that is not acceptable.
pub async fn handshake(
    connection: &Connection,
    choice: Choice,
    deadline: Deadline,
) -> Result<Agreement, NoAgreement> {
    let wanted = match choice {
        Choice::Exact(version) => version,
        Choice::Auto | Choice::Newest(_) => NEWEST_LEGACY,
    };
    let mut params = Map::new();
    params.insert("protocolVersion".into(), wanted.name().into());
    params.insert("capabilities".into(), connection.responder().capabilities().into());
    params.insert("clientInfo".into(), client_info());
    let mut request = Request::new("initialize", params, deadline);
    request.opens_session = true;
    request.cancellable = false;
    let result = connection.request(request).await?.value()?;

    let offered = result.get("protocolVersion").cloned().unwrap_or(Value::Null);
    let acceptable = offered.as_str().and_then(Version::find).filter(|version| {
        version.era() == Era::Legacy && (choice != Choice::Exact(wanted) || *version == wanted)
    });
    let Some(version) = acceptable else {
        let offered = offered.as_str().map_or_else(|| offered.to_string(), str::to_owned);
        return Err(NoAgreement::Version { wanted: wanted.to_string(), offered });
    };
    connection.set_cancels_by_notice(true);
    // The header exists since 2025-06-18; older servers may refuse unknown headers.
    connection.set_ambient_headers(if version.name() >= "2025-06-18" {
        vec![(VERSION_HEADER, HeaderValue::from_static(version.name()))]
    } else {
        Vec::new()
    });
    connection
        .notify_delivered("notifications/initialized", &Map::new(), deadline.request)
        .await
        .map_err(|error| NoAgreement::Call(error.into()))?;
    connection.listen().await;
    Ok(Agreement {
        version,
        server: result.get("serverInfo").cloned().unwrap_or(Value::Null),
        capabilities: result.get("capabilities").cloned().unwrap_or_else(|| json!({})),
        instructions: result.get("instructions").and_then(Value::as_str).map(str::to_owned),
    })
}
