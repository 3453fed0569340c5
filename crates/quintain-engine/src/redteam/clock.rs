//! Measures the time and the number of calls of each phase.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
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

    /// Ends a phase. `calls` is the number of calls of the run so far, or none if the phase sends none that count.
    pub(super) fn end_phase(&mut self, phase: &str, calls: Option<usize>) {
        let seconds = self.since.elapsed().as_secs_f64();
        let mine = calls.map(|calls| calls - self.calls);
        self.phases.push(PhaseTime { phase: phase.to_owned(), seconds, calls: mine });
        self.since = Instant::now();
        self.calls = calls.unwrap_or(self.calls);
    }

    /// The average duration of a call in a phase.
    pub(super) fn per_call(&self, phase: &str) -> Duration {
        let timed = self.phases.iter().find(|timed| timed.phase == phase);
        let calls = timed.and_then(|timed| timed.calls).unwrap_or(0);
        timed
            .filter(|_| calls > 0)
            .map_or(Duration::ZERO, |timed| Duration::from_secs_f64(timed.seconds / calls as f64))
    }

    /// Ends the attack phase and splits it: "confirm" is the time in which at least one hit was being confirmed,
    /// "attack" is the rest.
    pub(super) fn end_attack_phase(&mut self, calls: usize, meter: &Meter) {
        self.end_phase("attack", Some(calls));
        let Some(attack) = self.phases.last_mut() else { return };
        let all = attack.calls.unwrap_or(0);
        let confirming = meter.calls().min(all);
        let seconds = meter.confirming().as_secs_f64().min(attack.seconds);
        attack.seconds -= seconds;
        attack.calls = Some(all - confirming);
        let phase = "confirm".to_owned();
        self.phases.push(PhaseTime { phase, seconds, calls: Some(confirming) });
    }
}

/// Measures during the attack when hits are confirmed, and when the target answered last.
pub(super) struct Meter {
    calls: AtomicUsize,
    confirmations: Mutex<Confirmations>,
    changed: Notify,
    last_answer: Mutex<Instant>,
}

/// The confirmations under way, since when there is one, and how long there was one before.
#[derive(Default)]
struct Confirmations {
    count: usize,
    since: Option<Instant>,
    before: Duration,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            calls: AtomicUsize::new(0),
            confirmations: Mutex::default(),
            changed: Notify::new(),
            last_answer: Mutex::new(Instant::now()),
        }
    }
}

impl Meter {
    /// Counts as confirmation until the returned guard is dropped.
    pub(super) fn confirm(&self) -> Confirming<'_> {
        let mut confirmations = self.confirmations();
        confirmations.count += 1;
        if confirmations.count == 1 {
            confirmations.since = Some(Instant::now());
            self.changed.notify_one();
        }
        Confirming(self)
    }

    /// Adds calls that confirm a hit.
    pub(super) fn called(&self, calls: usize) {
        self.calls.fetch_add(calls, Ordering::Relaxed);
    }

    /// Whether a hit is being confirmed now.
    pub(super) fn is_confirming(&self) -> bool {
        self.confirmations().count > 0
    }

    /// Waits until that changes.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// The target answered.
    pub(super) fn answered(&self) {
        *self.last_answer.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// How long ago the target answered last.
    pub(super) fn silence(&self) -> Duration {
        self.last_answer.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// How long at least one hit was being confirmed.
    fn confirming(&self) -> Duration {
        let confirmations = self.confirmations();
        confirmations.before + confirmations.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn confirmations(&self) -> MutexGuard<'_, Confirmations> {
        self.confirmations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A confirmation under way. A trial that is dropped drops it, too.
pub(super) struct Confirming<'a>(&'a Meter);

impl Drop for Confirming<'_> {
    fn drop(&mut self) {
        let mut confirmations = self.0.confirmations();
        confirmations.count -= 1;
        if confirmations.count == 0 {
            let took = confirmations.since.take().map_or(Duration::ZERO, |since| since.elapsed());
            confirmations.before += took;
            self.0.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirmations_that_overlap_or_are_dropped_count_once() {
        let (mut clock, meter) = (Clock::new(), Meter::default());
        clock.end_phase("survey", None);
        clock.end_phase("learn", Some(3));
        let (one, other) = (meter.confirm(), meter.confirm());
        std::thread::sleep(Duration::from_millis(20));
        meter.called(2);
        drop((one, other));
        let dropped = meter.confirm();
        std::thread::sleep(Duration::from_millis(20));
        drop(dropped);
        clock.end_attack_phase(10, &meter);
        let calls: Vec<_> = clock.phases.iter().map(|one| (&*one.phase, one.calls)).collect();
        let expected =
            [("survey", None), ("learn", Some(3)), ("attack", Some(5)), ("confirm", Some(2))];
        assert_eq!(calls, expected);
        let (attack, confirm) = (clock.phases[2].seconds, clock.phases[3].seconds);
        assert!((0.04..0.4).contains(&confirm) && attack < confirm, "{attack} {confirm}");
    }
}
