//! The recorder in front of a command.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use libtest_mimic::{Failed, Trial};
use serde_json::json;

use super::{CANARY, capture, ensure, folder, frames, is_running, script, signal, wait_until};
use crate::budgets::quintain;
use crate::stranger::python;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("record::stdio_passes_every_byte_and_the_exit_code", every_byte),
        Trial::test("record::stdio_passes_partial_lines_at_once", partial_lines),
        Trial::test("record::stdio_records_messages_as_written", as_written),
        Trial::test("record::stdio_hands_signals_on_once", signals),
        Trial::test("record::stdio_ends_as_the_command_ends", ends),
        Trial::test("record::stdio_is_valid_after_a_kill_and_leaves_no_process", killed),
        Trial::test("record::stdio_captures_contain_no_secret", secrets),
        Trial::test("record::stdio_passes_long_lines_in_bounded_memory", long_lines),
        Trial::test("record::stdio_continues_after_a_failed_write", failed_write),
        Trial::test("record::stdio_refuses_wrong_files_before_the_command_starts", wrong_files),
        Trial::test("record::stdio_inherits_environment_and_folder", inherited),
    ]
}

/// What a client sends in one session.
const SESSION: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\r\n\
    {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\
    {\"jsonrpc\":\"2.0\",\"id\":\"two\",\"method\":\"ask\",\"params\":{\"_meta\":{\"progressToken\":7}}}\n\
    {\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"result\":{\"roots\":[]}}\n\
    [{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"a\"},{\"jsonrpc\":\"2.0\",\"method\":\"b\"},{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"c\"}]\n\
    \n{not json\n\xff\xfe\x00\n\
    {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"garbage\"}\n\
    {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":5}}\n\
    {\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"long\",\"params\":{\"size\":300000}}\n\
    {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"echo\",\"params\":{\"n\":12345678901234567890123.50}}";

fn server(place: &Path) -> Command {
    let mut command = Command::new(python());
    command.arg(script("server.py")).current_dir(place).env_clear();
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command
}

fn recorder(place: &Path, options: &[&str]) -> Command {
    let server = script("server.py").display().to_string();
    let python = python();
    let mut args = vec!["record", "-o", "capture.jsonl"];
    args.extend(options);
    args.extend(["--", &python, &server]);
    let mut command = quintain(place, &args);
    command.env_remove("HOME");
    command
}

/// Runs a command with this input.
pub(super) fn fed(mut command: Command, input: &[u8]) -> Result<Output, Failed> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().ok_or("no input")?;
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output()?;
    let _ = writer.join();
    Ok(output)
}

fn every_byte() -> Result<(), Failed> {
    let folder = folder()?;
    let plain = fed(server(folder.path()), SESSION)?;
    let recorded = fed(recorder(folder.path(), &[]), SESSION)?;
    ensure(plain.stdout == recorded.stdout, "the output differs")?;
    ensure(plain.status.code() == recorded.status.code(), recorded.status)?;
    let stderr = String::from_utf8_lossy(&recorded.stderr);
    ensure(plain.stderr == recorded.stderr, &stderr)?;
    capture(&folder.path().join("capture.jsonl")).map(drop)
}

fn as_written() -> Result<(), Failed> {
    let folder = folder()?;
    fed(recorder(folder.path(), &[]), SESSION)?;
    let path = folder.path().join("capture.jsonl");
    let text = fs::read_to_string(&path)?;
    for written in [
        r#""frame":{"jsonrpc":"2.0","id":7,"method":"echo","params":{"n":12345678901234567890123.50}}"#,
        r#""frame":{"jsonrpc": "2.0", "id": 1, "result": {"n": 12345678901234567890123, "key": "none"}}"#,
        r#""direction":"client","transport":"stdio","frame":"{not json""#,
        r#""frame":"after the end of input""#,
        r#""frame":"{\"deep\":[[["#,
        r#","frame":{"big":1e40,"lone":"\ud83d\ude00"}"#,
        r#""note":"exit","code":5"#,
    ] {
        ensure(text.contains(written), (written, &text))?;
    }
    let lines = capture(&path)?;
    ensure(lines[0]["note"] == "start", &lines[0])?;
    ensure(lines.iter().all(|line| line["t"].is_f64()), "a line without time")?;
    let client = frames(&lines, "client");
    ensure(client.len() == 11, &client)?;
    ensure(client[4].as_array().is_some_and(|batch| batch.len() == 3), &client[4])?;
    let asked = lines.iter().position(|line| line["frame"]["method"] == "roots/list");
    let answered = lines.iter().position(|line| line["frame"]["result"]["answered"].is_object());
    ensure(asked < answered && asked.is_some(), (asked, answered))
}

/// A recorder with open pipes.
struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Session {
    fn start(mut command: Command) -> Result<Self, Failed> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut session = Self { child, stdin, stdout };
        let banner = session.line()?;
        ensure(banner.starts_with("banner"), banner)?;
        Ok(session)
    }

    fn send(&mut self, text: &str) -> Result<(), Failed> {
        let stdin = self.stdin.as_mut().ok_or("closed")?;
        stdin.write_all(text.as_bytes())?;
        Ok(stdin.flush()?)
    }

    fn line(&mut self) -> Result<String, Failed> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        Ok(line)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn partial_lines() -> Result<(), Failed> {
    let folder = folder()?;
    let mut session = Session::start(recorder(folder.path(), &[]))?;
    session.send("{\"id\":1,\"method\":\"partial\"}\n")?;
    let mut start = vec![0; 17];
    session.stdout.read_exact(&mut start)?;
    ensure(start == b"{\"jsonrpc\":\"2.0\",", &start)?;
    session.send("continue\n")?;
    let rest = session.line()?;
    ensure(rest == "\"id\":1,\"result\":{}}\n", rest)?;
    // The line was recorded before its end was passed on.
    let lines = capture(&folder.path().join("capture.jsonl"))?;
    let server = frames(&lines, "server");
    ensure(server.last() == Some(&json!({"jsonrpc": "2.0", "id": 1, "result": {}})), server)
}

fn signals() -> Result<(), Failed> {
    for (name, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let folder = folder()?;
        let mut session = Session::start(recorder(folder.path(), &[]))?;
        signal(session.child.id(), name)?;
        let mut rest = String::new();
        session.stdout.read_to_string(&mut rest)?;
        ensure(rest.contains(&format!("signal {number}")), &rest)?;
        ensure(rest.lines().count() == 1, &rest)?;
        let code = session.child.wait()?.code();
        ensure(code == Some(40 + number), (name, code))?;
    }
    Ok(())
}

fn ends() -> Result<(), Failed> {
    let folder = folder()?;
    // The client has not closed its end of the pipe.
    for (method, expected) in [("exit", 3), ("crash", 128 + 11)] {
        let mut session = Session::start(recorder(folder.path(), &["--force"]))?;
        session.send(&format!("{{\"id\":1,\"method\":\"{method}\"}}\n"))?;
        let code = session.child.wait()?.code();
        ensure(code == Some(expected), (method, code))?;
    }
    let missing =
        quintain(folder.path(), &["record", "-o", "x.jsonl", "--", "no-such-program"]).output()?;
    ensure(missing.status.code() == Some(3), &missing)?;
    ensure(
        String::from_utf8_lossy(&missing.stderr).contains("cannot start `no-such-program`"),
        missing,
    )
}

fn killed() -> Result<(), Failed> {
    let folder = folder()?;
    let mut command = recorder(folder.path(), &[]);
    command.env("PID_FILE", folder.path().join("pid"));
    let mut session = Session::start(command)?;
    let server: u32 = fs::read_to_string(folder.path().join("pid"))?.parse()?;
    for number in 0..200 {
        session.send(&format!("{{\"id\":{number},\"method\":\"echo\",\"params\":{{}}}}\n"))?;
    }
    let answer = session.line()?;
    signal(session.child.id(), "KILL")?;
    session.child.wait()?;
    let lines = capture(&folder.path().join("capture.jsonl"))?;
    let answer = serde_json::from_str(&answer)?;
    ensure(
        frames(&lines, "server").contains(&answer),
        "the answer was passed on before it was recorded",
    )?;
    wait_until("the server ends with the recorder", || !is_running(server))?;
    // The next session continues the capture.
    fed(recorder(folder.path(), &[]), b"")?;
    let lines = capture(&folder.path().join("capture.jsonl"))?;
    let starts = lines.iter().filter(|line| line["note"] == "start").count();
    ensure(starts == 2, starts)
}

fn secrets() -> Result<(), Failed> {
    let folder = folder()?;
    let escaped = CANARY.replace('+', "\\u002b").replace('/', "\\/");
    let input = format!(
        "{{\"id\":1,\"method\":\"echo\",\"params\":{{\"a\":\"{escaped}\",\"b\":\"x {CANARY} y\",\"password\":\"hunter2-hunter2\"}}}}\n\
         {{\"id\":2,\"method\":\"echo\",\"params\":{{\"text\":\"again hunter2-hunter2\",\"k\":\"ghp_16C7e42F292c6912E7710c838347Ae178B4a\"}}}}\n\
         {{\"id\":3,\"method\":\"echo\",\"params\":{{\"key\":\"-----BEGIN PRIVATE KEY-----\\n5TVAM4By7Kq2mXz9Rw3tLp8s\\n7Yb2Kd9QwLs4\\n-----END PRIVATE KEY-----\"}}}}\n\
         {{\"id\":4,\"method\":\"echo\",\"params\":{{\"log\":\"curl -H 'Authorization: Bearer q7Zt4Kw2mX9pLr5sVb8nYc3dFg6h'\"}}}}\n\
         {{\"id\":5,\"method\":\"echo\",\"params\":{{\"url\":\"https://h/x?a=1&token=sunshine99&sig=9f8e7d6c5b4a3928\",\"log\":\"GET /y?api_key=queryval12345 200\"}}}}\n\
         {{\"id\":6,\"method\":\"echo\",\"params\":{{\"auth\":{{\"secret\":{{\"value\":\"deepSecret7788x\"}}}},\"secrets\":[\"x\",\"listSecret99aa\"]}}}}\n\
         {{\"id\":7,\"method\":\"echo\",\"params\":{{\"pwd\":\"plainpw7788\",\"cookie\":\"sid=cookieVal7788x\",\"session\":\"s3ss10nQx7f9Zk2\",\"k\":\"AKIA4QX7ZLMN2PWR8TKD\",\"mode\":\"ordinary-word\"}}}}\n\
         plain text with {CANARY}\n"
    );
    let server = script("server.py").display().to_string();
    let python = python();
    let args = ["record", "-o", "capture.jsonl", "--", &python, &server, "--token", CANARY];
    let mut command = quintain(folder.path(), &args);
    command.env("CANARY_API_KEY", CANARY);
    let output = fed(command, input.as_bytes())?;
    let passed = String::from_utf8_lossy(&output.stdout);
    ensure(passed.contains(CANARY) && passed.contains("hunter2-hunter2"), "the wire was changed")?;
    let text = fs::read_to_string(folder.path().join("capture.jsonl"))?;
    for secret in [
        CANARY,
        &escaped,
        "9Qx7",
        "hunter2-hunter2",
        "ghp_16C7",
        "5TVAM4",
        "7Yb2Kd9Q",
        "q7Zt4Kw2",
        "sunshine99",
        "9f8e7d6c",
        "queryval12345",
        "deepSecret7788x",
        "listSecret99aa",
        "plainpw7788",
        "cookieVal7788x",
        "s3ss10nQx7f9Zk2",
        "AKIA4QX7",
    ] {
        ensure(!text.contains(secret), (secret, &text))?;
    }
    ensure(text.contains("***") && text.contains("ordinary-word"), text)
}

fn long_lines() -> Result<(), Failed> {
    let folder = folder()?;
    let size = 20_000_000;
    let mut session = Session::start(recorder(folder.path(), &[]))?;
    session.send(&format!("{{\"id\":1,\"method\":\"long\",\"params\":{{\"size\":{size}}}}}\n"))?;
    let line = session.line()?;
    ensure(line.len() > size, line.len())?;
    let status =
        fs::read_to_string(format!("/proc/{}/status", session.child.id())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: usize =
        peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok()).unwrap_or(0);
    ensure(peak < 150_000, peak)?;
    let lines = capture(&folder.path().join("capture.jsonl"))?;
    let text = lines.last().and_then(|line| line["frame"]["result"]["text"].as_str());
    ensure(text.map(str::len) == Some(size), text.map(str::len))
}

fn failed_write() -> Result<(), Failed> {
    let folder = folder()?;
    let output =
        fed(quintain(folder.path(), &["record", "-o", "/dev/full", "--", "cat"]), b"a\nb\nc\n")?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure(output.stdout == b"a\nb\nc\n" && output.status.success(), &output)?;
    ensure(stderr.matches("the session continues").count() == 1, stderr)
}

fn wrong_files() -> Result<(), Failed> {
    let folder = folder()?;
    let place = folder.path();
    fs::write(place.join("notes.txt"), "precious")?;
    std::os::unix::fs::symlink(place.join("notes.txt"), place.join("link.jsonl"))?;
    let made = Command::new("mkfifo").arg(place.join("pipe.jsonl")).status()?;
    ensure(made.success(), "mkfifo")?;
    for (file, why) in [
        ("pipe.jsonl", "is a pipe"),
        ("missing/capture.jsonl", "the folder"),
        ("notes.txt", "is not a capture"),
        ("link.jsonl", "is a link"),
    ] {
        let output = quintain(place, &["record", "--force", "-o", file, "--", "touch", "started"])
            .output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure(output.status.code() == Some(2) && stderr.contains(why), (file, &stderr))?;
    }
    ensure(!place.join("started").exists(), "the command was started")?;
    ensure(fs::read_to_string(place.join("notes.txt"))? == "precious", "the file was changed")
}

fn inherited() -> Result<(), Failed> {
    let folder = folder()?;
    let args = [
        "record",
        "-q",
        "-o",
        "c.jsonl",
        "--",
        "sh",
        "-c",
        "echo \"$ODD|$PWD|$0|$1\"",
        "a b",
        "--x=y",
    ];
    let output = quintain(folder.path(), &args).env("ODD", "1 2").output()?;
    let expected = format!("1 2|{}|a b|--x=y\n", fs::canonicalize(folder.path())?.display());
    ensure(String::from_utf8_lossy(&output.stdout) == expected, output)
}
