//! Options of metrics as users write them: camelCase or snake_case. Every mistake is reported, each with its option.

use serde_json::{Map, Value};

/// A mistake in the options of a metric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", self.help.as_deref().map_or_else(String::new, |help| format!("; {help}")))]
pub struct OptionError {
    /// The option as written.
    pub option: String,
    pub message: String,
    pub help: Option<String>,
}

/// Reads options one by one and remembers which exist.
pub struct Options<'o> {
    given: &'o Map<String, Value>,
    known: Vec<&'static str>,
    errors: Vec<OptionError>,
}

impl<'o> Options<'o> {
    pub fn new(given: &'o Map<String, Value>) -> Self {
        Self { given, known: Vec::new(), errors: Vec::new() }
    }

    /// The value of an option in either spelling; `name` is in camelCase. Null counts as absent.
    pub fn value(&mut self, name: &'static str) -> Option<&'o Value> {
        self.known.push(name);
        let mut found = self.given.iter().filter(|(key, _)| camel_case(key) == name);
        let (_, value) = found.next()?;
        if let Some((other, _)) = found.next() {
            let other = other.clone();
            self.error(&other, format!("`{other}` is given in two spellings"));
        }
        Some(value).filter(|value| !value.is_null())
    }

    pub fn flag(&mut self, name: &'static str) -> Option<bool> {
        let value = self.value(name)?;
        let flag = value.as_bool();
        if flag.is_none() {
            self.expected(name, "true or false", value);
        }
        flag
    }

    /// A number from 0 to 1.
    pub fn share(&mut self, name: &'static str) -> Option<f64> {
        let value = self.value(name)?;
        let number = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
        if number.is_none() {
            self.expected(name, "a number from 0 to 1", value);
        }
        number
    }

    pub fn text(&mut self, name: &'static str) -> Option<&'o str> {
        let value = self.value(name)?;
        let text = value.as_str();
        if text.is_none() {
            self.expected(name, "a text", value);
        }
        text
    }

    /// A list of texts, or one text.
    pub fn texts(&mut self, name: &'static str) -> Option<Vec<String>> {
        let value = self.value(name)?;
        let texts = match value {
            Value::String(text) => Some(vec![text.clone()]),
            Value::Array(items) => {
                items.iter().map(|item| item.as_str().map(ToOwned::to_owned)).collect()
            }
            _ => None,
        };
        if texts.is_none() {
            self.expected(name, "a list of texts", value);
        }
        texts
    }

    /// A whole number above 0.
    pub fn count(&mut self, name: &'static str) -> Option<usize> {
        let value = self.value(name)?;
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        let number = number.filter(|number| *number > 0);
        if number.is_none() {
            self.expected(name, "a whole number above 0", value);
        }
        number
    }

    /// A text without which the metric cannot be used.
    pub fn required_text(&mut self, name: &'static str) -> Option<String> {
        let text = self.text(name).map(str::trim).filter(|text| !text.is_empty());
        if text.is_none() && !self.errors.iter().any(|error| error.option == name) {
            self.error(name, format!("`{name}` is missing or empty"));
        }
        text.map(ToOwned::to_owned)
    }

    /// A list of texts without which the metric cannot be used.
    pub fn required_texts(&mut self, name: &'static str) -> Option<Vec<String>> {
        let texts = self.texts(name).filter(|texts| !texts.is_empty());
        if texts.is_none() && !self.errors.iter().any(|error| error.option == name) {
            self.error(name, format!("`{name}` is missing or empty"));
        }
        texts
    }

    /// One of several words.
    pub fn choice<T: Copy>(&mut self, name: &'static str, words: &[(&str, T)]) -> Option<T> {
        let value = self.value(name)?;
        let written = value.as_str().unwrap_or_default();
        let found = words.iter().find(|(word, _)| *word == written).map(|(_, choice)| *choice);
        if found.is_none() {
            let list: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            self.expected(name, &list.join(" or "), value);
        }
        found
    }

    pub fn error(&mut self, option: &str, message: impl Into<String>) {
        self.errors.push(OptionError {
            option: option.to_owned(),
            message: message.into(),
            help: None,
        });
    }

    pub fn expected(&mut self, option: &str, wanted: &str, value: &Value) {
        let written = value.to_string();
        let written = quintain_content::text::short::shortened(&written, 60);
        self.error(option, format!("expected {wanted} for `{option}`, not {written}"));
    }

    /// The mistakes so far, in words.
    pub(super) fn mistakes(self) -> Vec<String> {
        self.errors.into_iter().map(|error| error.message).collect()
    }

    /// All mistakes; every option that was never read is one.
    pub(super) fn finish(mut self, metric: &str) -> Vec<OptionError> {
        for key in self.given.keys() {
            if self.known.contains(&camel_case(key).as_str()) {
                continue;
            }
            let nearest = crate::nearest::nearest(&camel_case(key), self.known.iter().copied());
            let help = nearest.map_or_else(
                || format!("the options are {}", self.known.join(", ")),
                |nearest| format!("did you mean `{nearest}`?"),
            );
            self.errors.push(OptionError {
                option: key.clone(),
                message: format!("`{key}` is not an option of {metric}"),
                help: Some(help),
            });
        }
        self.errors
    }
}

/// `should_exact_match` as `shouldExactMatch`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_').filter(|word| !word.is_empty());
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        camel.push_str(letters.as_str());
    }
    camel
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_spellings_are_read_and_every_mistake_is_reported() {
        let given = json!({"strict_mode": "yes", "treshold": 1, "limit": 7, "includeReason": true});
        let mut options = Options::new(given.as_object().unwrap());
        assert_eq!(options.flag("strictMode"), None);
        assert_eq!(options.flag("includeReason"), Some(true));
        assert_eq!(options.share("threshold"), None);
        let errors = options.finish("mcp-use");
        let options: Vec<&str> = errors.iter().map(|error| error.option.as_str()).collect();
        assert_eq!(options, ["strictMode", "treshold", "limit"]);
        assert_eq!(errors[1].help.as_deref(), Some("did you mean `threshold`?"));
        assert!(errors[2].to_string().contains("`limit` is not an option of mcp-use"));
    }

    #[test]
    fn an_option_in_two_spellings_is_ambiguous() {
        let given = json!({"strictMode": true, "strict_mode": false});
        let mut options = Options::new(given.as_object().unwrap());
        options.flag("strictMode");
        assert_eq!(options.finish("mcp-use").len(), 1);
    }

    #[test]
    fn names_become_camel_case() {
        assert_eq!(camel_case("should_exact_match"), "shouldExactMatch");
        assert_eq!(camel_case("shouldExactMatch"), "shouldExactMatch");
        assert_eq!(camel_case("_"), "");
    }
}
