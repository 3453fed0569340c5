//! The options about language models that several commands share.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use quintain_engine::models::ModelSettings;
use quintain_evidence::event::Event;
use quintain_evidence::question::Question;
use quintain_suite::suite::Files as _;
use serde_json::Value;

use super::suite::{CliError, cli_error};
use super::{App, output_files};
use crate::console::Console;

/// Language models
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Models")]
pub(super) struct ModelArgs {
    /// Model that judges, instead of `judge` and `defaultTest` of the suite: an id such as `openai:chat:NAME`, or JSON with `id` and `config`
    #[arg(long, visible_alias = "grader", value_name = "MODEL")]
    pub(super) judge: Option<String>,
    /// Ask models even if their answer to the same request is cached
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Write every answer of a judge to a JSONL file; only a file of an earlier --judge-record is overwritten
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

/// Whether a file may be overwritten: it does not exist, is empty, or starts as a record of answers does.
fn is_replaceable(path: &Path) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
        // A device such as /dev/null, or a pipe to another program.
        Ok(found) if !found.is_file() => return Ok(!found.is_dir()),
        Ok(found) if found.len() == 0 => return Ok(true),
        Ok(_) => {}
    }
    let mut start = Vec::new();
    File::open(path)?.take(START as u64).read_to_end(&mut start)?;
    let key = start.strip_prefix(br#"{"key":""#).unwrap_or_default();
    let (key, rest) = key.split_at_checked(KEY).unwrap_or_default();
    Ok(key.iter().all(u8::is_ascii_hexdigit) && rest.starts_with(br#"","question":"#))
}

/// How many characters the key of a question has, and how many bytes show that a file is a record.
const KEY: usize = 64;
const START: usize = KEY + 32;

impl JudgeRecord {
    /// Replaces a file of an earlier `--judge-record`, and no other.
    fn create(path: &Path, app: &App) -> Result<Self, CliError> {
        let full = app.context.cwd.join(path);
        let failed = |error: io::Error| {
            cli_error(format!("cannot write `{}`: {error}", path.display()), None)
        };
        if !is_replaceable(&full).map_err(failed)? {
            let what = format!("`{}` exists and is not a file of --judge-record", path.display());
            let help = "choose another name, or remove the file".to_owned();
            return Err(cli_error(what, Some(help)));
        }
        let file = output_files::create(path, app)?;
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
