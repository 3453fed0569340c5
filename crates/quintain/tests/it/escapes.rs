//! Targets that send terminal escapes and invisible characters in every text that a failing connection quotes. No
//! command may print them as they are. A command that connects to a target must be listed here.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use libtest_mimic::{Failed, Trial};

use super::stranger::{QUINTAIN, commands, python};

/// Characters that change what a terminal shows: escape, bell, right-to-left override and isolate, zero-width space,
/// the 8-bit form of an escape sequence, line separator.
const HARMFUL: [char; 7] =
    ['\u{1b}', '\u{7}', '\u{202e}', '\u{2066}', '\u{200b}', '\u{9b}', '\u{2028}'];
const SERVER: &str = r#"
import json, sys
MODE = sys.argv[1]
BAD = "\x1b]0;title\x07\x1b[31mred \u202eevil\u2066\u200b \x9b31m \u2028line"
def send(message):
    sys.stdout.write((json.dumps(message) if isinstance(message, dict) else message) + "\n")
    sys.stdout.flush()
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if id is None:
        continue
    error = {"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": BAD, "data": {BAD: BAD}}}
    result = None
    if method == "initialize":
        if MODE == "text":
            send("debug: got message " + BAD)
            sys.exit(0)
        if MODE == "stray":
            send({"jsonrpc": "2.0", "id": BAD, "result": {}})
            sys.exit(0)
        if MODE == "dies":
            sys.stderr.write(BAD + "\n")
            sys.exit(3)
        version = BAD if MODE == "version" else message["params"]["protocolVersion"]
        info = {"name": BAD, "version": BAD}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info, "instructions": BAD}
        if MODE == "initialize":
            result = None
    elif method == "tools/list" and MODE == "cursor":
        result = {"tools": [], "nextCursor": BAD}
    send({"jsonrpc": "2.0", "id": id, "result": result} if result else error)
"#;
const BODY: &str = "\u{1b}]0;title\u{7}\u{1b}[31mred \u{202e}evil\u{2066}\u{200b} \u{9b}31m";
/// Modes of the server on stdio, and paths of the one on HTTP.
const MODES: [&str; 9] =
    ["initialize", "version", "cursor", "list", "text", "stray", "dies", "/500", "/html"];
/// Every command that connects to a target. `TARGET` becomes the words that name it on the command line.
const LINES: [(&str, &str); 12] = [
    ("inspect", "inspect TARGET"),
    ("inspect", "inspect --json TARGET"),
    ("inspect", "inspect --frames TARGET"),
    ("call", "call echo {} TARGET"),
    ("call", "call echo {} --json TARGET"),
    ("call", "call echo {} --frames TARGET"),
    ("redteam run", "redteam run --budget-seconds 5 TARGET"),
    ("redteam generate", "redteam generate -o made.yaml --force TARGET"),
    ("eval", "eval -c suite.yaml"),
    ("eval", "eval -v -c suite.yaml -o report.md"),
    ("scan", "scan mcp.json --start --yes --timeout 20000"),
    ("scan", "scan mcp.json --start --yes --timeout 20000 --json"),
];
/// Commands with options about a target that connect through the code of another one, or not at all.
const OTHERS: [&str; 5] = ["replay", "redteam init", "redteam suite", "record", "serve install"];

pub(crate) fn trials() -> Vec<Trial> {
    let modes = MODES.into_iter().map(|mode| {
        let name = format!("escapes::{}", mode.trim_start_matches('/'));
        Trial::test(name, move || no_command_prints_them(mode))
    });
    let all = Trial::test("escapes::every_command_is_listed", every_command_is_listed);
    modes.chain([all]).collect()
}

fn every_command_is_listed() -> Result<(), Failed> {
    let mut found = Vec::new();
    commands("", &mut found)?;
    let mut missing = Vec::new();
    for name in found {
        let output = Command::new(QUINTAIN).args(name.split_whitespace()).arg("--help").output()?;
        let connects = String::from_utf8_lossy(&output.stdout).contains("--url <URL>");
        let listed = LINES.iter().any(|(listed, _)| *listed == name);
        if connects && !listed && !OTHERS.contains(&name.as_str()) {
            missing.push(name);
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(format!("not listed: {missing:?}").into()) }
}

fn no_command_prints_them(mode: &str) -> Result<(), Failed> {
    let folder = tempfile::Builder::new().prefix("quintain-it-").tempdir()?;
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("home"))?;
    fs::write(at("server.py"), SERVER)?;
    let (target, server) = if mode.starts_with('/') {
        let url = format!("http://{}{mode}", serve()?);
        (format!("--timeout 20000 --url {url}"), serde_json::json!({"url": url}))
    } else {
        let python = python();
        let target = format!("--timeout 20000 -- {python} server.py {mode}");
        (target, serde_json::json!({"command": python, "args": ["server.py", mode]}))
    };
    let config = serde_json::json!({"server": server, "timeout": 20000});
    let suite = serde_json::json!({
        "targets": [{"id": "mcp", "config": config}],
        "prompts": ["{\"tool\": \"echo\"}"],
        "tests": [{"assert": [{"type": "contains", "value": "x"}]}],
    });
    // JSON is YAML.
    fs::write(at("suite.yaml"), suite.to_string())?;
    let clients = serde_json::json!({"mcpServers": {"one": server}});
    fs::write(at("mcp.json"), clients.to_string())?;
    let mut wrong = Vec::new();
    for (name, line) in LINES {
        let line = line.replace("TARGET", &target);
        let output = run(&line, folder.path())?;
        let printed = [&output.stdout[..], &output.stderr[..]].concat();
        let printed = String::from_utf8_lossy(&printed);
        if let Some(found) = HARMFUL.iter().find(|harmful| printed.contains(**harmful)) {
            wrong.push(format!("`{line}` prints {found:?} as it is:\n{printed:?}"));
        }
        // Otherwise the test would pass because nothing is printed at all.
        let shown = printed.contains("<U+202E>") || printed.contains("\\u202e");
        if matches!(name, "inspect" | "call") && !shown {
            wrong.push(format!("`{line}` does not show what the target sent:\n{printed}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn run(line: &str, folder: &Path) -> Result<Output, Failed> {
    let output = Command::new(QUINTAIN)
        .args(line.split_whitespace())
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder.join("home"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()?;
    Ok(output)
}

/// Starts a server on HTTP that ends with the test, and returns its address.
fn serve() -> Result<String, Failed> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                // A client that goes away early is not of interest.
                let _ = respond(stream);
            });
        }
    });
    Ok(address)
}

fn respond(mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    std::io::copy(&mut reader.take(length), &mut std::io::sink())?;
    let (status, kind) = match first.split(' ').nth(1) {
        Some("/500") => ("500 Internal Server Error", "application/json"),
        _ => ("200 OK", "text/html"),
    };
    let length = BODY.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{BODY}"
    )
}
