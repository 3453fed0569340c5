//! What the scripts of a suite returned while it was loaded: generated tests and settings. Stored with the run, so
//! that judging it again starts no interpreter.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

use quintain_evidence::question::Question;
use quintain_wire::redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::SuiteText;

/// The name of this text among the stored files of the suite.
const NAME: &str = "answers of scripts while the suite was loaded";

/// The returned value of one script.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct LoadAnswer {
    /// [`Question::key`] of the masked question.
    key: String,
    value: Value,
}

/// The stored answers of a run, in the order of the calls. Equal questions were asked separately, so each takes its
/// own answer.
#[derive(Debug, Default)]
pub struct LoadAnswers(HashMap<String, VecDeque<Value>>);

impl LoadAnswers {
    /// Takes the answers from the stored texts of a run, so that only the files of the suite remain. Runs of earlier
    /// versions have none.
    pub fn take(texts: &mut Vec<SuiteText>) -> Self {
        let mut answers: HashMap<String, VecDeque<Value>> = HashMap::new();
        let Some(at) = texts.iter().position(|text| text.name == NAME) else {
            return Self::default();
        };
        let stored: Vec<LoadAnswer> =
            serde_json::from_str(&texts.remove(at).text).unwrap_or_default();
        for LoadAnswer { key, value } in stored {
            answers.entry(key).or_default().push_back(value);
        }
        Self(answers)
    }

    /// The next answer to a question.
    pub(super) fn next(&mut self, question: &Question, redactor: &Redactor) -> Option<Value> {
        let values = self.0.get_mut(&key(question, redactor)?)?;
        // A suite that calls the code more often than the run did gets the last answer again.
        if values.len() > 1 { values.pop_front() } else { values.front().cloned() }
    }
}

/// The answers as a text to store with the run, without secrets.
pub(super) fn text_of(given: &[(Question, Value)], redactor: &Redactor) -> Option<SuiteText> {
    let answers = given.iter().filter_map(|(question, value)| {
        let (key, value) = (key(question, redactor)?, redactor.json(value).into_owned());
        Some(LoadAnswer { key, value })
    });
    let answers: Vec<LoadAnswer> = answers.collect();
    if answers.is_empty() {
        return None;
    }
    let text = serde_json::to_string(&answers).ok()?.into();
    Some(SuiteText { name: NAME.to_owned(), base_dir: PathBuf::new(), text })
}

/// `None` if the question cannot be masked, and so not stored.
fn key(question: &Question, redactor: &Redactor) -> Option<String> {
    Some(redactor.masked(question).ok()?.into_owned().key())
}
