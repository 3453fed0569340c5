//! Arguments of tools: aliases, validation against the input schema, and all problems at once.

use serde_json::{Map, Value, json};

/// A problem in arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// JSON pointer into the arguments.
    pub path: String,
    /// The violated keyword of the schema: `required`, `type`, `enum` ...
    pub code: String,
    /// A sentence that names the argument: "provider_type is required".
    pub message: String,
    pub expected: Option<Value>,
}

impl Issue {
    pub fn as_json(&self) -> Value {
        json!({"path": self.path, "code": self.code, "message": self.message, "expected": self.expected})
    }
}

/// The `data` of an error about arguments: sentences, and the same for programs.
pub fn error_data(issues: &[Issue]) -> Value {
    let sentences: Vec<&str> = issues.iter().map(|issue| issue.message.as_str()).collect();
    let issues: Vec<Value> = issues.iter().map(Issue::as_json).collect();
    json!({"validation_errors": sentences, "issues": issues})
}

/// Replaces other names of arguments by ours. A name of ours that is present wins.
pub fn replace_aliases(arguments: &mut Map<String, Value>, aliases: &[(&str, &str)]) {
    for (accepted, ours) in aliases {
        if let Some(value) = arguments.remove(*accepted) {
            arguments.entry((*ours).to_owned()).or_insert(value);
        }
    }
}
