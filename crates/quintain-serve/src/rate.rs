//! How many requests a principal or an address may send: a bucket for each, which fills at the rate of the settings.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Buckets that are remembered; full ones are forgotten first.
const MOST_BUCKETS: usize = 10_000;

pub(crate) struct RateLimiter {
    per_minute: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

struct Bucket {
    left: f64,
    at: Instant,
}

impl RateLimiter {
    pub(crate) fn new(per_minute: u32) -> Self {
        Self { per_minute: f64::from(per_minute), buckets: Mutex::default() }
    }

    /// Takes one request from the bucket, or says how long to wait.
    pub(crate) fn take(&self, owner: &str) -> Result<(), Duration> {
        if self.per_minute <= 0.0 {
            return Ok(());
        }
        let now = Instant::now();
        let per_second = self.per_minute / 60.0;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST_BUCKETS {
            let refill = Duration::from_mins(1);
            buckets.retain(|_, bucket| now.duration_since(bucket.at) < refill);
        }
        let bucket =
            buckets.entry(owner.to_owned()).or_insert(Bucket { left: self.per_minute, at: now });
        let earned = now.duration_since(bucket.at).as_secs_f64() * per_second;
        bucket.left = (bucket.left + earned).min(self.per_minute);
        bucket.at = now;
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            Ok(())
        } else {
            Err(Duration::from_secs_f64((1.0 - bucket.left) / per_second))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_principal_does_not_use_up_the_requests_of_another() {
        let limiter = RateLimiter::new(3);
        for _ in 0..3 {
            assert!(limiter.take("alice").is_ok());
        }
        let wait = limiter.take("alice").unwrap_err();
        assert!(wait <= Duration::from_secs(20) && wait > Duration::from_secs(15), "{wait:?}");
        assert!(limiter.take("bob").is_ok());
        assert!((0..1000).all(|_| RateLimiter::new(0).take("alice").is_ok()));
    }
}
