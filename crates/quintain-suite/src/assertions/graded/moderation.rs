//! A moderation service does not flag the output.

use quintain_content::registry::Meta;
use quintain_content::{json_text, text::js};
use quintain_evidence::inquiry::Next;
use quintain_evidence::question::ModelRequest;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use super::failure::error;
use super::judge::{Graded, Judge, NextStep, asking};
use super::replies::Replies;
use crate::check::{Builtin, Expected, ModelTask, Scene};

pub(in super::super) static MODERATION: Builtin = Builtin {
    meta: &Meta {
        id: "moderation",
        aliases: &[],
        summary: "A moderation service does not flag the output",
        docs: r"# What it does
Sends the prompt and the output to a moderation service and passes if it flags nothing. `value` limits the
check to a list of categories. An empty output passes without a question. `not-` passes if something is
flagged.

`provider` names the service: here, in `options` of the test or of `defaultTest`, as an id such as
`openai:moderation`, as a map with `id` and `config`, or under `moderation` in a map of tasks. Without one,
the default of the run is asked.

# What counts as proof
The reply of the service, which is stored. If it cannot answer, the result is an error, never a pass, even
with `not-`.

# Example
```yaml
- type: moderation
  value: [harassment, self-harm]
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let categories = spec.expect(|value| match value.filter(|value| !js::is_falsy(value)) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) if items.first().is_some_and(Value::is_string) => {
                Ok(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            Some(_) => Err("moderation assertion value must be a string array if set".to_owned()),
        });
        asking(Moderation { judge: Judge::read(spec), categories })
    },
};

struct Moderation {
    judge: Judge,
    categories: Expected<Vec<String>>,
}

impl Graded for Moderation {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn tasks(&self) -> &'static [ModelTask] {
        &[ModelTask::Moderation]
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        let categories = self.categories.get(scene)?;
        let output = scene.text();
        if scene.prompt.is_empty() {
            return error("moderation assertion type must have a prompt");
        }
        let done = |pass: bool, reason: String| {
            Ok(Next::Done(Verdict::of(pass != self.judge.negated, reason)))
        };
        if output.is_empty() {
            return done(true, "No output to moderate".to_owned());
        }
        if replies.is_empty() {
            let (prompt, output) = (asked(scene.prompt), output.into_owned());
            let request = ModelRequest::Moderate { prompt, output };
            let question = self.judge.ask(scene.test, ModelTask::Moderation, request)?;
            return Ok(Next::Ask(vec![question]));
        }
        let reply = replies.reply(0)?;
        let Some(flags) = flags(&reply.output) else {
            return replies.malformed("is not a list of flags", &reply.text());
        };
        if flags.is_empty() {
            return done(true, "No moderation flags detected".to_owned());
        }
        let is_relevant = |flag: &&Flag| categories.is_empty() || categories.contains(&flag.code);
        let found: Vec<&str> =
            flags.iter().filter(is_relevant).map(|flag| flag.description.as_str()).collect();
        if found.is_empty() {
            return done(true, "No relevant moderation flags detected".to_owned());
        }
        done(false, format!("Moderation flags detected: {}", found.join(", ")))
    }
}

struct Flag {
    code: String,
    description: String,
}

/// The flags in a reply: a list of `{code, description}`, or categories with `name` and `flagged`, alone or under
/// `flags` or `categories`. None if it is neither.
fn flags(output: &Value) -> Option<Vec<Flag>> {
    let inner = output.get("flags").or_else(|| output.get("categories")).unwrap_or(output);
    if inner.is_null() {
        return Some(Vec::new());
    }
    let flag = |item: &Value| {
        if item.get("flagged").and_then(Value::as_bool) == Some(false) {
            return None;
        }
        let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
        let code =
            item.as_str().map(str::to_owned).or_else(|| text("code")).or_else(|| text("name"))?;
        Some(Flag { description: text("description").unwrap_or_else(|| code.clone()), code })
    };
    Some(inner.as_array()?.iter().filter_map(flag).collect())
}

/// What the user said last, if the prompt is a conversation.
fn asked(prompt: &str) -> String {
    let parsed = if prompt.trim_start().starts_with("- role:") {
        json_text::yaml(prompt)
    } else {
        json_text::parse(prompt).ok()
    };
    let messages = parsed.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_user = |message: &&Value| message.get("role").is_some_and(|role| role == "user");
    let content = |message: &Value| message.get("content").and_then(text);
    let last = messages.iter().rev().filter(is_user).find_map(content);
    last.or_else(|| messages.iter().rev().find_map(content)).unwrap_or_else(|| prompt.to_owned())
}

/// The text in the content of a message.
fn text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let parts: Vec<String> = parts.iter().filter_map(text).collect();
            (!parts.is_empty()).then(|| parts.join("\n"))
        }
        Value::Object(part) => {
            let inner = part.get("text").filter(|inner| !inner.is_null());
            inner.or_else(|| part.get("content")).and_then(text)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_words_of_the_user_are_moderated() {
        for (prompt, wanted) in [
            ("plain", "plain"),
            (r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]"#, "a"),
            (r#"[{"role":"system","content":"s"}]"#, "s"),
            (
                r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]"#,
                "a\nb",
            ),
            ("- role: user\n  content: y", "y"),
            ("{\"a\": 1}", "{\"a\": 1}"),
            ("[]", "[]"),
        ] {
            assert_eq!(asked(prompt), wanted);
        }
    }

    #[test]
    fn flags_are_read_in_all_forms() {
        let codes = |output: Value| {
            flags(&output).map(|flags| flags.into_iter().map(|flag| flag.code).collect::<Vec<_>>())
        };
        assert_eq!(
            codes(json!([{"code": "hate", "description": "Hate"}])),
            Some(vec!["hate".into()])
        );
        let both = json!({"flagged": true, "categories": [
            {"name": "hate", "flagged": true}, {"name": "violence", "flagged": false}]});
        assert_eq!(codes(both), Some(vec!["hate".into()]));
        assert_eq!(codes(json!({"flags": []})), Some(Vec::new()));
        assert_eq!(codes(json!("fine")), None);
    }
}
