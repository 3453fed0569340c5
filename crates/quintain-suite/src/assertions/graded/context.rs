//! The context of an answer: the variable `context`, or what `contextTransform` extracts from the response.

use quintain_content::text::js;
use quintain_evidence::code::{Code, Language};
use quintain_evidence::inquiry::Next;
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::verdict::Verdict;
use quintain_script::Host;
use serde_json::{Value, json};

use super::failure::error;
use super::judge::NextStep;
use super::replies::Replies;
use crate::check::{Scene, Spec};
use crate::code::RunCode as _;

const MISSING: &str = "Context is required for context-based assertions. Provide either a \"context\" \
variable (string or array of strings) in your test case or use \"contextTransform\" to extract context from \
the provider response.";

/// Where the context comes from.
pub(super) struct ContextSource {
    transform: Option<Code>,
    /// Without any context, the prompt is the context.
    or_prompt: bool,
}

/// The context of one case.
pub(super) struct Context {
    /// One text, or several chunks.
    pub(super) value: Value,
    /// Number of questions that were asked to get it.
    pub(super) asked: usize,
}

impl ContextSource {
    pub(super) fn read(spec: &mut Spec<'_, '_>, or_prompt: bool) -> Self {
        let node = spec.node.get("contextTransform").filter(|node| !node.is_null());
        let transform = node.and_then(|node| {
            crate::files::code("contextTransform", node, spec.base_dir, spec.files, spec.dx)
        });
        Self { transform, or_prompt }
    }

    /// Resolves the context and continues with it. Code in Python or Ruby takes a round of its own.
    pub(super) fn then(
        &self,
        scene: &Scene<'_>,
        replies: &Replies<'_>,
        go_on: impl FnOnce(Context) -> NextStep,
    ) -> NextStep {
        match &self.transform {
            None => go_on(Context { value: valid(self.of_test(scene)?)?, asked: 0 }),
            Some(code) => {
                // A wrong variable is an error, even if it is not used.
                self.of_test(scene)?;
                let (output, context) = arguments(scene);
                if code.language() == Language::JavaScript {
                    let host = Host { env: scene.templates.env().clone(), ..Host::default() };
                    let made = code.run_js(&[("output", &output), ("context", &context)], &host);
                    let value = valid(transformed(made)?)?;
                    return go_on(Context { value, asked: 0 });
                }
                let made = match replies.answer(0) {
                    None => {
                        let (code, arguments) = (code.clone(), vec![output, context]);
                        let function = "get_transform".to_owned();
                        return Ok(Next::Ask(vec![Question::Run { code, function, arguments }]));
                    }
                    Some(Answer::Value(made)) => Ok(made.clone()),
                    Some(Answer::Failed(why) | Answer::Unavailable(why)) => Err(why.clone()),
                    Some(Answer::Exchange(_) | Answer::Reply(_)) => {
                        Err("the answer is not from an interpreter".to_owned())
                    }
                };
                go_on(Context { value: valid(transformed(made)?)?, asked: 1 })
            }
        }
    }

    /// The variable, or the prompt.
    fn of_test(&self, scene: &Scene<'_>) -> Result<Value, Box<Verdict>> {
        match scene.vars.get("context").filter(|context| !js::is_falsy(context)) {
            Some(context @ Value::String(_)) => Ok(context.clone()),
            Some(Value::Array(chunks)) => match chunks.iter().position(|one| !one.is_string()) {
                None => Ok(Value::Array(chunks.clone())),
                Some(at) => error(format!(
                    "Invalid context: expected an array of strings, but found something else at \
                     index {at}"
                )),
            },
            None if self.or_prompt => Ok(scene.prompt.into()),
            _ => Ok(Value::Null),
        }
    }
}

/// What the code gets: the output before the transforms of the test, and what it belongs to.
fn arguments(scene: &Scene<'_>) -> (Value, Value) {
    let has_own = scene.definition.is_some_and(|target| target.transform.is_some());
    let output = if has_own { &scene.response.output } else { scene.response.said() };
    let context = json!({
        "vars": scene.vars,
        "prompt": {"label": scene.prompt},
        "metadata": scene.response.metadata,
    });
    (output.clone(), context)
}

fn transformed(made: Result<Value, String>) -> Result<Value, Box<Verdict>> {
    match made {
        Ok(made @ (Value::String(_) | Value::Array(_))) => Ok(made),
        Ok(_) => error("contextTransform must return a string or array of strings"),
        Err(why) => error(format!("contextTransform failed: {why}")),
    }
}

/// Text, or chunks of text, none of them empty.
fn valid(context: Value) -> Result<Value, Box<Verdict>> {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    match &context {
        Value::Array(chunks) if !chunks.is_empty() && chunks.iter().all(is_text) => Ok(context),
        text if is_text(text) => Ok(context),
        _ => error(MISSING),
    }
}

impl Context {
    /// All chunks as one text.
    pub(super) fn text(&self) -> String {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match &self.value {
            Value::Array(chunks) => chunks.iter().map(text).collect::<Vec<_>>().join("\n\n"),
            one => text(one),
        }
    }

    /// The chunks; none if it is one text.
    pub(super) fn chunks(&self) -> Option<Vec<&str>> {
        let chunks = self.value.as_array()?;
        Some(chunks.iter().filter_map(Value::as_str).collect())
    }
}
