//! Grades from 0 to 1: a score in the plain form, the level of a rubric in the careful one.

use quintain_judge::consultation::{Heard, Pause};
use quintain_judge::prompt::{AnswerForm, complete};
use quintain_judge::proof::clamped;
use quintain_judge::rubric::Rubric;
use quintain_judge::template::Values;
use serde_json::{Map, Value, json};

use super::scorer::{Judge, Judging, Stop};
use crate::metrics::Scored;

/// What a grade is about, and what its ends mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::metrics) struct Scale {
    pub(in crate::metrics) question: &'static str,
    pub(in crate::metrics) worst: &'static str,
    pub(in crate::metrics) best: &'static str,
}

/// An opinion as a number.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::metrics) struct Grade {
    /// From 0 to 1.
    pub(in crate::metrics) score: f64,
    pub(in crate::metrics) reason: String,
    /// Votes and agreement; null in the plain form.
    pub(in crate::metrics) details: Value,
    is_abstention: bool,
}

impl Judge<'_> {
    /// Asks for a grade with a prompt of the metric.
    pub(in crate::metrics) fn grade(
        &self,
        prompt: &str,
        values: &Values<'_>,
        scale: &Scale,
    ) -> Heard<Grade> {
        let body = self.filled(prompt, values);
        if let Some(options) = self.settings.careful() {
            let rubric = Rubric::between(scale.question, scale.worst, scale.best, options.levels);
            return self.level(&body, &rubric);
        }
        let question = format!(
            "{}\n\n{}\nScore it from 0 to 1. 0: {}. 1: {}. Use values between them for what lies between.",
            body.trim_end(),
            scale.question,
            scale.worst,
            scale.best
        );
        let form = AnswerForm::score();
        let answer = self.consultation().ask(complete(&question, &form), &form, 0)?;
        Grade::read(&answer, clamped)
    }

    /// Asks for the level of a rubric.
    pub(in crate::metrics) fn level(&self, body: &str, rubric: &Rubric) -> Heard<Grade> {
        let opinion = self.panel().grade(self.consultation(), body, rubric)?;
        Ok(Grade {
            score: opinion.score,
            reason: opinion.reason().to_owned(),
            details: opinion.details(),
            is_abstention: opinion.is_abstention,
        })
    }
}

impl Grade {
    /// Reads `{score, reason}`. `scaled` brings the score into 0 to 1.
    pub(in crate::metrics) fn read(answer: &Value, scaled: impl Fn(f64) -> f64) -> Heard<Self> {
        let score = match answer.get("score") {
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(other) => other.as_f64(),
            None => None,
        };
        let score = score
            .filter(|score: &f64| score.is_finite())
            .ok_or_else(|| Pause::Failed("the answer of the judge has no `score`".to_owned()))?;
        let reason = answer.get("reason").and_then(Value::as_str).unwrap_or_default();
        Ok(Self {
            score: clamped(scaled(score)),
            reason: reason.trim().to_owned(),
            details: Value::Null,
            is_abstention: false,
        })
    }
}

/// The mean of grades; none without any.
pub(in crate::metrics) fn mean(grades: &[Grade]) -> Option<f64> {
    let sum: f64 = grades.iter().map(|grade| grade.score).sum();
    (!grades.is_empty()).then(|| sum / grades.len() as f64)
}

/// The reasons of grades in one text; `what` names them if there are several.
fn reasons(grades: &[(String, &Grade)]) -> String {
    let with_reasons = grades.iter().filter(|(_, grade)| !grade.reason.is_empty());
    let texts: Vec<String> = match grades {
        [_] => with_reasons.map(|(_, grade)| grade.reason.clone()).collect(),
        _ => with_reasons.map(|(what, grade)| format!("{what}: {}", grade.reason)).collect(),
    };
    texts.join(" ")
}

/// The grades for reports: each with its name, score, reason and votes.
fn listed(grades: &[(String, &Grade)]) -> Value {
    let one = |(what, grade): &(String, &Grade)| {
        let mut entry = json!({"question": what, "score": grade.score, "reason": grade.reason});
        if let (Some(entry), Some(votes)) = (entry.as_object_mut(), grade.details.as_object()) {
            entry.extend(votes.clone());
        }
        entry
    };
    grades.iter().map(one).collect()
}

/// A score with the reasons of its grades.
pub(in crate::metrics) fn scored(value: f64, grades: &[(String, &Grade)]) -> Judging<Scored> {
    decided(grades)?;
    Ok(Scored::new(value, reasons(grades)).with("judge", listed(grades)).judged())
}

/// Stops if one of the grades is an abstention.
fn decided(grades: &[(String, &Grade)]) -> Judging<()> {
    let open = grades.iter().filter(|(_, grade)| grade.is_abstention);
    let names: Vec<&str> = open.map(|(what, _)| what.as_str()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let reason = format!("the opinions on {} differ too much", names.join(", "));
    let details = Map::from_iter([("judge".to_owned(), listed(grades))]);
    Err(Stop::Abstained { reason, details })
}
