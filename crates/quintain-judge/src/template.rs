//! Prompts with variables, `{{name}}`. The texts of metrics are such templates, and users can replace them.

use std::borrow::Cow;

use quintain_content::text::fence;

/// A prompt as data: what it is for, and its text with variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prompt {
    /// What it asks for, as users name it to replace it.
    pub id: &'static str,
    pub text: &'static str,
}

/// A prompt that is ready to be filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Variable(String),
}

/// A mistake in a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("the prompt is empty")]
    Empty,
    #[error("`{{{{` without `}}}}`")]
    Unclosed,
    #[error("unknown variable `{name}`; the variables are {}", known.join(", "))]
    Unknown { name: String, known: Vec<String> },
}

/// Values of variables.
#[derive(Debug, Clone, Default)]
pub struct Values<'v>(Vec<(&'static str, Cow<'v, str>)>);

impl<'v> Values<'v> {
    pub fn new() -> Self {
        Self::default()
    }

    /// Untrusted text, which is quoted so that it cannot end its own quotation.
    #[must_use]
    pub fn quoted(mut self, name: &'static str, text: &str) -> Self {
        self.0.push((name, fence::quote(text).into()));
        self
    }

    /// Text of our own, or of the author of the configuration.
    #[must_use]
    pub fn plain(mut self, name: &'static str, text: impl Into<Cow<'v, str>>) -> Self {
        self.0.push((name, text.into()));
        self
    }

    fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }
}

impl Template {
    /// Reads a text that may use the variables of another prompt.
    ///
    /// # Errors
    /// All mistakes in the text.
    pub fn replacing(prompt: &Prompt, text: &str) -> Result<Self, Vec<TemplateError>> {
        let mut errors = Vec::new();
        if text.trim().is_empty() {
            errors.push(TemplateError::Empty);
        }
        let template = Self::parse(text).unwrap_or_else(|error| {
            errors.push(error);
            Self { pieces: Vec::new() }
        });
        let original = Self::of(prompt);
        let known: Vec<&str> = original.variables().collect();
        for name in template.variables().filter(|name| !known.contains(name)) {
            let known = known.iter().map(|name| (*name).to_owned()).collect();
            errors.push(TemplateError::Unknown { name: name.to_owned(), known });
        }
        if errors.is_empty() { Ok(template) } else { Err(errors) }
    }

    /// A prompt of our own. A brace that is never closed stays as it is.
    pub fn of(prompt: &Prompt) -> Self {
        Self::parse(prompt.text)
            .unwrap_or_else(|_| Self { pieces: vec![Piece::Text(prompt.text.to_owned())] })
    }

    fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").ok_or(TemplateError::Unclosed)?;
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Variable(name.trim().to_owned()));
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self { pieces })
    }

    /// The names of the variables, in the order of the text.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The text with its variables filled. Values are never read as templates.
    pub fn fill(&self, values: &Values<'_>) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Variable(name) => values.get(name),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: Prompt = Prompt { id: "verdict", text: "Judge {{ answer }} by {{rule}}." };

    #[test]
    fn values_are_quoted_and_never_read_as_templates() {
        let values = Values::new().quoted("answer", "{{rule}}").plain("rule", "taste");
        let filled = Template::of(&PROMPT).fill(&values);
        assert!(filled.contains(&fence::quote("{{rule}}")));
        assert!(filled.ends_with(" by taste."));
    }

    #[test]
    fn a_replacement_may_use_the_variables_of_the_original() {
        let fine = Template::replacing(&PROMPT, "{{answer}}?").unwrap();
        assert_eq!(fine.variables().collect::<Vec<_>>(), ["answer"]);
        let errors = Template::replacing(&PROMPT, "{{anser}} {{x}}").unwrap_err();
        assert_eq!(errors.len(), 2);
        assert_eq!(
            errors[0].to_string(),
            "unknown variable `anser`; the variables are answer, rule"
        );
        let unclosed = Template::replacing(&PROMPT, "{{answer").unwrap_err();
        assert_eq!(unclosed, [TemplateError::Unclosed]);
        assert_eq!(Template::replacing(&PROMPT, " ").unwrap_err(), [TemplateError::Empty]);
    }
}
