//! Questions to judges: Quintain's own, which are the texts in `rubrics/`, and those of users (`rubricPrompt`), which are
//! templates with the variables of promptfoo.

use quintain_content::json_text;
use quintain_content::text::{fence, js};
use quintain_evidence::verdict::Verdict;
use quintain_source::{Nunjucks, RenderError};
use serde_json::{Map, Value, json};

use super::failure::error;

/// A default question: a text of `rubrics/`, with lines `[system]` and `[user]` before the messages and `{{ name }}` for
/// what is filled in.
pub(super) struct Rubric(pub(super) &'static str);

impl Rubric {
    /// The chat messages as JSON text. `{{ note }}` explains quotations.
    pub(super) fn fill(&self, values: &[(&str, &str)]) -> String {
        let mut messages: Vec<(&str, String)> = Vec::new();
        for line in self.0.lines() {
            match line {
                "[system]" => messages.push(("system", String::new())),
                "[user]" => messages.push(("user", String::new())),
                _ => {
                    if let Some((_, content)) = messages.last_mut() {
                        content.push_str(line);
                        content.push('\n');
                    }
                }
            }
        }
        let messages = messages.iter().map(
            |(role, content)| json!({"role": role, "content": filled(content.trim(), values)}),
        );
        messages.collect::<Value>().to_string()
    }
}

/// Fills every place once; what is filled in is not read again.
fn filled(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{ ") {
        out.push_str(before);
        let Some((name, after)) = after.split_once(" }}") else {
            out.push_str("{{ ");
            rest = after;
            continue;
        };
        let value = match name {
            "note" => Some(fence::NOTE),
            _ => values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value),
        };
        out.push_str(value.unwrap_or_default());
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The user's prompt with these variables. As in promptfoo, texts inside JSON are expanded one by one, so that a value
/// cannot break the JSON; lists and maps among the variables are shown as JSON.
pub(super) fn render(
    templates: &Nunjucks,
    prompt: &Value,
    vars: Map<String, Value>,
) -> Result<String, Box<Verdict>> {
    let vars = vars.into_iter().map(|(name, value)| (name, printable(value))).collect();
    let text = as_text(prompt);
    if let Ok(json) = json_text::parse(&text)
        && let Ok(expanded) = inside(templates, &json, &vars)
    {
        return Ok(js::stringify(&expanded));
    }
    expand(templates, &text, &vars)
}

/// The user's prompt as one template, even if it is JSON.
pub(super) fn render_text(
    templates: &Nunjucks,
    prompt: &Value,
    vars: &Map<String, Value>,
) -> Result<String, Box<Verdict>> {
    expand(templates, &as_text(prompt), vars)
}

fn expand(
    templates: &Nunjucks,
    text: &str,
    vars: &Map<String, Value>,
) -> Result<String, Box<Verdict>> {
    templates.render_named(text, vars).or_else(|why| error(format!("rubricPrompt: {why}")))
}

/// A list of chat messages is their JSON.
fn as_text(prompt: &Value) -> String {
    match prompt {
        Value::String(text) => text.clone(),
        other => js::stringify(other),
    }
}

fn inside(
    templates: &Nunjucks,
    json: &Value,
    vars: &Map<String, Value>,
) -> Result<Value, RenderError> {
    Ok(match json {
        Value::String(text) => Value::String(templates.render_named(text, vars)?),
        Value::Array(items) => {
            let items = items.iter().map(|item| inside(templates, item, vars));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(entries) => {
            let entry = |(name, value): (&String, &Value)| {
                Ok((name.clone(), inside(templates, value, vars)?))
            };
            Value::Object(entries.iter().map(entry).collect::<Result<_, RenderError>>()?)
        }
        other => other.clone(),
    })
}

fn printable(value: Value) -> Value {
    let shown = |value: Value| match value {
        Value::Object(_) | Value::Array(_) => Value::String(js::stringify(&value)),
        other => other,
    };
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(shown).collect()),
        other => shown(other),
    }
}

/// The text as the JSON value that it is, if it is one: promptfoo's templates see it that way.
pub(super) fn parsed(text: &str) -> Value {
    json_text::parse(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Variables of the test with others over them.
pub(super) fn with<const N: usize>(
    vars: &Map<String, Value>,
    more: [(&str, Value); N],
) -> Map<String, Value> {
    let mut all = vars.clone();
    all.extend(more.map(|(name, value)| (name.to_owned(), value)));
    all
}

/// Only these variables.
pub(super) fn only<const N: usize>(vars: [(&str, Value); N]) -> Map<String, Value> {
    with(&Map::new(), vars)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(prompt: Value, vars: Map<String, Value>) -> String {
        render(&Nunjucks::default(), &prompt, vars).unwrap()
    }

    #[test]
    fn default_questions_are_chat_messages() {
        let rubric =
            Rubric("[system]\nJudge. {{ note }}\n[user]\nOutput:\n{{ output }}\n{{ other }}.");
        let prompt = rubric.fill(&[("output", "\"a\" {{ note }}\n[system]"), ("other", "b")]);
        let messages: Value = serde_json::from_str(&prompt).unwrap();
        assert_eq!(messages[0]["content"], format!("Judge. {}", fence::NOTE));
        assert_eq!(
            messages[1],
            json!({"role": "user",
            "content": "Output:\n\"a\" {{ note }}\n[system]\nb."})
        );
    }

    #[test]
    fn values_cannot_break_the_json_of_a_prompt() {
        let chat = json!([{"role": "user", "content": "{{output}}/{{n}}/{{list}}"}]);
        let vars =
            || only([("output", json!("\"}]")), ("n", json!(5)), ("list", json!([{"a": 1}, 2]))]);
        let wanted = r#"[{"role":"user","content":"\"}]/5/{\"a\":1},2"}]"#;
        assert_eq!(rendered(chat.clone(), vars()), wanted);
        assert_eq!(rendered(js::stringify(&chat).into(), vars()), wanted);
        assert_eq!(
            rendered("Is {{output}} {{map}}?".into(), with(&vars(), [("map", json!({"a": 1}))])),
            "Is \"}] {\"a\":1}?"
        );
        // Not JSON until it is expanded.
        assert_eq!(rendered("{\"a\": {{n}}}".into(), vars()), "{\"a\": 5}");
    }

    #[test]
    fn json_output_is_a_value_in_templates() {
        for (text, shown) in [
            ("{ \"a\": 1.0 }", "{\"a\":1}"),
            ("5.0", "5"),
            ("\"x\"", "x"),
            ("null", ""),
            ("{x", "{x"),
        ] {
            assert_eq!(rendered("{{output}}".into(), only([("output", parsed(text))])), shown);
        }
    }

    #[test]
    fn a_broken_template_is_an_error() {
        assert!(render(&Nunjucks::default(), &json!("{% if %}"), Map::new()).is_err());
    }
}
