//! Which parts of a case a judge sees, by the names of deepeval's parameters.

use quintain_evidence::trace::Role;
use serde_json::Value;

use super::calls;
use super::case::{Case, label, numbered};
use super::scorer::{Judging, Stop};
use super::transcript::{shown, turns};
use crate::metrics::{MetricInput, Options};

/// A part of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::metrics) enum Param {
    Input,
    ActualOutput,
    ExpectedOutput,
    Context,
    RetrievalContext,
    ToolsCalled,
    ExpectedTools,
    Turns,
    ChatbotRole,
    /// What a case contains in addition to its conversation, by its names.
    Label(&'static str, &'static [&'static str]),
}

const NAMES: &[(&str, Param)] = &[
    ("input", Param::Input),
    ("actual_output", Param::ActualOutput),
    ("expected_output", Param::ExpectedOutput),
    ("context", Param::Context),
    ("retrieval_context", Param::RetrievalContext),
    ("tools_called", Param::ToolsCalled),
    ("mcp_tools_called", Param::ToolsCalled),
    ("mcp_resources_called", Param::ToolsCalled),
    ("mcp_prompts_called", Param::ToolsCalled),
    ("expected_tools", Param::ExpectedTools),
    ("turns", Param::Turns),
    ("content", Param::Turns),
    ("role", Param::Turns),
    ("chatbot_role", Param::ChatbotRole),
    ("scenario", Param::Label("Scenario", &["scenario"])),
    (
        "expected_outcome",
        Param::Label("Expected outcome", &["expected_outcome", "expectedOutcome"]),
    ),
    (
        "user_description",
        Param::Label("Description of the user", &["user_description", "userDescription"]),
    ),
    ("metadata", Param::Label("Metadata", &["metadata", "additional_metadata"])),
    ("tags", Param::Label("Tags", &["tags"])),
];

/// Reads names of parameters in any spelling: `actual_output`, `actualOutput`, `actual-output`, `ACTUAL_OUTPUT`.
pub(in crate::metrics) fn read(
    options: &mut Options<'_>,
    option: &str,
    value: &Value,
) -> Option<Vec<Param>> {
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let mut params = Vec::new();
    for item in items {
        let written = item.as_str().unwrap_or_default();
        let found = NAMES.iter().find(|(name, _)| *name == snake_case(written));
        match found {
            Some((_, param)) if params.contains(param) => {}
            Some((_, param)) => params.push(*param),
            None => {
                let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
                options.expected(option, &format!("one of {}", names.join(", ")), item);
                return None;
            }
        }
    }
    if params.is_empty() {
        options.error(option, format!("`{option}` is empty"));
        return None;
    }
    Some(params)
}

fn snake_case(name: &str) -> String {
    let is_shouted = !name.contains(|c: char| c.is_ascii_lowercase());
    let mut snake = String::new();
    for letter in name.chars() {
        if letter == '-' || letter == ' ' {
            snake.push('_');
        } else if letter.is_ascii_uppercase() && !is_shouted && !snake.is_empty() {
            snake.push('_');
            snake.push(letter.to_ascii_lowercase());
        } else {
            snake.push(letter.to_ascii_lowercase());
        }
    }
    snake
}

impl Param {
    pub(in crate::metrics) fn title(self) -> &'static str {
        match self {
            Self::Input => "Input",
            Self::ActualOutput => "Actual output",
            Self::ExpectedOutput => "Expected output",
            Self::Context => "Context",
            Self::RetrievalContext => "Retrieval context",
            Self::ToolsCalled => "Calls with their results",
            Self::ExpectedTools => "Expected calls",
            Self::Turns => "Conversation, one turn per line",
            Self::ChatbotRole => "Role of the application",
            Self::Label(title, _) => title,
        }
    }

    /// What the case contains; it does not apply without it.
    pub(in crate::metrics) fn text(self, input: &MetricInput<'_>) -> Judging<String> {
        let trace = input.view.trace;
        let case = Case::of(input);
        match self {
            Self::Input => case.request().map(ToOwned::to_owned),
            Self::ActualOutput => case.answer().map(ToOwned::to_owned),
            Self::ExpectedOutput => case.expected().map(ToOwned::to_owned),
            Self::Context => case.context().map(|texts| numbered(&texts)),
            Self::RetrievalContext => case.retrieval_context().map(|texts| numbered(&texts)),
            Self::ToolsCalled => Ok(calls::listed(&input.view.calls)),
            Self::ExpectedTools => {
                let calls = trace.expected.calls.as_ref();
                let calls =
                    calls.ok_or_else(|| Stop::undefined("the case has no expected calls"))?;
                Ok(serde_json::to_string(calls).unwrap_or_default())
            }
            Self::Turns => {
                let turns = turns(input.view);
                if turns.is_empty() {
                    return Err(Stop::undefined("the trace records no conversation"));
                }
                Ok(shown(&turns, true))
            }
            Self::ChatbotRole => {
                let named = label(input, &["chatbot_role", "chatbotRole"]).and_then(Value::as_str);
                let system = trace.messages().find(|message| message.role == Role::System);
                let role = named.or(system.map(|message| message.text.as_str()));
                role.map(ToOwned::to_owned)
                    .ok_or_else(|| Stop::undefined("the case has no role of the application"))
            }
            Self::Label(title, names) => match label(input, names) {
                Some(Value::String(text)) => Ok(text.clone()),
                Some(other) => Ok(other.to_string()),
                None => Err(Stop::undefined(format!("the case has no {}", title.to_lowercase()))),
            },
        }
    }
}

/// Parts of a case, each quoted under its title.
pub(in crate::metrics) fn shown_params(
    input: &MetricInput<'_>,
    params: &[Param],
) -> Judging<String> {
    let mut parts = Vec::new();
    for param in params {
        let text = param.text(input)?;
        parts.push(format!("{}:\n{}", param.title(), quintain_content::text::fence::quote(&text)));
    }
    Ok(parts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_read_in_every_spelling() {
        let none = serde_json::Map::new();
        let mut options = Options::new(&none);
        let given =
            json!(["actualOutput", "EXPECTED_OUTPUT", "retrieval-context", "input", "input"]);
        let params = read(&mut options, "evaluationParams", &given).unwrap();
        assert_eq!(
            params,
            [Param::ActualOutput, Param::ExpectedOutput, Param::RetrievalContext, Param::Input]
        );
        assert_eq!(read(&mut options, "evaluationParams", &json!(["outputs"])), None);
        assert_eq!(read(&mut options, "evaluationParams", &json!([])), None);
        assert_eq!(options.finish("g-eval").len(), 2);
    }
}
