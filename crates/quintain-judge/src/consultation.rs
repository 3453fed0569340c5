//! Asking in the middle of a computation: code reads as if answers were there, and what is not yet answered becomes the
//! questions of the next round. The same answers always lead to the same questions.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::model_reply::{ModelReply, NoReply};
use quintain_evidence::question::{Answer, ModelQuestion, ModelRequest, ModelRole, Question};
use serde_json::{Value, json};

use crate::prompt::AnswerForm;

/// Why a computation cannot continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pause {
    /// Until the pending questions are answered.
    Waiting,
    /// The judge was asked and gave no usable answer.
    Failed(String),
    /// There is no judge.
    Unavailable(String),
}

/// What an answer led to.
pub type Heard<T> = Result<T, Pause>;

/// Questions for a judge with the answers so far.
pub struct Consultation<'r> {
    asked_by: String,
    model: Option<Value>,
    known: HashMap<u64, Vec<(&'r Question, &'r Answer)>>,
    pending: RefCell<Questions>,
}

/// Questions, each once.
#[derive(Debug, Clone, Default)]
pub struct Questions {
    list: Vec<Question>,
    /// Positions by digest, so that long lists need no search.
    positions: HashMap<u64, Vec<usize>>,
}

impl Questions {
    /// Adds a question, unless it is there. Returns its position.
    pub fn add(&mut self, question: Question) -> usize {
        let same = self.positions.entry(digest(&question)).or_default();
        let found = same.iter().copied().find(|position| self.list[*position] == question);
        found.unwrap_or_else(|| {
            same.push(self.list.len());
            self.list.push(question);
            self.list.len() - 1
        })
    }

    pub fn list(&self) -> &[Question] {
        &self.list
    }
}

impl<'r> Consultation<'r> {
    /// `model` is the judge as a configuration names it; none for the default judge of the run.
    pub fn new(asked_by: impl Into<String>, model: Option<Value>, rounds: &'r Rounds) -> Self {
        let mut known: HashMap<u64, Vec<_>> = HashMap::new();
        for (question, answer) in rounds.asked() {
            known.entry(digest(question)).or_default().push((question, answer));
        }
        Self { asked_by: asked_by.into(), model, known, pending: RefCell::default() }
    }

    /// The answer to a prompt, as JSON of the given form.
    ///
    /// # Errors
    /// If it is not there yet, or there is none.
    pub fn ask(&self, prompt: String, form: &AnswerForm, sample: usize) -> Heard<Value> {
        let question = Question::Model(ModelQuestion {
            role: ModelRole::Judge,
            asked_by: self.asked_by.clone(),
            model: self.model.clone(),
            request: ModelRequest::Chat { prompt, schema: Some(form.schema.clone()) },
            sample,
            repetition: 0,
        });
        let known = self.known.get(&digest(&question)).and_then(|same| {
            same.iter().find(|(asked, _)| **asked == question).map(|(_, answer)| *answer)
        });
        if let Some(answer) = known {
            return output(answer);
        }
        self.pending.borrow_mut().add(question);
        Err(Pause::Waiting)
    }

    /// Asks questions of another inquiry in the same round.
    pub fn pend(&self, questions: impl IntoIterator<Item = Question>) {
        for question in questions {
            self.pending.borrow_mut().add(question);
        }
    }

    /// The next questions, or the outcome. `conclude` makes an outcome of a failed judge.
    pub fn next<T>(self, heard: Heard<T>, conclude: impl FnOnce(Pause) -> T) -> Next<T> {
        match heard {
            Ok(outcome) => Next::Done(outcome),
            Err(Pause::Waiting) => Next::Ask(self.pending.into_inner().list),
            Err(pause) => Next::Done(conclude(pause)),
        }
    }
}

/// All of several answers, so that their questions are asked in one round. A failure ends the wait for the others.
///
/// # Errors
/// If an answer is not there.
pub fn all<T>(heard: impl IntoIterator<Item = Heard<T>>) -> Heard<Vec<T>> {
    let mut answers = Vec::new();
    let mut is_waiting = false;
    for one in heard {
        match one {
            Ok(answer) => answers.push(answer),
            Err(Pause::Waiting) => is_waiting = true,
            Err(failed) => return Err(failed),
        }
    }
    if is_waiting { Err(Pause::Waiting) } else { Ok(answers) }
}

/// Both of two answers, asked in one round.
///
/// # Errors
/// If one of them is not there.
pub fn both<A, B>(first: Heard<A>, second: Heard<B>) -> Heard<(A, B)> {
    match (first, second) {
        (Ok(first), Ok(second)) => Ok((first, second)),
        (Err(Pause::Waiting) | Ok(_), Err(failed)) | (Err(failed), _) => Err(failed),
    }
}

/// An answer of a judge as it is stored, for callers that judge themselves.
pub fn reply(output: impl Into<Value>) -> Answer {
    Answer::Value(json!(ModelReply { output: output.into(), attempts: 1, ..ModelReply::default() }))
}

fn output(answer: &Answer) -> Heard<Value> {
    let reply = ModelReply::of(answer).map_err(|none| match none {
        NoReply::Failed(why) => Pause::Failed(why),
        NoReply::Unavailable(why) => Pause::Unavailable(why),
    })?;
    if let Some(refusal) = reply.refusal {
        return Err(Pause::Failed(format!("the judge refused to answer: {refusal}")));
    }
    match reply.output {
        Value::String(text) => within(&text)
            .ok_or_else(|| Pause::Failed("the answer of the judge is not JSON".to_owned())),
        output => Ok(output),
    }
}

/// The object in a text of a judge that was not held to JSON.
fn within(text: &str) -> Option<Value> {
    let (from, to) = (text.find('{')?, text.rfind('}')?);
    serde_json::from_str(text.get(from..=to)?).ok()
}

/// Equal questions have equal digests. Of a prompt some characters are enough, because equal digests are compared.
fn digest(question: &Question) -> u64 {
    const TAKEN: usize = 64;
    let mut hasher = DefaultHasher::new();
    if let Question::Model(ModelQuestion {
        request: ModelRequest::Chat { prompt, .. },
        sample,
        ..
    }) = question
    {
        let bytes = prompt.as_bytes();
        let mut picked = [0; TAKEN];
        for (index, slot) in picked.iter_mut().enumerate() {
            *slot = bytes.get(index * bytes.len() / TAKEN).copied().unwrap_or_default();
        }
        hasher.write(&picked);
        hasher.write_usize(bytes.len());
        hasher.write_usize(*sample);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(rounds: &Rounds) -> Next<String> {
        let consultation = Consultation::new("test", None, rounds);
        let form = AnswerForm::texts("parts");
        let heard = (|| {
            let parts = consultation.ask("Split it".to_owned(), &form, 0)?;
            let parts: Vec<String> = serde_json::from_value(parts["parts"].clone()).unwrap();
            let each = parts
                .iter()
                .map(|part| consultation.ask(format!("Judge {part}"), &AnswerForm::score(), 0));
            let scores = all(each)?;
            Ok(scores.iter().map(|score| score["score"].to_string()).collect())
        })();
        consultation.next(heard, |pause| format!("{pause:?}"))
    }

    fn answered(rounds: &mut Rounds, answer: impl Fn(&Question) -> Answer) {
        let Next::Ask(questions) = asking(rounds) else { panic!("asks") };
        let answers = questions.iter().map(answer).collect();
        rounds.push(questions, answers);
    }

    #[test]
    fn what_is_not_answered_yet_is_asked_in_one_round() {
        let mut rounds = Rounds::default();
        answered(&mut rounds, |_| reply(json!({"parts": ["a", "b", "a"]})));
        let Next::Ask(second) = asking(&rounds) else { panic!("asks") };
        assert_eq!(second.len(), 2, "equal questions are asked once");
        answered(&mut rounds, |_| reply(json!({"score": 1})));
        assert_eq!(asking(&rounds), Next::Done("111".to_owned()));
    }

    #[test]
    fn failures_are_told_apart() {
        for (answer, expected) in [
            (Answer::Failed("500".into()), Pause::Failed("500".into())),
            (Answer::Unavailable("none".into()), Pause::Unavailable("none".into())),
            (reply("sorry"), Pause::Failed("the answer of the judge is not JSON".into())),
        ] {
            let mut rounds = Rounds::default();
            answered(&mut rounds, |_| answer.clone());
            assert_eq!(asking(&rounds), Next::Done(format!("{expected:?}")));
        }
        let refusal = json!({"output": null, "refusal": "no"});
        assert!(matches!(output(&Answer::Value(refusal)), Err(Pause::Failed(_))));
        assert_eq!(output(&reply("Sure: {\"a\": 1}!")), Ok(json!({"a": 1})));
    }

    #[test]
    fn a_failure_counts_more_than_waiting() {
        let failed = || Err::<(), _>(Pause::Failed("x".into()));
        assert_eq!(all([Err(Pause::Waiting), failed()]), Err(Pause::Failed("x".into())));
        assert_eq!(both(Err::<(), _>(Pause::Waiting), failed()), Err(Pause::Failed("x".into())));
        assert_eq!(both(Ok(1), Err::<(), _>(Pause::Waiting)), Err(Pause::Waiting));
    }
}
