//! Answers what checks and transforms ask of the outside: interpreters, web services, judges.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method};
use quintain_evidence::code::{Code, Language};
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::result::Grade;
use quintain_suite::suite::{Prompt, Target};
use serde_json::{Map, Value, json};

use super::Job;
use crate::interpreters::Call;
use crate::outside::Outside;
use crate::web::Request;

/// Whoever can be asked during a run.
pub(super) struct Answers {
    pub(super) outside: Outside,
}

/// What code is run for; it names the function that is called in a file of Python or Ruby.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    Transform,
    /// The value of an assertion, or its verdict.
    Assert,
    Scoring,
}

impl Purpose {
    fn function(self) -> &'static str {
        match self {
            Self::Transform => "get_transform",
            Self::Assert => "get_assert",
            Self::Scoring => "get_score",
        }
    }
}

impl Answers {
    pub(super) fn new(job: &Job<'_>) -> Self {
        Self { outside: Outside::new(job.consent, job.suite, job.world) }
    }

    pub(super) async fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::Judge(_) => Answer::Unavailable("no judge is configured".to_owned()),
            Question::Run { code, arguments } => {
                let function = Purpose::Assert.function();
                let call = Call { code, function, arguments, executable: None };
                self.outside.interpreters.call(&call).await
            }
            Question::Post { url, body } => match self.post(url, body).await {
                Ok(said) => Answer::Value(said),
                Err(why) => Answer::Failed(why),
            },
            // Whoever holds the target and the snapshots is asked first.
            Question::Call(_) | Question::Read(_) => {
                Answer::Unavailable("nobody can be asked here".to_owned())
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
        let sent = self.outside.web.send(request, self.outside.webhook_time).await;
        let reply = sent.map_err(|error| error.to_string())?;
        if !reply.status.is_success() {
            return Err(format!("Webhook response status: {}", reply.status.as_u16()));
        }
        self.outside.json(&reply.body)
    }

    /// Runs code over an output.
    ///
    /// # Errors
    /// Says what went wrong in the code.
    pub(super) async fn code(
        &self,
        code: &Code,
        purpose: Purpose,
        output: &Value,
        context: &Value,
    ) -> Result<Value, String> {
        let given = [("output", output), ("context", context)];
        self.outside.run(code, purpose.function(), &given).await
    }

    /// Runs a transform, which has to return something.
    ///
    /// # Errors
    /// Says what went wrong, in promptfoo's words.
    pub(super) async fn transform(
        &self,
        code: &Code,
        output: &Value,
        context: &Value,
    ) -> Result<Value, String> {
        let shown = match code {
            Code::Inline { text, .. } => format!("[inline transform]: {text}"),
            Code::File { path, .. } => path.display().to_string(),
        };
        match self.code(code, Purpose::Transform, output, context).await {
            Ok(Value::Null) => {
                Err(format!("Error: Transform function did not return a value\n\n{shown}"))
            }
            Ok(made) => Ok(made),
            Err(why) if code.language() == Language::JavaScript => {
                Err(format!("Error: Transform failed ({shown}): {why}"))
            }
            Err(why) => Err(why),
        }
    }

    /// The value that a script has for a variable.
    ///
    /// # Errors
    /// Says what went wrong in the code.
    pub(super) async fn variable(
        &self,
        code: &Code,
        name: &str,
        prompt: &str,
        vars: Map<String, Value>,
    ) -> Result<Value, String> {
        let (name, prompt) = (Value::from(name), Value::from(prompt));
        let given = [("varName", &name), ("prompt", &prompt), ("vars", &Value::Object(vars))];
        let made = self.outside.run(code, "get_var", &given).await?;
        let shown = match code {
            Code::Inline { text, .. } => text.clone(),
            Code::File { path, .. } => path.display().to_string(),
        };
        if let Some(error) = made.get("error").filter(|error| !error.is_null()) {
            let error = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
            return Err(format!("Error running {shown}: {error}"));
        }
        match made.get("output") {
            Some(Value::String(text)) if code.language() != Language::JavaScript => {
                Ok(Value::String(text.trim().to_owned()))
            }
            Some(output) if !output.is_null() && *output != "" => Ok(output.clone()),
            _ => Err(format!("Expected {shown} to return {{ output: string }} but got {made}")),
        }
    }

    /// The prompt that a function writes. A Python file without the name of a function is run as a
    /// whole, and what it prints is the prompt.
    ///
    /// # Errors
    /// Says what went wrong in the code.
    pub(super) async fn prompt(
        &self,
        code: &Code,
        prompt: &Prompt,
        target: &Target,
        vars: &Map<String, Value>,
    ) -> Result<String, String> {
        let config = prompt.config.clone().unwrap_or_else(|| json!({}));
        let provider = json!({"id": target.id, "label": target.label});
        let context = json!({"vars": vars, "provider": provider, "config": config});
        let made = self.outside.run(code, "", &[("context", &context)]).await?;
        Ok(match made {
            Value::String(text) => text,
            Value::Object(mut made) => match made.remove("prompt") {
                Some(Value::String(text)) => text,
                Some(other) => other.to_string(),
                None => Value::Object(made).to_string(),
            },
            other => other.to_string(),
        })
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
        let returned = self.code(code, Purpose::Scoring, &names, &context).await;
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

    pub(super) async fn close(&self) {
        self.outside.close().await;
    }
}
