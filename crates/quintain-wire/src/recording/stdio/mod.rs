//! Runs in front of a command on stdin and stdout: passes every byte on at once, records every line before its end is passed
//! on, hands signals on, and ends as the command ends.
//!
//! Each direction has a thread of its own that owns both of its pipes, so that neither waits for the other, and the end
//! of a pipe is passed on in both directions. The thread decides when everything is delivered; the process waits for it.
//! Standard error is inherited and does not pass through here.

mod lines;
mod pipes;
mod relay;

use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use self::relay::{Progress, Relay};
use super::capture::{Capture, Side};
use super::signals::{self, Signals};

/// How long to wait for output after the exit of the command, while a process that it started keeps its output open.
const TRAIL: Duration = Duration::from_secs(2);
/// How long a client may take to read more, after it asked the command to end.
const GRACE: Duration = Duration::from_secs(1);

/// Runs the command until it exits and all its output is passed on, and returns its status. Must be called on the thread
/// that lives as long as the process: the system kills the command when that thread ends.
///
/// # Errors
/// When the command cannot be started.
pub async fn relay(mut command: Command, capture: &Capture) -> io::Result<ExitStatus> {
    let mut signals = Signals::listen();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // A signal from the terminal reaches only this process, which hands it on once.
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    let pid = child.id();
    let (Some(server_input), Some(server_output)) = (child.stdin.take(), child.stdout.take())
    else {
        return Err(io::Error::other("its pipes could not be opened"));
    };
    let (client_input, client_output) = pipes::take_client()?;
    let upwards = Relay::new(Side::Client, capture);
    std::thread::Builder::new().name("to server".into()).spawn(move || {
        upwards.run(client_input, server_input, None);
    })?;
    let downwards = Relay::new(Side::Server, capture);
    let progress = downwards.progress();
    let (notice, watch) = pipes::exit_notice(TRAIL)?;
    let (finish, finished) = oneshot::channel();
    std::thread::Builder::new().name("to client".into()).spawn(move || {
        downwards.run(server_output, client_output, Some(watch));
        let _ = finish.send(());
    })?;
    let mut exit = exit_of(child)?;
    let mut is_asked_to_end = false;
    let status = loop {
        tokio::select! {
            status = &mut exit => break status.map_err(io::Error::other)??,
            signal = signals.next() => {
                note_signal(capture, signal);
                signals::send(pid, signal);
                is_asked_to_end |= signals::asks_to_end(signal);
            }
        }
    };
    drop(notice);
    deliver(finished, &progress, &mut signals, is_asked_to_end, capture).await;
    capture.note("exit", exit_details(status));
    Ok(status)
}

/// Waits until the client has taken what the command wrote before its exit, however slowly it reads. A client that asked
/// for the end and then stops reading is not waited for.
async fn deliver(
    mut finished: oneshot::Receiver<()>,
    progress: &Arc<Progress>,
    signals: &mut Signals,
    mut is_asked_to_end: bool,
    capture: &Capture,
) {
    let mut before = progress.passed();
    loop {
        tokio::select! {
            _ = &mut finished => return,
            signal = signals.next() => {
                note_signal(capture, signal);
                if std::mem::replace(&mut is_asked_to_end, true) {
                    break;
                }
            }
            () = tokio::time::sleep(GRACE), if is_asked_to_end => {
                let now = progress.passed();
                if now == before && !progress.is_recording() {
                    break;
                }
                before = now;
            }
        }
    }
    capture.note("output not read to its end", Map::new());
}

fn note_signal(capture: &Capture, signal: i32) {
    capture.note("signal", Map::from_iter([("signal".to_owned(), Value::from(signal))]));
}

/// Waits for the exit on a thread, because the current one also waits for signals.
fn exit_of(mut child: Child) -> io::Result<oneshot::Receiver<io::Result<ExitStatus>>> {
    let (exited, exit) = oneshot::channel();
    std::thread::Builder::new().name("exit".into()).spawn(move || {
        let _ = exited.send(child.wait());
    })?;
    Ok(exit)
}

fn exit_details(status: ExitStatus) -> Map<String, Value> {
    let mut details = Map::new();
    if let Some(code) = status.code() {
        details.insert("code".to_owned(), json!(code));
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            details.insert("signal".to_owned(), json!(signal));
        }
    }
    details
}

/// The exit code that a shell reports for this status.
pub fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            return u8::try_from(128 + signal).unwrap_or(u8::MAX);
        }
    }
    status.code().map_or(u8::MAX, |code| (code & 0xff) as u8)
}
