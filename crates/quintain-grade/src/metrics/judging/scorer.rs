//! Scorers that ask a judge, alone or in addition to what checks prove.

use quintain_evidence::inquiry::{Next, Rounds};
use quintain_judge::ballot::VoteTally;
use quintain_judge::consultation::{Consultation, Heard, Pause};
use quintain_judge::panel::Panel;
use quintain_judge::prompt::{AnswerForm, complete};
use quintain_judge::template::Values;
use serde_json::{Map, Value};

use super::settings::JudgeSettings;
use crate::metrics::{Measured, MetricInput, Scorer};

/// Why a judged score is not there.
#[derive(Debug)]
pub(in crate::metrics) enum Stop {
    Pause(Pause),
    /// The trace lacks what the metric needs.
    Undefined(String),
    /// The opinions agree too little.
    Abstained {
        reason: String,
        details: Map<String, Value>,
    },
}

impl From<Pause> for Stop {
    fn from(pause: Pause) -> Self {
        Self::Pause(pause)
    }
}

impl Stop {
    pub(in crate::metrics) fn undefined(why: impl Into<String>) -> Self {
        Self::Undefined(why.into())
    }
}

pub(in crate::metrics) type Judging<T> = Result<T, Stop>;

/// Asks with the prompts of a metric.
pub(in crate::metrics) struct Judge<'j> {
    pub(in crate::metrics) settings: &'j JudgeSettings,
    consultation: &'j Consultation<'j>,
    rounds: &'j Rounds,
}

impl Judge<'_> {
    pub(in crate::metrics) fn panel(&self) -> Panel {
        self.settings.panel()
    }

    pub(super) fn consultation(&self) -> &Consultation<'_> {
        self.consultation
    }

    /// The text of a prompt with its variables filled, without the rules about the answer.
    pub(in crate::metrics) fn filled(&self, prompt: &str, values: &Values<'_>) -> String {
        self.settings.template(prompt).map(|template| template.fill(values)).unwrap_or_default()
    }

    /// An answer to a text of the metric, asked once.
    pub(in crate::metrics) fn ask(&self, question: &str, form: &AnswerForm) -> Heard<Value> {
        self.consultation.ask(complete(question, form), form, 0)
    }

    /// An answer of any form, asked once.
    pub(in crate::metrics) fn object(
        &self,
        prompt: &str,
        values: &Values<'_>,
        form: &AnswerForm,
    ) -> Heard<Value> {
        self.ask(&self.filled(prompt, values), form)
    }

    /// A list of texts, asked once. Blank ones do not count.
    pub(in crate::metrics) fn texts(
        &self,
        prompt: &str,
        values: &Values<'_>,
        name: &str,
    ) -> Heard<Vec<String>> {
        let answer = self.object(prompt, values, &AnswerForm::texts(name))?;
        let list = answer.get(name).and_then(Value::as_array);
        let list =
            list.ok_or_else(|| Pause::Failed(format!("the answer of the judge has no `{name}`")))?;
        let texts = list.iter().map(|item| match item {
            Value::String(text) => text.trim().to_owned(),
            other => other.to_string(),
        });
        Ok(texts.filter(|text| !text.is_empty()).take(MAX_ITEMS).collect())
    }

    /// The result of another metric on the same trace.
    pub(in crate::metrics) fn delegate(
        &self,
        scorer: &dyn Scorer,
        input: &MetricInput<'_>,
    ) -> Heard<Measured> {
        match scorer.next(input, self.rounds) {
            Next::Done(measured) => Ok(measured),
            Next::Ask(questions) => {
                self.consultation.pend(questions);
                Err(Pause::Waiting)
            }
        }
    }

    /// One word for each item. Words come from the worst to the best.
    pub(in crate::metrics) fn verdicts(
        &self,
        prompt: &str,
        values: &Values<'_>,
        words: &[&str],
        items: usize,
    ) -> Heard<Vec<VoteTally>> {
        self.panel().verdicts(self.consultation, &self.filled(prompt, values), words, items)
    }

    /// One word.
    pub(in crate::metrics) fn verdict(
        &self,
        prompt: &str,
        values: &Values<'_>,
        words: &[&str],
    ) -> Heard<VoteTally> {
        self.panel().verdict(self.consultation, &self.filled(prompt, values), words)
    }
}

/// A judge that lists more of anything has lost its way.
pub(super) const MAX_ITEMS: usize = 200;

type Alone = dyn Fn(&MetricInput<'_>) -> Measured + Send + Sync;
type Ask = dyn Fn(&MetricInput<'_>, &Judge<'_>) -> Judging<Measured> + Send + Sync;

struct JudgedScorer {
    id: &'static str,
    settings: JudgeSettings,
    /// The score without a judge; none if there is no such score.
    alone: Option<Box<Alone>>,
    ask: Box<Ask>,
}

/// A metric that only a judge can compute.
pub(in crate::metrics) fn judged(
    id: &'static str,
    settings: JudgeSettings,
    ask: impl Fn(&MetricInput<'_>, &Judge<'_>) -> Judging<Measured> + Send + Sync + 'static,
) -> Option<Box<dyn Scorer>> {
    Some(Box::new(JudgedScorer { id, settings, alone: None, ask: Box::new(ask) }))
}

/// A metric that also has a score without a judge.
pub(in crate::metrics) fn judged_or(
    id: &'static str,
    settings: JudgeSettings,
    alone: impl Fn(&MetricInput<'_>) -> Measured + Send + Sync + 'static,
    ask: impl Fn(&MetricInput<'_>, &Judge<'_>) -> Judging<Measured> + Send + Sync + 'static,
) -> Option<Box<dyn Scorer>> {
    let alone: Box<Alone> = Box::new(alone);
    Some(Box::new(JudgedScorer { id, settings, alone: Some(alone), ask: Box::new(ask) }))
}

impl Scorer for JudgedScorer {
    fn needs_judge(&self) -> bool {
        self.alone.is_none() && self.settings.model().is_none()
    }

    fn next(&self, input: &MetricInput<'_>, rounds: &Rounds) -> Next<Measured> {
        let is_wanted = self.settings.is_wanted(input.judge);
        if let Some(alone) = self.alone.as_ref().filter(|_| !is_wanted) {
            return Next::Done(alone(input));
        }
        let consultation = Consultation::new(self.id, self.settings.model(), rounds);
        let judge = Judge { settings: &self.settings, consultation: &consultation, rounds };
        let heard = match (self.ask)(input, &judge) {
            Ok(measured) => Ok(measured),
            Err(Stop::Undefined(why)) => Ok(Measured::Undefined(why)),
            Err(Stop::Abstained { reason, details }) => Ok(Measured::Abstained { reason, details }),
            Err(Stop::Pause(Pause::Waiting)) if !is_wanted => {
                Ok(Measured::Failed(NEEDS.to_owned()))
            }
            Err(Stop::Pause(pause)) => Err(pause),
        };
        consultation.next(heard, |pause| match pause {
            Pause::Failed(why) => Measured::Failed(format!("the judge gave no verdict: {why}")),
            Pause::Unavailable(why) => Measured::Failed(format!("{NEEDS} ({why})")),
            Pause::Waiting => Measured::Failed(NEEDS.to_owned()),
        })
    }
}

/// What to do about a missing judge.
const NEEDS: &str =
    "needs a judge: name a model in the option `model` of the metric, or `--judge MODEL`";
