//! When a failed request is sent again: back-off with jitter, and what `Retry-After` asks for.

use std::time::Duration;

use http::HeaderMap;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use crate::error::ModelError;
use crate::limits::Limits;

/// Waits of the back-off itself do not grow beyond this.
const MAX_BACKOFF: Duration = Duration::from_secs(20);

/// Decides about one request after each failed attempt.
pub(crate) struct Backoff<'a> {
    limits: &'a Limits,
    seed: [u8; 32],
}

impl<'a> Backoff<'a> {
    /// `request` distinguishes requests, so that those that fail together do not return together.
    pub(crate) fn new(limits: &'a Limits, seed: u64, request: u64) -> Self {
        let hash =
            Sha256::new().chain_update(seed.to_le_bytes()).chain_update(request.to_le_bytes());
        Self { limits, seed: hash.finalize().into() }
    }

    /// How long to wait before the next attempt; nothing, if there is none. `attempts` have failed, the last one with
    /// `error`, and `left` of the total time is left.
    pub(crate) fn wait(
        &self,
        error: &ModelError,
        attempts: u32,
        left: Duration,
    ) -> Option<Duration> {
        if !error.is_retryable() || attempts >= self.limits.max_attempts {
            return None;
        }
        let wait = match error.retry_after() {
            // To return earlier than asked for would fail again.
            Some(asked) if asked > self.limits.max_wait => return None,
            // Requests that failed together got the same answer.
            Some(asked) => asked + self.jitter(attempts, self.limits.backoff),
            None => {
                let doubled = self.limits.backoff.saturating_mul(1 << (attempts - 1).min(16));
                let full = doubled.min(MAX_BACKOFF.max(self.limits.backoff));
                full / 2 + self.jitter(attempts, full / 2)
            }
        };
        (wait < left).then_some(wait)
    }

    /// A part of `most` that depends on the seed only.
    fn jitter(&self, attempt: u32, most: Duration) -> Duration {
        let byte = |at: u32| self.seed[(at as usize) % self.seed.len()];
        let number = u16::from_le_bytes([byte(attempt * 2), byte(attempt * 2 + 1)]);
        most.mul_f64(f64::from(number) / f64::from(u16::MAX))
    }
}

/// What a server asks for: milliseconds, seconds, or an HTTP date.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let millis = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    if let Some(millis) = millis {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let asked = text("retry-after")?;
    if let Ok(seconds) = asked.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = OffsetDateTime::parse(asked, &Rfc2822).ok()?;
    let wait = date - OffsetDateTime::now_utc();
    Some(Duration::try_from(wait).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &'static str, value: &str) -> Option<Duration> {
        retry_after(&HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]))
    }

    #[test]
    fn retry_after_is_read_as_seconds_milliseconds_and_date() {
        assert_eq!(asked("retry-after", "3"), Some(Duration::from_secs(3)));
        assert_eq!(asked("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(asked("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(asked("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let later = OffsetDateTime::now_utc() + Duration::from_secs(100);
        let later = later.format(&Rfc2822).unwrap().replace("+0000", "GMT");
        let wait = asked("retry-after", &later).unwrap();
        assert!((95..=100).contains(&wait.as_secs()), "{wait:?}");
        for nonsense in ["soon", "-3", "NaN", "1e400"] {
            assert_eq!(asked("retry-after", nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn waits_grow_differ_and_end() {
        let limits = Limits::default();
        let error = ModelError::Unreachable(String::new());
        let day = Duration::from_hours(24);
        let waits = |request| -> Vec<Duration> {
            let backoff = Backoff::new(&limits, 7, request);
            (1..10).map_while(|attempts| backoff.wait(&error, attempts, day)).collect()
        };
        let first = waits(1);
        assert_eq!(first.len(), 3);
        assert!(first[2] > first[0], "{first:?}");
        assert_eq!(first, waits(1), "the same seed gives the same waits");
        assert_ne!(first, waits(2), "requests differ");
        let backoff = Backoff::new(&limits, 7, 1);
        assert_eq!(backoff.wait(&error, 1, Duration::from_millis(1)), None, "no time left");
        assert_eq!(backoff.wait(&ModelError::Quota(String::new()), 1, day), None);
    }

    #[test]
    fn a_wait_longer_than_the_cap_ends_the_request() {
        let limits = Limits::default();
        let backoff = Backoff::new(&limits, 0, 0);
        let error = |seconds| ModelError::status_of(429, "", Some(Duration::from_secs(seconds)));
        let day = Duration::from_hours(24);
        let wait = backoff.wait(&error(5), 1, day).unwrap();
        assert!((Duration::from_secs(5)..Duration::from_secs(6)).contains(&wait));
        assert_eq!(backoff.wait(&error(3_600), 1, day), None);
    }
}
