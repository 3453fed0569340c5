//! The target of a command: `-- COMMAND ARG...`, `--url URL`, or `-c FILE [--target NAME]`.

mod given;

use std::path::PathBuf;

use quintain_engine::jobs::{
    ChosenTarget, Refusal, TargetRequest, adjust, choose, choose_attacked, quoted,
};
use quintain_engine::secrets::learn_launch;
use quintain_engine::{OpenError, Sessions, World};
use quintain_evidence::connection::{Auth, Launch, McpTarget};
use quintain_suite::suite::{Needed, Purpose, SuiteFile};
use serde_json::json;

pub(super) use self::given::Given;
use super::App;
use super::suite::{self, CliError, LoadedSuite, cli_error};
use crate::exit::Exit;

/// Which target
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Target")]
pub(super) struct TargetArgs {
    /// Suite file that names the target [default: quintain.yaml, else promptfooconfig.yaml]
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["url", "command"])]
    pub(super) config: Vec<PathBuf>,
    /// Target of the suite, if it has several
    #[arg(long, value_name = "NAME", conflicts_with_all = ["url", "command"])]
    target: Option<String>,
    /// URL of a running MCP server
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// Header for a URL target; repeatable
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Environment variable of a started target; repeatable
    #[arg(long = "env", value_name = "KEY=VALUE")]
    env: Vec<String>,
    /// Working directory of a started target
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// HTTP transport of a URL target
    #[arg(long, value_name = "KIND", value_parser = ["auto", "streamable-http", "sse"])]
    transport: Option<String>,
    /// Protocol version: auto, legacy, modern, or a date such as 2025-06-18
    #[arg(long, value_name = "VERSION")]
    protocol: Option<String>,
    /// Milliseconds to wait for a response [default: 60000]
    #[arg(long, value_name = "MS")]
    timeout: Option<u64>,
    /// Use the login that `quintain login` stored, or fail
    #[arg(long)]
    stored_auth_only: bool,
    /// Command that starts an MCP server on stdio
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

impl TargetArgs {
    /// A started target without options.
    pub(super) fn for_command(command: Vec<String>) -> Self {
        Self {
            config: Vec::new(),
            target: None,
            url: None,
            headers: Vec::new(),
            env: Vec::new(),
            cwd: None,
            transport: None,
            protocol: None,
            timeout: None,
            stored_auth_only: false,
            command,
        }
    }

    /// A target with a URL, without options.
    pub(super) fn for_url(url: String) -> Self {
        Self { url: Some(url), ..Self::for_command(Vec::new()) }
    }

    /// A target of a suite, without options.
    pub(super) fn for_suite(config: Vec<PathBuf>, target: Option<String>) -> Self {
        Self { config, target, ..Self::for_command(Vec::new()) }
    }

    /// Finds the target, starts logging at its level, and prepares the environment of the run. Prints errors, with
    /// `as_json` also as JSON. Does not run code of the suite.
    pub(super) fn resolve(&self, app: &App, as_json: bool) -> Result<(McpTarget, World), Exit> {
        let purpose = Purpose::Read(Needed::Target(self.chosen()));
        let (target, world, _) = self.prepare(self.find(purpose, app), app, as_json)?;
        Ok((target, world))
    }

    /// The target of an attack as it is written in the suite, without variables replaced.
    pub(super) fn read_attacked(
        &self,
        app: &App,
        as_json: bool,
    ) -> Result<(ChosenTarget, Option<LoadedSuite>), Exit> {
        let purpose = Purpose::Read(Needed::Nothing);
        let (target, _, opened) = self.resolve_attacked(purpose, app, as_json)?;
        Ok((target, opened))
    }

    /// The target of an attack, the environment of the run, and the suite that names the target.
    pub(super) fn resolve_attacked(
        &self,
        purpose: Purpose<'_>,
        app: &App,
        as_json: bool,
    ) -> Result<(ChosenTarget, World, Option<LoadedSuite>), Exit> {
        let found = self.opened(purpose, app).and_then(|opened| {
            let suite = opened.as_ref().map(|opened| &opened.suite);
            let target = choose_attacked(&self.request()?, suite).map_err(refused)?;
            Ok((target, opened))
        });
        match found {
            Ok((ChosenTarget::Mcp(target), opened)) => {
                let (target, world, opened) = self.prepare(Ok((*target, opened)), app, as_json)?;
                Ok((ChosenTarget::Mcp(Box::new(target)), world, opened))
            }
            Ok((target, opened)) => {
                let world = self.world(app);
                Ok((target, world, opened))
            }
            Err(wrong) => self.prepare(Err(wrong), app, as_json).map(|(target, world, opened)| {
                (ChosenTarget::Mcp(Box::new(target)), world, opened)
            }),
        }
    }

    /// The arguments of a stored run, with the options of this command line on top. If this command line names a
    /// target, none of the stored arguments apply.
    pub(super) fn over(&self, stored: &Given, app: &App) -> Self {
        if self.is_named() { self.clone() } else { stored.under(self, app) }
    }

    /// What is stored with a run besides the names of its target.
    pub(super) fn given(&self, app: &App) -> Given {
        Given::of(self, app)
    }

    /// The chosen target of the suite, if any.
    pub(super) fn chosen(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Whether the command line names a target or a suite, instead of using the default suite.
    pub(super) fn is_named(&self) -> bool {
        self.url.is_some() || !self.command.is_empty() || !self.config.is_empty()
    }

    /// The target with the options of the command line, and the environment of the run.
    pub(super) fn prepare(
        &self,
        found: Result<(McpTarget, Option<LoadedSuite>), CliError>,
        app: &App,
        as_json: bool,
    ) -> Result<(McpTarget, World, Option<LoadedSuite>), Exit> {
        let adjusted = found.and_then(|(mut target, opened)| {
            let adjusted = self.adjust(&mut target);
            for server in &target.servers {
                learn_launch(&server.launch, &app.redactor);
            }
            adjusted?;
            Ok((target, opened))
        });
        let (target, opened) = adjusted.map_err(|wrong| {
            let what = wrong.report(app);
            if as_json {
                app.console.json(&json!({"error": what}));
            }
            Exit::Usage
        })?;
        app.start_logging(target.debug.unwrap_or(false), target.verbose.unwrap_or(false));
        Ok((target, self.world(app), opened))
    }

    /// The environment of a run.
    fn world(&self, app: &App) -> World {
        World {
            env: app.context.env.clone().into(),
            state_dir: app.context.state_dir(),
            request_timeout: app.context.request_timeout(),
            stored_auth_only: self.stored_auth_only,
            redactor: app.redactor.clone(),
            ..World::default()
        }
    }

    /// Words that name the same target on another command line, else start it with `launch`. Values may be secret, so
    /// variables of the shell replace them.
    pub(super) fn again(&self, opened: Option<&LoadedSuite>, launch: Option<String>) -> String {
        let mut words: Vec<String> = Vec::new();
        let files = opened.into_iter().flat_map(|opened| &opened.files);
        for file in files {
            words.push(format!("-c {}", quoted(&file.name)));
        }
        let is_named = self.url.is_some() || !self.command.is_empty() || !words.is_empty();
        words.extend(self.target.iter().map(|name| format!("--target {}", quoted(name))));
        words.extend(self.url.iter().map(|url| format!("--url {}", quoted(url))));
        for name in self.headers.iter().filter_map(|text| text.split(':').next()) {
            words.push(format!("--header \"{name}: ${}\"", variable(name)));
        }
        for name in self.env.iter().filter_map(|text| text.split('=').next()) {
            words.push(format!("--env {name}=\"${}\"", variable(name)));
        }
        let cwd = self.cwd.as_ref().filter(|_| is_named);
        words.extend(cwd.map(|dir| format!("--cwd {}", quoted(&dir.to_string_lossy()))));
        words.extend(self.transport.iter().map(|kind| format!("--transport {}", quoted(kind))));
        words.extend(self.protocol.iter().map(|name| format!("--protocol {}", quoted(name))));
        words.extend(self.timeout.iter().map(|millis| format!("--timeout {millis}")));
        words.extend(self.stored_auth_only.then(|| "--stored-auth-only".to_owned()));
        if !is_named {
            words.extend(launch);
        }
        if !self.command.is_empty() {
            words.push("--".to_owned());
            words.extend(self.command.iter().map(|word| quoted(word)));
        }
        words.join(" ")
    }

    /// The target of the command line as part of a request.
    pub(super) fn request(&self) -> Result<TargetRequest, CliError> {
        let split = |pairs: &[String], at: char, flag: &str| {
            let pairs = pairs.iter().map(|pair| split(pair, at, flag));
            pairs.collect::<Result<Vec<_>, _>>().map_err(|what| cli_error(what, None))
        };
        Ok(TargetRequest {
            name: self.target.clone(),
            url: self.url.clone(),
            command: self.command.clone(),
            headers: split(&self.headers, ':', "--header")?,
            env: split(&self.env, '=', "--env")?,
            cwd: self.cwd.clone(),
            transport: self.transport.clone(),
            protocol: self.protocol.clone(),
            timeout_ms: self.timeout,
            stored_auth_only: self.stored_auth_only,
            folder: None,
        })
    }

    /// The texts of the suite that names the target; none if the command line names it.
    pub(super) fn files(&self, app: &App) -> Result<Vec<SuiteFile>, CliError> {
        if self.url.is_some() || !self.command.is_empty() {
            return Ok(Vec::new());
        }
        let files = suite::find(&self.config, app);
        if files.is_empty() {
            let help = "use `-- COMMAND ARG...`, `--url URL`, or a suite with `-c FILE`";
            return Err(cli_error("no target given", Some(help.to_owned())));
        }
        suite::read(&files, Vec::new(), app)
    }

    fn find(
        &self,
        purpose: Purpose<'_>,
        app: &App,
    ) -> Result<(McpTarget, Option<LoadedSuite>), CliError> {
        let opened = self.opened(purpose, app)?;
        let target = choose(&self.request()?, opened.as_ref().map(|opened| &opened.suite));
        Ok((target.map_err(refused)?, opened))
    }

    /// The suite that names the target, if there is one.
    fn opened(&self, purpose: Purpose<'_>, app: &App) -> Result<Option<LoadedSuite>, CliError> {
        let files = self.files(app)?;
        if files.is_empty() {
            return Ok(None);
        }
        suite::understand(files, &app.context.env, purpose, app).map(Some)
    }

    /// The command line overrides the suite.
    fn adjust(&self, target: &mut McpTarget) -> Result<(), CliError> {
        adjust(&self.request()?, target).map_err(|what| cli_error(what, None))
    }
}

fn refused(refusal: Refusal) -> CliError {
    match refusal {
        Refusal::Usage { what, help } => cli_error(what, help),
        other => cli_error(other.to_string(), None),
    }
}

fn split(text: &str, at: char, flag: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(at)
        .filter(|(name, _)| !name.trim().is_empty())
        .ok_or_else(|| format!("{flag} expects `NAME{at}VALUE`"))?;
    let value = if at == ':' { value.trim() } else { value };
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// Name of a shell variable for the value of this name.
fn variable(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    name.chars().map(fit).collect()
}

/// Connects to all servers of a target.
pub(super) async fn open(
    target: &McpTarget,
    world: &World,
    app: &App,
) -> Result<Sessions, OpenError> {
    let names: Vec<&str> = target.servers.iter().map(|server| server.name.as_str()).collect();
    let _busy = app.console.busy(&format!("connecting to {}", names.join(", ")));
    Sessions::open(target, world).await
}

/// An invalid target is an error of the user; one that does not start is unreachable.
pub(super) fn exit_of(error: &OpenError) -> Exit {
    match error {
        OpenError::Address { .. } | OpenError::NoServers => Exit::Usage,
        _ => Exit::Unreachable,
    }
}

/// Advice about a target that cannot be opened.
pub(super) fn advice(error: &OpenError, target: &McpTarget) -> Option<String> {
    let failed = match error {
        OpenError::NoServers => return Some("set `enabled: true` and name a `server`".into()),
        OpenError::Connect { server, .. } if error.needs_auth() => server,
        // Errors of preparing credentials contain their own advice.
        _ => return None,
    };
    let failed = target.servers.iter().find(|server| server.name == *failed)?;
    let Launch::Url { url, headers, auth, .. } = &failed.launch else { return None };
    let header = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    Some(match auth {
        Auth::None if header => "check the credentials in the header `Authorization`".into(),
        Auth::None | Auth::Stored => format!(
            "pass credentials (`--header 'Authorization: Bearer ...'`, or `auth:` in the suite), or run `quintain login {url}`"
        ),
        _ => format!("check the `auth` of the server `{}` in the suite", failed.name),
    })
}
