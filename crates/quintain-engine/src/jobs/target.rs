//! Chooses and adjusts the target of a request.

use quintain_content::secret::shown_url;
use quintain_evidence::connection::{
    Auth, Launch, McpTarget, ProtocolChoice, Responders, Server, Timeouts, ToolFilter, Transport,
};
use quintain_source::{Span, closest};
use quintain_suite::suite::Suite;
use quintain_wire::era::{Choice, VERSIONS};
use secrecy::SecretString;
use serde_json::Map;
use std::time::Duration;

use super::environment::Refusal;
use super::request::TargetRequest;

/// The target that a request defines, or chooses from a suite.
///
/// # Errors
/// When there is no such target.
pub fn choose(request: &TargetRequest, suite: Option<&Suite>) -> Result<McpTarget, Refusal> {
    if let Some(url) = &request.url {
        let launch = Launch::Url {
            url: url.clone(),
            headers: Vec::new(),
            auth: Auth::None,
            transport: Transport::Auto,
        };
        // The name is in every report, and runs are compared by it, so it must not contain credentials.
        return Ok(plain(shown_url(url), launch));
    }
    if let Some((command, args)) = request.command.split_first() {
        let launch = Launch::Command {
            command: command.clone(),
            args: args.to_vec(),
            env: std::collections::BTreeMap::new(),
            cwd: None,
        };
        return Ok(plain(command.clone(), launch));
    }
    let targets = suite.map(|suite| &suite.targets[..]).unwrap_or_default();
    let mcp: Vec<(&str, &McpTarget)> =
        targets.iter().filter_map(|target| Some((target.name(), target.as_mcp()?))).collect();
    let names = || mcp.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>();
    let refused = |what: String, help: Option<String>| Refusal::Usage { what, help };
    let chosen = match (request.name.as_deref(), &mcp[..]) {
        (_, []) => return Err(refused("the suite has no MCP target".to_owned(), None)),
        (Some(wanted), _) => mcp.iter().find(|(name, _)| *name == wanted).ok_or_else(|| {
            let near = closest(wanted, mcp.iter().map(|(name, _)| *name));
            let help = near.map_or_else(
                || format!("it has {}", names().join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            refused(format!("the suite has no MCP target `{wanted}`"), Some(help))
        })?,
        (None, [only]) => only,
        (None, _) => {
            let help = format!("choose one with --target: {}", names().join(", "));
            return Err(refused("the suite has several MCP targets".to_owned(), Some(help)));
        }
    };
    Ok(chosen.1.clone())
}

/// The target of a red-team run.
#[derive(Debug)]
pub enum ChosenTarget {
    Mcp(Box<McpTarget>),
    /// A target that takes text, by its position in the suite.
    Text(usize),
}

impl ChosenTarget {
    pub fn as_mcp(&self) -> Option<&McpTarget> {
        match self {
            Self::Mcp(target) => Some(target),
            Self::Text(_) => None,
        }
    }

    pub fn as_mcp_mut(&mut self) -> Option<&mut McpTarget> {
        match self {
            Self::Mcp(target) => Some(target),
            Self::Text(_) => None,
        }
    }
}

/// The target to attack that a request defines, or chooses from a suite: MCP servers, or a target that takes text. If
/// the request names none, MCP servers come first.
///
/// # Errors
/// When there is no such target.
pub fn choose_attacked(
    request: &TargetRequest,
    suite: Option<&Suite>,
) -> Result<ChosenTarget, Refusal> {
    let targets = suite.map(|suite| &suite.targets[..]).unwrap_or_default();
    let texts: Vec<(usize, &str)> = targets
        .iter()
        .enumerate()
        .filter(|(_, target)| target.as_mcp().is_none())
        .map(|(at, target)| (at, target.name()))
        .collect();
    let is_given = request.url.is_some() || !request.command.is_empty();
    let has_mcp = texts.len() < targets.len();
    if is_given || texts.is_empty() {
        return choose(request, suite).map(|target| ChosenTarget::Mcp(Box::new(target)));
    }
    let is = |wanted: &str| texts.iter().find(|(_, name)| *name == wanted).map(|(at, _)| *at);
    match (request.name.as_deref(), &texts[..]) {
        (Some(wanted), _) if is(wanted).is_some() => {
            Ok(ChosenTarget::Text(is(wanted).unwrap_or_default()))
        }
        (None, [(only, _)]) if !has_mcp => Ok(ChosenTarget::Text(*only)),
        (None, _) if !has_mcp => {
            let names: Vec<String> = texts.iter().map(|(_, name)| format!("`{name}`")).collect();
            let help = format!("choose one with --target: {}", names.join(", "));
            let what = "the suite has several targets".to_owned();
            Err(Refusal::Usage { what, help: Some(help) })
        }
        (Some(wanted), _) if !has_mcp => {
            let near = closest(wanted, texts.iter().map(|(_, name)| *name));
            let help = near.map(|near| format!("did you mean `{near}`?"));
            Err(Refusal::Usage { what: format!("the suite has no target `{wanted}`"), help })
        }
        _ => choose(request, suite).map(|target| ChosenTarget::Mcp(Box::new(target))),
    }
}

/// A target with one server and default options.
pub fn plain(name: String, launch: Launch) -> McpTarget {
    McpTarget {
        enabled: true,
        servers: vec![Server { name, launch, span: Span::default() }],
        filter: ToolFilter::default(),
        default_args: Map::new(),
        timeouts: Timeouts::default(),
        ping_on_connect: false,
        debug: None,
        verbose: None,
        protocol: ProtocolChoice::Auto,
        respond: Responders::default(),
        transform_response: None,
    }
}

/// Overrides settings of the suite with those of the request.
///
/// # Errors
/// When an option is invalid or has no effect on this target.
pub fn adjust(request: &TargetRequest, target: &mut McpTarget) -> Result<(), String> {
    if let Some(millis) = request.timeout_ms {
        target.timeouts.request = (millis > 0).then(|| Duration::from_millis(millis));
    }
    if let Some(protocol) = &request.protocol {
        target.protocol = match protocol.as_str() {
            "auto" => ProtocolChoice::Auto,
            "legacy" => ProtocolChoice::Legacy,
            "modern" => ProtocolChoice::Modern,
            version if Choice::find(version).is_some() => ProtocolChoice::Exact(version.to_owned()),
            other => {
                let known = VERSIONS.join(", ");
                return Err(format!(
                    "--protocol `{other}` is not one of auto, legacy, modern, {known}"
                ));
            }
        };
    }
    refuse_useless(request, target)?;
    let secret =
        |(name, value): &(String, String)| (name.clone(), SecretString::from(value.clone()));
    for server in &mut target.servers {
        match &mut server.launch {
            Launch::Url { headers, transport, .. } => {
                headers.extend(request.headers.iter().map(secret));
                match request.transport.as_deref() {
                    Some("streamable-http") => *transport = Transport::StreamableHttp,
                    Some("sse") => *transport = Transport::Sse,
                    _ => {}
                }
            }
            Launch::Command { env, cwd, .. } | Launch::Path { env, cwd, .. } => {
                env.extend(request.env.iter().map(secret));
                if request.cwd.is_some() {
                    cwd.clone_from(&request.cwd);
                }
            }
        }
    }
    Ok(())
}

/// Refuses options that have no effect, since a user would believe that they do.
fn refuse_useless(request: &TargetRequest, target: &McpTarget) -> Result<(), String> {
    let remote = |server: &Server| matches!(server.launch, Launch::Url { .. });
    let for_urls =
        [("--header", !request.headers.is_empty()), ("--transport", request.transport.is_some())];
    let for_commands = [("--env", !request.env.is_empty()), ("--cwd", request.cwd.is_some())];
    let useless = |options: [(&'static str, bool); 2]| {
        options.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    };
    if let Some(name) = useless(for_urls).filter(|_| !target.servers.iter().any(remote)) {
        return Err(format!("{name} applies to a target with a URL; this target is a command"));
    }
    if let Some(name) = useless(for_commands).filter(|_| target.servers.iter().all(remote)) {
        return Err(format!("{name} applies to a target that is a command; this target has a URL"));
    }
    Ok(())
}
