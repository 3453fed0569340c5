//! Asks the questions of checks, comparisons, conversations and suite code: interpreters, web services, models, the
//! target and the disk answer. Every answer becomes evidence. A question that the evidence answers is not asked again.

mod ask;
mod run_rounds;
mod snapshots;
mod suite_code;
#[cfg(test)]
mod tests;

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_evidence::answer_record::KeptAnswer;
use quintain_evidence::evidence::{Evidence, Exchange};
use quintain_evidence::probe::Step;
use quintain_evidence::question::{Answer, ModelQuestion, Question, TurnMessage};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::external_services::ExternalServices;
use crate::models::RecordedAnswers;
pub(crate) use ask::OFFLINE_CODE;
pub(crate) use snapshots::{SnapshotWrites, Snapshots};
pub(crate) use suite_code::{CodeError, Purpose};

/// Which questions to ask when stored evidence is judged again. Nothing is ever sent to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskMode {
    /// Questions without an answer, and those whose answer failed or was of no use. Files are read again.
    #[default]
    Missing,
    /// No questions. A check without an answer ends in an error.
    Nothing,
    /// All questions.
    Again,
}

impl AskMode {
    /// Removes the answers from stored evidence that must be asked for again.
    pub(crate) fn keep_answers(self, evidence: &mut Evidence) {
        evidence.answers.retain(|record| match (self, &record.answer) {
            (Self::Nothing, _) | (_, KeptAnswer::Call { .. }) => true,
            (Self::Again, _) | (Self::Missing, KeptAnswer::Failed(_)) => false,
            (Self::Missing, _) if record.unusable => false,
            (Self::Missing, KeptAnswer::Value(_) | KeptAnswer::Reply(_)) => {
                !matches!(record.question, Question::Read(_))
            }
        });
    }
}

/// Answers the questions of all cases of a run.
pub(crate) struct AnswerSources<'m> {
    pub(crate) external_services: ExternalServices,
    pub(crate) snapshots: Snapshots,
    model: Option<Box<dyn AskModel + 'm>>,
    /// Answers of models that are used instead of asking them.
    recorded: Option<RecordedAnswers>,
    /// Nothing is asked.
    offline: bool,
    /// Limits concurrent questions, except those to the target.
    permits: Semaphore,
}

impl<'m> AnswerSources<'m> {
    pub(crate) fn new(
        external_services: ExternalServices,
        mode: AskMode,
        concurrency: usize,
    ) -> Self {
        Self {
            snapshots: Snapshots::new(external_services.policy.clone()),
            external_services,
            model: None,
            recorded: None,
            offline: mode == AskMode::Nothing,
            permits: Semaphore::new(concurrency.max(1)),
        }
    }

    /// The same with a model that answers.
    pub(crate) fn with_model(self, model: impl AskModel + 'm) -> Self {
        Self { model: Some(Box::new(model)), ..self }
    }

    /// The same with recorded answers instead of models.
    pub(crate) fn with_recorded(self, recorded: Option<RecordedAnswers>) -> Self {
        Self { recorded, ..self }
    }

    /// Whether no model is asked.
    fn asks_nobody(&self) -> bool {
        self.offline || self.recorded.is_some()
    }

    pub(crate) async fn close(&self) {
        self.external_services.close().await;
    }
}

/// Language models that answer questions.
pub(crate) trait AskModel: Send + Sync {
    /// Lets the redactor of the run know the secrets of the model that a question names, before the question is masked.
    fn learn_secrets(&self, question: &ModelQuestion);

    fn ask<'f>(
        &'f self,
        question: &'f ModelQuestion,
        outside: &'f ExternalServices,
    ) -> BoxFuture<'f, Answer>;

    /// Removes an answer that could not be used from the cache, so that the question is asked again.
    fn forget<'f>(
        &'f self,
        question: &'f ModelQuestion,
        outside: &'f ExternalServices,
    ) -> BoxFuture<'f, ()>;
}

/// A target that takes further calls or messages.
pub(crate) trait AskTarget: Sync {
    /// # Errors
    /// Why the call cannot be made. A failed call is not an error: its outcome is in the exchange.
    fn call<'f>(&'f self, step: &'f Step) -> BoxFuture<'f, Result<Exchange, String>>;

    fn say<'f>(&'f self, _: &'f TurnMessage) -> BoxFuture<'f, Answer> {
        async { Answer::Unavailable("the target has no conversations".to_owned()) }.boxed()
    }
}

/// Asks for one case.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) answer_sources: &'a AnswerSources<'a>,
    /// `None` if several targets are compared.
    pub(crate) target: Option<&'a dyn AskTarget>,
    /// Of the case, from 0. Models are asked again in every repetition.
    pub(crate) repetition: usize,
}
