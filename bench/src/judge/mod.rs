//! Judged cases: `mcp-use` with an instant judge, compared with deepeval, and many slow judges at once.

mod bed;

use std::time::{Duration, Instant};

use bed::{Bed, IN_FLIGHT};

use crate::Failure;
use crate::fresh::serve_judge;
use crate::results::{self, Section, Tables};
use crate::sample::{Runs, Sample};

/// How much less processor time a case takes than with deepeval.
const GOAL: f64 = 20.0;
/// How long the slow judge takes, and how many times that a run with all of them at once may take.
const DELAY: Duration = Duration::from_millis(500);
const SLOWDOWN: f64 = 2.0;
/// A run of deepeval takes minutes.
const PEER_REPEATS: usize = 2;
const ABOUT: &str = "Judged cases by `cargo xtask bench judge`. The judge has one opinion. For Quintain it is an HTTP \
                     server on this machine, whose processor time does not count; for deepeval it is a function.";
const COMPARED: &str = "\
| cases | Quintain, CPU ms per case | deepeval, CPU ms per case | ratio |
|---|---|---|---|";
const FLIGHT: &str = "\
| judges in flight | delay of each | whole run | another run meanwhile | the same alone |
|---|---|---|---|---|";

pub struct Settings {
    repeats: usize,
    cases: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { repeats: 5, cases: 1_000 }
    }
}

impl Settings {
    pub fn read(words: &[&str]) -> Option<Self> {
        let mut settings = Self::default();
        for pair in words.chunks(2) {
            match *pair {
                ["--repeats", count] => settings.repeats = count.parse::<usize>().ok()?.max(1),
                ["--cases", count] => settings.cases = count.parse::<usize>().ok()?.max(1),
                _ => return None,
            }
        }
        Some(settings)
    }
}

pub fn run(settings: &Settings) -> Result<(), Failure> {
    let bed = Bed::new()?;
    let mut tables = Tables::default();
    let about = format!("{ABOUT}\n\n{}; deepeval {}", results::machine()?, bed.version());
    tables
        .say(&format!("{about}\n\nMedians of {} runs, of fewer with deepeval.", settings.repeats));
    compare(&bed, settings, &mut tables)?;
    in_flight(&bed, settings, &mut tables)?;
    tables.finish(Section::Judge, settings.cases == Settings::default().cases)
}

fn compare(bed: &Bed, settings: &Settings, tables: &mut Tables) -> Result<(), Failure> {
    let judge = serve_judge(Duration::ZERO)?;
    let cases = bed.cases(settings.cases)?;
    let (mut ours, mut peer) = (Runs::default(), Runs::default());
    for turn in 0..settings.repeats {
        ours.add(bed.grade(&cases, settings.cases, judge.port)?);
        if turn < PEER_REPEATS {
            peer.add(bed.evaluate(&cases, settings.cases)?);
        }
    }
    let per_case = |runs: &Runs| runs.cpu.median().as_secs_f64() * 1e3 / settings.cases as f64;
    let (ours, peer) = (per_case(&ours), per_case(&peer));
    let ratio = peer / ours;
    let row = format!("| {} | {ours:.3} | {peer:.3} | {ratio:.1} |", settings.cases);
    tables.row(COMPARED, &row);
    let what =
        format!("a judged case takes {GOAL}x less processor time than with deepeval ({ratio:.1}x)");
    tables.goals.check(ratio >= GOAL, what);
    Ok(())
}

/// All judges of a run at once, and meanwhile a run that asks none.
fn in_flight(bed: &Bed, settings: &Settings, tables: &mut Tables) -> Result<(), Failure> {
    let judge = serve_judge(DELAY)?;
    let (mut judged, mut meanwhile, mut alone) =
        (Sample::default(), Sample::default(), Sample::default());
    for _ in 0..settings.repeats {
        alone.add(bed.plain(judge.port)?);
        let started = Instant::now();
        let both = bed.judged(judge.port)?;
        judged.add(started.elapsed());
        meanwhile.add(both);
    }
    let millis = |sample: &Sample| sample.median().as_secs_f64() * 1e3;
    let row = format!(
        "| {IN_FLIGHT} | {} ms | {:.0} ms | {:.0} ms | {:.0} ms |",
        DELAY.as_millis(),
        millis(&judged),
        millis(&meanwhile),
        millis(&alone)
    );
    tables.row(FLIGHT, &row);
    let times = judged.median().as_secs_f64() / DELAY.as_secs_f64();
    let what = format!("{IN_FLIGHT} judges at once take at most {SLOWDOWN} delays ({times:.2})");
    tables.goals.check(times <= SLOWDOWN, what);
    let is_free = meanwhile.median() < DELAY;
    let what = format!(
        "tests without a judge do not wait for those with one ({:.0} ms, {:.0} ms alone)",
        millis(&meanwhile),
        millis(&alone)
    );
    tables.goals.check(is_free, what);
    Ok(())
}
