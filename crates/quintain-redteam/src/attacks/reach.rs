//! Builds the request that carries a hostile value to its place.

use quintain_evidence::finding::Place;
use quintain_evidence::probe::Step;
use quintain_evidence::tool_call::ToolCall;
use serde_json::Value;

use crate::attack::{Action, Aim, Attempt, Nonce};
use crate::knowledge::put;

/// The request that carries a value to the place of an aim. None if no request reaches it.
pub fn step(aim: &Aim, value: Value) -> Option<Step> {
    let request = |method: &str, server: &str, params: Value| Step::Request {
        method: method.to_owned(),
        params: params.as_object().cloned().unwrap_or_default(),
        server: Some(server.to_owned()).filter(|server| !server.is_empty()),
    };
    match &aim.place {
        Place::Argument { server, tool, pointer } => {
            let mut args = match aim.baseline.as_ref().map(|baseline| &baseline.step) {
                Some(Step::Call(call)) => call.args.clone(),
                _ => aim.draft.clone().unwrap_or_default(),
            };
            put(&mut args, pointer, value);
            let server = Some(server.clone()).filter(|server| !server.is_empty());
            Some(Step::Call(ToolCall { tool: tool.clone(), args, server }))
        }
        Place::Variable { server, template, variable } => {
            let uri = filled(template, variable, text(&value)?);
            Some(request("resources/read", server, serde_json::json!({"uri": uri})))
        }
        Place::Uri { server } => {
            Some(request("resources/read", server, serde_json::json!({"uri": value})))
        }
        Place::PromptArgument { server, prompt, argument } => {
            let params = serde_json::json!({"name": prompt, "arguments": {argument: value}});
            Some(request("prompts/get", server, params))
        }
        Place::Completion { server, of, argument } => {
            let of = if of.contains("://") {
                serde_json::json!({"type": "ref/resource", "uri": of})
            } else {
                serde_json::json!({"type": "ref/prompt", "name": of})
            };
            let argument = serde_json::json!({"name": argument, "value": value});
            let params = serde_json::json!({"ref": of, "argument": argument});
            Some(request("completion/complete", server, params))
        }
        _ => None,
    }
}

/// An attempt that puts a text at the place of an aim.
pub(crate) fn attempt(
    aim: &Aim,
    (set, form): (usize, &str),
    nonce: Nonce,
    payload: impl Into<Value>,
) -> Option<Attempt> {
    let payload = payload.into();
    let steps = vec![step(aim, payload.clone())?];
    Some(Attempt {
        form: form.to_owned(),
        set,
        role: String::new(),
        action: Action::Steps { steps, identity: 0 },
        nonce,
        payload: Some(payload),
    })
}

/// An attempt with these requests as an identity, without a hostile value.
pub(crate) fn plain(
    steps: Vec<Step>,
    identity: usize,
    (set, form, role): (usize, &str, &str),
    nonce: Nonce,
) -> Attempt {
    Attempt {
        form: form.to_owned(),
        set,
        role: role.to_owned(),
        action: Action::Steps { steps, identity },
        nonce,
        payload: None,
    }
}

/// The innocent text at the place in a call that works.
pub(crate) fn innocent(aim: &Aim) -> Option<String> {
    let (Place::Argument { pointer, .. }, Step::Call(call)) =
        (&aim.place, &aim.baseline.as_ref()?.step)
    else {
        return None;
    };
    let args = Value::Object(call.args.clone());
    args.pointer(pointer).and_then(shown)
}

/// A text that the place probably accepts: the innocent one, one from the schema, or a letter.
pub(crate) fn plausible(aim: &Aim) -> String {
    let given = |key: &str| match aim.schema.get(key)? {
        Value::Array(items) => items.first().and_then(shown),
        value => shown(value),
    };
    let of_schema = || ["default", "example", "examples", "enum"].into_iter().find_map(given);
    innocent(aim).or_else(of_schema).unwrap_or_else(|| "a".to_owned())
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The key that schema traversal uses for an entry of a map with free keys.
const FREE_KEY: &str = "note";

/// Whether an aim is an entry of a map with free keys: it has no schema, or schema traversal made up its key.
pub(crate) fn in_free_map(aim: &Aim) -> bool {
    let unknown = aim.schema.get("type").is_none() && aim.schema.get("enum").is_none();
    parent(aim).is_some_and(|(map, key)| {
        !map.is_empty() && key.parse::<usize>().is_err() && (unknown || key == FREE_KEY)
    })
}

/// The pointer to the parent of the place of an aim, and the key of the place in it.
pub(crate) fn parent(aim: &Aim) -> Option<(&str, &str)> {
    match &aim.place {
        Place::Argument { pointer, .. } => pointer.rsplit_once('/'),
        _ => None,
    }
}

/// The same aim at another pointer.
pub(crate) fn at(aim: &Aim, to: String) -> Aim {
    let mut aim = aim.clone();
    if let Place::Argument { pointer, .. } = &mut aim.place {
        *pointer = to;
    }
    aim
}

fn text(value: &Value) -> Option<&str> {
    value.as_str()
}

/// A template with the value for one variable and harmless values for the others.
fn filled(template: &str, variable: &str, value: &str) -> String {
    let mut uri = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        uri.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            uri.push('{');
            rest = after;
            continue;
        };
        let name = name.trim_start_matches(['+', '#', '/', '?', '&', '.', ';']);
        uri.push_str(if name == variable { value } else { "1" });
        rest = after;
    }
    uri.push_str(rest);
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_in_as_they_are() {
        assert_eq!(filled("file:///{+path}", "path", "../x"), "file:///../x");
        assert_eq!(filled("a://{x}/{y}/z", "y", "v"), "a://1/v/z");
        assert_eq!(filled("a://{open", "open", "v"), "a://{open");
    }
}
