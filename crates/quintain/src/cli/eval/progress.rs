//! Shows the progress of a run: a bar on a terminal, elsewhere a line from time to time.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use quintain_evidence::event::{Event, Phase};
use quintain_evidence::result::CaseStatus;

use crate::console::{Console, counted};

/// Interval of lines where no bar is shown.
const EVERY: Duration = Duration::from_secs(10);

pub(in crate::cli) struct Progress<'a> {
    console: &'a Console,
    bar: Option<ProgressBar>,
    lines: bool,
    planned: usize,
    done: usize,
    bad: usize,
    /// A red-team run: cases are trials, and bad ones are hits.
    attacks: bool,
    /// A run of which nobody knows how many traces the files have.
    of_traces: bool,
    started: Instant,
    last: Instant,
    /// Phases that were printed already.
    phases: HashSet<String>,
}

impl<'a> Progress<'a> {
    pub(in crate::cli) fn new(console: &'a Console, wanted: bool) -> Self {
        let bar = (wanted && console.is_watched()).then(ProgressBar::no_length);
        if let Some(bar) = &bar {
            bar.set_style(style("{bar:24.green} {pos}/{len}  {rate}  {eta} left  {msg}"));
        }
        let lines = wanted && bar.is_none() && !console.is_quiet();
        let now = Instant::now();
        Self {
            console,
            bar,
            lines,
            planned: 0,
            done: 0,
            bad: 0,
            attacks: false,
            of_traces: false,
            started: now,
            last: now,
            phases: HashSet::new(),
        }
    }

    /// Updates the progress. Suspends the bar while `print` runs.
    pub(in crate::cli) fn event(&mut self, event: &Event, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
        match event {
            Event::Started(run) => {
                self.planned = run.planned;
                self.of_traces = run.of_traces;
                if let Some(bar) = &self.bar {
                    if run.of_traces {
                        bar.set_style(style("{spinner} {pos} traces graded  {rate}  {msg}"));
                    } else {
                        bar.set_length(run.planned as u64);
                    }
                }
            }
            Event::Case(case) => {
                self.done += 1;
                // A trial that the target did not answer is an error and not a hit.
                let is_bad = match case.status {
                    CaseStatus::Passed => false,
                    CaseStatus::Failed => true,
                    CaseStatus::Errored => !self.attacks,
                };
                self.bad += usize::from(is_bad);
                self.show();
            }
            Event::Finished(_) => {
                if let Some(bar) = &self.bar {
                    bar.finish_and_clear();
                }
            }
            Event::Phase(phase) => {
                self.attacks |= *phase == Phase::Attack;
                self.phase(phase.word());
            }
            Event::Finding(_) | Event::Warning(_) => {}
        }
    }

    /// Shows the phase of a long run.
    fn phase(&mut self, phase: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(phase.to_owned()),
            // Phases overlap: findings are confirmed while other attacks run. Each phase is printed once.
            None if self.lines && self.phases.insert(phase.to_owned()) => self.console.err(phase),
            None => {}
        }
    }

    fn show(&mut self) {
        let (cases, word) = if self.attacks { ("trials", "hits") } else { ("tests", "failed") };
        let bad = if self.bad == 0 { String::new() } else { format!("{} {word}", self.bad) };
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
            bar.set_message(bad);
        } else if self.lines && self.last.elapsed() >= EVERY {
            self.last = Instant::now();
            let bad = if bad.is_empty() { bad } else { format!(", {bad}") };
            let line = if self.of_traces {
                let rate = self.done as f64 / self.started.elapsed().as_secs_f64();
                format!("{} graded, {rate:.0}/s{bad}", counted(self.done, "trace"))
            } else {
                format!("{} of {} {cases} done{bad}", self.done, self.planned)
            };
            self.console.note(&line);
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let rate = state.per_sec();
        let _ = write!(out, "{rate:.*}/s", usize::from(rate < 10.0));
    };
    style.with_key("rate", rate)
}
