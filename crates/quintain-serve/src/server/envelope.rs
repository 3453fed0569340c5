//! Looks at a message before rmcp does. rmcp answers a known method with unreadable parameters as an unknown method, and does
//! not know the tasks of 2025-11-25; both are put right here. A message that is fine passes unchanged.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// What to do with a message.
#[derive(Debug, PartialEq)]
pub enum Checked<'a> {
    /// Give it to rmcp.
    Pass(Cow<'a, [u8]>),
    /// Answer with this instead.
    Answer(Value),
    /// Nothing to answer: a notification that is not valid.
    Ignore,
}

/// Methods that only exist in our envelope, for those of 2025-11-25 that rmcp does not know.
pub(super) const LEGACY_PREFIX: &str = "quintain/2025-11-25/";
/// The key in `_meta` by which a request belongs to the modern era.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// Checks one JSON-RPC message.
pub fn check(bytes: &[u8]) -> Checked<'_> {
    let mut message = match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => {
            return Checked::Answer(error(
                &Value::Null,
                -32600,
                "Invalid Request: only 2025-03-26 and earlier have batches",
            ));
        }
        Ok(_) => {
            return Checked::Answer(error(
                &Value::Null,
                -32600,
                "Invalid Request: expected an object",
            ));
        }
        Err(wrong) => {
            let message = format!("Parse error: {wrong}");
            return Checked::Answer(error(&Value::Null, -32700, &message));
        }
    };
    let id = message.get("id").cloned();
    let valid_id = matches!(&id, None | Some(Value::String(_)))
        || id.as_ref().is_some_and(|id| id.is_i64() || id.is_u64());
    if !valid_id {
        let what = "Invalid Request: the id must be a string or a whole number";
        return Checked::Answer(error(&Value::Null, -32600, what));
    }
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        let what = "Invalid Request: `jsonrpc` must be \"2.0\"";
        return Checked::Answer(error(id.as_ref().unwrap_or(&Value::Null), -32600, what));
    }
    let Some(method) = message.get("method") else {
        // A response of the client.
        return Checked::Pass(Cow::Borrowed(bytes));
    };
    let Some(method) = method.as_str().map(str::to_owned) else {
        let what = "Invalid Request: `method` must be a string";
        return Checked::Answer(error(id.as_ref().unwrap_or(&Value::Null), -32600, what));
    };
    let wrong = parameter_problems(&method, message.get("params"));
    match id {
        None if wrong.is_empty() => Checked::Pass(Cow::Borrowed(bytes)),
        None => Checked::Ignore,
        Some(id) if !wrong.is_empty() => {
            let mut answer = error(&id, -32602, "Invalid params");
            let issue = |(path, text): &(String, String)| json!({"path": path, "code": "params", "message": text, "expected": null});
            let issues: Vec<Value> = wrong.iter().map(issue).collect();
            let sentences: Vec<&String> = wrong.iter().map(|(_, text)| text).collect();
            answer["error"]["data"] = json!({"validation_errors": sentences, "issues": issues});
            Checked::Answer(answer)
        }
        Some(_) => {
            if is_legacy_task(&method, message.get("params")) {
                message.insert("method".to_owned(), json!(format!("{LEGACY_PREFIX}{method}")));
                let text = Value::Object(message).to_string();
                return Checked::Pass(Cow::Owned(text.into_bytes()));
            }
            Checked::Pass(Cow::Borrowed(bytes))
        }
    }
}

/// Whether the request belongs to the tasks of 2025-11-25, or lists tools for clients of that time.
fn is_legacy_task(method: &str, params: Option<&Value>) -> bool {
    let version =
        params.and_then(|params| params.get("_meta")).and_then(|meta| meta.get(VERSION_KEY));
    if version.is_some() {
        return false;
    }
    match method {
        "tasks/get" | "tasks/list" | "tasks/result" | "tasks/cancel" | "tools/list" => true,
        "tools/call" => params.and_then(|params| params.get("task")).is_some(),
        _ => false,
    }
}

/// Problems of the parameters that keep rmcp from reading them: path and sentence.
fn parameter_problems(method: &str, params: Option<&Value>) -> Vec<(String, String)> {
    let fields: &[(&str, Form, bool)] = match method {
        "initialize" => &[
            ("protocolVersion", Form::Text, true),
            ("capabilities", Form::Object, true),
            ("clientInfo", Form::Object, true),
        ],
        "tools/call" => &[
            ("name", Form::Text, true),
            ("arguments", Form::Object, false),
            ("task", Form::Object, false),
            ("requestState", Form::Text, false),
            ("inputResponses", Form::Object, false),
        ],
        "prompts/get" => &[("name", Form::Text, true), ("arguments", Form::Texts, false)],
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            &[("uri", Form::Text, true)]
        }
        "tools/list"
        | "prompts/list"
        | "resources/list"
        | "resources/templates/list"
        | "tasks/list" => &[("cursor", Form::Text, false)],
        "completion/complete" => &[("ref", Form::Object, true), ("argument", Form::Object, true)],
        "logging/setLevel" => &[("level", Form::Level, true)],
        "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/update" => {
            &[("taskId", Form::Text, true)]
        }
        _ => return Vec::new(),
    };
    let nothing = Map::new();
    let params = match params {
        None | Some(Value::Null) => &nothing,
        Some(Value::Object(params)) => params,
        Some(_) => return vec![(String::new(), "params must be an object".to_owned())],
    };
    let mut wrong = Vec::new();
    for (name, form, required) in fields {
        let sentence = match params.get(*name) {
            None | Some(Value::Null) if *required => Some(format!("{name} is required")),
            None | Some(Value::Null) => None,
            Some(value) => (!form.fits(value)).then(|| format!("{name} must be {}", form.words())),
        };
        wrong.extend(sentence.map(|sentence| (format!("/{name}"), sentence)));
    }
    if let Some(meta) = params.get("_meta").filter(|meta| !meta.is_object()) {
        let _ = meta;
        wrong.push(("/_meta".to_owned(), "_meta must be an object".to_owned()));
    }
    wrong
}

#[derive(Clone, Copy)]
enum Form {
    Text,
    Object,
    /// An object with texts only.
    Texts,
    Level,
}

const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

impl Form {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Object => value.is_object(),
            Self::Texts => {
                value.as_object().is_some_and(|object| object.values().all(Value::is_string))
            }
            Self::Level => value.as_str().is_some_and(|level| LEVELS.contains(&level)),
        }
    }

    fn words(self) -> String {
        match self {
            Self::Text => "a string".to_owned(),
            Self::Object => "an object".to_owned(),
            Self::Texts => "an object whose values are strings".to_owned(),
            Self::Level => format!("one of {}", LEVELS.join(", ")),
        }
    }
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(message: &str) -> Option<i64> {
        match check(message.as_bytes()) {
            Checked::Answer(answer) => answer["error"]["code"].as_i64(),
            _ => None,
        }
    }

    #[test]
    fn unreadable_messages_and_parameters_get_the_codes_of_the_protocol() {
        let cases = [
            ("{bad", -32700),
            ("[]", -32600),
            ("7", -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":8.5,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, -32602),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":"text"}}"#,
                -32602,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}"#, -32602),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}"#,
                -32602,
            ),
        ];
        for (message, expected) in cases {
            assert_eq!(code(message), Some(expected), "{message}");
        }
    }

    #[test]
    fn good_messages_pass_unchanged() {
        for message in [
            r#"{"jsonrpc":"2.0","id":2,"method":"prompts/list"}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"unknown/method","params":{"x":1}}"#,
        ] {
            assert_eq!(check(message.as_bytes()), Checked::Pass(Cow::Borrowed(message.as_bytes())));
        }
    }
}
