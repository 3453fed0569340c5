//! This program as a client sees the same with a recorder in front of the practice target, and from the replay.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use super::{Listening, ensure, folder};
use crate::budgets::quintain;

const QUINTAIN: &str = env!("CARGO_BIN_EXE_quintain");

pub(crate) fn trials() -> Vec<Trial> {
    let each = |protocol: &'static str| {
        [
            Trial::test(format!("record::own_client_over_stdio_{protocol}"), move || {
                over_stdio(protocol)
            }),
            Trial::test(format!("record::own_client_over_http_{protocol}"), move || {
                over_http(protocol)
            }),
        ]
    };
    ["modern", "legacy"].into_iter().flat_map(each).collect()
}

/// What a target offers, without the name that follows from its address.
fn inspected(place: &Path, protocol: &str, target: &[&str]) -> Result<Value, Failed> {
    let args =
        ["inspect", "--json", "--protocol", protocol].into_iter().chain(target.iter().copied());
    let output = quintain(place, &args.collect::<Vec<_>>()).output()?;
    ensure(output.status.success(), &output)?;
    let mut report: Value = serde_json::from_slice(&output.stdout)?;
    report["servers"][0]["name"] = Value::Null;
    Ok(report)
}

fn over_stdio(protocol: &str) -> Result<(), Failed> {
    let folder = folder()?;
    let place = folder.path();
    let plain = inspected(place, protocol, &["--", QUINTAIN, "demo", "--stdio"])?;
    let recorder = ["--", QUINTAIN, "record", "-o", "c.jsonl", "--", QUINTAIN, "demo", "--stdio"];
    ensure(inspected(place, protocol, &recorder)? == plain, "the recorded session differs")?;
    replays(place, protocol, &plain)
}

fn replays(place: &Path, protocol: &str, plain: &Value) -> Result<(), Failed> {
    let replay = ["--", QUINTAIN, "record", "--replay", "c.jsonl"];
    ensure(inspected(place, protocol, &replay)? == *plain, "the replay over stdio differs")?;
    let replay =
        Listening::start(place, &["record", "--replay", "c.jsonl", "--listen", "127.0.0.1:0"])?;
    let url = format!("http://{}/mcp", replay.address);
    ensure(inspected(place, protocol, &["--url", &url])? == *plain, "the replay over HTTP differs")
}

/// The practice target; killed when dropped.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn over_http(protocol: &str) -> Result<(), Failed> {
    let folder = folder()?;
    let place = folder.path();
    let mut demo =
        quintain(place, &["demo", "--http", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn()?;
    let stdout = demo.stdout.take().ok_or("no output")?;
    let _demo = Demo(demo);
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line)?;
    let started: Value = serde_json::from_str(&line)?;
    let url = started["url"].as_str().ok_or("no URL")?;
    let plain = inspected(place, protocol, &["--url", url])?;
    let recorder = Listening::start(place, &["record", "-o", "c.jsonl", "--url", url])?;
    let own = format!("http://{}{}", recorder.address, recorder.path);
    ensure(inspected(place, protocol, &["--url", &own])? == plain, "the recorded session differs")?;
    let (code, stderr) = recorder.stop()?;
    ensure(code == Some(0), stderr)?;
    replays(place, protocol, &plain)
}
