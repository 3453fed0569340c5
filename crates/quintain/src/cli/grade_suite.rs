//! What a suite says about grading: its metrics, its policy and its judge.

use std::path::PathBuf;

use quintain_engine::metrics::SuiteMetrics;
use quintain_engine::models::ModelSettings;
use quintain_source::Diagnostics;
use quintain_suite::suite::{Needed, Purpose};
use serde_json::Value;

use super::App;
use super::suite::{self, CliError};

/// The grading that a suite describes.
#[derive(Debug, Default)]
pub(super) struct GradeSuite {
    pub(super) suite: SuiteMetrics,
    /// The model that judges.
    pub(super) judge: Option<Value>,
}

/// Reads the files. Prints all mistakes.
pub(super) fn read(files: &[PathBuf], app: &App) -> Result<GradeSuite, CliError> {
    let env = &app.context.env;
    let opened = suite::open(files, Vec::new(), env, Purpose::Read(Needed::Nothing), app)?;
    let mut dx = Diagnostics::default();
    let base = opened.files.first().map(|file| file.base_dir.clone()).unwrap_or_default();
    let found = SuiteMetrics::read(&opened.suite, &base, &mut dx);
    let judge = ModelSettings::default().or_suite(&opened.suite).judge;
    suite::show(&opened.sources, &dx, app);
    if dx.is_empty() {
        Ok(GradeSuite { suite: found, judge })
    } else {
        Err(CliError::AlreadyReported)
    }
}
