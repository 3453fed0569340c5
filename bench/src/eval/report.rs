//! The tables: printed as they grow, and written to `RESULTS.md`.

use std::time::Duration;

use super::bed::Peer;
use crate::Failure;
use crate::results::{self, Section, Tables};
use crate::sample::{Runs, Sample};

/// Start-up.
#[derive(Default)]
pub struct Start {
    /// `quintain --version`.
    pub version: Runs,
    /// `quintain eval` of one test that calls nothing.
    pub eval: Runs,
    /// The same, with a new store.
    pub kept: Runs,
    /// `promptfoo --version`.
    pub peer: Runs,
}

/// One suite over a real server.
pub struct Suites {
    pub tests: usize,
    pub jobs: usize,
    pub floor: Runs,
    pub ours: Runs,
    pub peer: Runs,
}

/// The cost of a test.
pub struct Cost {
    pub target: &'static str,
    pub sizes: [usize; 2],
    pub few: Runs,
    pub many: Runs,
}

impl Cost {
    /// Milliseconds of own processor time for each further test.
    fn slope(&self) -> f64 {
        let more = seconds(self.many.own.median()) - seconds(self.few.own.median());
        more * 1e3 / (self.sizes[1] - self.sizes[0]) as f64
    }
}

/// Suites of growing size.
pub struct Scale {
    pub target: &'static str,
    pub kept: bool,
    pub sizes: [usize; 3],
    pub runs: [Runs; 3],
}

impl Scale {
    fn growth(&self) -> f64 {
        let [least, _, most] = &self.runs;
        most.best() / least.best()
    }
}

pub struct Report(Tables);

impl Report {
    pub fn new(repeats: usize, peer: Option<&Peer>) -> Result<Self, Failure> {
        let peer = peer.map(|peer| format!("; promptfoo {}", peer.version)).unwrap_or_default();
        let mut report = Tables::default();
        report.say(&format!("{ABOUT}\n\n{}{peer}\n", results::machine()?));
        report.say(&format!(
            "Best of {repeats} runs (of fewer where one takes seconds), the median in brackets; ratios and \
             processor time are of the medians."
        ));
        Ok(Self(report))
    }

    pub fn start(&mut self, start: Start) {
        let line = |runs: &Runs| format!("{:.1} ({:.1})", runs.best() * 1e3, runs.median() * 1e3);
        let mut row = |what: &str, runs: &Runs| {
            self.0.row(START, &format!("| {what} | {} | {} |", line(runs), runs.shown_megabytes()));
        };
        row("`quintain --version`", &start.version);
        row("`quintain eval --no-write`, 1 test, echo", &start.eval);
        row("`quintain eval`, the same with a new store", &start.kept);
        row("`promptfoo --version`", &start.peer);
        for (what, runs) in [("--version", &start.version), ("eval", &start.eval)] {
            let took = runs.best() * 1e3;
            self.0.goals.check(took <= 15.0, format!("`quintain {what}` takes 15 ms ({took:.1})"));
        }
    }

    pub fn suites(&mut self, suites: Suites) {
        let Suites { tests, jobs, floor, ours, peer } = suites;
        let wall = |runs: &Runs| format!("{:.2} ({:.2})", runs.best(), runs.median());
        let over = (ours.median() / floor.median() - 1.0) * 100.0;
        let gain = peer.median() / ours.median();
        let cpu = |pick: fn(&Runs) -> &Sample| {
            let each =
                [&floor, &ours, &peer].map(|runs| format!("{:.2}", seconds(pick(runs).median())));
            each.join(" / ")
        };
        let line = format!(
            "| {tests} | {jobs} | {} | {} | {} | {over:+.0} % | {gain:.1} | {} | {} | {} / {} |",
            wall(&floor),
            wall(&ours),
            wall(&peer),
            cpu(|runs| &runs.cpu),
            cpu(|runs| &runs.own),
            ours.shown_megabytes(),
            peer.shown_megabytes(),
        );
        self.0.row(SUITES, &line);
        if tests >= 1000 && jobs == 4 {
            let what = format!("{tests} tests, -j {jobs}: the floor and 15 % ({over:+.0} %)");
            self.0.goals.check(over <= 15.0, what);
        }
        if tests >= 1000 {
            let held = ours.megabytes();
            let what = format!("{tests} tests, -j {jobs}: 40 MB resident ({held:.1})");
            self.0.goals.check(held <= 40.0, what);
        }
    }

    pub fn cost(&mut self, cost: Cost) {
        let slope = cost.slope();
        let own = |runs: &Runs| format!("{:.2}", seconds(runs.own.median()));
        let line = format!(
            "| {} | {} | {} | {} | {} | {slope:.3} |",
            cost.target,
            cost.sizes[0],
            own(&cost.few),
            cost.sizes[1],
            own(&cost.many),
        );
        self.0.row(COST, &line);
        let what = format!("{}: 0.15 ms of own CPU for a test ({slope:.3})", cost.target);
        self.0.goals.check(slope > 0.0 && slope <= 0.15, what);
    }

    pub fn scale(&mut self, scale: Scale) {
        let [least, middle, most] = scale.sizes;
        let kept = if scale.kept { "yes" } else { "no" };
        let growth = scale.growth();
        let [a, b, c] = &scale.runs;
        let wall = |runs: &Runs| format!("{:.2} ({:.2})", runs.best(), runs.median());
        let line = format!(
            "| {} | {kept} | {least}: {} | {middle}: {} | {most}: {} | {growth:.2} | {:.0} | {} / {} / {} |",
            scale.target,
            wall(a),
            wall(b),
            wall(c),
            most as f64 / c.best(),
            a.shown_megabytes(),
            b.shown_megabytes(),
            c.shown_megabytes(),
        );
        self.0.row(SCALE, &line);
        let (target, store) = (scale.target, if scale.kept { ", kept" } else { "" });
        let what =
            format!("{target}{store}: {most} tests in 4.6 times the time of {least} ({growth:.2})");
        self.0.goals.check(growth <= 4.6, what);
    }

    pub fn finish(self, keep: bool) -> Result<(), Failure> {
        self.0.finish(Section::Eval, keep)
    }
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

const ABOUT: &str = "\
Written by `cargo xtask bench eval`. Every suite is a promptfoo file whose tests make one call each and check\n\
it with one `contains` and one `is-json`. The last test of a suite must fail; any other result fails\n\
the benchmark. Times are measured from the start of a process to its end.\n\
`floor` is a process that starts the same server, makes the same calls with the same concurrency, reads the\n\
responses, tests nothing, and stops the server as quintain does: it closes its input and sends SIGTERM\n\
100 ms later, before `mcp-server-everything` exits by itself. CPU is user and system time with that of waited-for children, which is the\n\
server (promptfoo does not always wait for it); own CPU is that of the tool alone, read from `/proc` in steps of\n\
10 ms. Memory is the largest resident set of the\n\
tool's own process (MB are millions of bytes), looked at every 5 ms.";

const START: &str = "\
| start-up | ms, best (median) | MB |\n\
|---|---|---|";

const SUITES: &str = "\
Suites over `mcp-server-everything stdio` with `-o output.json --no-table --no-write`, in seconds.\n\n\
| tests | -j | floor | quintain | promptfoo | quintain over floor | promptfoo / quintain | CPU: floor / quintain / promptfoo | own CPU: floor / quintain / promptfoo | MB: quintain / promptfoo |\n\
|---|---|---|---|---|---|---|---|---|---|";

const COST: &str = "\
What a test costs: own CPU of two sizes, with `-j 32 -o output.jsonl --no-table --no-write`.\n\n\
| target | tests | own CPU, s | tests | own CPU, s | ms for each further test |\n\
|---|---|---|---|---|---|";

const SCALE: &str = "\
Large suites with `-j 32 -o output.jsonl --no-table`, in seconds. What is kept goes into a new store.\n\n\
| target | kept | a quarter | a half | all | all / a quarter | tests per second | MB |\n\
|---|---|---|---|---|---|---|---|";
