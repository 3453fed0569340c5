//! Prompts as the protocol shows them.

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, Prompt as Listed, PromptArgument, PromptMessage, Resource, Role,
};
use serde_json::{Value, json};

use super::resources;
use super::shared::Server;
use crate::arguments::{Issue, error_data};
use crate::principal::Principal;
use crate::prompt::{Argument, Prompt, PromptContext, Stored, Values};

pub(super) fn listed(prompt: &dyn Prompt) -> Listed {
    let meta = prompt.meta();
    let argument = |argument: &Argument| {
        PromptArgument::new(argument.name)
            .with_description(argument.description)
            .with_required(argument.required)
    };
    let arguments = meta.arguments.iter().map(argument).collect();
    Listed::from_raw(meta.name, Some(meta.description), Some(arguments)).with_title(meta.title)
}

pub(super) async fn get(
    server: &Server,
    principal: &Principal,
    name: &str,
    arguments: JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let Some(prompt) = server.catalogue.prompt(name) else {
        let sentence = format!("unknown prompt `{name}`");
        let issue = json!({"path": "/name", "code": "unknown_prompt", "message": sentence, "expected": null});
        let data = json!({"validation_errors": [sentence], "issues": [issue]});
        return Err(ErrorData::invalid_params(format!("Unknown prompt: {name}"), Some(data)));
    };
    let invalid =
        |issues: Vec<Issue>| ErrorData::invalid_params("Invalid params", Some(error_data(&issues)));
    let arguments = named(prompt.meta().arguments, arguments).map_err(invalid)?;
    let context =
        looked_up(server, principal, prompt.meta().arguments, &arguments).await.map_err(invalid)?;
    let messages = prompt.render(&arguments, &context).map_err(invalid)?;
    let mut shown = Vec::new();
    for message in messages {
        let role = if message.from_user { Role::User } else { Role::Assistant };
        shown.push(PromptMessage::new_text(role.clone(), message.text));
        if let Some((uri, name)) = message.link {
            shown.push(PromptMessage::new_resource_link(role, Resource::new(uri, name)));
        }
    }
    Ok(GetPromptResult::new(shown).with_description(prompt.meta().description))
}

/// The arguments under our names, with every problem at once. An unknown argument is ignored: clients send what their user
/// filled in for another version.
fn named(
    known: &[Argument],
    mut given: JsonObject,
) -> Result<BTreeMap<String, String>, Vec<Issue>> {
    let mut arguments = BTreeMap::new();
    let mut issues = Vec::new();
    let mut issue = |name: &str, code: &str, message: String, expected: Option<Value>| {
        issues.push(Issue { path: format!("/{name}"), code: code.to_owned(), message, expected });
    };
    for argument in known {
        let names = std::iter::once(&argument.name).chain(argument.aliases);
        let values: Vec<Value> = names.filter_map(|name| given.remove(*name)).collect();
        let text = match values.into_iter().next() {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text),
            Some(other) => Some(other.to_string()),
        };
        let text = text.filter(|text| !text.trim().is_empty());
        let name = argument.name;
        match (text, &argument.values) {
            (None, _) if argument.required => {
                issue(name, "required", format!("{name} is required"), None);
            }
            (None, _) => {}
            (Some(text), Values::OneOf(words)) if !words.contains(&text.trim()) => {
                let message = format!("{name} must be one of {}", words.join(", "));
                issue(name, "enum", message, Some(json!(words)));
            }
            (Some(text), _) => {
                arguments.insert(name.to_owned(), text);
            }
        }
    }
    if issues.is_empty() { Ok(arguments) } else { Err(issues) }
}

/// Reads what the ids among the arguments name.
async fn looked_up(
    server: &Server,
    principal: &Principal,
    known: &[Argument],
    arguments: &BTreeMap<String, String>,
) -> Result<PromptContext, Vec<Issue>> {
    let mut context = PromptContext::new();
    let mut issues = Vec::new();
    for argument in known {
        let (Values::Id(stored), Some(id)) = (&argument.values, arguments.get(argument.name))
        else {
            continue;
        };
        let path = path_of(*stored, id);
        let found = resources::contents(server, principal, &path).await.ok().flatten();
        if let Some(contents) = found {
            let value =
                serde_json::from_str(&contents.text).unwrap_or(Value::String(contents.text));
            context.insert(argument.name.to_owned(), value);
        } else {
            let message =
                format!("{} names nothing: there is no {} `{id}`", argument.name, word(*stored));
            let path = format!("/{}", argument.name);
            issues.push(Issue { path, code: "not_found".to_owned(), message, expected: None });
        }
    }
    if issues.is_empty() { Ok(context) } else { Err(issues) }
}

/// The resource that describes something stored.
pub(super) fn path_of(stored: Stored, id: &str) -> String {
    match stored {
        Stored::Generator => format!("config/generators/{id}"),
        Stored::Dataset => format!("datasets/{id}"),
        Stored::Run => format!("results/{id}"),
    }
}

fn word(stored: Stored) -> &'static str {
    match stored {
        Stored::Generator => "generator",
        Stored::Dataset => "dataset",
        Stored::Run => "run",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Argument] = &[
        Argument {
            name: "target_behavior",
            aliases: &["target_query"],
            description: "",
            required: false,
            values: Values::Text,
        },
        Argument {
            name: "domain",
            aliases: &[],
            description: "",
            required: true,
            values: Values::OneOf(&["reasoning", "creativity"]),
        },
    ];

    fn given(value: Value) -> JsonObject {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn aliases_are_renamed_and_all_problems_are_found() {
        let named_ok =
            named(KNOWN, given(json!({"target_query": "x", "domain": "reasoning"}))).unwrap();
        assert_eq!(named_ok["target_behavior"], "x");
        let missing = named(KNOWN, given(json!({}))).unwrap_err();
        assert_eq!(missing[0].message, "domain is required");
        let wrong = named(KNOWN, given(json!({"domain": "tea"}))).unwrap_err();
        assert_eq!(wrong[0].message, "domain must be one of reasoning, creativity");
    }
}
