//! The client, compared with the official SDK's and with bare pipes and sockets.
//!
//! All clients talk to the same raw servers.

pub mod bare;
mod cold;
mod drive;
mod ours;
mod peer;
mod report;

pub use cold::{MEMORY_OF, print_memory_of};

use std::time::Duration;

use drive::Threads;
use report::{Report, Row};

use crate::Failure;
use crate::fresh::Programs;
use crate::sample::Sample;

pub struct Settings {
    repeats: usize,
    calls: usize,
    only: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { repeats: 7, calls: 10_000, only: None }
    }
}

impl Settings {
    pub fn read(words: &[&str]) -> Option<Self> {
        let mut settings = Self::default();
        for pair in words.chunks(2) {
            match *pair {
                ["--repeats", count] => settings.repeats = count.parse::<usize>().ok()?.max(1),
                ["--calls", count] => settings.calls = count.parse::<usize>().ok()?.max(1),
                ["--only", part @ ("stdio" | "http" | "cold")] => settings.only = Some(part.into()),
                _ => return None,
            }
        }
        Some(settings)
    }
}

pub fn run(settings: &Settings) -> Result<(), Failure> {
    let wanted = |part| settings.only.as_deref().is_none_or(|only| only == part);
    let programs = Programs::build(wanted("cold"))?;
    let mut report = Report::new(settings.repeats, settings.calls)?;
    for in_flight in [1, 32, 256].into_iter().filter(|_| wanted("stdio")) {
        report.add(stdio(&programs, settings, in_flight)?);
    }
    for in_flight in [1, 32, 256].into_iter().filter(|_| wanted("http")) {
        report.add(http(&programs, settings, in_flight)?);
    }
    if wanted("cold") {
        report.cold = Some(cold::measure(&programs, settings.repeats * 4)?);
    }
    report.finish(settings.only.is_none())
}

pub fn profile(transport: &str, in_flight: &str) -> Result<(), Failure> {
    const CALLS: usize = 100_000;
    let (programs, in_flight) = (Programs::build(false)?, in_flight.parse()?);
    for _ in 0..10 {
        let took = match transport {
            "stdio" => ours::stdio(&programs.echo_stdio, CALLS, in_flight)?,
            "http" => ours::http(programs.serve_http()?.port, CALLS, in_flight)?,
            _ => return Err(format!("`{transport}` is neither stdio nor http").into()),
        };
        println!("{:.0} calls/s", CALLS as f64 / took.as_secs_f64());
    }
    Ok(())
}

fn stdio(programs: &Programs, settings: &Settings, in_flight: usize) -> Result<Row, Failure> {
    let (server, calls) = (programs.echo_stdio.as_path(), settings.calls);
    turns("stdio", settings, in_flight, || {
        Ok([
            bare::stdio(server, calls, in_flight)?,
            bare::stdio_batched(server, calls, in_flight)?,
            ours::stdio(server, calls, in_flight)?,
            peer::stdio(server, Threads::One, calls, in_flight)?,
            peer::stdio(server, Threads::Many, calls, in_flight)?,
        ])
    })
}

fn http(programs: &Programs, settings: &Settings, in_flight: usize) -> Result<Row, Failure> {
    let calls = settings.calls;
    turns("HTTP", settings, in_flight, || {
        // One server each, so that no client inherits the connections of another.
        let bare = bare::http(programs.serve_http()?.port, calls, in_flight)?;
        Ok([
            bare,
            // Over HTTP every call is a separate write; there is nothing to batch.
            bare,
            ours::http(programs.serve_http()?.port, calls, in_flight)?,
            peer::http(programs.serve_http()?.port, Threads::One, calls, in_flight)?,
            peer::http(programs.serve_http()?.port, Threads::Many, calls, in_flight)?,
        ])
    })
}

fn turns(
    transport: &'static str,
    settings: &Settings,
    in_flight: usize,
    turn: impl Fn() -> Result<[Duration; 5], Failure>,
) -> Result<Row, Failure> {
    let mut samples: [Sample; 5] = Default::default();
    for _ in 0..settings.repeats {
        for (sample, took) in samples.iter_mut().zip(turn()?) {
            sample.add(took);
        }
    }
    let [bare, batched, ours, one, many] = samples;
    // The peer runs on the runtime that suits it best.
    let (peer, peer_threads) =
        if one.best() <= many.best() { (one, Threads::One) } else { (many, Threads::Many) };
    Ok(Row { transport, in_flight, bare, batched, ours, peer, peer_threads })
}
