//! Runs the user's Python and Ruby. An interpreter is started once and then asked any number of
//! times; when all of a kind are busy, one more is started, so there are never more of them than
//! cases under way.

mod worker;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use quintain_evidence::code::{Code, Language};
use quintain_evidence::question::Answer;
use quintain_suite::suite::Consent;
use serde_json::{Value, json};
use worker::{Failure, Worker};

use crate::policy::Commands;
use crate::process::{Argument, Program};

const PYTHON: &str = include_str!("interpreters/bootstrap.py");
const RUBY: &str = include_str!("interpreters/bootstrap.rb");

/// The interpreters of a run.
pub(crate) struct Interpreters {
    env: BTreeMap<String, String>,
    /// How long one call may take.
    time: Duration,
    /// How long an answer may be.
    limit: usize,
    /// Decides which of them may be started.
    commands: Commands,
    idle: Mutex<HashMap<Kind, Vec<Worker>>>,
}

/// Which interpreter: the language, and the program if it is not the usual one.
type Kind = (Language, Option<String>);

/// A function of the user and what it is called with.
pub(crate) struct Call<'a> {
    pub(crate) code: &'a Code,
    /// For a file that is given without the name of a function.
    pub(crate) function: &'a str,
    pub(crate) arguments: &'a [Value],
    /// The program to run it with, if the user chose one.
    pub(crate) executable: Option<&'a str>,
}

impl Interpreters {
    /// Interpreters for a suite that the user wants to be run.
    pub(crate) fn new(
        _: Consent,
        env: BTreeMap<String, String>,
        time: Duration,
        limit: usize,
        commands: Commands,
    ) -> Self {
        Self { env, time, limit, commands, idle: Mutex::default() }
    }

    /// Calls a function. What it raises is an answer too.
    pub(crate) async fn call(&self, call: &Call<'_>) -> Answer {
        let language = call.code.language();
        let name = name(language);
        let kind = (language, call.executable.map(str::to_owned));
        let mut worker = match self.take(&kind) {
            Ok(worker) => worker,
            Err(why) => return Answer::Unavailable(why),
        };
        let request = request(call);
        // Whoever drops this future in between drops the worker, which kills it.
        match worker.ask(&request, self.time, self.limit).await {
            Ok(answer) => {
                self.give_back(kind, worker);
                read(name, answer)
            }
            Err(failure) => {
                let why = match failure {
                    Failure::TimedOut => {
                        format!("it did not return within {} ms", self.time.as_millis())
                    }
                    Failure::TooLong => format!("its result is longer than {} bytes", self.limit),
                    Failure::Gone | Failure::Broken(_) => {
                        format!("{failure}{}", worker.last_words().await)
                    }
                };
                Answer::Failed(format!("Error running {name} script: {why}"))
            }
        }
    }

    /// Ends all interpreters.
    pub(crate) async fn close(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        let workers = idle.into_values().flatten().map(Worker::leave);
        futures_util::future::join_all(workers).await;
    }

    fn take(&self, kind: &Kind) -> Result<Worker, String> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(mut worker) = idle.get_mut(kind).and_then(Vec::pop) {
            if worker.is_alive() {
                return Ok(worker);
            }
        }
        drop(idle);
        self.start(kind)
    }

    fn give_back(&self, kind: Kind, worker: Worker) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.entry(kind).or_default().push(worker);
    }

    fn start(&self, (language, executable): &Kind) -> Result<Worker, String> {
        let (variable, usual, args): (_, &[&str], _) = match language {
            Language::Ruby => ("PROMPTFOO_RUBY", &["ruby"], ["-e", RUBY]),
            _ => ("PROMPTFOO_PYTHON", &["python3", "python"], ["-c", PYTHON]),
        };
        let chosen = executable.as_ref().or_else(|| self.env.get(variable));
        let chosen = chosen.map(String::as_str).filter(|command| !command.is_empty());
        let commands = chosen.as_ref().map_or(usual, std::slice::from_ref);
        let mut env = self.env.clone();
        env.entry("PYTHONIOENCODING".to_owned()).or_insert_with(|| "utf-8".to_owned());
        let mut why = io::Error::from(io::ErrorKind::NotFound);
        for command in commands {
            let args = args.map(Argument::written).to_vec();
            let (is_chosen, variables) = (chosen.is_some(), self.env.keys());
            let found = self.commands.interpreter(*language, command, is_chosen, variables);
            let command = found.map_err(|denied| denied.to_string())?;
            let program = Program { command, args, env: env.clone(), cwd: None };
            match Worker::start(&program) {
                Ok(worker) => return Ok(worker),
                Err(error) => why = error,
            }
        }
        let name = name(*language);
        let tried = commands.iter().map(|command| format!("`{command}`")).collect::<Vec<_>>();
        Err(format!(
            "{name} is needed here, but {} cannot be started ({why}); {variable} names another \
             program",
            tried.join(" and ")
        ))
    }
}

fn name(language: Language) -> &'static str {
    match language {
        Language::Ruby => "Ruby",
        Language::Python => "Python",
        Language::JavaScript => "JavaScript",
    }
}

fn request(call: &Call<'_>) -> Value {
    let (path, text, function) = match call.code {
        Code::Inline { text, .. } => (None, Some(text), "main"),
        Code::File { path, function, .. } => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let path = path.to_string_lossy().into_owned();
            (Some(path), None, function.as_deref().unwrap_or(call.function))
        }
    };
    json!({"path": path, "text": text, "function": function, "arguments": call.arguments})
}

/// What came back, in promptfoo's words if it is an exception.
fn read(name: &str, mut answer: Value) -> Answer {
    let Some(error) = answer.get("error").and_then(Value::as_str) else {
        return Answer::Value(answer.get_mut("value").map(Value::take).unwrap_or_default());
    };
    let trace = answer.get("trace").and_then(Value::as_str).unwrap_or_default().trim_end();
    let trace = match trace {
        "" => String::new(),
        trace => format!("\n{name} Traceback: \n{trace}"),
    };
    Answer::Failed(format!(
        "Error running {name} script: {error}\nStack Trace: Error: {error}{trace}"
    ))
}

#[cfg(test)]
mod tests;
