//! Answers what checks and transforms ask of the outside: interpreters, web services, judges.

use quintain_core::code::{Code, Language};
use quintain_core::question::{Answer, Question};
use quintain_core::result::Grade;
use quintain_script::Host;
use serde_json::{Value, json};

use super::Job;

/// Whoever can be asked during a run.
pub(super) struct Answers {
    pub(super) host: Host,
}

impl Answers {
    pub(super) fn new(job: &Job<'_>) -> Self {
        Self { host: Host { env: job.suite.env.clone(), ..Host::default() } }
    }

    pub(super) async fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::Judge(_) => Answer::Unavailable("no judge is configured".to_owned()),
            _ => Answer::Unavailable("not yet".to_owned()),
        }
    }

    /// Runs code over an output.
    ///
    /// # Errors
    /// Says what went wrong in the code.
    pub(super) async fn code(
        &self,
        code: &Code,
        output: &Value,
        context: &Value,
    ) -> Result<Value, String> {
        if code.language() == Language::JavaScript {
            return code.run_js(&[("output", output), ("context", context)], &self.host);
        }
        let arguments = vec![output.clone(), context.clone()];
        match self.answer(&Question::Run { code: code.clone(), arguments }).await {
            Answer::Value(value) => Ok(value),
            Answer::Failed(why) | Answer::Unavailable(why) => Err(why),
            Answer::Exchange(_) => Err("the interpreter answered with an exchange".to_owned()),
        }
    }

    /// `assertScoringFunction`: the code makes the grade.
    ///
    /// # Errors
    /// Never; a function that fails makes a failing grade, as in promptfoo.
    pub(super) async fn scoring(&self, code: &Code, grade: Grade, threshold: Option<f64>) -> Grade {
        let components: Vec<Value> = grade
            .components
            .iter()
            .map(|component| {
                json!({
                    "pass": component.verdict.passed(),
                    "score": component.verdict.score,
                    "reason": component.verdict.reason,
                    "assertion": component.assertion,
                })
            })
            .collect();
        let names = json!(grade.named_scores);
        let context = json!({"threshold": threshold, "componentResults": components});
        let returned = self.code(code, &names, &context).await;
        let read = returned.and_then(|value| {
            let pass = value.get("pass").and_then(Value::as_bool);
            let score = value.get("score").and_then(Value::as_f64);
            let reason = value.get("reason").and_then(Value::as_str).unwrap_or_default();
            let named = value.get("namedScores").and_then(Value::as_object).map(|named| {
                let numbers = named.iter().filter_map(|(k, v)| Some((k.clone(), v.as_f64()?)));
                numbers.collect()
            });
            match (pass, score) {
                (Some(pass), Some(score)) => Ok((pass, score, reason.to_owned(), named)),
                _ => Err("assertion scoring function must return a GradingResult".to_owned()),
            }
        });
        match read {
            Ok((pass, score, reason, named)) => {
                let named_scores = named.unwrap_or(grade.named_scores);
                Grade { pass, score, reason, named_scores, ..grade }
            }
            Err(why) => {
                let reason = format!("Scoring function error: {why}");
                Grade { pass: false, score: 0.0, reason, ..grade }
            }
        }
    }

    pub(super) async fn close(&self) {}
}
