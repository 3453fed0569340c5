//! The loopback redirect URI (RFC 8252): a web server that waits for the request that ends a login.
//!
//! Any program on this machine and any page in the user's browser can send requests to it. So only a request with the
//! `state` of the login counts; all others are refused and change nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use url::Url;

use crate::auth::AuthError;

const PATH: &str = "/callback";

/// Maximum size of a request head; those of logins are shorter.
const HEAD_BYTES: usize = 16 << 10;

/// Time limit of a request: browsers also open connections that they do not use.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of connections: the oldest one is closed, so that none can block others.
const CONNECTIONS: usize = 32;

/// Time to wait after an error of the listener, such as too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// Waits on 127.0.0.1 for the redirect of the authorization server.
pub(crate) struct Callback {
    listener: TcpListener,
    uri: Url,
}

/// The parameters of the redirect.
pub(crate) type Parameters = HashMap<String, String>;

impl Callback {
    /// Listens on `port`, or on any free port.
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

    /// Returns the first request for the redirect URI with this `state`. The caller sets the time limit.
    pub(crate) async fn wait(self, state: &str) -> Result<Parameters, AuthError> {
        let state: Arc<str> = state.into();
        let mut connections = JoinSet::new();
        let mut open: VecDeque<AbortHandle> = VecDeque::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let Ok((stream, _)) = accepted else {
                        tokio::time::sleep(PAUSE).await;
                        continue;
                    };
                    open.retain(|connection| !connection.is_finished());
                    if open.len() >= CONNECTIONS && let Some(oldest) = open.pop_front() {
                        oldest.abort();
                    }
                    open.push_back(connections.spawn(answer(stream, Arc::clone(&state))));
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

/// The kind of a request, by its first line.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    /// The redirect that ends the login.
    Redirect(Parameters),
    /// The redirect URI without the state of the login.
    WrongState,
    /// Another path, such as the icon that browsers request.
    Elsewhere,
    /// A method other than GET; link checkers send `HEAD`.
    NotGet,
    /// Not HTTP.
    Malformed,
}

/// Responds to one connection; `Some` if it was the redirect.
async fn answer(mut stream: TcpStream, state: Arc<str>) -> Option<Parameters> {
    let head = tokio::time::timeout(READ_TIMEOUT, head(&mut stream)).await.ok()??;
    let asked = Asked::read(&head, &state);
    let (status, text) = match &asked {
        Asked::Redirect(found) if found.contains_key("error") => {
            ("200 OK", "The login was refused.")
        }
        Asked::Redirect(_) => ("200 OK", "The login is done. You can close this page."),
        Asked::WrongState => ("400 Bad Request", "This redirect does not belong to the login."),
        Asked::Elsewhere => ("404 Not Found", "Not found."),
        Asked::NotGet => ("405 Method Not Allowed", ""),
        Asked::Malformed => ("400 Bad Request", ""),
    };
    let body = if text.is_empty() { String::new() } else { format!("{START}{text}{END}") };
    let page = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    // The parameters count even if the browser does not wait for the page.
    let _ = tokio::time::timeout(READ_TIMEOUT, async {
        stream.write_all(page.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
    match asked {
        Asked::Redirect(parameters) => Some(parameters),
        _ => None,
    }
}

const START: &str = "<!doctype html><title>Quintain</title><p>";
const END: &str = "</p>";

/// Reads the complete head of the request.
async fn head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut chunk = [0_u8; 2048];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let count = stream.read(&mut chunk).await.ok()?;
        if count == 0 || head.len() + count > HEAD_BYTES {
            return None;
        }
        head.extend_from_slice(&chunk[..count]);
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

impl Asked {
    fn read(head: &str, state: &str) -> Self {
        let line = head.lines().next().unwrap_or_default();
        let words: Vec<&str> = line.split(' ').collect();
        let [method, target, version] = words[..] else { return Self::Malformed };
        if !version.starts_with("HTTP/1.") {
            return Self::Malformed;
        }
        if method != "GET" {
            return Self::NotGet;
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if path != PATH {
            return Self::Elsewhere;
        }
        let mut found = Parameters::new();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            // OAuth forbids repeated parameters; the first one counts, so later ones cannot override it.
            found.entry(name.into_owned()).or_insert_with(|| value.into_owned());
        }
        if found.get("state").is_some_and(|found| found == state) {
            Self::Redirect(found)
        } else {
            Self::WrongState
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    async fn send(port: u16, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer
    }

    #[tokio::test]
    async fn only_the_redirect_with_the_state_of_the_login_ends_the_wait() {
        let callback = Callback::bind(None).await.unwrap();
        let port = callback.uri().port().unwrap();
        let waiting = tokio::spawn(async move { callback.wait("s").await });
        let _silent = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        for (request, status) in [
            ("GET /favicon.ico HTTP/1.1\r\n\r\n", "404"),
            ("POST /callback?code=x&state=s HTTP/1.1\r\n\r\n", "405"),
            ("HEAD /callback?code=x&state=s HTTP/1.1\r\n\r\n", "405"),
            ("GET /callback HTTP/1.1\r\n\r\n", "400"),
            ("GET /callback?code=evil HTTP/1.1\r\n\r\n", "400"),
            ("GET /callback?code=evil&state= HTTP/1.1\r\n\r\n", "400"),
            ("GET /callback?code=evil&state=t HTTP/1.1\r\n\r\n", "400"),
            ("GET /callback?code=evil&state=t&state=s HTTP/1.1\r\n\r\n", "400"),
            ("GET /callback?error=access_denied HTTP/1.1\r\n\r\n", "400"),
            ("nonsense\r\n\r\n", "400"),
            ("GET /callback?code=evil&state=s\r\n\r\n", "400"),
        ] {
            let answer = send(port, request.as_bytes()).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {answer}");
        }
        assert_eq!(send(port, &vec![b'x'; HEAD_BYTES + 1]).await, "");
        let page = send(port, b"GET /callback?code=a%20b&code=evil&state=s HTTP/1.1\r\n\r\n").await;
        assert!(page.starts_with("HTTP/1.1 200") && page.contains("close this page"), "{page}");
        let found = waiting.await.unwrap().unwrap();
        assert_eq!(found["code"], "a b");
        assert_eq!(found["state"], "s");
    }

    #[tokio::test]
    async fn connections_that_never_finish_do_not_keep_the_redirect_out() {
        let callback = Callback::bind(None).await.unwrap();
        let port = callback.uri().port().unwrap();
        let waiting = tokio::spawn(async move { callback.wait("s").await });
        let mut slow = Vec::new();
        for _ in 0..CONNECTIONS * 3 {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            stream.write_all(b"GET /callback?sta").await.unwrap();
            slow.push(stream);
        }
        let start = std::time::Instant::now();
        let page = send(port, b"GET /callback?code=c&state=s HTTP/1.1\r\n\r\n").await;
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        assert!(start.elapsed() < READ_TIMEOUT, "{:?}", start.elapsed());
        assert_eq!(waiting.await.unwrap().unwrap()["code"], "c");
    }

    proptest! {
        #[test]
        fn no_request_is_the_redirect_without_the_state(head in "(GET /callback\\?)?.*") {
            let asked = Asked::read(&head, "the state of this login");
            prop_assert!(!matches!(asked, Asked::Redirect(_)), "{asked:?}");
        }
    }
}
