//! Runs named stages one after the other, stops at the first failure and prints what each one cost.

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use crate::Result;

/// What the final table shows for a stage, in addition to "passed".
pub(crate) type Note = Option<String>;

enum StageResult {
    Passed,
    Failed,
    Skipped,
}

struct Row {
    name: &'static str,
    outcome: StageResult,
    took: Duration,
    note: String,
}

#[derive(Default)]
pub(crate) struct Stages {
    rows: Vec<Row>,
    failed: bool,
}

impl Stages {
    pub(crate) fn run(&mut self, name: &'static str, work: impl FnOnce() -> Result<Note>) {
        self.measure(name, || work().map(|note| ((), note)));
    }

    /// Like [`Stages::run`], for a stage whose product later stages need.
    pub(crate) fn run_for<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<(T, Note)>,
    ) -> Option<T> {
        self.measure(name, work)
    }

    pub(crate) fn skip(&mut self, name: &'static str, reason: &str) {
        self.push(name, StageResult::Skipped, Duration::ZERO, reason.into());
    }

    fn measure<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> Result<(T, Note)>,
    ) -> Option<T> {
        if self.failed {
            self.skip(name, "after a failure");
            return None;
        }
        println!("\n==> {name}");
        let start = Instant::now();
        let result = work();
        let took = start.elapsed();
        match result {
            Ok((product, note)) => {
                self.push(name, StageResult::Passed, took, note.unwrap_or_default());
                Some(product)
            }
            Err(message) => {
                println!("\nstage `{name}` failed: {message}");
                self.failed = true;
                let first = message.lines().next().unwrap_or_default().to_owned();
                self.push(name, StageResult::Failed, took, first);
                None
            }
        }
    }

    fn push(&mut self, name: &'static str, outcome: StageResult, took: Duration, note: String) {
        self.rows.push(Row { name, outcome, took, note });
    }

    pub(crate) fn finish(self) -> ExitCode {
        println!("\n{}", table(&self.rows));
        if self.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

fn table(rows: &[Row]) -> String {
    let mut lines = Vec::new();
    for Row { name, outcome, took, note } in rows {
        let word = match outcome {
            StageResult::Passed => "passed",
            StageResult::Failed => "FAILED",
            StageResult::Skipped => "skipped",
        };
        let line = format!("{name:<14} {word:<8} {:>7.1} s  {note}", took.as_secs_f64());
        lines.push(line.trim_end().to_owned());
    }
    let total: Duration = rows.iter().map(|row| row.took).sum();
    lines.push(format!("{:<14} {:<8} {:>7.1} s", "total", "", total.as_secs_f64()));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_runs_after_a_failure_but_everything_is_listed() {
        let mut stages = Stages::default();
        stages.run("first", || Ok(None));
        stages.run("second", || Err("broken\ndetails".into()));
        let mut ran = false;
        stages.run("third", || {
            ran = true;
            Ok(None)
        });
        assert!(!ran && stages.failed);
        let text = table(&stages.rows);
        assert!(text.contains("second         FAILED"), "{text}");
        assert!(text.contains("broken") && !text.contains("details"), "{text}");
        assert!(text.contains("third          skipped"), "{text}");
    }
}
