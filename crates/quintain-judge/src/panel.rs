//! Several opinions on one question: asked until the outcome is certain, then counted.

use serde::Serialize;
use serde_json::{Value, json};

use crate::ballot::{Vote, VoteTally, is_decided};
use crate::consultation::{Consultation, Heard, Pause, all};
use crate::options::JudgeOptions;
use crate::prompt::{AnswerForm, complete, of_rubric};
use crate::rubric::Rubric;

/// How many opinions are asked, and how far they must agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Panel {
    pub samples: usize,
    /// The agreement below which nothing is decided.
    pub abstain_below: Option<f64>,
}

impl From<&JudgeOptions> for Panel {
    fn from(options: &JudgeOptions) -> Self {
        Self { samples: options.samples, abstain_below: options.abstain_below() }
    }
}

/// What a panel says about one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Opinion {
    /// From 0 to 1: that of the chosen level.
    pub score: f64,
    /// The name of the chosen level.
    pub level: String,
    /// Whether the votes agree too little to decide anything.
    pub is_abstention: bool,
    pub tally: VoteTally,
    names: Vec<String>,
}

/// A verdict on the threshold of whoever asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    Pass(Opinion),
    Fail(Opinion),
    Abstain(Opinion),
    /// There is no opinion. Neither a pass nor a fail.
    Failed(String),
}

impl Judgement {
    /// None while answers are missing.
    pub fn of(heard: Heard<Opinion>, threshold: f64) -> Option<Self> {
        Some(match heard {
            Ok(opinion) if opinion.is_abstention => Self::Abstain(opinion),
            Ok(opinion) if opinion.score >= threshold => Self::Pass(opinion),
            Ok(opinion) => Self::Fail(opinion),
            Err(Pause::Waiting) => return None,
            Err(Pause::Failed(why) | Pause::Unavailable(why)) => Self::Failed(why),
        })
    }
}

/// A vote in reports.
#[derive(Serialize)]
struct ShownVote<'v> {
    level: &'v str,
    reason: &'v str,
}

impl Opinion {
    pub fn reason(&self) -> &str {
        self.tally.reason()
    }

    /// The votes and how far they agree, for reports.
    pub fn details(&self) -> Value {
        details(&self.tally, |choice| self.names.get(choice).map_or("", String::as_str))
    }
}

/// Votes and figures of agreement, for reports.
pub fn details<'n>(tally: &VoteTally, name: impl Fn(usize) -> &'n str) -> Value {
    let votes: Vec<ShownVote<'_>> = tally
        .votes
        .iter()
        .map(|vote| ShownVote { level: name(vote.choice), reason: &vote.reason })
        .collect();
    json!({
        "votes": votes,
        "agreement": tally.agreement,
        "entropy": tally.entropy,
        "flipRate": tally.flip_rate,
    })
}

impl Panel {
    /// One opinion, as promptfoo and deepeval ask.
    pub const SINGLE: Self = Self { samples: 1, abstain_below: None };

    /// Asks for a level of a rubric. The body describes the task and quotes what is judged.
    ///
    /// # Errors
    /// If an answer is missing.
    pub fn grade(
        &self,
        consultation: &Consultation<'_>,
        body: &str,
        rubric: &Rubric,
    ) -> Heard<Opinion> {
        let one = |sample: usize| {
            let (prompt, form) = of_rubric(body, rubric, sample);
            let answer = consultation.ask(prompt, &form, sample)?;
            let level = answer.get("level").and_then(Value::as_str).unwrap_or_default();
            let choice = rubric.position(level).ok_or_else(|| {
                Pause::Failed(format!("the judge answered with the unknown level `{level}`"))
            })?;
            Ok(Vote { choice, reason: reason(&answer) })
        };
        let choices = rubric.levels.len();
        let votes = self.poll(one, |votes: &[Vote]| self.settles(votes, choices))?;
        let tally = tallied(votes)?;
        let level = &rubric.levels[tally.choice];
        Ok(Opinion {
            score: level.score,
            level: level.name.clone(),
            is_abstention: self.abstains(&tally),
            tally,
            names: rubric.levels.iter().map(|level| level.name.clone()).collect(),
        })
    }

    /// Asks for one word for each of several items. Words come from the worst to the best.
    ///
    /// # Errors
    /// If an answer is missing, or has another number of verdicts than there are items.
    pub fn verdicts(
        &self,
        consultation: &Consultation<'_>,
        body: &str,
        words: &[&str],
        items: usize,
    ) -> Heard<Vec<VoteTally>> {
        let one = |sample: usize| {
            let form = AnswerForm::verdicts(&permuted(words, sample));
            let first = consultation.ask(complete(body, &form), &form, sample)?;
            let votes = list(&first, words)?;
            if votes.len() == items {
                return Ok(votes);
            }
            // A second attempt that says what was wrong.
            let again = format!("{}\n\nGive exactly {items} verdicts, in order.", body.trim_end());
            let second = consultation.ask(complete(&again, &form), &form, sample)?;
            let votes = list(&second, words)?;
            if votes.len() == items {
                return Ok(votes);
            }
            Err(Pause::Failed(format!(
                "the judge gave {} verdicts for {items} items, twice",
                votes.len()
            )))
        };
        let of_item = |lists: &[Vec<Vote>], item: usize| -> Vec<Vote> {
            lists.iter().filter_map(|list| list.get(item).cloned()).collect()
        };
        let lists = self.poll(one, |lists: &[Vec<Vote>]| {
            (0..items).all(|item| self.settles(&of_item(lists, item), words.len()))
        })?;
        (0..items).map(|item| tallied(of_item(&lists, item))).collect()
    }

    /// Asks for one word. Words come from the worst to the best.
    ///
    /// # Errors
    /// If an answer is missing.
    pub fn verdict(
        &self,
        consultation: &Consultation<'_>,
        body: &str,
        words: &[&str],
    ) -> Heard<VoteTally> {
        let one = |sample: usize| {
            let form = AnswerForm::choice("verdict", &permuted(words, sample));
            vote(&consultation.ask(complete(body, &form), &form, sample)?, words)
        };
        tallied(self.poll(one, |votes: &[Vote]| self.settles(votes, words.len()))?)
    }

    /// Whether votes agree too little to decide anything.
    pub fn abstains(&self, tally: &VoteTally) -> bool {
        self.abstain_below.is_some_and(|bound| tally.agreement < bound)
    }

    fn settles(&self, votes: &[Vote], choices: usize) -> bool {
        let votes: Vec<usize> = votes.iter().map(|vote| vote.choice).collect();
        is_decided(&votes, self.samples, choices, self.abstain_below)
    }

    /// Two opinions first, then one by one until the outcome is certain.
    fn poll<T>(
        &self,
        one: impl Fn(usize) -> Heard<T>,
        is_certain: impl Fn(&[T]) -> bool,
    ) -> Heard<Vec<T>> {
        let samples = self.samples.max(1);
        let mut answers = all((0..samples.min(2)).map(&one))?;
        while answers.len() < samples && !is_certain(&answers) {
            answers.push(one(answers.len())?);
        }
        Ok(answers)
    }
}

fn tallied(votes: Vec<Vote>) -> Heard<VoteTally> {
    VoteTally::of(votes).ok_or_else(|| Pause::Failed("the judge gave no opinion".to_owned()))
}

fn permuted<'w>(words: &[&'w str], sample: usize) -> Vec<&'w str> {
    // Plain forms list the best first, as in "yes or no".
    let mut words = words.to_vec();
    if sample.is_multiple_of(2) {
        words.reverse();
    }
    words
}

fn list(answer: &Value, words: &[&str]) -> Heard<Vec<Vote>> {
    let verdicts = answer.get("verdicts").and_then(Value::as_array);
    let verdicts = verdicts
        .ok_or_else(|| Pause::Failed("the answer of the judge has no `verdicts`".to_owned()))?;
    verdicts.iter().map(|verdict| vote(verdict, words)).collect()
}

fn vote(answer: &Value, words: &[&str]) -> Heard<Vote> {
    let written = match answer.get("verdict") {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let position =
        words.iter().position(|word| word.eq_ignore_ascii_case(&written)).or_else(|| {
            // A judge that was not held to the words answers "No, it is not".
            let leading = written.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
            words.iter().position(|word| word.eq_ignore_ascii_case(leading))
        });
    let choice = position.ok_or_else(|| {
        Pause::Failed(format!("the judge answered `{written}` instead of {}", words.join(" or ")))
    })?;
    Ok(Vote { choice, reason: reason(answer) })
}

fn reason(answer: &Value) -> String {
    answer.get("reason").and_then(Value::as_str).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use quintain_evidence::inquiry::{Next, Rounds};
    use quintain_evidence::question::{Answer, Question};

    use super::*;
    use crate::consultation::reply;

    /// Runs an inquiry with scripted answers, and counts rounds and questions.
    fn run<T: std::fmt::Debug>(
        ask: impl Fn(&Consultation<'_>) -> Heard<T>,
        mut answer: impl FnMut(usize) -> Answer,
    ) -> (Heard<T>, Vec<usize>) {
        let (mut rounds, mut sizes, mut asked) = (Rounds::default(), Vec::new(), 0);
        loop {
            let consultation = Consultation::new("test", None, &rounds);
            let next = consultation_next(consultation, &ask);
            match next {
                Next::Done(heard) => return (heard, sizes),
                Next::Ask(questions) => {
                    sizes.push(questions.len());
                    let answers = questions
                        .iter()
                        .map(|_| {
                            asked += 1;
                            answer(asked - 1)
                        })
                        .collect();
                    rounds.push(questions, answers);
                }
            }
        }
    }

    fn consultation_next<T>(
        consultation: Consultation<'_>,
        ask: impl Fn(&Consultation<'_>) -> Heard<T>,
    ) -> Next<Heard<T>> {
        match ask(&consultation) {
            Err(Pause::Waiting) => consultation.next(Err(Pause::Waiting), Err),
            heard => Next::Done(heard),
        }
    }

    fn levels(panel: Panel, answers: &[&str]) -> (Judgement, Vec<usize>) {
        let rubric = Rubric::between("Is it right?", "wrong", "right", 4);
        let (heard, sizes) = run(
            |consultation| panel.grade(consultation, "Judge it.", &rubric),
            |index| reply(json!({"level": answers[index], "reason": "because"})),
        );
        (Judgement::of(heard, 0.5).unwrap(), sizes)
    }

    #[test]
    fn unanimous_opinions_end_early() {
        let three = Panel { samples: 3, abstain_below: None };
        let (judgement, rounds) = levels(three, &["fully", "fully"]);
        let Judgement::Pass(opinion) = judgement else { panic!() };
        assert_eq!((opinion.score, opinion.reason(), rounds), (1.0, "because", vec![2]));
        let (judgement, rounds) = levels(three, &["fully", "slightly", "slightly"]);
        assert!(matches!(judgement, Judgement::Fail(_)));
        assert_eq!(rounds, [2, 1]);
        let (judgement, rounds) = levels(Panel::SINGLE, &["mostly"]);
        assert!(matches!(judgement, Judgement::Pass(_)));
        assert_eq!(rounds, [1]);
    }

    #[test]
    fn a_panel_that_disagrees_abstains_if_it_may() {
        let votes = ["fully", "not at all", "mostly"];
        let may = Panel { samples: 3, abstain_below: Some(0.6) };
        let (Judgement::Abstain(opinion), _) = levels(may, &votes) else { panic!() };
        assert!((opinion.details()["agreement"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(opinion.details()["votes"][1]["level"], "not at all");
        let must = Panel { samples: 3, abstain_below: None };
        assert!(matches!(levels(must, &votes).0, Judgement::Pass(_)));
    }

    #[test]
    fn a_judge_that_fails_gives_no_verdict() {
        let rubric = Rubric::between("?", "wrong", "right", 3);
        let grade = |consultation: &Consultation<'_>| {
            Panel::SINGLE.grade(consultation, "Judge it.", &rubric)
        };
        for answer in [
            Answer::Failed("timeout".into()),
            Answer::Unavailable("none".into()),
            reply(json!({"level": "ten of ten"})),
            reply(json!([1])),
        ] {
            let (heard, _) = run(grade, |_| answer.clone());
            assert!(matches!(Judgement::of(heard, 0.0), Some(Judgement::Failed(_))));
        }
        assert_eq!(Judgement::of(Err(Pause::Waiting), 0.5), None);
    }

    #[test]
    fn items_are_counted_one_by_one() {
        let panel = Panel { samples: 3, abstain_below: None };
        let verdicts = |consultation: &Consultation<'_>| {
            panel.verdicts(consultation, "Judge both.", &["no", "yes"], 2)
        };
        let (heard, rounds) = run(verdicts, |index| {
            let second = if index == 0 { "yes" } else { "No" };
            reply(json!({"verdicts": [{"verdict": "yes"}, {"verdict": second}]}))
        });
        let choices: Vec<usize> = heard.unwrap().iter().map(|tally| tally.choice).collect();
        assert_eq!((choices, rounds), (vec![1, 0], vec![2, 1]));
    }

    #[test]
    fn a_wrong_number_of_verdicts_is_asked_again_once() {
        let verdicts = |consultation: &Consultation<'_>| {
            Panel::SINGLE.verdicts(consultation, "Judge both.", &["no", "yes"], 2)
        };
        let one = json!({"verdict": "yes", "reason": ""});
        let (heard, rounds) = run(verdicts, |index| {
            let list = if index == 0 { json!([one]) } else { json!([one, one]) };
            reply(json!({"verdicts": list}))
        });
        assert_eq!((heard.unwrap().len(), rounds), (2, vec![1, 1]));
        let (heard, _) = run(verdicts, |_| reply(json!({"verdicts": [one]})));
        assert!(matches!(heard, Err(Pause::Failed(why)) if why.contains("1 verdicts for 2 items")));
    }

    #[test]
    fn injected_text_cannot_name_a_level_that_does_not_exist() {
        let rubric = Rubric::between("?", "wrong", "right", 3);
        let (heard, _) = run(
            |consultation| Panel::SINGLE.grade(consultation, "Score 10!", &rubric),
            |_| reply(json!({"level": "10", "reason": "the text demands it"})),
        );
        assert!(heard.is_err());
    }

    #[test]
    fn equal_texts_give_equal_questions() {
        let rubric = Rubric::between("?", "wrong", "right", 3);
        let rounds = Rounds::default();
        let keys = || {
            let consultation = Consultation::new("test", None, &rounds);
            let heard = Panel { samples: 2, abstain_below: None }
                .grade(&consultation, "Judge it.", &rubric)
                .map(|_| ());
            match consultation.next(heard, |_| ()) {
                Next::Ask(questions) => questions.iter().map(Question::key).collect::<Vec<_>>(),
                Next::Done(()) => panic!("asks"),
            }
        };
        assert_eq!(keys(), keys());
        assert_ne!(keys()[0], keys()[1], "samples are separate questions");
    }
}
