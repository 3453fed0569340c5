//! Which models answer questions that name none, and whether recorded answers replace them.

use std::collections::HashMap;

use quintain_evidence::answer_record::{AnswerRecord, KeptAnswer};
use quintain_evidence::question::{Answer, ModelQuestion, ModelRequest, ModelRole, Question};
use quintain_source::Span;
use quintain_suite::check::{ModelTask, WrittenModel};
use quintain_suite::suite::Suite;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::own_judge;
use crate::world::World;

/// What a client requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSettings {
    /// The judge, as suites name models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adversary: Option<Value>,
    /// Ask models even if the cache has their answer.
    pub no_cache: bool,
    /// Recorded answers as JSON lines. No model is asked for anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// The run that is judged again had a judge, so its answers are stored and can be used without one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub had_judge: bool,
}

/// The option of a stored run that says whether it had a judge.
const HAD_JUDGE: &str = "hadJudge";

impl ModelSettings {
    /// The same for a run that asks everything again: what is asked again does not come from the cache.
    #[must_use]
    pub(crate) fn asked_again(self, is_asked_again: bool) -> Self {
        Self { no_cache: self.no_cache || is_asked_again, ..self }
    }

    /// The same with what `other` adds.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            judge: self.judge.or(other.judge),
            adversary: self.adversary.or(other.adversary),
            no_cache: self.no_cache || other.no_cache,
            replay: self.replay.or(other.replay),
            had_judge: self.had_judge || other.had_judge,
        }
    }

    /// Whether questions for a judge can have an answer.
    pub(crate) fn has_judge(&self) -> bool {
        self.judge.is_some() || self.replay.is_some() || self.had_judge
    }

    /// Adds to the options of a stored run what judging it again needs to know.
    pub(crate) fn note_judge(&self, options: &mut Map<String, Value>) {
        if self.has_judge() {
            options.insert(HAD_JUDGE.to_owned(), true.into());
        }
    }

    /// The same with what a stored run says about its judge.
    #[must_use]
    pub fn or_stored(self, options: &Map<String, Value>) -> Self {
        let had_judge = options.get(HAD_JUDGE) == Some(&Value::Bool(true));
        Self { had_judge: self.had_judge || had_judge, ..self }
    }

    /// The same with the judge of a suite, unless the client names one.
    #[must_use]
    pub fn or_suite(mut self, suite: &Suite) -> Self {
        if self.judge.is_none() {
            let named = suite.documents.iter().rev().filter_map(|document| document.get("judge"));
            self.judge = named.map(|node| provider(node.to_json())).next();
        }
        self
    }

    /// The same with the models that the suite tests as judges, unless one is named. The second value says whether they are.
    #[must_use]
    pub(crate) fn or_targets(mut self, suite: &Suite) -> (Self, bool) {
        if self.judge.is_some() || self.replay.is_some() {
            return (self, false);
        }
        self.judge = own_judge::of_targets(&suite.targets);
        let judges_itself = self.judge.is_some();
        (self, judges_itself)
    }

    /// Where a run with these settings asks models.
    pub(crate) fn world(&self, world: &World) -> World {
        let model_cache = world.model_cache.clone().filter(|_| !self.no_cache);
        World { model_cache, ..world.clone() }
    }

    /// The recorded answers, if they replace models.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub(crate) fn recorded(&self) -> Result<Option<RecordedAnswers>, RecordError> {
        self.replay.as_deref().map(RecordedAnswers::read).transpose()
    }

    /// The model that answers a question: its own, or the default of its role for the task.
    ///
    /// # Errors
    /// If the default names no model for the task.
    pub(crate) fn answering(&self, question: &ModelQuestion) -> Result<Option<Value>, String> {
        if let Some(own) = &question.model {
            return Ok(Some(own.clone()));
        }
        let Some(default) = self.of(question.role) else { return Ok(None) };
        let written = WrittenModel { value: default.clone(), span: Span::default() };
        written.pick(task(&question.request)).map(|named| Some(named.value))
    }

    /// The model that answers for a role.
    fn of(&self, role: ModelRole) -> Option<&Value> {
        match role {
            ModelRole::Judge => self.judge.as_ref(),
            ModelRole::Adversary => self.adversary.as_ref(),
        }
    }
}

fn task(request: &ModelRequest) -> ModelTask {
    match request {
        ModelRequest::Chat { .. } => ModelTask::Text,
        ModelRequest::Embed { .. } => ModelTask::Embedding,
        ModelRequest::Classify { .. } => ModelTask::Classification,
        ModelRequest::Moderate { .. } => ModelTask::Moderation,
    }
}

/// `judge: {provider: ID, samples: 3}` or the model itself.
fn provider(judge: Value) -> Value {
    judge.get("provider").cloned().unwrap_or(judge)
}

/// Recorded answers of models, by the key of the question.
#[derive(Debug, Default)]
pub(crate) struct RecordedAnswers(HashMap<String, Answer>);

/// A line of recorded answers that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("line {line} of the recorded answers: {why}")]
pub struct RecordError {
    pub line: usize,
    pub why: String,
}

impl RecordedAnswers {
    /// # Errors
    /// The first line that is not a recorded answer.
    pub(crate) fn read(text: &str) -> Result<Self, RecordError> {
        let mut answers = HashMap::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let record: AnswerRecord = serde_json::from_str(line)
                .map_err(|error| RecordError { line: index + 1, why: error.to_string() })?;
            let answer = match record.answer {
                KeptAnswer::Value(value) => Answer::Value(value),
                KeptAnswer::Failed(why) => Answer::Failed(why),
                KeptAnswer::Reply(reply) => Answer::Reply(reply),
                KeptAnswer::Call { .. } => continue,
            };
            answers.insert(record.key, answer);
        }
        Ok(Self(answers))
    }

    /// The recorded answer to a question for a model; none for other questions.
    pub(crate) fn answer(&self, key: &str, question: &Question) -> Option<Answer> {
        if !matches!(question, Question::Model(_)) {
            return None;
        }
        let missing =
            || Answer::Unavailable("the recorded answers do not contain this question".to_owned());
        Some(self.0.get(key).cloned().unwrap_or_else(missing))
    }
}
