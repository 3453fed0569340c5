//! Measures Quintain's client beside the official SDK's and beside bare pipes and sockets, in one run.
//!
//! All clients talk to the same raw servers, take turns within every repeat so that noise hits all of
//! them, and are reported by their best and their median run. Results go to `RESULTS.md`.

mod bare;
mod cold;
mod drive;
mod fresh;
mod ours;
mod peer;
mod report;
mod sample;

use std::process::ExitCode;

use drive::{Failure, Threads};
use fresh::Programs;
use report::{Report, Row};
use sample::Sample;

const USAGE: &str = "\
Usage: quintain-bench [--repeats N] [--calls N] [--only stdio|http|cold]
       quintain-bench --profile stdio|http IN_FLIGHT

Everything is measured and written to RESULTS.md, unless --only asks for a part, which is printed.
--profile makes calls with our client alone for some seconds, to be watched by a profiler.";

struct Settings {
    repeats: usize,
    calls: usize,
    only: Option<String>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [cold::MEMORY_OF, program, arguments @ ..] => cold::print_memory_of(program, arguments),
        ["--profile", transport, in_flight] => profile(transport, in_flight),
        words => settings(words).and_then(|settings| measure(&settings)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn settings(words: &[&str]) -> Result<Settings, Failure> {
    let mut settings = Settings { repeats: 7, calls: 10_000, only: None };
    for pair in words.chunks(2) {
        match *pair {
            ["--repeats", count] => settings.repeats = count.parse::<usize>()?.max(1),
            ["--calls", count] => settings.calls = count.parse::<usize>()?.max(1),
            ["--only", part @ ("stdio" | "http" | "cold")] => settings.only = Some(part.into()),
            _ => return Err(USAGE.into()),
        }
    }
    Ok(settings)
}

fn measure(settings: &Settings) -> Result<(), Failure> {
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

fn profile(transport: &str, in_flight: &str) -> Result<(), Failure> {
    const CALLS: usize = 100_000;
    let (programs, in_flight) = (Programs::build(false)?, in_flight.parse()?);
    for _ in 0..10 {
        let took = match transport {
            "stdio" => ours::stdio(&programs.echo_stdio, CALLS, in_flight)?,
            "http" => ours::http(programs.serve_http()?.port, CALLS, in_flight)?,
            _ => return Err(USAGE.into()),
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
        // A server each, so that nobody inherits the connections of another.
        let bare = bare::http(programs.serve_http()?.port, calls, in_flight)?;
        Ok([
            bare,
            // Over HTTP every call is a write of its own; there is nothing to batch.
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
    turn: impl Fn() -> Result<[std::time::Duration; 5], Failure>,
) -> Result<Row, Failure> {
    let mut samples: [Sample; 5] = Default::default();
    for _ in 0..settings.repeats {
        for (sample, took) in samples.iter_mut().zip(turn()?) {
            sample.add(took);
        }
    }
    let [bare, batched, ours, one, many] = samples;
    // The peer runs on whatever suits it best.
    let (peer, peer_threads) =
        if one.best() <= many.best() { (one, Threads::One) } else { (many, Threads::Many) };
    Ok(Row { transport, in_flight, bare, batched, ours, peer, peer_threads })
}
