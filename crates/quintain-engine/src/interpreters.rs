//! Runs the user's Python and Ruby code. An interpreter process serves many calls. If all of a kind are busy, another
//! one starts, so there are never more of them than concurrent calls.

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
    /// Time limit of a call.
    time: Duration,
    /// Maximum size of an answer in bytes.
    limit: usize,
    /// Decides which interpreters may start.
    commands: Commands,
    idle: Mutex<HashMap<Kind, Vec<Worker>>>,
}

/// The language, and the program if it is not the default one.
type Kind = (Language, Option<String>);

/// A call of a user's function.
pub(crate) struct Call<'a> {
    pub(crate) code: &'a Code,
    /// The function to call in a file that is named without one.
    pub(crate) function: &'a str,
    pub(crate) arguments: &'a [Value],
    /// The interpreter program, if the user chose one.
    pub(crate) executable: Option<&'a str>,
}

impl Interpreters {
    /// Requires the user's consent to run code of a suite.
    pub(crate) fn new(
        _: Consent,
        env: BTreeMap<String, String>,
        time: Duration,
        limit: usize,
        commands: Commands,
    ) -> Self {
        Self { env, time, limit, commands, idle: Mutex::default() }
    }

    /// Calls a function. An exception is a failed answer.
    pub(crate) async fn call(&self, call: &Call<'_>) -> Answer {
        let language = call.code.language();
        let name = name(language);
        let kind = (language, call.executable.map(str::to_owned));
        let mut worker = match self.take(&kind) {
            Ok(worker) => worker,
            Err(why) => return Answer::Unavailable(why),
        };
        let request = request(call);
        // Dropping this future drops the worker, which kills its process.
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
                    Failure::Exited | Failure::Broken(_) => {
                        format!("{failure}{}", worker.stderr_suffix().await)
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
            "{name} is required, but {} cannot be started ({why}); set {variable} to another \
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

/// Converts the reply. An exception becomes promptfoo's error message.
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

/// The value in the answer of an interpreter.
///
/// # Errors
/// When it contains none.
pub(crate) fn value(answer: Answer) -> Result<Value, String> {
    match answer {
        Answer::Value(value) => Ok(value),
        Answer::Failed(why) | Answer::Unavailable(why) => Err(why),
        Answer::Exchange(_) | Answer::Reply(_) => {
            Err("the answer is not from an interpreter".to_owned())
        }
    }
}

#[cfg(test)]
mod tests;
