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

pub(super) async fn run(
    url: &str,
    headers: &[(String, String)],
    listen_on: Option<&str>,
    capture: &Capture,
    app: &App,
) -> Exit {
    let console = &app.console;
    learn_url(url, &app.redactor);
    let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(parsed) = parsed.filter(Url::has_host) else {
        let help = "expected a URL that starts with http:// or https://";
        console.error(&format!("`{}` is not a valid URL", shown_url(url)), Some(help));
        return Exit::Usage;
    };
    let mut added = Vec::new();
    for (name, value) in headers {
        learn(&quintain_content::secret::of_named(name, value), &app.redactor);
        let (Ok(parsed_name), Ok(value)) = (name.parse(), value.parse()) else {
            console.error(&format!("invalid header `{name}`"), None);
            return Exit::Usage;
        };
        added.push((parsed_name, value));
    }
    let (listener, address) = match listen(listen_on.unwrap_or("127.0.0.1:0"), app).await {
        Ok(bound) => bound,
        Err(exit) => return exit,
    };
    let path = parsed.path().to_owned();
    capture.start(
        Via::Http,
        Map::from_iter([
            ("url".to_owned(), shown_url(parsed.as_str()).into()),
            ("listen".to_owned(), address.to_string().into()),
            ("quintain".to_owned(), env!("CARGO_PKG_VERSION").into()),
        ]),
    );
    announce(address, &path, app);
    let served = tokio::select! {
        served = serve(listener, Target::new(parsed, added), capture.clone()) => served,
        // Open streams do not delay the end.
        () = interrupted() => Ok(()),
    };
    capture.note("exit", Map::new());
    match served {
        Ok(()) => Exit::Passed,
        Err(why) => {
            console.error(&format!("cannot record {}: {why}", shown_url(url)), None);
            Exit::Unreachable
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
