//! The loopback redirect URI (RFC 8252): a web server for one request that ends a login.

use std::collections::HashMap;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::Url;

use crate::auth::AuthError;

const PATH: &str = "/callback";

/// A request head longer than this is not from a login.
const HEAD_BYTES: usize = 16 << 10;

/// Browsers open connections on suspicion; one that stays silent is dropped after this.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

const CONNECTIONS: usize = 32;

/// Waits on 127.0.0.1 for the authorization server's answer.
pub(crate) struct Callback {
    listener: TcpListener,
    uri: Url,
}

/// The parameters of the redirect.
pub(crate) type Parameters = HashMap<String, String>;

impl Callback {
    /// Listens on `port`, or on one from the system.
    pub(crate) async fn bind(port: Option<u16>) -> Result<Self, AuthError> {
        let failed = |error: std::io::Error| {
            AuthError::Failed(format!(
                "cannot listen on 127.0.0.1:{} for the end of the login: {error}",
                port.unwrap_or(0)
            ))
        };
        let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let uri = format!("http://127.0.0.1:{port}{PATH}");
        let uri = Url::parse(&uri).map_err(|error| AuthError::Failed(error.to_string()))?;
        Ok(Self { listener, uri })
    }

    pub(crate) fn uri(&self) -> &Url {
        &self.uri
    }

    /// The first request for the redirect URI; all others get a 404.
    pub(crate) async fn wait(self) -> Result<Parameters, AuthError> {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < CONNECTIONS => {
                    let (stream, _) = accepted.map_err(|error| {
                        AuthError::Failed(format!("the end of the login cannot be received: {error}"))
                    })?;
                    connections.spawn(answer(stream));
                }
                Some(done) = connections.join_next() => {
                    if let Ok(Some(parameters)) = done {
                        return Ok(parameters);
                    }
                }
            }
        }
    }
}

/// Answers one connection; `Some` if it was the redirect.
async fn answer(mut stream: TcpStream) -> Option<Parameters> {
    let target = tokio::time::timeout(READ_TIMEOUT, target(&mut stream)).await.ok()??;
    let parameters = parameters(&target);
    let (status, text) = match &parameters {
        Some(found) if found.contains_key("error") => ("200 OK", "The login was refused."),
        Some(_) => ("200 OK", "The login is done. You can close this page."),
        None => ("404 Not Found", "Nothing here."),
    };
    let page = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
        text.len() + FRAME.0.len() + FRAME.1.len()
    );
    let page = format!("{page}{}{text}{}", FRAME.0, FRAME.1);
    // The parameters count even if the browser does not wait for the page.
    let _ = tokio::time::timeout(READ_TIMEOUT, async {
        stream.write_all(page.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
    parameters
}

const FRAME: (&str, &str) = ("<!doctype html><title>Quintain</title><p>", "</p>");

/// The target of the request line, once the whole head has arrived.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut chunk = [0_u8; 2048];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let count = stream.read(&mut chunk).await.ok()?;
        if count == 0 || head.len() + count > HEAD_BYTES {
            return None;
        }
        head.extend_from_slice(&chunk[..count]);
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.lines().next()?.split(' ');
    (words.next()? == "GET").then(|| words.next().map(str::to_owned))?
}

/// The parameters of a request for the redirect URI.
fn parameters(target: &str) -> Option<Parameters> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if path != PATH {
        return None;
    }
    let mut found = Parameters::new();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        // OAuth forbids repeating a parameter; the first one counts, so nothing can be put on top.
        found.entry(name.into_owned()).or_insert_with(|| value.into_owned());
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn send(port: u16, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer
    }

    #[tokio::test]
    async fn only_the_redirect_ends_the_wait() {
        let callback = Callback::bind(None).await.unwrap();
        let port = callback.uri().port().unwrap();
        let waiting = tokio::spawn(callback.wait());
        let _silent = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        assert!(send(port, b"GET /favicon.ico HTTP/1.1\r\n\r\n").await.starts_with("HTTP/1.1 404"));
        assert_eq!(send(port, b"POST /callback?code=x HTTP/1.1\r\n\r\n").await, "");
        assert_eq!(send(port, &vec![b'x'; HEAD_BYTES + 1]).await, "");
        let page = send(port, b"GET /callback?code=a%20b&code=evil&state=s HTTP/1.1\r\n\r\n").await;
        assert!(page.starts_with("HTTP/1.1 200") && page.contains("close this page"), "{page}");
        let found = waiting.await.unwrap().unwrap();
        assert_eq!(found["code"], "a b");
        assert_eq!(found["state"], "s");
    }
}
