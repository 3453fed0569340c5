//! Turns a suite's definition of a server into an address to connect to.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use quintain_content::secret::is_secret;
use quintain_evidence::connection::{Auth, Launch, Server, Transport};
use quintain_wire::connect::{Address, HttpKind};
use quintain_wire::rpc::Deadline;
use quintain_wire::transport::courier::HttpConfig;
use quintain_wire::transport::stdio::{INHERITED, StdioConfig};
use secrecy::{ExposeSecret, SecretString};
use url::{ParseError, Url};

use super::{OpenError, credentials};
use crate::policy::Denied;
use crate::secrets::learn_launch;
use crate::world::World;

/// Maximum time for a TCP connection, even if the request timeout is longer.
const CONNECT: Duration = Duration::from_secs(10);

pub(super) fn address(
    server: &Server,
    deadline: &Deadline,
    world: &World,
) -> Result<Address, OpenError> {
    learn_launch(&server.launch, &world.redactor);
    let denied = |denied| OpenError::Denied { server: server.name.clone(), denied };
    match &server.launch {
        Launch::Command { command, args, env, cwd } => {
            stdio(command, args.clone(), env, cwd.as_deref(), world).map_err(denied)
        }
        Launch::Path { path, runtime, args, env, cwd } => {
            world.policy.file(path).map_err(denied)?;
            let mut all = vec![path.display().to_string()];
            all.extend(args.iter().cloned());
            stdio(runtime.command(), all, env, cwd.as_deref(), world).map_err(denied)
        }
        Launch::Url { url, headers, auth, transport } => {
            let refuse = |why| OpenError::Address { server: server.name.clone(), why };
            let url = parse(url).map_err(refuse)?;
            let headers = header_map(headers).map_err(refuse)?;
            let destinations = world.policy.destinations();
            destinations.check(&url).map_err(|error| denied(error.into()))?;
            if world.stored_auth_only || matches!(auth, Auth::Stored) {
                world.policy.stored_logins().map_err(denied)?;
            }
            let authorizer =
                credentials::authorizer(auth, &url, deadline.request, world).map_err(|error| {
                    OpenError::Auth { server: server.name.clone(), error: Box::new(error) }
                })?;
            let kind = match transport {
                Transport::Auto => HttpKind::Auto,
                Transport::StreamableHttp => HttpKind::Streamable,
                Transport::Sse => HttpKind::Sse,
            };
            let connect_timeout = deadline.request.min(CONNECT);
            let config = HttpConfig { url, headers, authorizer, connect_timeout, destinations };
            Ok(Address::Http(config, kind))
        }
    }
}

fn stdio(
    command: &str,
    args: Vec<String>,
    named: &BTreeMap<String, SecretString>,
    cwd: Option<&Path>,
    world: &World,
) -> Result<Address, Denied> {
    if let Some(cwd) = cwd {
        world.policy.file(cwd)?;
    }
    let command = world.commands().program(command, cwd, named.keys())?;
    let command = command.to_string_lossy().into_owned();
    let inherited = INHERITED
        .iter()
        .filter_map(|name| world.variable(name).map(|value| ((*name).to_owned(), value.clone())));
    let mut env: BTreeMap<String, String> = inherited.collect();
    for (name, value) in named {
        env.insert(name.clone(), value.expose_secret().to_owned());
    }
    let env = env.into_iter().collect();
    // A server that names no folder starts in that of the request, not in that of this process.
    let here = || Some(world.cwd.clone()).filter(|here| !here.as_os_str().is_empty());
    let cwd = cwd.map(Path::to_owned).or_else(here);
    Ok(Address::Stdio(StdioConfig { command, args, env, cwd }))
}

fn parse(url: &str) -> Result<Url, String> {
    let parsed = Url::parse(url).map_err(|error| match error {
        ParseError::RelativeUrlWithoutBase => {
            format!("`{url}` is not a valid URL: expected http:// or https://")
        }
        error => format!("`{url}` is not a valid URL: {error}"),
    })?;
    match parsed.scheme() {
        "http" | "https" => Ok(parsed),
        scheme => Err(format!("`{url}` has the scheme `{scheme}`; expected http or https")),
    }
}

fn header_map(headers: &[(String, SecretString)]) -> Result<HeaderMap, String> {
    let mut map = HeaderMap::new();
    for (name, secret) in headers {
        let header = HeaderName::try_from(name.as_str())
            .map_err(|_| format!("`{}` is not a valid header name", name.escape_debug()))?;
        let mut value = HeaderValue::from_str(secret.expose_secret())
            .map_err(|_| format!("the value of the header `{name}` contains invalid characters"))?;
        if is_secret(name, secret.expose_secret()) {
            value.set_sensitive(true);
        }
        map.append(header, value);
    }
    Ok(map)
}
