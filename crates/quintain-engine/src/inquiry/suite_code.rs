//! Runs suite code other than assertions: transforms, variables, prompts and scoring functions. JavaScript runs in
//! this process; Python and Ruby code is asked as a question, like that of checks.

use quintain_evidence::code::{Code, Language};
use quintain_evidence::evidence::Evidence;
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::result::Grade;
use quintain_suite::suite::{Prompt, Target};
use serde_json::{Map, Value, json};

use super::Asker;

/// Why code returned nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CodeError {
    /// The code ran and failed.
    #[error("{0}")]
    Failed(String),
    /// The code could not run.
    #[error("{0}")]
    Unavailable(String),
}

/// Why code runs. Determines the function to call in a Python or Ruby file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
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

impl Asker<'_> {
    /// Runs code with these arguments. `function` is the function to call in a Python or Ruby file if the code does not
    /// name one.
    ///
    /// # Errors
    /// When the code fails or cannot run.
    pub(crate) async fn run(
        &self,
        code: &Code,
        function: &str,
        given: &[(&str, &Value)],
        evidence: &mut Evidence,
    ) -> Result<Value, CodeError> {
        if code.language() == Language::JavaScript {
            let run = self.answer_sources.external_services.run(code, function, given).await;
            return run.map_err(CodeError::Failed);
        }
        let arguments = given.iter().map(|(_, value)| (*value).clone()).collect();
        let (code, function) = (code.clone(), function.to_owned());
        let question = Question::Run { code, function, arguments };
        match self.ask_one(question, evidence).await {
            Answer::Value(value) => Ok(value),
            Answer::Failed(why) => Err(CodeError::Failed(why)),
            Answer::Unavailable(why) => Err(CodeError::Unavailable(why)),
            Answer::Exchange(_) | Answer::Reply(_) => {
                Err(CodeError::Failed("the answer is not from an interpreter".to_owned()))
            }
        }
    }

    /// Runs code over an output.
    ///
    /// # Errors
    /// When the code fails.
    pub(crate) async fn code(
        &self,
        code: &Code,
        purpose: Purpose,
        output: &Value,
        context: &Value,
        evidence: &mut Evidence,
    ) -> Result<Value, CodeError> {
        let given = [("output", output), ("context", context)];
        self.run(code, purpose.function(), &given, evidence).await
    }

    /// Runs a transform, which must return a value.
    ///
    /// # Errors
    /// When the transform fails, with promptfoo's message.
    pub(crate) async fn transform(
        &self,
        code: &Code,
        output: &Value,
        context: &Value,
        evidence: &mut Evidence,
    ) -> Result<Value, String> {
        let shown = match code {
            Code::Inline { text, .. } => format!("[inline transform]: {text}"),
            Code::File { path, .. } => path.display().to_string(),
        };
        match self.code(code, Purpose::Transform, output, context, evidence).await {
            Ok(Value::Null) => {
                Err(format!("Error: Transform function did not return a value\n\n{shown}"))
            }
            Ok(made) => Ok(made),
            Err(why) if code.language() == Language::JavaScript => {
                Err(format!("Error: Transform failed ({shown}): {why}"))
            }
            Err(why) => Err(why.to_string()),
        }
    }

    /// The value of a variable that a script computes.
    ///
    /// # Errors
    /// When the code fails.
    pub(crate) async fn variable(
        &self,
        code: &Code,
        name: &str,
        prompt: &str,
        vars: Map<String, Value>,
        evidence: &mut Evidence,
    ) -> Result<Value, String> {
        let (name, prompt) = (Value::from(name), Value::from(prompt));
        let given = [("varName", &name), ("prompt", &prompt), ("vars", &Value::Object(vars))];
        let made = self.run(code, "get_var", &given, evidence).await.map_err(words)?;
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

    /// The prompt that a function returns. A Python file without a function name runs as a program, and its output is the
    /// prompt.
    ///
    /// # Errors
    /// When the code fails.
    pub(crate) async fn prompt(
        &self,
        code: &Code,
        prompt: &Prompt,
        target: &Target,
        vars: &Map<String, Value>,
        evidence: &mut Evidence,
    ) -> Result<String, String> {
        let config = prompt.config.clone().unwrap_or_else(|| json!({}));
        let provider = json!({"id": target.id, "label": target.label});
        let context = json!({"vars": vars, "provider": provider, "config": config});
        let made = self.run(code, "", &[("context", &context)], evidence).await.map_err(words)?;
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

    /// `assertScoringFunction`: the code computes the grade.
    ///
    /// # Errors
    /// When the function cannot run. A function that fails produces a failing grade, as in promptfoo.
    pub(crate) async fn scoring(
        &self,
        code: &Code,
        grade: Grade,
        threshold: Option<f64>,
        evidence: &mut Evidence,
    ) -> Result<Grade, String> {
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
        let returned = match self.code(code, Purpose::Scoring, &names, &context, evidence).await {
            Err(CodeError::Unavailable(why)) => return Err(why),
            returned => returned.map_err(words),
        };
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
        Ok(match read {
            Ok((pass, score, reason, named)) => {
                let named_scores = named.unwrap_or(grade.named_scores);
                Grade { pass, score, reason, named_scores, ..grade }
            }
            Err(why) => {
                let reason = format!("Scoring function error: {why}");
                Grade { pass: false, score: 0.0, reason, ..grade }
            }
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn words(error: CodeError) -> String {
    error.to_string()
}
