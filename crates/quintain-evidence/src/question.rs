//! Questions of pure code, and the answers. [`crate::inquiry`] describes the rounds; this module has the data and
//! decides when two questions are the same.

use quintain_content::text::fence;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::code::Code;
use crate::exchange::Exchange;
use crate::kept_file::KeptFile;
use crate::probe::Step;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// For a language model: a judge, an adversary, an embedding.
    Model(ModelQuestion),
    /// For an interpreter on the user's machine: Python or Ruby code with its arguments.
    Run {
        code: Code,
        /// The function to call if the code names none.
        function: String,
        arguments: Vec<Value>,
    },
    /// For a web service: the body is posted as JSON.
    Post { url: String, body: Value },
    /// For the target: one more call. Equal calls with different numbers are sent separately.
    Call { step: Step, nth: usize },
    /// For the disk: the text of a file, null if there is no such file.
    Read(KeptFile),
    /// For a conversational target: one more message.
    Say(TurnMessage),
}

/// A question for a language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelQuestion {
    pub role: ModelRole,
    /// The assertion, metric or strategy that asks, for messages and reports.
    pub asked_by: String,
    /// The model as a suite names it: an id, or a map with `id` and `config`. None for the default of the role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Value>,
    pub request: ModelRequest,
    /// Equal requests with different numbers are separate samples.
    #[serde(default)]
    pub sample: usize,
    /// The repetition of the test that asks, from 0. Every repetition asks for itself; whoever asks sets it.
    #[serde(default, skip_serializing_if = "is_first")]
    pub repetition: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_first(repetition: &usize) -> bool {
    *repetition == 0
}

/// What a model is asked for, which decides who answers if no model is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    /// Gives an opinion about something.
    Judge,
    /// Writes the next message of an attack.
    Adversary,
}

/// A request in the words that all providers share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRequest {
    Chat {
        /// Text, or chat messages as JSON text, as prompts of suites are written.
        prompt: String,
        /// The JSON Schema of the answer. The answer then is the JSON value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<Value>,
    },
    /// The vector of a text.
    Embed { text: String },
    /// The classes of a text with their probabilities.
    Classify { text: String },
    /// Which rules an exchange with a model violates.
    Moderate { prompt: String, output: String },
}

impl ModelRequest {
    /// The request without the marks of its quotations, which depend on secrets that are masked when it is stored.
    fn without_marks(&self) -> Value {
        let mut request = json!(self);
        if let (Self::Chat { prompt, .. }, Some(shown)) =
            (self, request.pointer_mut("/chat/prompt"))
        {
            *shown = fence::without_marks(prompt).into();
        }
        request
    }
}

/// A message to a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnMessage {
    pub text: String,
    /// The number of the message whose conversation it continues; none starts a new conversation.
    pub after: Option<usize>,
    /// Its number, counted from 0 over all conversations.
    pub turn: usize,
}

/// A target's reply to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnReply {
    pub text: String,
    pub reaction: Reaction,
}

/// How a target reacted to a message, as the oracle decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reaction {
    /// The attack worked.
    Hit,
    Refused,
    /// Neither.
    Answered,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Value(Value),
    Exchange(Box<Exchange>),
    Reply(TurnReply),
    /// It was asked and failed: the interpreter raised, the service answered 500.
    Failed(String),
    /// It could not be asked: no judge is configured, no interpreter found.
    Unavailable(String),
}

impl Question {
    pub fn is_for_model(&self) -> bool {
        matches!(self, Self::Model(_))
    }

    /// The same question in a repetition of its test. Only models may answer a repetition differently.
    #[must_use]
    pub fn repeated(mut self, number: usize) -> Self {
        if let Self::Model(question) = &mut self {
            question.repetition = number;
        }
        self
    }

    /// One more call, the first of its kind.
    pub fn call(step: Step) -> Self {
        Self::Call { step, nth: 0 }
    }

    /// A digest that identifies the question across rounds, checks and stored runs. Stored evidence is masked, so only
    /// digests of masked questions are comparable.
    pub fn key(&self) -> String {
        let mut hasher = Sha256::new();
        digest(&self.identity(), &mut hasher);
        hexadecimal(&hasher.finalize())
    }

    /// What makes two questions the same. The content of code counts, the folder of a file does not. Neither does the
    /// list of all assertions that code receives in `context.test.assert`: otherwise a new assertion would change the
    /// questions of all others.
    fn identity(&self) -> Value {
        match self {
            Self::Model(ModelQuestion {
                role,
                asked_by: _,
                model,
                request,
                sample,
                repetition,
            }) => {
                let request = request.without_marks();
                match repetition {
                    0 => json!(["model", role, model, request, sample]),
                    _ => json!(["model", role, model, request, sample, repetition]),
                }
            }
            Self::Run { code, function, arguments } => {
                // Code in a file may read its own name.
                let (name, function) = match code {
                    Code::Inline { .. } => (None, ""),
                    Code::File { path, function: named, .. } => {
                        (path.file_name(), named.as_deref().unwrap_or(function))
                    }
                };
                let name = name.map(|name| name.to_string_lossy());
                let mut arguments = arguments.clone();
                for argument in &mut arguments {
                    if let Some(Value::Object(test)) = argument.get_mut("test") {
                        test.shift_remove("assert");
                    }
                }
                json!(["run", code.language(), name, code.text(), function, arguments])
            }
            Self::Post { url, body } => json!(["post", url, body]),
            Self::Call { step, nth } => json!(["call", step, nth]),
            Self::Read(file) => json!(["read", file.path]),
            Self::Say(TurnMessage { text, after, turn }) => json!(["say", text, after, turn]),
        }
    }
}

/// The variable in which promptfoo numbers a test; its value changes when tests are added.
const STEP_ID: &str = "__evalStepId";

/// Hashes a value independently of the order of keys and of the last digits of numbers, which serialisation may
/// change.
fn digest(value: &Value, hasher: &mut Sha256) {
    match value {
        Value::Object(entries) => {
            let entries = entries.iter().filter(|(name, _)| *name != STEP_ID);
            let mut entries: Vec<_> = entries.collect();
            entries.sort_unstable_by_key(|(name, _)| *name);
            hasher.update(format!("{{{}", entries.len()));
            for (name, value) in entries {
                hasher.update(format!("\"{}:{name}", name.len()));
                digest(value, hasher);
            }
        }
        Value::Array(items) => {
            hasher.update(format!("[{}", items.len()));
            items.iter().for_each(|item| digest(item, hasher));
        }
        Value::String(text) => hasher.update(format!("\"{}:{text}", text.len())),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => hasher.update(format!("#{float:.11e}")),
            None => hasher.update(format!("#{number}")),
        },
        Value::Bool(_) | Value::Null => hasher.update(format!("!{value}")),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::code::Language;

    fn run(text: &str, arguments: Value) -> String {
        let code = Code::Inline { language: Language::Python, text: text.to_owned() };
        let Value::Array(arguments) = arguments else { panic!("a list") };
        Question::Run { code, function: "get_assert".to_owned(), arguments }.key()
    }

    #[test]
    fn keys_tell_questions_apart() {
        let first = run("1", json!(["a", {"vars": {"x": 1}}]));
        assert_eq!(first, run("1", json!(["a", {"vars": {"x": 1}}])));
        assert_ne!(first, run("2", json!(["a", {"vars": {"x": 1}}])));
        assert_ne!(first, run("1", json!(["a", {"vars": {"x": 2}}])));
        assert_ne!(first, run("1", json!(["a", {"vars": {"x": "1"}}])));
        let post = |url: &str, body| Question::Post { url: url.to_owned(), body }.key();
        assert_ne!(post("a", json!(["b", "c"])), post("a", json!(["bc", ""])));
        let call = |nth| {
            let params = serde_json::Map::new();
            let step = Step::Request { method: "ping".to_owned(), params, server: None };
            Question::Call { step, nth }.key()
        };
        assert_ne!(call(0), call(1), "equal calls are made separately");
    }

    #[test]
    fn what_does_not_matter_does_not_change_a_key() {
        let order = |text: &str| run("1", json!([serde_json::from_str::<Value>(text).unwrap()]));
        assert_eq!(order(r#"{"a": 1, "b": 2}"#), order(r#"{"b": 2, "a": 1}"#));
        assert_eq!(run("1", json!([0.1 + 0.2])), run("1", json!([0.3])));
        let asserts = |list: Value| run("1", json!(["x", {"test": {"assert": list, "vars": {}}}]));
        assert_eq!(asserts(json!([])), asserts(json!([{"type": "equals"}])));
        let at = |step: &str| run("1", json!(["x", {"vars": {"__evalStepId": step}}]));
        assert_eq!(at("test-0-prompt-0"), at("test-1-prompt-0"), "tests may move");
        let judge = |prompt: String| {
            let request = ModelRequest::Chat { prompt, schema: None };
            let (role, asked_by) = (ModelRole::Judge, String::new());
            let (sample, repetition) = (0, 0);
            let model = None;
            let question = ModelQuestion { role, asked_by, model, request, sample, repetition };
            Question::Model(question)
        };
        let asked = judge("x".to_owned());
        assert_ne!(asked.key(), asked.clone().repeated(1).key(), "a repetition asks for itself");
        let judge = |prompt| judge(prompt).key();
        let masked = fence::quote("the key is abc").replace("abc", "[masked]");
        assert_eq!(judge(masked), judge(fence::quote("the key is [masked]")), "secrets are masked");
        let read = |folder: &str| Question::Read(KeptFile::new(Path::new(folder), "a.snap")).key();
        assert_eq!(read("/here"), read("/there"));
    }
}
