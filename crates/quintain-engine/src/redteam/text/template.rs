//! The prompts of a suite as attacks see them: which variable the user fills, its instructions, where Quintain can
//! put a secret.

use quintain_redteam::attack::InputPrompt;
use quintain_redteam::orders::PromptOrder;
use quintain_suite::suite::{Prompt, PromptBody};
use serde_json::Value;

/// Variables that Quintain fills itself.
pub(super) const CANARY: &str = "canary";
pub(super) const PLANTED: &str = "planted";
pub(super) const SESSION: &str = "sessionId";
const OWN: [&str; 5] = [CANARY, PLANTED, SESSION, "env", "_conversation"];

/// A prompt of the suite: text, or chat messages.
#[derive(Debug, Clone)]
pub(super) struct Template {
    pub(super) messages: Messages,
    pub(super) input: InputPrompt,
}

#[derive(Debug, Clone)]
pub(super) enum Messages {
    Text(String),
    /// Messages with `role` and `content`.
    List(Vec<Value>),
}

impl Template {
    /// Reads a prompt.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(super) fn of(prompt: &Prompt, order: &PromptOrder, is_only: bool) -> Result<Self, String> {
        let messages = match &prompt.body {
            PromptBody::Text(text) => match serde_json::from_str(text) {
                Ok(Value::Array(list)) if is_chat(&list) => Messages::List(list),
                _ => Messages::Text(text.clone()),
            },
            PromptBody::Call(Value::Array(list)) if is_chat(list) => Messages::List(list.clone()),
            PromptBody::Call(_) => return Err("it is a call of a tool".to_owned()),
            PromptBody::Code(_) => return Err("code generates it".to_owned()),
        };
        let label = if is_only { String::new() } else { prompt.label.clone() };
        Ok(Self::with(label, messages, order))
    }

    /// The prompt of a suite that has none: what the user says, and nothing else.
    pub(super) fn plain(order: &PromptOrder) -> Self {
        let variable = order.variable.as_deref().unwrap_or("prompt");
        let text = Messages::Text(format!("{{{{{variable}}}}}"));
        Self::with(String::new(), text, order)
    }

    fn with(label: String, messages: Messages, order: &PromptOrder) -> Self {
        let text = match &messages {
            Messages::Text(text) => text.clone(),
            Messages::List(list) => list.iter().map(content).collect::<Vec<_>>().join("\n"),
        };
        let system = order.system.as_deref().unwrap_or_default();
        let mut variables = names(&text);
        variables.retain(|name| !OWN.contains(&name.as_str()));
        let chosen = order.variable.clone().filter(|name| variables.contains(name));
        let usual = variables.iter().find(|name| *name == "prompt").cloned();
        // promptfoo fills the last one.
        let variable = chosen.or(usual).or_else(|| variables.last().cloned());
        let variable = variable.unwrap_or_else(|| "prompt".to_owned());
        let data = variables.into_iter().filter(|name| *name != variable).collect();
        let mentions =
            |name: &str| names(&text).iter().chain(&names(system)).any(|one| one == name);
        let has_system = match &messages {
            Messages::Text(_) => false,
            Messages::List(list) => list.iter().any(is_system),
        };
        let instructions = format!("{}\n{}", without_variables(system), without_variables(&text));
        let input = InputPrompt {
            label,
            variable,
            data,
            instructions: instructions.trim().to_owned(),
            plants: order.system.is_some() || has_system || mentions(PLANTED),
            has_canary: mentions(CANARY),
        };
        Self { messages, input }
    }
}

fn is_chat(list: &[Value]) -> bool {
    let is_message = |one: &Value| one.get("role").is_some() && one.get("content").is_some();
    !list.is_empty() && list.iter().all(is_message)
}

pub(super) fn is_system(message: &Value) -> bool {
    matches!(message["role"].as_str(), Some("system" | "developer"))
}

/// The text of a message.
pub(super) fn content(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The variables of a template, in the order of their first occurrence.
fn names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (tag, _) in tags(text) {
        let inner = tag[2..tag.len() - 2].trim_matches('-').trim();
        let start = if tag.starts_with("{{") {
            Some(inner)
        } else {
            inner.split_once(" in ").map(|(_, of)| of.trim_start())
        };
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = start.map(|start| &start[..start.find(|c| !is_part(c)).unwrap_or(start.len())]);
        let begins = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if let Some(name) = name.filter(begins)
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// The tags of a template, each with the text behind it.
fn tags(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find("{{").into_iter().chain(rest.find("{%")).min()?;
        let close = if rest[start..].starts_with("{{") { "}}" } else { "%}" };
        let end = start + rest[start..].find(close)? + close.len();
        let tag = &rest[start..end];
        rest = &rest[end..];
        Some((tag, rest))
    })
}

fn without_variables(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    for (tag, after) in tags(text) {
        let before = rest.len() - tag.len() - after.len();
        out.push_str(&rest[..before]);
        out.push(' ');
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn input(text: &str, order: &PromptOrder) -> InputPrompt {
        Template::with(String::new(), Messages::Text(text.to_owned()), order).input
    }

    #[test]
    fn the_variable_of_the_user_is_the_named_one_or_the_usual_one_or_the_last() {
        let plain = PromptOrder::default();
        let all = "Use {{document}} to answer {{ question | trim }}";
        assert_eq!(input(all, &plain).variable, "question");
        assert_eq!(input(all, &plain).data, ["document"]);
        assert_eq!(input("{{prompt}} {{x}}", &plain).variable, "prompt");
        let order = PromptOrder { variable: Some("document".into()), ..PromptOrder::default() };
        assert_eq!(input(all, &order).variable, "document");
        assert_eq!(input("no variable", &plain).variable, "prompt");
    }

    #[test]
    fn instructions_are_what_remains_without_variables() {
        let order =
            PromptOrder { system: Some("Code: {{canary}}.".into()), ..PromptOrder::default() };
        let with_system = input("{{prompt}}", &order);
        assert!(with_system.plants && with_system.has_canary);
        assert_eq!(with_system.instructions, "Code:  .");
        let bare = input("{{prompt}}", &PromptOrder::default());
        assert!(bare.instructions.is_empty() && !bare.plants);
        let list = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{{q}}"}]);
        let list = Messages::List(list.as_array().unwrap().clone());
        let chat = Template::with(String::new(), list, &PromptOrder::default()).input;
        assert!(chat.plants && chat.variable == "q" && chat.instructions == "Be brief.");
    }
}
