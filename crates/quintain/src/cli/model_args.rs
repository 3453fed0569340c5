//! The options about language models that several commands share.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use quintain_engine::models::ModelSettings;
use quintain_evidence::event::Event;
use quintain_evidence::question::Question;
use quintain_suite::suite::Files as _;
use serde_json::Value;

use super::App;
use super::suite::{CliError, cli_error};
use crate::console::Console;

/// Language models
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Models")]
pub(super) struct ModelArgs {
    /// Model that judges if the suite names none: an id such as `openai:chat:NAME`, or JSON with `id` and `config`
    #[arg(long, visible_alias = "grader", value_name = "MODEL")]
    pub(super) judge: Option<String>,
    /// Ask models even if their answer to the same request is cached
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Write every answer of a judge to a JSONL file
    #[arg(long, value_name = "FILE")]
    pub(super) judge_record: Option<PathBuf>,
    /// Use the answers in a file of --judge-record, and ask no judge
    #[arg(long, value_name = "FILE", conflicts_with = "judge_record")]
    pub(super) judge_replay: Option<PathBuf>,
}

impl ModelArgs {
    pub(super) fn settings(&self, app: &App) -> Result<ModelSettings, CliError> {
        let judge = self.judge.as_deref().map(named).transpose();
        let judge = judge.map_err(|why| cli_error(format!("--judge: {why}"), None))?;
        let replay = self.judge_replay.as_deref().map(|file| read(file, app)).transpose()?;
        Ok(ModelSettings { judge, no_cache: self.no_cache, replay, ..ModelSettings::default() })
    }

    /// The file of --judge-record.
    pub(super) fn record(&self, app: &App) -> Result<Option<JudgeRecord>, CliError> {
        self.judge_record.as_deref().map(|file| JudgeRecord::create(file, app)).transpose()
    }
}

/// A model as a user writes it: an id, or a JSON object.
pub(super) fn named(text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| format!("invalid JSON: {error}"));
    }
    Ok(Value::String(text.to_owned()))
}

pub(super) fn read(file: &Path, app: &App) -> Result<String, CliError> {
    let text = app.files.read(&app.context.cwd.join(file)).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
    });
    text.map_err(|error| cli_error(format!("cannot read `{}`: {error}", file.display()), None))
}

/// Writes the answers of models, one per line, as events report them.
pub(super) struct JudgeRecord {
    path: PathBuf,
    out: BufWriter<File>,
    failed: Option<io::Error>,
}

impl JudgeRecord {
    fn create(path: &Path, app: &App) -> Result<Self, CliError> {
        let file = File::create(app.context.cwd.join(path)).map_err(|error| {
            cli_error(format!("cannot write `{}`: {error}", path.display()), None)
        })?;
        Ok(Self { path: path.to_owned(), out: BufWriter::new(file), failed: None })
    }

    pub(super) fn event(&mut self, event: &Event) {
        let Event::Case(case) = event else { return };
        let is_of_model = |question: &Question| matches!(question, Question::Model(_));
        for record in case.evidence.answers.iter().filter(|one| is_of_model(&one.question)) {
            let written = serde_json::to_writer(&mut self.out, record)
                .map_err(io::Error::from)
                .and_then(|()| self.out.write_all(b"\n"));
            if let Err(error) = written {
                self.failed.get_or_insert(error);
            }
        }
    }

    /// Whether everything was written.
    pub(super) fn finish(mut self, console: &Console) -> bool {
        let failed = self.failed.take().or_else(|| self.out.flush().err());
        if let Some(error) = failed {
            console.error(&format!("cannot write `{}`: {error}", self.path.display()), None);
            return false;
        }
        console.note(&format!("wrote {}", self.path.display()));
        true
    }
}
