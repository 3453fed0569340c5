//! Records a command on standard input and output.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use quintain_engine::secrets::learn_launch;
use quintain_evidence::connection::Launch;
use quintain_wire::recording::stdio::{exit_code, relay};
use quintain_wire::recording::{Capture, Via};
use quintain_wire::redact::Redactor;
use serde_json::{Map, Value};

use super::secret_rules::learn_named_values;
use super::{App, child};
use crate::exit::Exit;

/// The command to record. It inherits the environment and the working directory, as if it was started directly.
pub(super) struct Command {
    program: OsString,
    words: Vec<OsString>,
    /// Variables to add, of a target in a suite.
    pub(super) env: Vec<(String, String)>,
    pub(super) cwd: Option<PathBuf>,
}

impl Command {
    pub(super) fn new(program: &OsStr, words: &[OsString]) -> Self {
        Self { program: program.to_owned(), words: words.to_vec(), env: Vec::new(), cwd: None }
    }

    /// Masks credentials in the arguments wherever they appear.
    pub(super) fn learn_secrets(&self, redactor: &Redactor) {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        let launch = Launch::Command {
            command: text(&self.program),
            args: self.words.iter().map(text).collect(),
            env: BTreeMap::new(),
            cwd: None,
        };
        learn_launch(&launch, redactor);
        let words: Vec<String> = self.words.iter().map(text).collect();
        learn_named_values(words.iter().map(String::as_str), [], redactor);
    }

    fn details(&self) -> Map<String, Value> {
        let words = std::iter::once(&self.program).chain(&self.words);
        let words: Vec<Value> = words.map(|word| word.to_string_lossy().into()).collect();
        let version = env!("CARGO_PKG_VERSION");
        Map::from_iter([
            ("command".to_owned(), words.into()),
            ("quintain".to_owned(), version.into()),
        ])
    }
}

pub(super) async fn run(command: Command, capture: &Capture, app: &App) -> Exit {
    capture.start(Via::Stdio, command.details());
    let mut started = child::command(&command.program, &command.words, app);
    started.envs(command.env.iter().map(|(name, value)| (name, value)));
    if let Some(cwd) = &command.cwd {
        started.current_dir(cwd);
    }
    match relay(started, capture).await {
        Ok(status) => match exit_code(status) {
            0 => Exit::Passed,
            code => Exit::FailedWith(code),
        },
        Err(error) => {
            let program = command.program.to_string_lossy();
            app.console.error(&format!("cannot start `{program}`: {error}"), None);
            Exit::Unreachable
        }
    }
}
