//! Metadata on every request, as of 2026-07-28.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::legacy::VERSION_HEADER;
use super::{Agreement, Choice, Era, NEWEST_MODERN, NoAgreement, Version, client_info};
use crate::rpc::{CallError, Connection, Deadline, Request};
use crate::transport::Headers;

const METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
const NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");
/// The prefix of all metadata keys that the protocol defines.
const KEY: &str = "io.modelcontextprotocol";

/// Headers and body of a request disagree.
pub const HEADER_MISMATCH: i64 = -32020;
/// The server needs a client capability that was not declared.
pub const MISSING_CAPABILITY: i64 = -32021;
/// The server does not speak the version of the request.
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// Whether an error can only come from a modern server.
pub fn is_modern_error(error: &CallError) -> bool {
    matches!(error, CallError::Rpc { error, .. }
        if matches!(error.code, HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION))
}

/// Sends `server/discover`.
///
/// # Errors
/// When the server does not support it, or supports no acceptable version of this era.
pub async fn discover(
    connection: &Connection,
    choice: Choice,
    deadline: Deadline,
) -> Result<Agreement, NoAgreement> {
    let version = match choice {
        Choice::Exact(version) => version,
        Choice::Auto | Choice::Newest(_) => NEWEST_MODERN,
    };
    let result = match ask(connection, version, deadline).await {
        // The server may support another version of this era that we support, too.
        Err(CallError::Rpc { error, .. }) if error.code == UNSUPPORTED_VERSION => {
            let offered = names(error.data.as_ref().and_then(|data| data.get("supported")));
            let Some(version) = acceptable(&offered, choice) else {
                return Err(no_version(version, &offered));
            };
            ask(connection, version, deadline).await?
        }
        asked => asked?,
    };
    let offered = names(result.get("supportedVersions"));
    let Some(version) = acceptable(&offered, choice) else {
        return Err(no_version(version, &offered));
    };
    speak(connection, version);
    // Over HTTP, closing the stream of a request cancels it.
    connection.set_cancels_by_notice(!connection.transport().is_http());
    Ok(Agreement {
        version,
        server: result
            .get("_meta")
            .and_then(|meta| meta.get(format!("{KEY}/serverInfo")))
            .cloned()
            .unwrap_or(Value::Null),
        capabilities: result.get("capabilities").cloned().unwrap_or_else(|| json!({})),
        instructions: result.get("instructions").and_then(Value::as_str).map(str::to_owned),
    })
}

async fn ask(
    connection: &Connection,
    version: Version,
    deadline: Deadline,
) -> Result<Value, CallError> {
    speak(connection, version);
    let mut params = Map::new();
    decorate(&mut params, version, connection);
    let mut request = Request::new("server/discover", params, deadline);
    request.headers = headers("server/discover", &request.params);
    request.cancellable = false;
    connection.request(request).await?.value()
}

fn speak(connection: &Connection, version: Version) {
    let version = HeaderValue::from_static(version.name());
    connection.set_ambient_headers(vec![(VERSION_HEADER, version)]);
}

fn names(list: Option<&Value>) -> Vec<String> {
    let names = list.and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn acceptable(offered: &[String], choice: Choice) -> Option<Version> {
    offered
        .iter()
        .filter_map(|name| Version::find(name))
        .filter(|version| version.era() == Era::Modern)
        .filter(|version| !matches!(choice, Choice::Exact(wanted) if wanted != *version))
        .max()
}

fn no_version(wanted: Version, offered: &[String]) -> NoAgreement {
    let offered = if offered.is_empty() { "none".into() } else { offered.join(", ") };
    NoAgreement::Version { wanted: wanted.to_string(), offered }
}

/// Adds the metadata that every request must carry.
pub fn decorate(params: &mut Map<String, Value>, version: Version, connection: &Connection) {
    let meta = params.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(meta) = meta else { return };
    let capabilities = connection.responder().capabilities();
    for (name, value) in [
        ("protocolVersion", version.name().into()),
        ("clientInfo", client_info()),
        ("clientCapabilities", Value::Object(capabilities)),
    ] {
        meta.entry(format!("{KEY}/{name}")).or_insert(value);
    }
}

/// Asks for log messages while a request is processed.
pub fn ask_for_logs(params: &mut Map<String, Value>, level: &str) {
    if let Some(Value::Object(meta)) = params.get_mut("_meta") {
        meta.entry(format!("{KEY}/logLevel")).or_insert(level.into());
    }
}

/// The headers that mirror method and name of a request.
pub fn headers(method: &str, params: &Map<String, Value>) -> Headers {
    let mut headers = Vec::with_capacity(3);
    headers.push((METHOD_HEADER, header_value(method)));
    let name = match method {
        "tools/call" | "prompts/get" => params.get("name"),
        "resources/read" => params.get("uri"),
        _ => None,
    };
    if let Some(name) = name.and_then(Value::as_str) {
        headers.push((NAME_HEADER, header_value(name)));
    }
    headers
}

/// A value encoded for a header: plain if it is safe, else base64 between markers.
pub fn header_value(text: &str) -> HeaderValue {
    let plain = text.bytes().all(|byte| matches!(byte, 0x20..=0x7E))
        && text.trim_matches(' ') == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let encoded = || format!("=?base64?{}?=", STANDARD.encode(text));
    let value = if plain { HeaderValue::from_str(text) } else { HeaderValue::from_str(&encoded()) };
    // Both branches contain only visible ASCII, which is valid in every header.
    value.unwrap_or_else(|_| HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_values_are_encoded_as_the_specification_shows() {
        for (text, expected) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("", ""),
        ] {
            assert_eq!(header_value(text), expected, "{text:?}");
        }
    }
}
