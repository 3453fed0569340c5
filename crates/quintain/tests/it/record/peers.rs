//! Official SDK clients see the same with a recorder in front of a real server, and from the replay.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use libtest_mimic::{Failed, Trial};

use super::{Listening, connect, ensure, folder, script, wait_until};

const CLIENTS: [&str; 3] = ["typescript", "python_classic", "python_modern"];

pub(crate) fn trials() -> Vec<Trial> {
    let is_missing = peer("QUINTAIN_PEER_NPM").is_err() && std::env::var_os("CI").is_none();
    let each = |kind: &'static str, run: fn(&str) -> Result<(), Failed>| {
        CLIENTS.into_iter().map(move |client| {
            let test =
                Trial::test(format!("record::peers_{client}_over_{kind}"), move || run(client));
            test.with_ignored_flag(is_missing)
        })
    };
    let http: fn(&str) -> Result<(), Failed> = |client| over_http(client, "http");
    let sse: fn(&str) -> Result<(), Failed> = |client| over_http(client, "sse");
    each("stdio", over_stdio).chain(each("http", http)).chain(each("sse", sse)).collect()
}

fn peer(name: &str) -> Result<PathBuf, Failed> {
    let path =
        std::env::var_os(name).ok_or_else(|| format!("needs {name}: `cargo xtask peers`"))?;
    Ok(path.into())
}

fn server() -> Result<[String; 2], Failed> {
    let node = peer("QUINTAIN_PEER_NODE")?.display().to_string();
    let module = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    Ok([node, peer("QUINTAIN_PEER_NPM")?.join(module).display().to_string()])
}

/// What a client sees.
fn seen(client: &str, place: &Path, args: &[&str]) -> Result<String, Failed> {
    let mut command = match client {
        "typescript" => {
            let mut command = Command::new(peer("QUINTAIN_PEER_NODE")?);
            let sdk = peer("QUINTAIN_PEER_NPM")?.join("node_modules/@modelcontextprotocol/sdk");
            command.arg(script("client.mjs")).arg(sdk);
            command
        }
        classic_or_modern => {
            let name = format!("QUINTAIN_PEER_{}", classic_or_modern.to_ascii_uppercase());
            let mut command = Command::new(peer(&name)?.join("bin/python"));
            command.arg(script("client.py"));
            command
        }
    };
    let output = command.args(args).current_dir(place).stdin(Stdio::null()).output()?;
    ensure(output.status.success(), &output)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn same(plain: &str, other: &str, what: &str) -> Result<(), Failed> {
    if plain == other {
        return Ok(());
    }
    let diff = similar::TextDiff::from_lines(plain, other).unified_diff().to_string();
    Err(format!("{what} differs:\n{diff}").into())
}

const QUINTAIN: &str = env!("CARGO_BIN_EXE_quintain");

fn over_stdio(client: &str) -> Result<(), Failed> {
    let folder = folder()?;
    let place = folder.path();
    let [node, everything] = server()?;
    let plain = seen(client, place, &["stdio", &node, &everything, "stdio"])?;
    let recorder =
        ["stdio", QUINTAIN, "record", "-o", "c.jsonl", "--", &node, &everything, "stdio"];
    same(&plain, &seen(client, place, &recorder)?, "the recorded session")?;
    replays(client, place, &plain)
}

/// The replay over every transport.
fn replays(client: &str, place: &Path, plain: &str) -> Result<(), Failed> {
    let replay = ["stdio", QUINTAIN, "record", "--replay", "c.jsonl"];
    same(plain, &seen(client, place, &replay)?, "the replay over stdio")?;
    let replay =
        Listening::start(place, &["record", "--replay", "c.jsonl", "--listen", "127.0.0.1:0"])?;
    let url = format!("http://{}/mcp", replay.address);
    same(plain, &seen(client, place, &["http", &url])?, "the replay over streamable HTTP")?;
    let url = format!("http://{}/sse", replay.address);
    same(plain, &seen(client, place, &["sse", &url])?, "the replay over HTTP+SSE")
}

/// A server over HTTP; killed when dropped.
struct Everything(Child);

impl Drop for Everything {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn over_http(client: &str, kind: &str) -> Result<(), Failed> {
    let folder = folder()?;
    let place = folder.path();
    let [node, everything] = server()?;
    let (mode, path) = if kind == "sse" { ("sse", "sse") } else { ("streamableHttp", "mcp") };
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let started = Command::new(node)
        .args([&everything, mode])
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let _server = Everything(started);
    let address = format!("127.0.0.1:{port}");
    wait_until("the server listens", || connect(&address).is_ok())?;
    let url = format!("http://{address}/{path}");
    let plain = seen(client, place, &[kind, &url])?;
    let recorder = Listening::start(
        place,
        &["record", "-o", "c.jsonl", "--url", &url, "--listen", "127.0.0.1:0"],
    )?;
    let own = format!("http://{}{}", recorder.address, recorder.path);
    same(&plain, &seen(client, place, &[kind, &own])?, "the recorded session")?;
    let (code, _) = recorder.stop()?;
    ensure(code == Some(0), code)?;
    replays(client, place, &plain)
}
