//! Graded cases, compared with deepeval; large files; all checks on public traces; and what a recorder adds to a call.
//!
//! Every run must have the right result, and in compatible mode the scores of deepeval.

mod bed;
mod cases;
mod recorder;
mod report;
mod scores;

pub use bed::Peer;
use bed::{Bed, How, OTHER_MODES, PARAMS};
use cases::Layout;
use report::{Compared, Report, Scale, Start};

use crate::Failure;
use crate::sample::Runs;

/// A run of deepeval takes seconds.
const PEER_REPEATS: usize = 2;
/// So does one of many cases.
const SCALE_REPEATS: usize = 2;
const MOST_CASES: usize = 1_000_000;
/// The number of cases that goals are set for.
const CASES: usize = 1_000;
/// Runs of deepeval. By default its time grows with the square of the cases: 1,000 of them would take minutes.
const COMPARISONS: [(usize, How); 4] =
    [(100, How::Default), (300, How::Default), (CASES, How::Lean), (CASES, How::Loop)];
const CALLS: usize = 5_000;

pub struct Settings {
    repeats: usize,
    /// The size of the largest file.
    cases: usize,
    only: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { repeats: 7, cases: MOST_CASES, only: None }
    }
}

impl Settings {
    pub fn read(words: &[&str]) -> Option<Self> {
        let mut settings = Self::default();
        for pair in words.chunks(2) {
            match *pair {
                ["--repeats", count] => settings.repeats = count.parse::<usize>().ok()?.max(1),
                // The smallest file has a hundredth of them, and at least one of those must fail.
                ["--cases", count] => settings.cases = count.parse::<usize>().ok()?.max(10_000),
                ["--only", part @ ("peer" | "scale" | "checks" | "record")] => {
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
    let bed = Bed::new(wanted("peer"))?;
    let mut report = Report::new(settings.repeats, bed.peer.as_ref())?;
    if wanted("peer") {
        peer(&bed, settings, &mut report)?;
    }
    if wanted("scale") {
        report.scale(&scale(&bed, settings)?);
    }
    if wanted("checks") {
        checks(&bed, settings, &mut report)?;
    }
    if wanted("record") {
        for in_flight in [1, 32] {
            report.recorded(&recorder::stdio(&bed, settings.repeats, CALLS, in_flight)?);
        }
        for in_flight in [1, 32] {
            report.recorded(&recorder::http(&bed, settings.repeats, CALLS, in_flight)?);
        }
    }
    report.finish(settings.only.is_none() && settings.cases == MOST_CASES)
}

/// The same cases with both tools, and their scores in all modes.
fn peer(bed: &Bed, settings: &Settings, report: &mut Report) -> Result<(), Failure> {
    let mut start = Start::default();
    for turn in 0..settings.repeats {
        start.ours.add(bed.quintain_version()?);
        if turn < PEER_REPEATS {
            start.peer.add(bed.deepeval_version()?);
        }
    }
    report.start(&start);
    for (count, how) in COMPARISONS {
        let compared = compare(bed, settings, count, how)?;
        report.compared(&compared);
        if how == How::Loop {
            report.cold(count, &compared.ours);
        }
    }
    let cases = bed.cases(CASES, Layout::Array)?;
    let mut modes = Vec::new();
    for mode in [PARAMS].into_iter().chain(OTHER_MODES) {
        let (_, ours) = bed.compatible(&cases, mode)?;
        let (_, theirs) = bed.evaluate(&cases, How::Loop, mode)?;
        ours.compare(&theirs, cases.count, mode.word)?;
        modes.push((mode.word, ours.distinct()));
    }
    report.equal(cases.count, &modes);
    Ok(())
}

fn compare(bed: &Bed, settings: &Settings, count: usize, how: How) -> Result<Compared, Failure> {
    let cases = bed.cases(count, Layout::Array)?;
    let (mut ours, mut compatible, mut peer) = (Runs::default(), Runs::default(), Runs::default());
    for turn in 0..settings.repeats {
        ours.add(bed.grade(&cases, "out.json")?);
        let (usage, scores) = bed.compatible(&cases, PARAMS)?;
        compatible.add(usage);
        if turn < PEER_REPEATS {
            let (usage, theirs) = bed.evaluate(&cases, how, PARAMS)?;
            peer.add(usage);
            scores.compare(&theirs, count, PARAMS.word)?;
        }
    }
    Ok(Compared { cases: count, how, ours, compatible, peer })
}

/// Files of three sizes up to the largest: time must grow linearly, memory not at all.
fn scale(bed: &Bed, settings: &Settings) -> Result<Scale, Failure> {
    let sizes = [settings.cases / 100, settings.cases / 10, settings.cases];
    let mut files = Vec::new();
    for size in sizes {
        files.push(bed.cases(size, Layout::Lines)?);
    }
    let mut runs: [Runs; 3] = Default::default();
    for _ in 0..SCALE_REPEATS.min(settings.repeats) {
        for (runs, cases) in runs.iter_mut().zip(&files) {
            runs.add(bed.grade(cases, "out.jsonl")?);
        }
    }
    Ok(Scale { sizes, runs })
}

fn checks(bed: &Bed, settings: &Settings, report: &mut Report) -> Result<(), Failure> {
    let Some(folder) = Bed::traces() else {
        report.no_traces();
        return Ok(());
    };
    let (mut runs, mut traces) = (Runs::default(), 0);
    for _ in 0..settings.repeats {
        let (usage, count) = bed.check_traces(&folder)?;
        runs.add(usage);
        traces = count;
    }
    report.checks(traces, &runs);
    Ok(())
}
