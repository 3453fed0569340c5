//! `quintain record` changes nothing of what passes, records all of it, and replays it.

mod http;
mod install;
mod own_client;
mod peers;
mod replay;
mod stdio;
mod stdio_ends;
mod upstream;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tempfile::TempDir;

use crate::budgets::quintain;
use crate::run::repository;

/// How long something may take that happens at once.
const SOON: Duration = Duration::from_secs(20);
/// A secret that must not be in any capture. The slash and the plus sign can be escaped.
const CANARY: &str = "canary+9Qx7/Zt4Kw2m";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = stdio::trials();
    trials.extend(stdio_ends::trials());
    trials.extend(http::trials());
    trials.extend(replay::trials());
    trials.extend(install::trials());
    trials.extend(own_client::trials());
    trials.extend(peers::trials());
    trials
}

fn folder() -> Result<TempDir, Failed> {
    Ok(tempfile::Builder::new().prefix("quintain-it-").tempdir()?)
}

fn script(name: &str) -> PathBuf {
    repository().join("crates/quintain/tests/record").join(name)
}

/// The lines of a capture; every line must be valid.
fn capture(path: &Path) -> Result<Vec<Value>, Failed> {
    let text = fs::read_to_string(path)?;
    if !text.ends_with('\n') {
        return Err("the last line is cut".into());
    }
    let parse = |line: &str| -> Result<Value, Failed> {
        serde_json::from_str(line).map_err(|error| format!("{error}: {line:.200}").into())
    };
    text.lines().map(parse).collect()
}

/// The frames of one side.
fn frames(lines: &[Value], side: &str) -> Vec<Value> {
    let of_side = lines.iter().filter(|line| line["direction"] == side && !line["frame"].is_null());
    of_side.map(|line| line["frame"].clone()).collect()
}

fn ensure(holds: bool, what: impl std::fmt::Debug) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(format!("{what:?}").into()) }
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) -> Result<(), Failed> {
    let start = Instant::now();
    while !holds() {
        if start.elapsed() > SOON {
            return Err(format!("not in time: {what}").into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Whether a process runs; a zombie that nobody waits for does not.
fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    !state.is_empty() && !state.starts_with('Z')
}

fn signal(pid: u32, name: &str) -> Result<(), Failed> {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status()?;
    ensure(sent.success(), format!("kill -{name}"))
}

/// A recorder or a replay that listens on HTTP; killed when dropped.
struct Listening {
    child: Child,
    address: String,
    path: String,
    stderr: BufReader<ChildStderr>,
}

impl Listening {
    fn start(place: &Path, args: &[&str]) -> Result<Self, Failed> {
        let mut child =
            quintain(place, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let stderr = child.stderr.take().ok_or("no standard error")?;
        let mut stderr = BufReader::new(stderr);
        let mut line = String::new();
        stderr.read_line(&mut line)?;
        let url = line.trim().strip_prefix("listening on http://");
        let Some((address, path)) = url.and_then(|url| url.split_once('/')) else {
            let _ = child.kill();
            return Err(format!("expected the address: {line}").into());
        };
        let (address, path) = (address.to_owned(), format!("/{path}"));
        Ok(Self { child, address, path, stderr })
    }

    fn connect(&self) -> Result<TcpStream, Failed> {
        connect(&self.address)
    }

    /// Ends it as users do, and returns its exit code and what it printed since.
    fn stop(mut self) -> Result<(Option<i32>, String), Failed> {
        signal(self.child.id(), "TERM")?;
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            ensure(start.elapsed() < SOON, "it does not end")?;
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest)?;
        Ok((status.code(), rest))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn connect(address: &str) -> Result<TcpStream, Failed> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(SOON))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Reads until a text was received.
fn read_until(stream: &mut TcpStream, end: &str) -> Result<String, Failed> {
    let mut seen = Vec::new();
    let mut byte = [0; 1];
    while !seen.ends_with(end.as_bytes()) {
        if stream.read(&mut byte)? == 0 {
            let seen = String::from_utf8_lossy(&seen).into_owned();
            return Err(format!("the connection ended after {seen:?}, without {end:?}").into());
        }
        seen.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&seen).into_owned())
}

/// Sends a request with a JSON body on a connection of its own, and returns status line, headers and body.
fn post(address: &str, path: &str, headers: &str, body: &str) -> Result<(String, String), Failed> {
    let mut stream = connect(address)?;
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("no end of the headers")?;
    Ok((head.to_owned(), body.to_owned()))
}
