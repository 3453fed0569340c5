//! Durations of repeated runs. The best shows what is possible, the median the noise.

use std::time::Duration;

use crate::usage::Usage;

#[derive(Default)]
pub struct Sample(Vec<Duration>);

impl Sample {
    pub fn add(&mut self, took: Duration) {
        self.0.push(took);
        self.0.sort_unstable();
    }

    pub fn best(&self) -> Duration {
        self.0.first().copied().unwrap_or_default()
    }

    pub fn median(&self) -> Duration {
        self.0.get(self.0.len() / 2).copied().unwrap_or_default()
    }
}

/// The resources of repeated runs of a process.
#[derive(Default)]
pub struct Runs {
    pub wall: Sample,
    pub cpu: Sample,
    /// Empty if the system does not report it.
    pub own: Sample,
    /// The largest of all runs.
    pub memory: Option<u64>,
}

impl Runs {
    pub fn add(&mut self, usage: Usage) {
        self.wall.add(usage.wall);
        self.cpu.add(usage.cpu);
        if let Some(own) = usage.own {
            self.own.add(own);
        }
        self.memory = self.memory.max(usage.memory);
    }

    /// Seconds of the best run.
    pub fn best(&self) -> f64 {
        self.wall.best().as_secs_f64()
    }

    /// Seconds of the median run.
    pub fn median(&self) -> f64 {
        self.wall.median().as_secs_f64()
    }

    /// Millions of bytes; infinite if unknown, so that no goal is met by it.
    pub fn megabytes(&self) -> f64 {
        self.memory.map_or(f64::INFINITY, |bytes| bytes as f64 / 1e6)
    }

    /// The same for a table.
    pub fn shown_megabytes(&self) -> String {
        self.memory.map_or_else(|| "?".to_owned(), |bytes| format!("{:.0}", bytes as f64 / 1e6))
    }
}
