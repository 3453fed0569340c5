//! One round of questions: looks up known answers, asks every other question once, and adds the answers to the
//! evidence.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::{join, join_all};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method};
use quintain_evidence::answer_record::{AnswerRecord, Cost, KeptAnswer};
use quintain_evidence::evidence::{Evidence, Extra};
use quintain_evidence::question::{Answer, Question};
use serde_json::Value;

use super::{AnswerSources, Asker};
use crate::interpreters::Call;
use crate::web::Request;

/// Why code without a stored answer does not run in offline mode.
pub(crate) const OFFLINE_CODE: &str =
    "this code was not run in the stored run, and `--offline` does not run it";

/// The answer to every question in offline mode.
fn offline(question: &Question) -> Answer {
    let why = match question {
        Question::Model(_) => {
            "the stored run did not ask this of a model, and `--offline` does not ask it"
        }
        Question::Run { .. } => OFFLINE_CODE,
        Question::Post { .. } => {
            "the stored run did not send this to the web service, and `--offline` does not send it"
        }
        Question::Call { .. } | Question::Say(_) => {
            "the stored run did not send this to the target, and `--offline` does not send it"
        }
        Question::Read(_) => {
            "the stored run did not read this file, and `--offline` does not read it"
        }
    };
    Answer::Unavailable(why.to_owned())
}

/// A question as it is stored, with secrets masked.
struct MaskedQuestion {
    key: String,
    question: Question,
}

struct TimedAnswer {
    answer: Answer,
    took: Duration,
}

impl Asker<'_> {
    /// The answers, in the order of the questions. Interpreters, web services and models are asked
    /// concurrently. The target is asked one question after the other, in their order: calls have
    /// effects, and the number of calls in flight is the user's choice.
    pub(crate) async fn ask(&self, questions: &[Question], evidence: &mut Evidence) -> Vec<Answer> {
        let questions: &[Question] = &self.repeated(questions);
        let masked_question: Vec<Option<MaskedQuestion>> =
            questions.iter().map(|question| self.masked_question(question)).collect();
        let mut answers: Vec<Option<Answer>> = vec![None; questions.len()];
        let mut first: HashMap<&str, usize> = HashMap::new();
        let mut open = Vec::new();
        for (at, masked_question) in masked_question.iter().enumerate() {
            let Some(MaskedQuestion { key, question }) = masked_question else {
                open.push(at);
                continue;
            };
            answers[at] = evidence.answer(key, question);
            if answers[at].is_none()
                && let Some(recorded) = &self.answer_sources.recorded
                && let Some(answer) = recorded.answer(key, question)
            {
                let masked = masked_question.as_ref();
                keep(evidence, &questions[at], masked, &answer, Duration::ZERO);
                answers[at] = Some(answer);
            }
            if answers[at].is_none() && *first.entry(key).or_insert(at) == at {
                open.push(at);
            }
        }
        let asked = self.ask_all(questions, &open).await;
        for (at, TimedAnswer { answer, took }) in open.into_iter().zip(asked) {
            keep(evidence, &questions[at], masked_question[at].as_ref(), &answer, took);
            answers[at] = Some(answer);
        }
        let same = |masked_question: &Option<MaskedQuestion>| {
            let at = first.get(masked_question.as_ref()?.key.as_str())?;
            answers[*at].clone()
        };
        let missing = || Answer::Unavailable("the question was not asked".to_owned());
        let all = answers.iter().zip(&masked_question);
        all.map(|(answer, masked_question)| {
            answer.clone().or_else(|| same(masked_question)).unwrap_or_else(missing)
        })
        .collect()
    }

    /// The questions as this repetition of the case asks them.
    fn repeated<'q>(&self, questions: &'q [Question]) -> Cow<'q, [Question]> {
        match self.repetition {
            0 => Cow::Borrowed(questions),
            number => questions.iter().map(|question| question.clone().repeated(number)).collect(),
        }
    }

    /// Removes answers that led to no verdict from the cache of models, and marks them in the evidence: whoever judges
    /// again asks again.
    pub(crate) async fn reject(&self, questions: &[Question], evidence: &mut Evidence) {
        for question in self.repeated(questions).iter().filter(|asked| asked.is_for_model()) {
            if let Some(MaskedQuestion { key, .. }) = self.masked_question(question) {
                let records = evidence.answers.iter_mut().filter(|record| record.key == key);
                records.for_each(|record| record.unusable = true);
            }
            if let (Question::Model(question), Some(models), false) =
                (question, &self.answer_sources.model, self.answer_sources.asks_nobody())
            {
                models.forget(question, &self.answer_sources.external_services).await;
            }
        }
    }

    /// One question.
    pub(crate) async fn ask_one(&self, question: Question, evidence: &mut Evidence) -> Answer {
        let answers = self.ask(std::slice::from_ref(&question), evidence).await;
        let missing = || Answer::Unavailable("the question was not asked".to_owned());
        answers.into_iter().next().unwrap_or_else(missing)
    }

    /// A question with masked secrets and its key; `None` if it cannot be masked and so not stored.
    fn masked_question(&self, question: &Question) -> Option<MaskedQuestion> {
        if let (Question::Model(question), Some(models)) = (question, &self.answer_sources.model) {
            models.learn_secrets(question);
        }
        let masked =
            self.answer_sources.external_services.redactor.masked(question).ok()?.into_owned();
        Some(MaskedQuestion { key: masked.key(), question: masked })
    }

    async fn ask_all(&self, questions: &[Question], open: &[usize]) -> Vec<TimedAnswer> {
        let of_target =
            |at: &usize| matches!(questions[*at], Question::Call { .. } | Question::Say(_));
        let target = async {
            let mut asked = Vec::new();
            for at in open.iter().copied().filter(of_target) {
                asked.push((at, timed(self.of_target(&questions[at])).await));
            }
            asked
        };
        let others = open.iter().copied().filter(|at| !of_target(at)).map(|at| async move {
            let answer_sources = self.answer_sources;
            // An error is impossible: the semaphore is never closed during a run.
            let _permit = answer_sources.permits.acquire().await;
            (at, timed(answer_sources.answer(&questions[at])).await)
        });
        let (mut asked, others) = join(target, join_all(others)).await;
        asked.extend(others);
        asked.sort_by_key(|(at, _)| *at);
        asked.into_iter().map(|(_, asked)| asked).collect()
    }

    async fn of_target(&self, question: &Question) -> Answer {
        if self.answer_sources.offline {
            return offline(question);
        }
        let Some(target) = self.target else {
            return Answer::Unavailable("there is no target to call".to_owned());
        };
        match question {
            Question::Call { step, .. } => match target.call(step).await {
                Ok(exchange) => Answer::Exchange(Box::new(exchange)),
                Err(why) => Answer::Unavailable(why),
            },
            Question::Say(message) => target.say(message).await,
            other => self.answer_sources.answer(other).await,
        }
    }
}

impl AnswerSources<'_> {
    async fn answer(&self, question: &Question) -> Answer {
        if self.offline {
            return offline(question);
        }
        match question {
            Question::Model(question) => match &self.model {
                Some(models) => models.ask(question, &self.external_services).await,
                None => Answer::Unavailable("no model is configured".to_owned()),
            },
            Question::Run { code, function, arguments } => {
                let call = Call { code, function, arguments, executable: None };
                self.external_services.interpreters.call(&call).await
            }
            Question::Post { url, body } => match self.post(url, body).await {
                Ok(said) => Answer::Value(said),
                Err(why) => Answer::Failed(why),
            },
            Question::Read(file) => self.snapshots.read(file),
            Question::Call { .. } | Question::Say(_) => {
                Answer::Unavailable("there is no target to call".to_owned())
            }
        }
    }

    async fn post(&self, url: &str, body: &Value) -> Result<Value, String> {
        let url = url.parse().map_err(|_| format!("Failed to parse URL from {url}"))?;
        let json = HeaderValue::from_static("application/json");
        let request = Request {
            method: Method::POST,
            url,
            headers: HeaderMap::from_iter([(CONTENT_TYPE, json)]),
            body: Some(Bytes::from(body.to_string())),
        };
        let sent =
            self.external_services.web.send(request, self.external_services.webhook_time).await;
        let reply = sent.map_err(|error| error.to_string())?;
        if !reply.status.is_success() {
            return Err(format!("Webhook response status: {}", reply.status.as_u16()));
        }
        self.external_services.json(&reply.body)
    }
}

async fn timed(answer: impl Future<Output = Answer>) -> TimedAnswer {
    let start = Instant::now();
    let answer = answer.await;
    TimedAnswer { answer, took: start.elapsed() }
}

/// Adds an answer to the evidence. A call is always evidence; an unavailable answer is not stored.
fn keep(
    evidence: &mut Evidence,
    question: &Question,
    masked_question: Option<&MaskedQuestion>,
    answer: &Answer,
    took: Duration,
) {
    let mut cost = Cost::default();
    let answer = match answer {
        Answer::Value(value) => {
            cost = Cost::reported_in(value);
            KeptAnswer::Value(value.clone())
        }
        Answer::Reply(reply) => KeptAnswer::Reply(reply.clone()),
        Answer::Failed(why) => KeptAnswer::Failed(why.clone()),
        Answer::Exchange(exchange) => {
            let extra = evidence.extra.len();
            let step = match question {
                Question::Call { step, .. } => step.clone(),
                _ => exchange.step(),
            };
            evidence.extra.push(Extra { step, exchange: (**exchange).clone() });
            cost = Cost::CALL;
            KeptAnswer::Call { extra }
        }
        Answer::Unavailable(_) => return,
    };
    if let Some(MaskedQuestion { key, question }) = masked_question {
        let (key, question) = (key.clone(), question.clone());
        evidence.answers.push(AnswerRecord { key, question, answer, took, cost, unusable: false });
    }
}
