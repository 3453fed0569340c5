//! Whole runs of suites, compared with promptfoo and with a client that tests nothing.
//!
//! Every run must have the right result: all tests pass except the last one.

mod bed;
mod floor;
mod report;
mod suite;

pub use floor::{FLOOR, floor};

use bed::{Bed, Job, Output};
use report::{Cost, Report, Scale, Start, Suites};
use suite::Target;

use crate::Failure;
use crate::sample::Runs;
use crate::usage::Usage;

/// A run of promptfoo takes seconds.
const PEER_REPEATS: usize = 2;
/// So does one of the largest suites.
const SCALE_REPEATS: usize = 2;
const MOST_TESTS: usize = 100_000;
const WIDE: usize = 32;

pub struct Settings {
    repeats: usize,
    /// The size of the largest suite.
    tests: usize,
    only: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { repeats: 7, tests: MOST_TESTS, only: None }
    }
}

impl Settings {
    pub fn read(words: &[&str]) -> Option<Self> {
        let mut settings = Self::default();
        for pair in words.chunks(2) {
            match *pair {
                ["--repeats", count] => settings.repeats = count.parse::<usize>().ok()?.max(1),
                // The smallest suite is a thousandth of it and has at least two tests.
                ["--tests", count] => settings.tests = count.parse::<usize>().ok()?.max(2000),
                ["--only", part @ ("start" | "suites" | "cost" | "scale")] => {
                    settings.only = Some(part.into());
                }
                _ => return None,
            }
        }
        Some(settings)
    }
}

pub fn run(settings: &Settings) -> Result<(), Failure> {
    let wanted = |part| settings.only.as_deref().is_none_or(|only| only == part);
    let bed = Bed::new(wanted("start") || wanted("suites"))?;
    let mut report = Report::new(settings.repeats, bed.peer.as_ref())?;
    if wanted("start") {
        report.start(start(&bed, settings)?);
    }
    if wanted("suites") {
        for tests in [1, settings.tests / 1000, settings.tests / 100] {
            for jobs in [1, 4, WIDE] {
                report.suites(suites(&bed, settings, tests, jobs)?);
            }
        }
    }
    let targets = [Target::Echo, Target::Raw(&bed.raw)];
    if wanted("cost") {
        for target in targets {
            report.cost(cost(&bed, settings, target)?);
        }
    }
    if wanted("scale") {
        for (target, kept) in targets.into_iter().flat_map(|each| [(each, false), (each, true)]) {
            report.scale(scale(&bed, settings, target, kept)?);
        }
    }
    report.finish(settings.only.is_none() && settings.tests == MOST_TESTS)
}

/// The cost of start-up.
fn start(bed: &Bed, settings: &Settings) -> Result<Start, Failure> {
    let suite = bed.suite(Target::Echo, 1)?;
    let job = Job { suite: &suite, tests: 1, jobs: 4, output: Output::Json, kept: false };
    let mut start = Start::default();
    for turn in 0..settings.repeats * 4 {
        start.version.add(bed.quintain_version()?);
        start.eval.add(bed.quintain(&job)?);
        start.kept.add(bed.quintain(&Job { kept: true, ..job })?);
        if turn < PEER_REPEATS {
            start.peer.add(bed.promptfoo_version()?);
        }
    }
    Ok(start)
}

/// The same suite with both tools, and its calls alone.
fn suites(bed: &Bed, settings: &Settings, tests: usize, jobs: usize) -> Result<Suites, Failure> {
    let suite = bed.suite(Target::Everything, tests)?;
    let job = Job { suite: &suite, tests, jobs, output: Output::Json, kept: false };
    let (mut floor, mut ours, mut peer) = (Runs::default(), Runs::default(), Runs::default());
    for turn in 0..settings.repeats {
        floor.add(bed.floor(tests, jobs)?);
        ours.add(bed.quintain(&job)?);
        if turn < PEER_REPEATS {
            peer.add(bed.promptfoo_eval(&job)?);
        }
    }
    Ok(Suites { tests, jobs, floor, ours, peer })
}

/// Suites of two sizes: the additional cost of the larger one is the cost of its tests.
fn cost(bed: &Bed, settings: &Settings, target: Target<'_>) -> Result<Cost, Failure> {
    let sizes = [settings.tests / 100, settings.tests / 10];
    let mut runs: [Runs; 2] = Default::default();
    for _ in 0..settings.repeats {
        for (runs, tests) in runs.iter_mut().zip(sizes) {
            runs.add(quintain(bed, target, tests, false)?);
        }
    }
    let [few, many] = runs;
    Ok(Cost { target: target.name(), sizes, few, many })
}

/// Suites of three sizes up to the largest: time must grow linearly.
fn scale(bed: &Bed, settings: &Settings, target: Target<'_>, kept: bool) -> Result<Scale, Failure> {
    let sizes = [settings.tests / 4, settings.tests / 2, settings.tests];
    let mut runs: [Runs; 3] = Default::default();
    for _ in 0..SCALE_REPEATS.min(settings.repeats) {
        for (runs, tests) in runs.iter_mut().zip(sizes) {
            runs.add(quintain(bed, target, tests, kept)?);
        }
    }
    Ok(Scale { target: target.name(), kept, sizes, runs })
}

fn quintain(bed: &Bed, target: Target<'_>, tests: usize, kept: bool) -> Result<Usage, Failure> {
    let suite = bed.suite(target, tests)?;
    let job = Job { suite: &suite, tests, jobs: WIDE, output: Output::Lines, kept };
    bed.quintain(&job)
}
