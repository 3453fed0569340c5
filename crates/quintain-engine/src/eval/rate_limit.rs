//! Limits the number of cases per second.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Gives each case a start time, at least one interval after the previous one.
pub(super) struct RateLimit {
    interval: Option<Duration>,
    next: Mutex<Option<Instant>>,
}

impl RateLimit {
    /// `rate` cases per second; unlimited if `None`.
    pub(super) fn new(rate: Option<f64>) -> Self {
        let interval = rate.filter(|rate| *rate > 0.0).map(|rate| 1.0 / rate);
        let interval = interval.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Self { interval, next: Mutex::new(None) }
    }

    /// Waits until the next case may start.
    pub(super) async fn wait(&self) {
        let Some(moment) = self.reserve(Instant::now()) else { return };
        tokio::time::sleep_until(moment.into()).await;
    }

    fn reserve(&self, now: Instant) -> Option<Instant> {
        let interval = self.interval?;
        let mut next = self.next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let moment = next.map_or(now, |next| next.max(now));
        *next = Some(moment + interval);
        Some(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_one_interval_apart_and_idle_time_is_not_saved_up() {
        let rate_limit = RateLimit::new(Some(10.0));
        let start = Instant::now();
        let tenth = Duration::from_millis(100);
        assert_eq!(rate_limit.reserve(start), Some(start));
        assert_eq!(rate_limit.reserve(start), Some(start + tenth));
        let later = start + Duration::from_secs(5);
        assert_eq!(rate_limit.reserve(later), Some(later));
        assert_eq!(rate_limit.reserve(later), Some(later + tenth));
        assert_eq!(RateLimit::new(None).reserve(start), None);
        assert_eq!(RateLimit::new(Some(0.0)).reserve(start), None);
    }
}
