//! How pure code gets information: in each round it asks questions, or it is done. The engine asks them, stores the
//! answers as evidence and passes them back.

use crate::evidence::Evidence;
use crate::question::{Answer, Question};

/// Maximum number of rounds of a check.
pub const MAX_ROUNDS: usize = 16;

/// The next step of an inquiry.
#[derive(Debug, Clone, PartialEq)]
pub enum Next<T> {
    /// The questions of one round. A question that several checks have is asked once.
    Ask(Vec<Question>),
    Done(T),
}

/// A pure computation that may ask questions: the same evidence and answers lead to the same next step.
pub trait Inquiry {
    type Conclusion;

    /// `evidence` contains the calls that earlier rounds requested.
    fn next(&self, evidence: &Evidence, rounds: &Rounds) -> Next<Self::Conclusion>;

    /// Maximum number of rounds.
    fn max_rounds(&self) -> usize {
        MAX_ROUNDS
    }

    /// Whether the answers could not be used: the judge answered without a verdict. They are asked for again.
    fn is_unusable(&self, _: &Self::Conclusion) -> bool {
        false
    }

    /// The conclusion if it asks in more rounds than that.
    fn unfinished(&self) -> Self::Conclusion;
}

/// The answers so far, round by round.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rounds(Vec<Round>);

/// The questions of one round with their answers, in the same order.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    questions: Vec<Question>,
    answers: Vec<Answer>,
}

impl Rounds {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a round. Questions without an answer count as not asked.
    pub fn push(&mut self, questions: Vec<Question>, answers: Vec<Answer>) {
        self.0.push(Round { questions, answers });
    }

    /// All questions with their answers, in order.
    pub fn asked(&self) -> impl Iterator<Item = (&Question, &Answer)> {
        self.0.iter().flat_map(|round| round.questions.iter().zip(&round.answers))
    }

    /// All answers, in order.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.0.iter().flat_map(|round| &round.answers)
    }

    /// For inquiries of at most one round: asks, unless there is nothing to ask, and concludes from the answers.
    pub fn once<T>(
        &self,
        questions: impl FnOnce() -> Vec<Question>,
        conclude: impl FnOnce(&[Answer]) -> T,
    ) -> Next<T> {
        if let Some(round) = self.0.first() {
            return Next::Done(conclude(&round.answers));
        }
        match questions() {
            questions if questions.is_empty() => Next::Done(conclude(&[])),
            questions => Next::Ask(questions),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn post(url: &str) -> Question {
        Question::Post { url: url.to_owned(), body: Value::Null }
    }

    #[test]
    fn one_round_asks_and_concludes() {
        let mut rounds = Rounds::default();
        let next = |rounds: &Rounds| rounds.once(|| vec![post("a"), post("b")], <[Answer]>::len);
        assert_eq!(next(&rounds), Next::Ask(vec![post("a"), post("b")]));
        rounds.push(vec![post("a"), post("b")], vec![Answer::Value(Value::Null); 2]);
        assert_eq!(next(&rounds), Next::Done(2));
        let silent = Rounds::default().once(Vec::new, <[Answer]>::len);
        assert_eq!(silent, Next::Done(0), "without questions there is no round");
    }
}
