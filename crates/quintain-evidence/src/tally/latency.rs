//! Percentiles of target latencies.

use serde::{Deserialize, Serialize};

/// In milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub min: f64,
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

impl Latency {
    /// None if nothing was measured.
    pub fn of(measured: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = measured.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        // Nearest rank: every percentile is a measured value.
        let rank = |part: f64| {
            let at = (part * sorted.len() as f64).ceil() as usize;
            sorted[at.clamp(1, sorted.len()) - 1]
        };
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        let (p50, p90, p95, p99) = (rank(0.5), rank(0.9), rank(0.95), rank(0.99));
        Some(Self { min, mean, p50, p90, p95, p99, max })
    }
}
