//! How often and how many at once: a provider's requests per minute, requests in parallel, and pauses that it asks for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use crate::limits::Limits;

pub(crate) struct Throttle {
    slots: Option<Arc<Semaphore>>,
    /// Between the starts of two requests.
    spacing: Duration,
    /// When the next request may start.
    next: Mutex<Option<Instant>>,
}

/// Must be kept until the request is done.
pub(crate) struct Slot {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Throttle {
    pub(crate) fn new(limits: &Limits) -> Self {
        let per_request = limits.requests_per_minute.map(|requests| 60.0 / requests);
        let spacing = per_request.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Self {
            slots: limits.concurrency.map(slots),
            spacing: spacing.unwrap_or_default(),
            next: Mutex::default(),
        }
    }

    /// Waits until a request may start.
    pub(crate) async fn enter(&self) -> Slot {
        let permit = acquire(self.slots.as_ref()).await;
        let start = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            let start = next.map_or(now, |next| next.max(now));
            *next = Some(start + self.spacing);
            start
        };
        sleep_until(start).await;
        Slot { _permit: permit }
    }

    /// The provider asked for a pause, which holds for all of its requests.
    pub(crate) fn pause(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = Some(next.map_or(until, |next| next.max(until)));
    }
}

pub(crate) fn slots(count: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS)))
}

pub(crate) async fn acquire(slots: Option<&Arc<Semaphore>>) -> Option<OwnedSemaphorePermit> {
    match slots {
        // It is never closed, so this cannot fail.
        Some(slots) => slots.clone().acquire_owned().await.ok(),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_start_as_far_apart_as_the_limit_says() {
        let limits = Limits { requests_per_minute: Some(30.0), ..Limits::default() };
        let throttle = Throttle::new(&limits);
        let begin = Instant::now();
        for _ in 0..4 {
            throttle.enter().await;
        }
        assert_eq!(begin.elapsed().as_secs(), 6);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_holds_for_all_requests() {
        let throttle = Throttle::new(&Limits::default());
        throttle.pause(Duration::from_secs(7));
        let begin = Instant::now();
        throttle.enter().await;
        assert_eq!(begin.elapsed().as_secs(), 7);
        throttle.enter().await;
        assert_eq!(begin.elapsed().as_secs(), 7);
    }

    #[tokio::test(start_paused = true)]
    async fn at_most_the_given_number_runs_in_parallel() {
        let limits = Limits { concurrency: Some(1), ..Limits::default() };
        let throttle = Throttle::new(&limits);
        let slot = throttle.enter().await;
        let second = tokio::time::timeout(Duration::from_secs(1), throttle.enter()).await;
        assert!(second.is_err());
        drop(slot);
        throttle.enter().await;
    }
}
