//! What `quintain record` adds to a call, in front of the raw servers over stdio and HTTP.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;
use serde_json::Value;

use super::bed::Bed;
use crate::Failure;
use crate::sample::{Runs, Sample};
use crate::usage::{self, Usage};
use crate::wire::bare::{self, Piped};

/// The same calls without and with a recorder.
pub struct Recorded {
    pub transport: &'static str,
    pub in_flight: usize,
    pub calls: usize,
    pub direct: Sample,
    /// Time of the calls; memory and processor time of the recorder.
    pub through: Runs,
}

pub fn stdio(
    bed: &Bed,
    repeats: usize,
    calls: usize,
    in_flight: usize,
) -> Result<Recorded, Failure> {
    let server = &bed.programs.echo_stdio;
    let (mut direct, mut through) = (Sample::default(), Runs::default());
    for _ in 0..repeats {
        direct.add(bare::stdio(server, calls, in_flight)?);
        let capture = bed.new_output("capture.jsonl")?;
        let mut command = bed.command(&bed.quintain);
        command.args(["record", "-o"]).arg(&capture).arg("--").arg(server);
        command.stderr(Stdio::null());
        let mut piped = Piped::start(&mut command)?;
        let took = piped.echo(calls, in_flight)?;
        through.add(spent(piped.pid(), took));
        piped.end()?;
        verify(&capture, calls)?;
    }
    Ok(Recorded { transport: "stdio", in_flight, calls, direct, through })
}

pub fn http(
    bed: &Bed,
    repeats: usize,
    calls: usize,
    in_flight: usize,
) -> Result<Recorded, Failure> {
    let (mut direct, mut through) = (Sample::default(), Runs::default());
    for _ in 0..repeats {
        // One server each, so that the recorder does not inherit the connections of the client.
        direct.add(bare::http(bed.programs.serve_http()?.port, calls, in_flight)?);
        let server = bed.programs.serve_http()?;
        let capture = bed.new_output("capture.jsonl")?;
        let recorder = Recorder::start(bed, &capture, server.port)?;
        let took = bare::http(recorder.port, calls, in_flight)?;
        through.add(spent(recorder.child.id(), took));
        recorder.end()?;
        verify(&capture, calls)?;
    }
    Ok(Recorded { transport: "HTTP", in_flight, calls, direct, through })
}

/// What a recorder that still runs has cost so far.
fn spent(pid: u32, wall: Duration) -> Usage {
    let own = usage::own_time(pid);
    Usage { wall, cpu: own.unwrap_or_default(), own, memory: usage::largest_set(pid) }
}

/// A recorder in front of a URL.
struct Recorder {
    child: Child,
    port: u16,
    /// Open as long as the recorder runs, so that it can write to it.
    _complaints: BufReader<ChildStderr>,
}

impl Recorder {
    fn start(bed: &Bed, capture: &Path, target: u16) -> Result<Self, Failure> {
        let mut command: Command = bed.command(&bed.quintain);
        command.args(["record", "-o"]).arg(capture);
        command.arg("--url").arg(format!("http://127.0.0.1:{target}/mcp"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let mut complaints = BufReader::new(child.stderr.take().ok_or("no stderr")?);
        let mut said = String::new();
        let port = loop {
            let from = said.len();
            if complaints.read_line(&mut said)? == 0 {
                child.wait()?;
                return Err(format!("the recorder does not listen: {said}").into());
            }
            if let Some(url) = said[from..].trim().strip_prefix("listening on http://127.0.0.1:") {
                let digits = url.split('/').next().unwrap_or_default();
                break digits.parse()?;
            }
        };
        Ok(Self { child, port, _complaints: complaints })
    }

    fn end(mut self) -> Result<(), Failure> {
        signal::kill(Pid::from_raw(i32::try_from(self.child.id())?), Signal::SIGTERM)?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // After a normal end there is nothing left to stop.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A recorder that records nothing would be fast: every call and every result must be in the capture.
fn verify(capture: &Path, calls: usize) -> Result<(), Failure> {
    let (mut sent, mut received) = (0, 0);
    for line in BufReader::new(File::open(capture)?).split(b'\n') {
        let line: Value = serde_json::from_slice(&line?)?;
        let frame = &line["frame"];
        sent += usize::from(line["direction"] == "client" && frame["method"] == "tools/call");
        received +=
            usize::from(line["direction"] == "server" && frame["result"]["content"].is_array());
    }
    if (sent, received) == (calls, calls) {
        return Ok(());
    }
    Err(format!("the capture has {sent} calls and {received} results instead of {calls}").into())
}
