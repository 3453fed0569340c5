//! Measures the time and the number of calls of each phase.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use quintain_evidence::redteam_report::PhaseTime;
use tokio::sync::Notify;

/// The durations of consecutive phases.
pub(super) struct Clock {
    since: Instant,
    calls: usize,
    pub(super) phases: Vec<PhaseTime>,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { since: Instant::now(), calls: 0, phases: Vec::new() }
    }

    pub(super) fn end_phase(&mut self, phase: &str, calls: usize) {
        let seconds = self.since.elapsed().as_secs_f64();
        self.phases.push(PhaseTime { phase: phase.to_owned(), seconds, calls: calls - self.calls });
        self.since = Instant::now();
        self.calls = calls;
    }

    /// The average duration of a call in a phase.
    pub(super) fn per_call(&self, phase: &str) -> Duration {
        let timed = self.phases.iter().find(|timed| timed.phase == phase && timed.calls > 0);
        timed.map_or(Duration::ZERO, |timed| {
            Duration::from_secs_f64(timed.seconds / timed.calls as f64)
        })
    }

    /// Ends the attack phase and splits it into "attack" and "confirm". Both run concurrently, so the elapsed time is
    /// divided in proportion to the work of each.
    pub(super) fn end_attack_phase(&mut self, calls: usize, meter: &Meter) {
        self.end_phase("attack", calls);
        let Some(attack) = self.phases.last_mut() else { return };
        let share = meter.share();
        let confirm = PhaseTime {
            phase: "confirm".to_owned(),
            seconds: attack.seconds * share,
            calls: meter.calls().min(attack.calls),
        };
        attack.seconds -= confirm.seconds;
        attack.calls -= confirm.calls;
        self.phases.push(confirm);
    }
}

/// Measures which part of the work of trials is confirmation of hits.
#[derive(Default)]
pub(super) struct Meter {
    whole: AtomicU64,
    confirming: AtomicU64,
    calls: AtomicUsize,
    now: AtomicUsize,
    changed: Notify,
}

impl Meter {
    /// Adds the duration of a finished trial.
    pub(super) fn add_trial(&self, took: Duration) {
        self.whole.fetch_add(micros(took), Ordering::Relaxed);
    }

    /// Counts as confirmation until the returned guard is dropped.
    pub(super) fn confirm(&self) -> Confirming<'_> {
        if self.now.fetch_add(1, Ordering::Relaxed) == 0 {
            self.changed.notify_one();
        }
        Confirming { meter: self, since: Instant::now() }
    }

    /// Adds calls that confirm a hit.
    pub(super) fn called(&self, calls: usize) {
        self.calls.fetch_add(calls, Ordering::Relaxed);
    }

    /// Whether a hit is being confirmed now.
    pub(super) fn is_confirming(&self) -> bool {
        self.now.load(Ordering::Relaxed) > 0
    }

    /// Waits until that changes.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    fn share(&self) -> f64 {
        let whole = self.whole.load(Ordering::Relaxed);
        let part = self.confirming.load(Ordering::Relaxed);
        if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) }
    }
}

pub(super) struct Confirming<'a> {
    meter: &'a Meter,
    since: Instant,
}

impl Drop for Confirming<'_> {
    fn drop(&mut self) {
        self.meter.confirming.fetch_add(micros(self.since.elapsed()), Ordering::Relaxed);
        if self.meter.now.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.meter.changed.notify_one();
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
