//! Records a URL over HTTP.

use std::net::SocketAddr;

use quintain_content::secret::shown_url;
use quintain_engine::secrets::{learn, learn_url};
use quintain_wire::recording::http::{Target, serve};
use quintain_wire::recording::{Capture, Via};
use serde_json::Map;
use tokio::net::TcpListener;
use url::Url;

use super::App;
use crate::cli::interrupted;
use crate::exit::Exit;

/// A proxy that listens and has not accepted a connection yet.
pub(super) struct Proxy {
    target: Target,
    /// The URL as it can be shown.
    shown: String,
    listener: TcpListener,
    address: SocketAddr,
}

pub(super) async fn prepare(
    url: &str,
    headers: &[(String, String)],
    listen_on: Option<&str>,
    app: &App,
) -> Result<Proxy, Exit> {
    let console = &app.console;
    learn_url(url, &app.redactor);
    let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(parsed) = parsed.filter(Url::has_host) else {
        let help = "expected a URL that starts with http:// or https://";
        console.error(&format!("`{}` is not a valid URL", shown_url(url)), Some(help));
        return Err(Exit::Usage);
    };
    let mut added = Vec::new();
    for (name, value) in headers {
        learn(&quintain_content::secret::of_named(name, value), &app.redactor);
        let (Ok(parsed_name), Ok(value)) = (name.parse(), value.parse()) else {
            console.error(&format!("invalid header `{name}`"), None);
            return Err(Exit::Usage);
        };
        added.push((parsed_name, value));
    }
    let (listener, address) = listen(listen_on.unwrap_or("127.0.0.1:0"), app).await?;
    let shown = shown_url(parsed.as_str());
    Ok(Proxy { target: Target::new(parsed, added), shown, listener, address })
}

impl Proxy {
    pub(super) async fn run(self, capture: &Capture, app: &App) -> Exit {
        capture.start(
            Via::Http,
            Map::from_iter([
                ("url".to_owned(), self.shown.as_str().into()),
                ("listen".to_owned(), self.address.to_string().into()),
                ("quintain".to_owned(), env!("CARGO_PKG_VERSION").into()),
            ]),
        );
        announce(self.address, self.target.url.path(), app);
        let served = tokio::select! {
            served = serve(self.listener, self.target, capture.clone()) => served,
            // Open streams do not delay the end.
            () = interrupted() => Ok(()),
        };
        capture.note("exit", Map::new());
        match served {
            Ok(()) => Exit::Passed,
            Err(why) => {
                app.console.error(&format!("cannot record {}: {why}", self.shown), None);
                Exit::Unreachable
            }
        }
    }
}

/// Scripts wait for this line, so `--quiet` does not suppress it.
pub(super) fn announce(address: SocketAddr, path: &str, app: &App) {
    app.console.err(&format!("listening on http://{address}{path}"));
}

/// Listens on an address as users write it: with a port, a name, or both. Without a name, only this machine can connect.
pub(super) async fn listen(text: &str, app: &App) -> Result<(TcpListener, SocketAddr), Exit> {
    let refuse = |why: String| {
        let help = "expected HOST:PORT, for example 127.0.0.1:8080; port 0 means any free port";
        app.console.error(&format!("cannot listen on `{text}`: {why}"), Some(help));
        Exit::Usage
    };
    let full = match text.strip_prefix(':') {
        Some(port) => format!("127.0.0.1:{port}"),
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => format!("127.0.0.1:{text}"),
        None => text.to_owned(),
    };
    let listener = TcpListener::bind(&full).await.map_err(|error| refuse(error.to_string()))?;
    let address = listener.local_addr().map_err(|error| refuse(error.to_string()))?;
    if !address.ip().is_loopback() {
        app.console.warn(&format!(
            "{} is reachable from other machines, and requests are not authenticated",
            address.ip()
        ));
    }
    Ok((listener, address))
}
