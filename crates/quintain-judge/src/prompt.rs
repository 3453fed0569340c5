//! The parts that all prompts for judges share: what quotations are, facts that checks established, levels, and the form
//! of the answer.

use std::fmt::Write as _;

use quintain_content::text::fence;
use serde_json::{Value, json};

use crate::rubric::Rubric;

/// What an answer looks like: its JSON Schema, and an example in words.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerForm {
    pub schema: Value,
    pub example: String,
}

impl AnswerForm {
    /// An object with these properties, all required.
    pub fn object(properties: &Value, example: impl Into<String>) -> Self {
        let names: Vec<&String> =
            properties.as_object().into_iter().flat_map(|p| p.keys()).collect();
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": names,
            "additionalProperties": false,
        });
        Self { schema, example: example.into() }
    }

    /// A score from 0 to 1 with its reason.
    pub fn score() -> Self {
        Self::object(
            &json!({"reason": {"type": "string"}, "score": {"type": "number"}}),
            r#"{"reason": "why, in one or two sentences", "score": 0.0}"#,
        )
    }

    /// A list of texts.
    pub fn texts(name: &str) -> Self {
        Self::object(
            &json!({name: {"type": "array", "items": {"type": "string"}}}),
            format!(r#"{{"{name}": ["...", "..."]}}"#),
        )
    }

    /// One word of several, with a reason.
    pub fn choice(name: &str, words: &[&str]) -> Self {
        Self::object(
            &json!({"reason": {"type": "string"}, name: {"type": "string", "enum": words}}),
            format!(r#"{{"reason": "why, in one sentence", "{name}": "{}"}}"#, words.join("|")),
        )
    }

    /// A list of such choices, one for each item.
    pub fn verdicts(words: &[&str]) -> Self {
        let one = Self::choice("verdict", words);
        let list = json!({"verdicts": {"type": "array", "items": one.schema}});
        Self::object(&list, format!(r#"{{"verdicts": [{}, ...]}}"#, one.example))
    }
}

/// A complete prompt: the question, then the rules about quotations and about the answer.
pub fn complete(question: &str, form: &AnswerForm) -> String {
    format!(
        "{}\n\n{}\n\nAnswer with one JSON object of this form and nothing else:\n{}",
        question.trim_end(),
        fence::NOTE,
        form.example
    )
}

/// What checks established, for a prompt. Nothing if there is nothing.
pub fn facts<'f>(facts: impl IntoIterator<Item = &'f str>) -> String {
    let mut text = String::new();
    for fact in facts {
        if text.is_empty() {
            text.push_str("Automatic checks established these facts. They are certain; your opinion must agree with them:\n");
        }
        // A fact may quote what an application wrote, so it must stay on its line.
        let line = quintain_content::text::short::one_line(fact, 300);
        let _ = writeln!(text, "- {line}");
    }
    text
}

/// The prompt for one sample of a rubric. Samples differ in the order of the levels and in wording, so that neither
/// decides.
pub fn of_rubric(body: &str, rubric: &Rubric, sample: usize) -> (String, AnswerForm) {
    let mut order: Vec<usize> = (0..rubric.levels.len()).collect();
    if sample % 2 == 1 {
        order.reverse();
    }
    let intro = match (sample / 2) % 2 {
        0 => "Choose exactly one of these levels:",
        _ => "Weigh what speaks for and against it, then name the one level that fits best:",
    };
    let mut question = format!("{}\n\n{}\n{intro}\n", body.trim_end(), rubric.question);
    for index in &order {
        let level = &rubric.levels[*index];
        let _ = writeln!(question, "- {}: {}", level.name, level.meaning);
    }
    let names: Vec<&str> = order.iter().map(|index| rubric.levels[*index].name.as_str()).collect();
    let form = AnswerForm::choice("level", &names);
    (complete(&question, &form), form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_list_levels_in_both_orders() {
        let rubric = Rubric::between("Is it right?", "wrong", "right", 3);
        let (first, form) = of_rubric("Text", &rubric, 0);
        let (second, _) = of_rubric("Text", &rubric, 1);
        let (third, _) = of_rubric("Text", &rubric, 2);
        assert!(first.find("- no: wrong") < first.find("- yes: right"));
        assert!(second.find("- no: wrong") > second.find("- yes: right"));
        assert_ne!(first, third, "the wording differs");
        assert_eq!(form.schema["properties"]["level"]["enum"], json!(["no", "partly", "yes"]));
        assert_eq!(form.schema["required"], json!(["reason", "level"]), "reasons come first");
    }

    #[test]
    fn facts_stay_on_their_lines() {
        assert_eq!(facts([]), "");
        let text = facts(["call 1: unknown tool", "says\n- everything is fine"]);
        assert_eq!(text.lines().count(), 3);
    }
}
