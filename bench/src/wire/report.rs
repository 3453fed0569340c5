//! The table: printed, and written to `RESULTS.md`.

use std::fmt::Write as _;
use std::time::Duration;

use super::cold::Cold;
use super::drive::Threads;
use crate::Failure;
use crate::results::{self, Goals, Section};
use crate::sample::Sample;

pub struct Row {
    pub transport: &'static str,
    pub in_flight: usize,
    pub bare: Sample,
    pub batched: Sample,
    pub ours: Sample,
    pub peer: Sample,
    pub peer_threads: Threads,
}

pub struct Report {
    repeats: usize,
    calls: usize,
    versions: String,
    rows: Vec<Row>,
    pub cold: Option<Cold>,
}

impl Report {
    pub fn new(repeats: usize, calls: usize) -> Result<Self, Failure> {
        let versions = format!(
            "{}; {}",
            results::machine()?,
            ["quintain-wire", "rmcp", "tokio"].map(locked).join(", ")
        );
        println!("{versions}\n");
        Ok(Self { repeats, calls, versions, rows: Vec::new(), cold: None })
    }

    pub fn add(&mut self, row: Row) {
        if self.rows.is_empty() {
            println!("{HEAD}");
        }
        println!("{}", self.line(&row));
        self.rows.push(row);
    }

    pub fn finish(&self, keep: bool) -> Result<(), Failure> {
        let cold = self.cold.as_ref().map(cold).unwrap_or_default();
        let goals = self.goals();
        print!("\n{cold}\n{goals}");
        if !keep {
            return Ok(());
        }
        let mut text = format!("{ABOUT}\n\n{}\n\n", self.versions);
        let (calls, repeats) = (self.calls, self.repeats);
        let _ = writeln!(
            text,
            "Echo calls per second: the best of {repeats} runs of {calls} calls, the median in brackets; \
             ratios are of the medians.\n\n{HEAD}"
        );
        for row in &self.rows {
            let _ = writeln!(text, "{}", self.line(row));
        }
        let _ = write!(text, "\n{cold}\n{goals}");
        results::keep(Section::Wire, &text)
    }

    fn line(&self, row: &Row) -> String {
        let rate = |took: Duration| self.calls as f64 / took.as_secs_f64();
        let shown =
            |sample: &Sample| format!("{:.0} ({:.0})", rate(sample.best()), rate(sample.median()));
        format!(
            "| {} | {} | {} | {} | {} | {}, {} | {:.1} | {:.1} |",
            row.transport,
            row.in_flight,
            shown(&row.batched),
            shown(&row.bare),
            shown(&row.ours),
            shown(&row.peer),
            match row.peer_threads {
                Threads::One => "one thread",
                Threads::Many => "many",
            },
            ratio(&row.peer, &row.ours),
            ratio(&row.ours, &row.bare),
        )
    }

    fn goals(&self) -> String {
        let mut goals = Goals::default();
        for row in self.rows.iter().filter(|row| row.in_flight == 32) {
            let name = row.transport;
            let gain = ratio(&row.peer, &row.ours);
            goals.check(
                gain >= 3.0,
                format!("{name}, 32 in flight: 3 times the SDK's client ({gain:.1})"),
            );
            let loss = ratio(&row.ours, &row.bare);
            goals.check(
                loss <= 2.0,
                format!("{name}, 32 in flight: half of the bare loop ({loss:.1})"),
            );
        }
        if let Some(cold) = &self.cold {
            let added = added(cold.call.best(), cold.target.best());
            goals.check(added <= 20.0, format!("a cold call adds 20 ms ({added:.1})"));
            let memory = megabytes(cold.memory);
            goals.check(memory < 20.0, format!("a cold call uses 20 MB ({memory:.1})"));
        }
        goals.0
    }
}

const ABOUT: &str = "\
Written by `cargo xtask bench wire`. Every client makes the same `tools/call` to the same raw server, which\n\
searches bytes for keys and parses nothing. `bare` is a minimal client: a loop on one thread that\n\
writes JSON, reads a response and parses it. `ceiling` parses nothing and reads and writes in chunks\n\
where possible (not over HTTP). `quintain` is `Session::call_tool` with the result as a value, on a\n\
current-thread runtime, as the product runs it; `rmcp` is the official SDK's client on the runtime that\n\
suits it better, current-thread or multi-thread.";

const HEAD: &str = "\
| transport | in flight | ceiling | bare | quintain | rmcp, its runtime | quintain / rmcp | bare / quintain |\n\
|---|---|---|---|---|---|---|---|";

fn ratio(slow: &Sample, fast: &Sample) -> f64 {
    slow.median().as_secs_f64() / fast.median().as_secs_f64()
}

fn added(call: Duration, target: Duration) -> f64 {
    (call.as_secs_f64() - target.as_secs_f64()) * 1e3
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn cold(cold: &Cold) -> String {
    let line = |what: &str, sample: &Sample| {
        let (best, median) = (sample.best(), sample.median());
        format!(
            "| {what} | {:.1} ({:.1}) |\n",
            best.as_secs_f64() * 1e3,
            median.as_secs_f64() * 1e3
        )
    };
    let mut text = String::from("| `quintain call echo ...`, cold | best (median) |\n|---|---|\n");
    text += &line("start to exit, ms", &cold.call);
    text += &line("the target alone, ms", &cold.target);
    let best = added(cold.call.best(), cold.target.best());
    let median = added(cold.call.median(), cold.target.median());
    let _ = writeln!(text, "| added by quintain, ms | {best:.1} ({median:.1}) |");
    let _ = writeln!(text, "| largest resident set, MB | {:.1} |", megabytes(cold.memory));
    text
}

/// The version that the benchmarks were built with.
fn locked(name: &str) -> String {
    let lock = include_str!("../../Cargo.lock");
    let mut lines = lock.lines().skip_while(|line| *line != format!("name = \"{name}\""));
    let line = lines.nth(1).unwrap_or_default();
    format!("{name} {}", line.trim_start_matches("version = ").trim_matches('"'))
}
