//! `quintain record`: runs in front of an MCP server and records what passes, or serves a recording as a mock server.

mod child;
mod http;
mod install;
mod replay;
mod secret_rules;
mod stdio;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quintain_evidence::connection::Launch;
use quintain_wire::recording::{Capture, Masking, OpenError, open, survive_file_limit};

use self::secret_rules::DetectorRules;
use super::App;
use super::target::TargetArgs;
use crate::console::counted;
use crate::exit::Exit;

/// Record what passes between an MCP client and a server, or replay a recording
///
/// Runs in front of a command on standard input and output, or of a URL, so that any host (Claude Code, VS Code, Cursor) can
/// use it instead of the server. Passes every byte on unchanged and writes a capture: one JSON line per message, before
/// the message is passed on. Secrets are masked in the capture only. An existing capture is continued; a file that is
/// not a capture is never changed.
///
/// With `--replay`, serves a capture as a mock server, on standard input and output or over HTTP, whichever it was
/// recorded from.
///
/// Examples:
///   quintain record -o session.jsonl -- npx -y @modelcontextprotocol/server-everything
///   quintain record -o session.jsonl --url https://mcp.example.com/mcp --listen 127.0.0.1:8080
///   quintain record --install claude-code --server github
///   quintain record --replay session.jsonl --listen 127.0.0.1:8080
///   quintain inspect -- quintain record --replay session.jsonl
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Capture to write, or to continue; in an existing folder, a new file for each session
    #[arg(short, long, value_name = "FILE", required_unless_present_any = ["replay", "install", "child_of"])]
    output: Option<PathBuf>,
    /// Overwrite an existing capture instead of continuing it
    #[arg(long, requires = "output")]
    force: bool,
    /// Serve this capture as a mock server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "url", "config", "target", "install", "command"])]
    replay: Option<PathBuf>,
    /// Address to listen on, for a URL target or a replay over HTTP [default for a URL: 127.0.0.1 and any free port]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Show how the configuration of a client changes to record a server; writes it after asking
    #[arg(long, value_name = "CLIENT", conflicts_with_all = ["url", "config", "target", "command"])]
    install: Option<String>,
    /// Server of the client's configuration, with `--install`
    #[arg(long, value_name = "NAME", requires = "install")]
    server: Option<String>,
    /// Write the configuration without asking, with `--install`
    #[arg(long, requires = "install")]
    yes: bool,
    /// Start the command as the child of this process, and end with it
    #[arg(long, value_name = "PID", hide = true)]
    child_of: Option<u32>,
    /// URL of the MCP server to record
    #[arg(long, value_name = "URL", conflicts_with = "command", help_heading = "Target")]
    url: Option<String>,
    /// Header to add to requests for a URL target, unless the client sends it; repeatable
    #[arg(
        long = "header",
        short = 'H',
        value_name = "NAME: VALUE",
        requires = "url",
        help_heading = "Target"
    )]
    headers: Vec<String>,
    /// Suite file that names the target
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["url", "command"], help_heading = "Target")]
    config: Vec<PathBuf>,
    /// Target of the suite, if it has several
    #[arg(long, value_name = "NAME", conflicts_with_all = ["url", "command"], help_heading = "Target")]
    target: Option<String>,
    /// Command that starts an MCP server on stdio
    #[arg(last = true, value_name = "COMMAND", help_heading = "Target")]
    command: Vec<OsString>,
}

impl Args {
    /// Whether this process only becomes the command.
    pub(super) fn becomes_command(&self) -> bool {
        self.child_of.is_some()
    }
}

pub(super) fn run(args: &Args, app: &App) -> Exit {
    if let Some(parent) = args.child_of {
        return child::become_command(&args.command, parent, app);
    }
    app.start_logging(false, false);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            app.console.error(&format!("cannot start the async runtime: {error}"), None);
            return Exit::Unreachable;
        }
    };
    let exit = runtime.block_on(async {
        if let Some(client) = &args.install {
            return install::run(client, args, app).await;
        }
        if let Some(file) = &args.replay {
            return replay::run(file, args.listen.as_deref(), app).await;
        }
        record(args, app).await
    });
    // A thread that reads standard input must not keep the process alive.
    runtime.shutdown_background();
    exit
}

async fn record(args: &Args, app: &App) -> Exit {
    let Some(output) = args.output.as_deref().map(|output| capture_file(output, app)) else {
        return Exit::Usage;
    };
    let subject = match subject(args, app) {
        Ok(subject) => subject,
        Err(exit) => return exit,
    };
    secret_rules::learn_environment(app);
    survive_file_limit();
    // Whatever is wrong with the arguments is reported before a file is created.
    match subject {
        Subject::Command(command) => {
            let capture = match start_capture(&output, args.force, app) {
                Ok(capture) => capture,
                Err(exit) => return exit,
            };
            let exit = stdio::run(command, &capture, app).await;
            // The server writes to standard error as well, and what a host reads there is the server's alone. Nobody
            // knows whether the server's last line has an end.
            if app.console.is_watched() {
                app.console.note(&format!("\n{}", summary(&capture, &output)));
            }
            exit
        }
        Subject::Url { url, headers } => {
            let prepared = http::prepare(&url, &headers, args.listen.as_deref(), app).await;
            let opened =
                prepared.and_then(|proxy| Ok((proxy, start_capture(&output, args.force, app)?)));
            let (proxy, capture) = match opened {
                Ok(opened) => opened,
                Err(exit) => return exit,
            };
            let exit = proxy.run(&capture, app).await;
            app.console.note(&summary(&capture, &output));
            exit
        }
    }
}

/// What to record.
enum Subject {
    Command(stdio::Command),
    Url { url: String, headers: Vec<(String, String)> },
}

fn subject(args: &Args, app: &App) -> Result<Subject, Exit> {
    use secrecy::ExposeSecret as _;

    if let Some((program, words)) = args.command.split_first() {
        if args.listen.is_some() {
            app.console.error("`--listen` is for a URL target or a replay", None);
            return Err(Exit::Usage);
        }
        let command = stdio::Command::new(program, words);
        command.learn_secrets(&app.redactor);
        return Ok(Subject::Command(command));
    }
    if let Some(url) = &args.url {
        let mut headers = Vec::new();
        for header in &args.headers {
            let Some((name, value)) = header.split_once(':') else {
                app.console.error("--header expects `NAME: VALUE`", None);
                return Err(Exit::Usage);
            };
            headers.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        return Ok(Subject::Url { url: url.clone(), headers });
    }
    let named = TargetArgs::for_suite(args.config.clone(), args.target.clone());
    let (target, _) = named.resolve(app, false)?;
    let [server] = &target.servers[..] else {
        let what = format!("the target has {}", counted(target.servers.len(), "server"));
        app.console.error(&what, Some("name a target with one server with `--target`"));
        return Err(Exit::Usage);
    };
    Ok(match &server.launch {
        launch @ (Launch::Command { env, cwd, .. } | Launch::Path { env, cwd, .. }) => {
            let Some((program, words)) = launch.command_line() else { return Err(Exit::Usage) };
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            let mut started = stdio::Command::new(program.as_os_str(), &words);
            let value = |secret: &secrecy::SecretString| secret.expose_secret().to_owned();
            started.env = env.iter().map(|(name, text)| (name.clone(), value(text))).collect();
            started.cwd.clone_from(cwd);
            Subject::Command(started)
        }
        Launch::Url { url, headers, .. } => {
            let header = |(name, value): &(String, secrecy::SecretString)| {
                (name.clone(), value.expose_secret().to_owned())
            };
            Subject::Url { url: url.clone(), headers: headers.iter().map(header).collect() }
        }
    })
}

/// The file to write. In a folder, every session gets a file of its own, because a client can start a server twice.
fn capture_file(output: &Path, app: &App) -> PathBuf {
    if !app.context.cwd.join(output).is_dir() {
        return output.to_owned();
    }
    let now = app.context.now().replace([':', '-'], "");
    output.join(format!("{now}-{}.jsonl", std::process::id()))
}

fn start_capture(output: &Path, overwrite: bool, app: &App) -> Result<Capture, Exit> {
    let file = open(&app.context.cwd.join(output), overwrite).map_err(|error| {
        let help = match &error {
            OpenError::NotACapture(_) | OpenError::Pipe(_) => Some("name another file"),
            OpenError::NoFolder(_) => Some("create it first"),
            _ => None,
        };
        app.console.error(&error.to_string(), help);
        Exit::Usage
    })?;
    let masking = Masking::new(app.redactor.clone(), Arc::new(DetectorRules::default()));
    // The client may close standard error, too; then nobody reads the warning.
    let warn = |text: &str| {
        let _ = writeln!(std::io::stderr(), "warning: {text}");
    };
    Ok(Capture::new(file, masking, Box::new(warn)))
}

/// One line at the end.
fn summary(capture: &Capture, output: &Path) -> String {
    let totals = capture.totals();
    let file = output.display();
    let calls = counted(usize::try_from(totals.calls).unwrap_or(usize::MAX), "call");
    let errors = counted(usize::try_from(totals.errors).unwrap_or(usize::MAX), "error");
    let frames = counted(usize::try_from(totals.frames).unwrap_or(usize::MAX), "frame");
    let state = if capture.is_complete() { "" } else { ", incomplete" };
    format!("recorded {calls}, {errors} ({frames}{state}): {file}")
}
