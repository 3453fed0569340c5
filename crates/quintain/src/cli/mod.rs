//! The command line: one file per command, and what the commands share.

mod annotate;
mod ask_user;
mod audit;
mod baseline;
mod call;
mod client_file;
mod completions;
mod conclude;
mod demo;
mod diff;
mod doctor;
mod dry_run;
mod equals;
mod eval;
mod explain;
mod grade;
mod grade_suite;
mod help;
mod init;
mod inspect;
mod job;
mod kinds;
mod list;
mod login;
mod meta_eval;
mod model_args;
mod output_files;
mod own_file;
mod record;
mod recording_files;
mod redteam;
mod rejudge;
mod render;
mod replay;
mod reports;
mod runs;
mod save_traces;
mod scan;
mod schema;
mod serve;
mod store;
mod suite;
mod target;
mod token;
mod trace_args;

use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{ArgAction, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use quintain_content::secret::{names_a_secret, of_named};
use quintain_engine::planted::{self, Removal};
use quintain_engine::secrets::{learn, learn_url};
use quintain_source::visible;
use quintain_wire::redact::Redactor;
use tokio::sync::watch;

use self::recording_files::RecordingFiles;
use crate::console::Console;
use crate::context::Context;
use crate::exit::Exit;
use crate::logging;

/// Test and attack MCP (Model Context Protocol) servers, grade the applications that use them.
#[derive(Debug, Parser)]
#[command(name = "quintain", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Log more; give it twice to log everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
    /// Print only results and errors
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    Init(init::Args),
    Eval(Box<eval::Args>),
    Grade(Box<grade::Args>),
    MetaEval(meta_eval::Args),
    Rejudge(rejudge::Args),
    Replay(replay::Args),
    Redteam(redteam::Args),
    Runs(runs::Args),
    Diff(diff::Args),
    Inspect(inspect::Args),
    Call(call::Args),
    Scan(scan::Args),
    Record(record::Args),
    Serve(serve::Args),
    Token(token::Args),
    Audit(audit::Args),
    Login(login::Args),
    List(list::Args),
    Explain(explain::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Doctor(doctor::Args),
}

/// State shared by all commands.
struct App {
    context: Context,
    console: Console,
    redactor: Redactor,
    /// Reads suites.
    files: Arc<RecordingFiles>,
    verbosity: u8,
    quiet: bool,
    /// True after Ctrl-C, for commands that report their results before they end.
    stop: watch::Receiver<bool>,
}

impl App {
    /// Starts logging at the level that the command line, the environment and the target ask for.
    fn start_logging(&self, debug: bool, verbose: bool) {
        let asked = if debug || self.context.flag("MCP_DEBUG") {
            2
        } else {
            u8::from(verbose || self.context.flag("MCP_VERBOSE"))
        };
        logging::start(&self.context, self.verbosity.max(asked), self.quiet, &self.redactor);
    }
}

/// Reads the command line.
pub(crate) fn parse(context: &Context, redactor: &Redactor) -> Result<Cli, Exit> {
    context.arguments().for_each(|argument| learn_argument(&argument, redactor));
    let console = Console::new(context, false, redactor.clone());
    let mut command = help::reflowed(Cli::command());
    let words: Vec<String> = context.arguments().collect();
    if let Some((option, value)) = equals::missing(&command, &words) {
        let what = format!("the value of `{option}` must follow an equals sign");
        console.error(&what, Some(&format!("write `{option}={value}`")));
        return Err(Exit::Usage);
    }
    let parsed =
        command.try_get_matches_from_mut(context.command_line()).and_then(|mut matches| {
            let parsed = Cli::from_arg_matches_mut(&mut matches);
            parsed.map_err(|error| error.format(&mut command))
        });
    parsed.map_err(|error| {
        let text = if context.colour_stderr {
            error.render().ansi().to_string()
        } else {
            error.render().to_string()
        };
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                console.out(text.trim_end());
                Exit::Passed
            }
            _ => {
                console.drawn(text.trim_end());
                Exit::Usage
            }
        }
    })
}

/// Masks the credentials in an argument: errors quote the command line.
fn learn_argument(argument: &str, redactor: &Redactor) {
    let value = argument.split_once('=').map_or("", |(_, value)| value);
    learn_url(argument, redactor);
    learn_url(value, redactor);
    for at in [':', '='] {
        let Some((name, value)) = argument.split_once(at) else { continue };
        let name = name.trim_start_matches("--header=").trim_start_matches("--env=");
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if name.chars().all(is_name) && names_a_secret(name) {
            learn(&of_named(name, value.trim()), redactor);
        }
    }
}

/// Runs the command until it ends or is interrupted.
pub(crate) fn run(cli: Cli, context: Context, redactor: Redactor) -> Exit {
    let console = Console::new(&context, cli.quiet, redactor.clone());
    let (stop_now, stop) = watch::channel(false);
    let (verbosity, quiet) = (cli.verbose, cli.quiet);
    let files = Arc::new(RecordingFiles::default());
    let app = App { context, console, redactor, files, verbosity, quiet, stop };
    let is_plain = match &cli.command {
        Command::Doctor(_) => true,
        Command::Record(args) => args.becomes_command(),
        _ => false,
    };
    if !is_plain {
        remove_leftovers(&app);
    }
    let exit = match &cli.command {
        Command::Completions(args) => completions::run(args, &app),
        Command::Init(args) => init::run(args, &app),
        Command::List(args) => list::run(args, &app),
        Command::Explain(args) => explain::run(args, &app),
        Command::Token(args) => token::run(args, &app),
        Command::Audit(args) => audit::run(args, &app),
        Command::Schema(args) => schema::run(args, &app),
        // It hands signals on instead of being interrupted.
        Command::Record(args) => record::run(args, &app),
        _ => run_async(cli.command, &app, &stop_now),
    };
    if app.console.is_complete() || exit != Exit::Passed { exit } else { Exit::Usage }
}

fn run_async(command: Command, app: &App, stop_now: &watch::Sender<bool>) -> Exit {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            app.console.error(&format!("cannot start the async runtime: {error}"), None);
            return Exit::Unreachable;
        }
    };
    let exit = runtime.block_on(async {
        // These commands report their results so far when they are interrupted.
        let patient = match &command {
            Command::Eval(_)
            | Command::Grade(_)
            | Command::Rejudge(_)
            | Command::Replay(_)
            | Command::Serve(_) => true,
            Command::Demo(args) => !args.serves(),
            Command::Redteam(args) => args.is_patient(),
            _ => false,
        };
        let mut work = std::pin::pin!(dispatch(command, app));
        if patient {
            tokio::select! {
                exit = &mut work => return exit,
                () = interrupted() => {
                    let _ = stop_now.send(true);
                }
            }
        }
        tokio::select! {
            // The other future is dropped here, and with it every child process.
            exit = &mut work => exit,
            () = interrupted() => {
                app.console.err("interrupted");
                Exit::Interrupted
            }
        }
    });
    // Blocking tasks (a read from a terminal) must not keep the process alive.
    runtime.shutdown_background();
    exit
}

async fn dispatch(command: Command, app: &App) -> Exit {
    match command {
        Command::Demo(args) => demo::run(args, app).await,
        Command::Eval(args) => eval::run(*args, app).await,
        Command::Grade(args) => grade::run(*args, app).await,
        Command::MetaEval(args) => meta_eval::run(args, app).await,
        Command::Rejudge(args) => Box::pin(rejudge::run(args, app)).await,
        Command::Replay(args) => Box::pin(replay::run(args, app)).await,
        Command::Redteam(args) => redteam::run(args, app).await,
        Command::Runs(args) => runs::run(args, app).await,
        Command::Diff(args) => diff::run(args, app).await,
        Command::Inspect(args) => inspect::run(args, app).await,
        Command::Call(args) => call::run(args, app).await,
        Command::Scan(args) => scan::run(args, app).await,
        Command::Serve(args) => serve::run(args, app).await,
        Command::Login(args) => login::run(args, app).await,
        Command::Doctor(args) => doctor::run(args, app).await,
        // They ended before the runtime was started.
        Command::Completions(_)
        | Command::Init(_)
        | Command::List(_)
        | Command::Record(_)
        | Command::Explain(_)
        | Command::Token(_)
        | Command::Audit(_)
        | Command::Schema(_) => Exit::Passed,
    }
}

/// Removes what a killed run planted on this machine.
fn remove_leftovers(app: &App) {
    let Removal { removed, not_removed: left } =
        planted::remove_leftovers(app.context.state_dir().as_deref());
    if !removed.is_empty() {
        let things = if removed.len() == 1 { "file or folder" } else { "files and folders" };
        app.console
            .note(&format!("removed {} {things} that a killed run left behind", removed.len()));
    }
    for (path, why) in left {
        let path = visible(&path.to_string_lossy()).into_owned();
        app.console.warn(&format!("a killed run left {path} behind; it cannot be removed: {why}"));
    }
}

/// Waits for Ctrl-C or a signal that asks the process to end.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let hangup = if hangup_is_ignored() { None } else { signal(SignalKind::hangup()).ok() };
        let hangup = async {
            match hangup {
                Some(mut hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
                _ = hangup => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Whether this process was started to outlive its terminal, as `nohup` does.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    // The first bit of the mask is SIGHUP. Without this file, SIGHUP counts as not ignored.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}
