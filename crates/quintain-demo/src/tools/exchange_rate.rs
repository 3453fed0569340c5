//! `fetch_exchange_rate`: gets a rate from a URL, which should be on the rates host.

use std::time::Duration;

use rmcp::{
    model::CallToolResponse,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use url::Url;

use super::{Call, DemoTool, Effect, ToolError, json, paths, payments::CURRENCIES, text};
use crate::config::Twin;

/// The only allowed host. The demo answers for it itself, so no network is needed.
const RATES_HOST: &str = "rates.techmart.example";

const LONGEST_FETCH: Duration = Duration::from_secs(3);
const LONGEST_ANSWER: u64 = 64 * 1024;
const MOST_REDIRECTS: usize = 3;

pub(super) struct FetchExchangeRate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The currency to convert US dollars to.
    #[schemars(extend("enum" = CURRENCIES))]
    currency: String,
    /// Where to get the rate; only http://rates.techmart.example/ is allowed.
    #[schemars(example = &"http://rates.techmart.example/latest", length(min = 1, max = 2048))]
    source_url: String,
}

impl DemoTool for FetchExchangeRate {
    type Args = Args;

    const NAME: &'static str = "fetch_exchange_rate";
    const TITLE: &'static str = "Fetch exchange rate";
    const DESCRIPTION: &'static str = "Fetches an exchange rate. Only URLs of the rates host \
        http://rates.techmart.example/ are allowed, all others are refused.";
    const EFFECT: Effect = Effect::ReadsOutside;

    async fn call(call: Call<'_>, args: Args) -> Result<CallToolResponse, ToolError> {
        let url = Url::parse(&args.source_url)
            .map_err(|_| ToolError::invalid("source_url", "is not a URL"))?;
        if url.scheme() == "http" && url.host_str() == Some(RATES_HOST) && has_plain_authority(&url)
        {
            let rate = match args.currency.as_str() {
                "EUR" => 0.92,
                "GBP" => 0.79,
                _ => 1.0,
            };
            return json(&json!({ "base": "USD", "currency": args.currency, "rate": rate }));
        }
        match call.twin() {
            // PLANTED (ssrf, unsafe-url-scheme): the description promises a check that does not exist.
            Twin::Vulnerable => match url.scheme() {
                "file" => {
                    let path = url
                        .to_file_path()
                        .map_err(|()| ToolError::invalid("source_url", "is not a file"))?;
                    paths::read(path).await.map(text)
                }
                _ => get(url).await.map(text),
            },
            Twin::Patched => Err(ToolError::Refused("only the rates host is allowed")),
        }
    }
}

fn has_plain_authority(url: &Url) -> bool {
    url.port().is_none() && url.username().is_empty() && url.password().is_none()
}

/// A small HTTP/1.1 GET that follows redirects.
async fn get(mut url: Url) -> Result<String, ToolError> {
    for _ in 0..=MOST_REDIRECTS {
        let answer = tokio::time::timeout(LONGEST_FETCH, get_once(&url))
            .await
            .unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()))
            .map_err(|error| failed(&url, error.to_string()))?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let Some(location) = redirect(head) else {
            return Ok(format!("{}\n\n{body}", head.lines().next().unwrap_or_default()));
        };
        url = url.join(location).map_err(|error| failed(&url, error.to_string()))?;
    }
    Err(failed(&url, "too many redirects".into()))
}

fn failed(url: &Url, detail: String) -> ToolError {
    ToolError::Fetch { url: url.to_string(), detail }
}

fn redirect(head: &str) -> Option<&str> {
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?;
    lines
        .filter(|_| status.starts_with('3'))
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("location"))
        .map(|(_, value)| value.trim())
}

async fn get_once(url: &Url) -> std::io::Result<String> {
    if url.scheme() != "http" {
        return Err(std::io::Error::other("unsupported scheme"));
    }
    let addresses = url.socket_addrs(|| Some(80))?;
    let mut stream = TcpStream::connect(&*addresses).await?;
    let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let request =
        format!("GET {target} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(LONGEST_ANSWER).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_is_found_whatever_its_spelling() {
        assert_eq!(redirect("HTTP/1.1 302 Found\r\nlocation: /next"), Some("/next"));
        assert_eq!(redirect("HTTP/1.1 200 OK\r\nLocation: /next"), None);
        assert_eq!(redirect("nonsense"), None);
    }
}
