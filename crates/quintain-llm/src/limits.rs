//! How often, how long and how much: the limits of one model, from its options.

use std::time::Duration;

use crate::config::Options;

/// As promptfoo's `REQUEST_TIMEOUT_MS`.
const REQUEST_TIME: Duration = Duration::from_mins(5);
const CHUNK_TIME: Duration = Duration::from_mins(1);
const TOTAL_TIME: Duration = Duration::from_mins(10);
const MAX_ATTEMPTS: u32 = 4;
const BACKOFF: Duration = Duration::from_millis(500);
const MAX_WAIT: Duration = Duration::from_mins(1);
const BODY_BYTES: usize = 16 << 20;

/// Options that this module reads.
pub(crate) const KEYS: &[&str] = &[
    "requestsPerMinute",
    "rateLimit",
    "maxConcurrency",
    "concurrency",
    "maxAttempts",
    "maxRetries",
    "backoffMs",
    "maxRetryWaitMs",
    "timeoutMs",
    "timeout",
    "chunkTimeoutMs",
    "totalTimeoutMs",
    "maxResponseBytes",
];

#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Requests start at least this far apart. All models of one provider and endpoint with the same limit share it.
    pub requests_per_minute: Option<f64>,
    /// Requests in parallel.
    pub concurrency: Option<usize>,
    /// At least 1.
    pub max_attempts: u32,
    /// The wait after the first failed attempt; it doubles with every further one.
    pub backoff: Duration,
    /// A server that asks for a longer wait is not asked again.
    pub max_wait: Duration,
    /// Time limit of one attempt.
    pub request_time: Duration,
    /// Time limit between two chunks of a stream.
    pub chunk_time: Duration,
    /// Time limit of all attempts and the waits between them.
    pub total_time: Duration,
    /// Maximum size of a response.
    pub body_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_minute: None,
            concurrency: None,
            max_attempts: MAX_ATTEMPTS,
            backoff: BACKOFF,
            max_wait: MAX_WAIT,
            request_time: REQUEST_TIME,
            chunk_time: CHUNK_TIME,
            total_time: TOTAL_TIME,
            body_bytes: BODY_BYTES,
        }
    }
}

impl Limits {
    pub(crate) fn read(options: &mut Options<'_>) -> Self {
        let default = Self::default();
        let requests_per_minute =
            options.positive("requestsPerMinute").or_else(|| options.positive("rateLimit"));
        let concurrency = options.count("maxConcurrency").or_else(|| options.count("concurrency"));
        let retries = options.natural("maxRetries").map(|retries| retries.saturating_add(1));
        let attempts = options.count("maxAttempts").or(retries);
        let from_env = options.variable("REQUEST_TIMEOUT_MS").and_then(|text| text.parse().ok());
        let request_time = options
            .millis("timeoutMs")
            .or_else(|| options.millis("timeout"))
            .or(from_env.filter(|millis| *millis > 0).map(Duration::from_millis));
        Self {
            requests_per_minute,
            concurrency: concurrency.map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
            max_attempts: attempts
                .map_or(default.max_attempts, |count| u32::try_from(count).unwrap_or(u32::MAX)),
            backoff: options.millis("backoffMs").unwrap_or(default.backoff),
            max_wait: options.millis("maxRetryWaitMs").unwrap_or(default.max_wait),
            request_time: request_time.unwrap_or(default.request_time),
            chunk_time: options.millis("chunkTimeoutMs").unwrap_or(default.chunk_time),
            // A longer limit of one attempt must not be cut by the default of all of them.
            total_time: options
                .millis("totalTimeoutMs")
                .unwrap_or_else(|| default.total_time.max(request_time.unwrap_or_default())),
            body_bytes: options
                .count("maxResponseBytes")
                .map_or(default.body_bytes, |count| usize::try_from(count).unwrap_or(usize::MAX)),
        }
    }
}
