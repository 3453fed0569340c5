//! Durations of repeated runs. The best one says what is possible, the median how noisy it was.

use std::time::Duration;

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
