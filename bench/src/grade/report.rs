//! The tables: printed as they grow, and written to `RESULTS.md`.

use super::bed::{How, Peer};
use super::recorder::Recorded;
use crate::Failure;
use crate::results::{self, Section, Tables};
use crate::sample::Runs;

/// What a million cases may take compared with a hundred thousand.
const TIME_GROWTH: f64 = 11.5;
/// The memory of the largest compared with that of the smallest number of cases. What is beyond 1 is noise.
const MEMORY_GROWTH: f64 = 1.2;

/// Start-up.
#[derive(Default)]
pub struct Start {
    pub ours: Runs,
    pub peer: Runs,
}

/// The same cases with both tools.
pub struct Compared {
    pub cases: usize,
    pub how: How,
    /// `--metrics tool-correctness`.
    pub ours: Runs,
    /// The scores of deepeval.
    pub compatible: Runs,
    pub peer: Runs,
}

/// Growing numbers of cases.
pub struct Scale {
    pub sizes: [usize; 3],
    pub runs: [Runs; 3],
}

pub struct Report(Tables);

impl Report {
    pub fn new(repeats: usize, peer: Option<&Peer>) -> Result<Self, Failure> {
        let peer = peer.map(|peer| format!("; deepeval {}", peer.version)).unwrap_or_default();
        let mut tables = Tables::default();
        tables.say(&format!("{ABOUT}\n\n{}{peer}\n", results::machine()?));
        tables.say(&format!(
            "Best of {repeats} runs (of fewer where one takes seconds), the median in brackets; ratios and \
             processor time are of the medians."
        ));
        Ok(Self(tables))
    }

    pub fn start(&mut self, start: &Start) {
        let Start { ours, peer } = start;
        let row = format!(
            "| start-up | | {} | | {} | {} |",
            millis(ours),
            millis(peer),
            ratios(ours, peer)
        );
        self.0.row(COMPARED, &row);
    }

    pub fn compared(&mut self, compared: &Compared) {
        let Compared { cases, how, ours, compatible, peer } = compared;
        let how = match how {
            How::Default => "`evaluate`, default",
            How::Lean => "`evaluate`, lean",
            How::Loop => "metric in a loop",
        };
        let row = format!(
            "| {cases} | {how} | {} | {} | {} | {} |",
            millis(ours),
            millis(compatible),
            millis(peer),
            ratios(ours, peer)
        );
        self.0.row(COMPARED, &row);
    }

    /// The goals of the number of cases that they are set for.
    pub fn cold(&mut self, cases: usize, ours: &Runs) {
        let (took, held) = (ours.best() * 1e3, ours.megabytes());
        let goals = &mut self.0.goals;
        goals.check(
            took < 50.0,
            format!("{cases} cases from cold start in under 50 ms ({took:.1})"),
        );
        goals.check(held < 30.0, format!("{cases} cases in under 30 MB ({held:.1})"));
    }

    /// The modes in which the scores were equal.
    pub fn equal(&mut self, cases: usize, modes: &[(&str, usize)]) {
        let modes: Vec<String> =
            modes.iter().map(|(mode, distinct)| format!("{mode} ({distinct})")).collect();
        self.0.say(&format!(
            "\nThe scores of {cases} cases equal those of deepeval case by case; modes and their number of different \
             scores: {}.",
            modes.join(", ")
        ));
    }

    pub fn scale(&mut self, scale: &Scale) {
        for (size, runs) in scale.sizes.iter().zip(&scale.runs) {
            let row = format!(
                "| {size} | {:.2} ({:.2}) | {:.2} | {:.0} | {} |",
                runs.best(),
                runs.median(),
                runs.cpu.median().as_secs_f64(),
                *size as f64 / runs.best(),
                runs.shown_megabytes()
            );
            self.0.row(SCALE, &row);
        }
        let [least, tenth, all] = &scale.runs;
        let [few, some, many] = scale.sizes;
        let time = all.best() / tenth.best();
        let memory = all.megabytes() / least.megabytes();
        let goals = &mut self.0.goals;
        let what = format!("{many} cases in {TIME_GROWTH} times the time of {some} ({time:.2})");
        goals.check(time <= TIME_GROWTH, what);
        let what =
            format!("{many} cases in {MEMORY_GROWTH} times the memory of {few} ({memory:.2})");
        goals.check(memory <= MEMORY_GROWTH, what);
    }

    pub fn checks(&mut self, traces: usize, runs: &Runs) {
        let cpu = runs.cpu.median().as_secs_f64() * 1e3;
        let row =
            format!("| {traces} | {} | {cpu:.0} | {} |", millis(runs), runs.shown_megabytes());
        self.0.row(CHECKS, &row);
        let took = runs.best() * 1e3;
        let what = format!("all checks on {traces} public traces in under 100 ms ({took:.1})");
        self.0.goals.check(took < 100.0, what);
    }

    /// Missing traces must not go unnoticed.
    pub fn no_traces(&mut self) {
        println!("\n*** SKIPPED checks: ../shared/data/livemcpbench is missing ***");
        self.0.goals.0.push_str("- **skipped**: all checks on public traces, which are missing\n");
    }

    pub fn recorded(&mut self, recorded: &Recorded) {
        let Recorded { transport, in_flight, calls, direct, through } = recorded;
        let each = |seconds: f64| seconds * 1e6 / *calls as f64;
        let added = each(through.median() - direct.median().as_secs_f64());
        let row = format!(
            "| {transport} | {in_flight} | {:.1} ({:.1}) | {:.1} ({:.1}) | {added:.1} | {:.1} | {} |",
            each(direct.best().as_secs_f64()),
            each(direct.median().as_secs_f64()),
            each(through.best()),
            each(through.median()),
            each(through.own.median().as_secs_f64()),
            through.shown_megabytes()
        );
        self.0.row(RECORDED, &row);
        let what = format!(
            "{transport}, {in_flight} in flight: `record` adds under 1 ms to a call ({:.3})",
            added / 1e3
        );
        self.0.goals.check(added < 1e3, what);
    }

    pub fn finish(self, is_kept: bool) -> Result<(), Failure> {
        self.0.finish(Section::Grade, is_kept)
    }
}

fn millis(runs: &Runs) -> String {
    format!("{:.1} ({:.1})", runs.best() * 1e3, runs.median() * 1e3)
}

/// Time, processor time and memory of the peer divided by ours; the latter two after the figures themselves.
fn ratios(ours: &Runs, peer: &Runs) -> String {
    let cpu = |runs: &Runs| runs.cpu.median().as_secs_f64();
    format!(
        "{:.1} | {:.0} / {:.0} | {:.1} | {} / {} | {:.1}",
        peer.median() / ours.median(),
        cpu(ours) * 1e3,
        cpu(peer) * 1e3,
        cpu(peer) / cpu(ours),
        ours.shown_megabytes(),
        peer.shown_megabytes(),
        peer.megabytes() / ours.megabytes()
    )
}

const ABOUT: &str = "\
Written by `cargo xtask bench grade`. The cases are random with a fixed seed: deepeval's JSON with 2 to 5 expected calls and\n\
the calls that were made. A known number of them must fail; any other result fails the benchmark, and so does any score that\n\
differs from deepeval's in `compat: deepeval`. Times are measured from the start of a process to its end, with nothing\n\
cached by the tools. CPU is user and system time. Memory is the largest resident set (MB are millions of bytes), looked at\n\
every 5 ms.";

const COMPARED: &str = "\
`quintain grade cases.json --metrics tool-correctness --no-write -o out.json`, which also runs all checks; `compat` has the\n\
scores of deepeval instead. deepeval's `ToolCorrectnessMetric` compares parameters: with `evaluate` as it is by default, whose\n\
time grows with the square of the cases; with `evaluate` without display, cache and tasks (lean); and without `evaluate`,\n\
which leaves no report. Start-up is `quintain --version` and the import of deepeval. Times are in milliseconds, ratios are\n\
deepeval / quintain.\n\n\
| cases | deepeval | quintain | quintain, compat | deepeval | ratio | CPU, ms: quintain / deepeval | ratio | MB: quintain / deepeval | ratio |\n\
|---|---|---|---|---|---|---|---|---|---|";

const SCALE: &str = "\
Many cases with `cases.jsonl --metrics tool-correctness --no-write -o out.jsonl`.\n\n\
| cases | seconds | CPU, s | cases per second | MB |\n\
|---|---|---|---|---|";

const CHECKS: &str = "\
All checks on public traces (LiveMCPBench) with `--router --surface tools.json --metrics checks --no-write -o out.json`.\n\n\
| traces | ms | CPU, ms | MB |\n\
|---|---|---|---|";

const RECORDED: &str = "\
Echo calls of the raw servers, directly and through `quintain record`, in microseconds per call. Added time is that of the\n\
medians; own CPU is that of the recorder. Every call and every result must be in the capture.\n\n\
| transport | in flight | direct | recorded | added | own CPU of the recorder | MB |\n\
|---|---|---|---|---|---|---|";
