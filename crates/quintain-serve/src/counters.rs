//! What the server counts, for `/metrics`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram, in seconds.
const BOUNDS: [f64; 8] = [0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0];

/// Counts since the start.
#[derive(Default)]
pub struct Counters {
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    calls: BTreeMap<(&'static str, &'static str), u64>,
    requests: BTreeMap<(&'static str, u16), u64>,
    buckets: [u64; BOUNDS.len()],
    seconds: f64,
    timed: u64,
}

impl Counters {
    /// A finished tool call.
    pub fn call(&self, tool: &'static str, outcome: &'static str, took: Duration) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.calls.entry((tool, outcome)).or_default() += 1;
        let seconds = took.as_secs_f64();
        counts.seconds += seconds;
        counts.timed += 1;
        for (bucket, bound) in counts.buckets.iter_mut().zip(BOUNDS) {
            *bucket += u64::from(seconds <= bound);
        }
    }

    /// An answered HTTP request.
    pub fn request(&self, route: &'static str, status: u16) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.requests.entry((route, status)).or_default() += 1;
    }

    /// The counts as Prometheus reads them.
    pub fn prometheus(&self) -> String {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        out.push_str("# HELP quintain_http_requests_total Answered HTTP requests.\n# TYPE quintain_http_requests_total counter\n");
        for ((route, status), count) in &counts.requests {
            let _ = writeln!(
                out,
                "quintain_http_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}"
            );
        }
        out.push_str("# HELP quintain_tool_calls_total Finished tool calls.\n# TYPE quintain_tool_calls_total counter\n");
        for ((tool, outcome), count) in &counts.calls {
            let _ = writeln!(
                out,
                "quintain_tool_calls_total{{tool=\"{tool}\",outcome=\"{outcome}\"}} {count}"
            );
        }
        out.push_str("# HELP quintain_tool_call_seconds Duration of tool calls.\n# TYPE quintain_tool_call_seconds histogram\n");
        for (bucket, bound) in counts.buckets.iter().zip(BOUNDS) {
            let _ = writeln!(out, "quintain_tool_call_seconds_bucket{{le=\"{bound}\"}} {bucket}");
        }
        let Counts { timed, seconds, .. } = &*counts;
        let _ = writeln!(out, "quintain_tool_call_seconds_bucket{{le=\"+Inf\"}} {timed}");
        let _ = writeln!(
            out,
            "quintain_tool_call_seconds_sum {seconds}\nquintain_tool_call_seconds_count {timed}"
        );
        out
    }
}
