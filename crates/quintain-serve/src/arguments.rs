//! Arguments of tools: aliases, validation against the input schema, and all problems at once.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
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

/// All violations of a schema, in the order of the schema.
pub fn issues(validator: &Validator, arguments: &Value) -> Vec<Issue> {
    validator.iter_errors(arguments).flat_map(|error| issues_of(&error)).collect()
}

fn issues_of(error: &ValidationError<'_>) -> Vec<Issue> {
    let path = error.instance_path().as_str().to_owned();
    let name = argument_name(&path);
    let issue = |path: String, code: &str, message: String, expected: Option<Value>| {
        vec![Issue { path, code: code.to_owned(), message, expected }]
    };
    match error.kind() {
        Kind::Required { property } => {
            let missing = property.as_str().unwrap_or_default();
            let path = format!("{path}/{missing}");
            let message = format!("{} is required", argument_name(&path));
            issue(path, "required", message, None)
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let unknown = |property: &String| {
                let path = format!("{path}/{property}");
                let message = format!("{} is not an argument of this tool", argument_name(&path));
                Issue { path, code: "additionalProperties".to_owned(), message, expected: None }
            };
            unexpected.iter().map(unknown).collect()
        }
        Kind::Enum { options } => {
            let message = format!("{name} must be one of {}", list(options));
            issue(path, "enum", message, Some((**options).clone()))
        }
        Kind::Type { kind } => {
            let expected = match kind {
                TypeKind::Single(kind) => kind.to_string(),
                TypeKind::Multiple(kinds) => {
                    let mut kinds: Vec<String> =
                        kinds.iter().map(|kind| kind.to_string()).collect();
                    // A set has an order of its own; what may be left out comes last.
                    kinds.sort_by_key(|kind| kind == "null");
                    kinds.join(" or ")
                }
            };
            let message = format!("{name} must be of type {expected}");
            issue(path, "type", message, Some(json!(expected)))
        }
        Kind::Minimum { limit } => {
            issue(path, "minimum", format!("{name} must be at least {limit}"), Some(limit.clone()))
        }
        Kind::Maximum { limit } => {
            issue(path, "maximum", format!("{name} must be at most {limit}"), Some(limit.clone()))
        }
        Kind::MinItems { limit } => {
            let message = format!("{name} must have at least {limit} items");
            issue(path, "minItems", message, Some(json!(limit)))
        }
        Kind::MaxItems { limit } => {
            let message = format!("{name} must have at most {limit} items");
            issue(path, "maxItems", message, Some(json!(limit)))
        }
        Kind::MinLength { limit } => {
            let message = format!("{name} must have at least {limit} characters");
            issue(path, "minLength", message, Some(json!(limit)))
        }
        Kind::MaxLength { limit } => {
            let message = format!("{name} must have at most {limit} characters");
            issue(path, "maxLength", message, Some(json!(limit)))
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            // The form that comes closest is the one the caller meant.
            let closest = context.iter().min_by_key(|errors| errors.len());
            let inner: Vec<Issue> = closest.into_iter().flatten().flat_map(issues_of).collect();
            if inner.is_empty() {
                issue(
                    path,
                    error.kind().keyword(),
                    format!("{name} has none of the accepted forms"),
                    None,
                )
            } else {
                inner
            }
        }
        _ => issue(path, error.kind().keyword(), format!("{name}: {}", error.masked()), None),
    }
}

/// `/config/seed` as users write it: `config.seed`.
fn argument_name(pointer: &str) -> String {
    if pointer.is_empty() {
        return "the object of arguments".to_owned();
    }
    pointer[1..]
        .split('/')
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect::<Vec<_>>()
        .join(".")
}

fn list(options: &Value) -> String {
    let word = |option: &Value| option.as_str().map_or_else(|| option.to_string(), str::to_owned);
    options.as_array().into_iter().flatten().map(word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(schema: &Value, arguments: &Value) -> Vec<String> {
        let validator = jsonschema::validator_for(schema).unwrap();
        issues(&validator, arguments).into_iter().map(|issue| issue.message).collect()
    }

    #[test]
    fn every_problem_is_a_sentence_that_names_the_argument() {
        let schema = json!({
            "type": "object",
            "properties": {
                "provider_type": {"type": "string", "enum": ["echo", "mcp"]},
                "config": {"type": "object", "properties": {"seed": {"type": "integer", "minimum": 0}}},
                "limit": {"type": ["integer", "null"]},
            },
            "required": ["provider_type", "model_name"],
            "additionalProperties": false,
        });
        assert_eq!(
            messages(&schema, &json!({})),
            ["provider_type is required", "model_name is required"]
        );
        let found = messages(
            &schema,
            &json!({"provider_type": "x", "model_name": "m", "config": {"seed": -1}, "limit": "9", "nme": 1}),
        );
        for expected in [
            "provider_type must be one of echo, mcp",
            "config.seed must be at least 0",
            "limit must be of type integer or null",
            "nme is not an argument of this tool",
        ] {
            assert!(found.iter().any(|message| message == expected), "{expected}: {found:?}");
        }
    }
}
