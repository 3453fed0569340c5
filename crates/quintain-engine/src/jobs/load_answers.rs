//! What the scripts of a suite returned while it was loaded: generated tests and settings. Stored with the run, so
//! that judging it again starts no interpreter.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use quintain_evidence::code::{Code, Language};
use quintain_evidence::question::Question;
use quintain_evidence::static_finding::SurfaceInspection;
use quintain_suite::suite::{Consent, Files};
use quintain_wire::redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::inquiry::{AskMode, OFFLINE_CODE};
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

    fn next(&mut self, key: &str) -> Option<Value> {
        let values = self.0.get_mut(key)?;
        // A suite that calls the code more often than the run did gets the last answer again.
        if values.len() > 1 { values.pop_front() } else { values.front().cloned() }
    }
}

/// The files of a suite whose scripts are answered from a stored run if possible. Remembers all answers.
pub(super) struct AnsweredFiles {
    files: Arc<dyn Files>,
    mode: AskMode,
    redactor: Redactor,
    stored: Mutex<LoadAnswers>,
    given: Mutex<Vec<(Question, Value)>>,
}

impl AnsweredFiles {
    /// For a run: all scripts are called.
    pub(super) fn called(files: Arc<dyn Files>, redactor: &Redactor) -> Arc<Self> {
        Self::stored(files, LoadAnswers::default(), AskMode::Again, redactor)
    }

    /// For judging a run again.
    pub(super) fn stored(
        files: Arc<dyn Files>,
        stored: LoadAnswers,
        mode: AskMode,
        redactor: &Redactor,
    ) -> Arc<Self> {
        let (stored, redactor) = (Mutex::new(stored), redactor.clone());
        Arc::new(Self { files, mode, redactor, stored, given: Mutex::default() })
    }

    /// The answers as a text to store with the run. Masked here, after all secrets of the suite are known.
    pub(super) fn text(&self) -> Option<SuiteText> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = given.iter().filter_map(|(question, value)| {
            let (key, value) = (self.key(question)?, self.redactor.json(value).into_owned());
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
    fn key(&self, question: &Question) -> Option<String> {
        Some(self.redactor.masked(question).ok()?.into_owned().key())
    }

    fn answer(&self, question: &Question) -> Option<Value> {
        if self.mode == AskMode::Again {
            return None;
        }
        let key = self.key(question)?;
        self.stored.lock().unwrap_or_else(PoisonError::into_inner).next(&key)
    }
}

impl Files for AnsweredFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.read(path)
    }

    fn matching(&self, pattern: &Path) -> io::Result<Vec<PathBuf>> {
        self.files.matching(pattern)
    }

    fn run(
        &self,
        consent: Consent,
        code: &Code,
        function: &str,
        arguments: &[Value],
        env: &BTreeMap<String, String>,
    ) -> Result<Value, String> {
        let question = Question::Run {
            code: code.clone(),
            function: function.to_owned(),
            arguments: arguments.to_vec(),
        };
        let value = match self.answer(&question) {
            Some(value) => value,
            None if self.mode == AskMode::Nothing => return Err(OFFLINE_CODE.to_owned()),
            None => self.files.run(consent, code, function, arguments, env)?,
        };
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.push((question, value.clone()));
        Ok(value)
    }

    fn may_run(&self, language: Language) -> Result<(), String> {
        self.files.may_run(language)
    }

    fn may_see(&self, variable: &str) -> Result<(), String> {
        self.files.may_see(variable)
    }

    fn inspections(&self) -> &[&'static dyn SurfaceInspection] {
        self.files.inspections()
    }
}
