//! The cost of the same calls with plain reads and writes, without a runtime.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;
use quintain_bench::answer::find;
use serde_json::{Value, json};

const HANDSHAKE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bare","version":"0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn call(id: usize, out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = write!(
        out,
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"hi"}}}}}}"#
    );
}

fn id_of(message: &[u8]) -> Option<usize> {
    let rest = &message[find(message, b"\"id\":")? + 5..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |id, digit| id * 10 + usize::from(digit - b'0')))
}

/// A server on two pipes after the handshake.
pub struct Piped {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Piped {
    pub fn start(server: &mut Command) -> io::Result<Self> {
        let mut child = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let mut piped = Self { child, input, output: BufReader::with_capacity(1 << 16, output) };
        piped.request(HANDSHAKE)?;
        piped.input.write_all(format!("{INITIALIZED}\n").as_bytes())?;
        Ok(piped)
    }

    /// Sends one request and skips its response.
    pub fn request(&mut self, request: &str) -> io::Result<()> {
        self.input.write_all(format!("{request}\n").as_bytes())?;
        let mut line = Vec::new();
        receive_line(&mut self.output, &mut line).map(drop)
    }

    /// Makes `calls` calls with `in_flight` of them open: writes JSON, reads a line, parses JSON and
    /// matches the response to its call. Calls are counted from 1.
    pub fn converse(
        &mut self,
        calls: usize,
        in_flight: usize,
        params: impl Fn(usize) -> Value,
        is_right: impl Fn(usize, &Value) -> bool,
    ) -> io::Result<()> {
        let mut open = HashSet::new();
        let mut line = Vec::new();
        let (mut sent, mut done) = (0, 0);
        while done < calls {
            while sent < calls && open.len() < in_flight {
                sent += 1;
                open.insert(sent);
                let params = params(sent);
                let call =
                    json!({"jsonrpc": "2.0", "id": sent, "method": "tools/call", "params": params});
                self.input.write_all(format!("{call}\n").as_bytes())?;
            }
            let answer = receive_line(&mut self.output, &mut line)?;
            let id = answer["id"].as_u64().unwrap_or_default() as usize;
            assert!(open.remove(&id), "an answer nobody waits for");
            assert!(is_right(id, &answer["result"]), "a wrong answer: {answer}");
            done += 1;
        }
        Ok(())
    }

    /// Time for `calls` echo calls with `in_flight` of them open.
    pub fn echo(&mut self, calls: usize, in_flight: usize) -> io::Result<Duration> {
        let started = Instant::now();
        let params = |_| json!({"name": "echo", "arguments": {"message": "hi"}});
        self.converse(calls, in_flight, params, |_, result| result.is_object())?;
        Ok(started.elapsed())
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn end(self) -> io::Result<()> {
        let Self { mut child, input, output } = self;
        drop((input, output));
        child.wait().map(drop)
    }

    /// Stops the server as quintain does: it has a moment to exit by itself.
    pub fn leave(self) -> io::Result<()> {
        let Self { mut child, input, output } = self;
        drop((input, output));
        let asked = Instant::now();
        while asked.elapsed() < NOTICE {
            if child.try_wait()?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
        signal::kill(Pid::from_raw(pid), Signal::SIGTERM)?;
        child.wait().map(drop)
    }
}

/// The time between the end of the server's input and a signal, as in quintain.
const NOTICE: Duration = Duration::from_millis(100);

/// The next response; notifications of the server are skipped.
fn receive_line(output: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Value> {
    loop {
        line.clear();
        if output.read_until(b'\n', line)? == 0 {
            return Err(io::Error::other("the server hung up"));
        }
        let message: Value = serde_json::from_slice(line)?;
        if message.get("method").is_none() {
            return Ok(message);
        }
    }
}

/// Time for `calls` calls over stdio with `in_flight` of them open, with the minimal client.
pub fn stdio(server: &Path, calls: usize, in_flight: usize) -> io::Result<Duration> {
    let mut piped = Piped::start(&mut Command::new(server))?;
    let took = piped.echo(calls, in_flight)?;
    piped.end()?;
    Ok(took)
}

/// The same without JSON, and with batched reads and writes.
pub fn stdio_batched(server: &Path, calls: usize, in_flight: usize) -> io::Result<Duration> {
    let Piped { mut child, mut input, mut output } = Piped::start(&mut Command::new(server))?;
    let started = Instant::now();
    let (mut out, mut rest, mut chunk) = (Vec::new(), Vec::new(), vec![0; 1 << 16]);
    let mut open = vec![false; calls + 1];
    let (mut sent, mut done) = (0, 0);
    while done < calls {
        while sent < calls && sent - done < in_flight {
            sent += 1;
            open[sent] = true;
            call(sent, &mut out);
            out.push(b'\n');
        }
        input.write_all(&out)?;
        out.clear();
        let size = output.read(&mut chunk)?;
        rest.extend_from_slice(&chunk[..size]);
        let mut from = 0;
        while let Some(end) = find(&rest[from..], b"\n") {
            let id = id_of(&rest[from..from + end]).ok_or_else(|| io::Error::other("no id"))?;
            assert!(std::mem::take(&mut open[id]), "an answer nobody waits for");
            done += 1;
            from += end + 1;
        }
        rest.drain(..from);
    }
    let took = started.elapsed();
    drop((input, output));
    child.wait()?;
    Ok(took)
}

/// The cost of a target by itself: start, handshake, one call, end.
pub fn cold(server: &Path) -> io::Result<Duration> {
    let started = Instant::now();
    let mut piped = Piped::start(&mut Command::new(server))?;
    let mut out = Vec::new();
    call(1, &mut out);
    out.push(b'\n');
    piped.input.write_all(&out)?;
    let mut answer = [0; 4096];
    let _ = piped.output.read(&mut answer)?;
    piped.end()?;
    Ok(started.elapsed())
}

/// Time for `calls` calls over HTTP on `in_flight` connections that stay open.
pub fn http(port: u16, calls: usize, in_flight: usize) -> io::Result<Duration> {
    let mut streams = Vec::new();
    for _ in 0..in_flight {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        streams.push(stream);
    }
    let (mut body, mut out, mut answer) = (Vec::new(), Vec::new(), Vec::new());
    let mut send = |stream: &mut TcpStream, id: usize| {
        body.clear();
        let params = json!({"name": "echo", "arguments": {"message": "hi"}});
        serde_json::to_writer(
            &mut body,
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}),
        )?;
        out.clear();
        write!(
            out,
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        )?;
        out.extend_from_slice(&body);
        stream.write_all(&out)
    };
    let started = Instant::now();
    let (mut sent, mut done) = (0, 0);
    for stream in &mut streams {
        sent += 1;
        send(stream, sent)?;
    }
    // One thread serves all connections in turn: while it uses one, the others get their responses.
    'calls: loop {
        for stream in &mut streams {
            receive(stream, &mut answer)?;
            done += 1;
            if done == calls {
                break 'calls;
            }
            if sent < calls {
                sent += 1;
                send(stream, sent)?;
            }
        }
    }
    Ok(started.elapsed())
}

fn receive(stream: &mut TcpStream, answer: &mut Vec<u8>) -> io::Result<usize> {
    answer.clear();
    let mut chunk = [0; 4096];
    loop {
        let size = stream.read(&mut chunk)?;
        if size == 0 {
            return Err(io::Error::other("the server hung up"));
        }
        answer.extend_from_slice(&chunk[..size]);
        let Some(end) = find(answer, b"\r\n\r\n") else { continue };
        let Some(at) = find(answer, b"content-length: ") else { continue };
        let digits = answer[at + 16..].iter().take_while(|byte| byte.is_ascii_digit());
        let length = digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
        if answer.len() >= end + 4 + length {
            let answer: Value = serde_json::from_slice(&answer[end + 4..end + 4 + length])?;
            let id = answer["id"].as_u64().ok_or_else(|| io::Error::other("no id"))?;
            return Ok(id as usize);
        }
    }
}
