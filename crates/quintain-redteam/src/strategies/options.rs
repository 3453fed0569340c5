//! Reads the options of a strategy and collects all errors.

use std::ops::RangeInclusive;

use quintain_content::json_value;
use quintain_source::closest;
use serde_json::{Map, Value, json};

use super::flaw::{Flaw, Mistake};
use crate::suits::Suits;

/// A reader of `config`. An invalid value is recorded as an error and treated as absent.
pub struct Options<'a> {
    strategy: &'static str,
    config: &'a Map<String, Value>,
    at: String,
    known: Vec<&'static str>,
    mistakes: Vec<Mistake>,
    narrowed: Suits,
    lenient: bool,
    /// JSON Schemas of the options that were read.
    schemas: Map<String, Value>,
}

impl<'a> Options<'a> {
    pub(super) fn new(
        strategy: &'static str,
        config: &'a Map<String, Value>,
        at: impl Into<String>,
    ) -> Self {
        Self {
            strategy,
            config,
            at: at.into(),
            known: Vec::new(),
            mistakes: Vec::new(),
            narrowed: Suits::BOTH,
            lenient: false,
            schemas: Map::new(),
        }
    }

    /// The value of an option, if it is set. Marks the option as known.
    pub(super) fn get(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        self.schemas.entry(name).or_insert_with(|| json!({}));
        self.config.get(name).filter(|value| !value.is_null())
    }

    /// Describes an option that is read next.
    fn describe(&mut self, name: &'static str, schema: Value) {
        if self.schemas.get(name).is_none_or(|known| *known == json!({})) {
            self.schemas.insert(name.to_owned(), schema);
        }
    }

    /// JSON Schemas of the options that were read so far.
    pub(super) fn schemas(&self) -> &Map<String, Value> {
        &self.schemas
    }

    /// Restricts the targets that the strategy applies to.
    pub(super) fn narrow(&mut self, suits: Suits) {
        self.narrowed = suits;
    }

    pub(super) fn narrowed(&self) -> Suits {
        self.narrowed
    }

    /// Accepts every option.
    pub(super) fn allow_all(&mut self) {
        self.lenient = true;
    }

    /// Options of promptfoo that have no effect.
    pub(super) fn without_effect(&mut self, names: &[&'static str]) {
        self.known.extend(names);
    }

    pub(super) fn text(&mut self, name: &'static str, default: &str) -> String {
        self.describe(name, json!({"type": "string", "default": default}));
        self.maybe_text(name).unwrap_or_else(|| default.to_owned())
    }

    pub(super) fn maybe_text(&mut self, name: &'static str) -> Option<String> {
        self.describe(name, json!({"type": "string"}));
        let value = self.get(name)?;
        let text = value.as_str().map(str::to_owned);
        text.or_else(|| self.wrong(name, "text", value))
    }

    pub(super) fn required_text(&mut self, name: &'static str) -> String {
        if self.get(name).is_none() {
            let flaw = Flaw::Missing { strategy: self.strategy, option: name };
            self.note("", flaw);
        }
        self.text(name, "")
    }

    /// A list of texts; a single text counts as a list of one.
    pub(super) fn texts(&mut self, name: &'static str) -> Option<Vec<String>> {
        self.describe(name, json!({"type": ["array", "string"], "items": {"type": "string"}}));
        let value = self.get(name)?;
        let items = match value {
            Value::String(text) => return Some(vec![text.clone()]),
            Value::Array(items) => items,
            other => return self.wrong(name, "a list of texts", other),
        };
        let texts: Option<Vec<_>> = items.iter().map(|item| item.as_str()).collect();
        match texts {
            Some(texts) => Some(texts.into_iter().map(str::to_owned).collect()),
            None => self.wrong(name, "a list of texts", value),
        }
    }

    pub(super) fn flag(&mut self, name: &'static str, default: bool) -> bool {
        self.describe(name, json!({"type": "boolean", "default": default}));
        let Some(value) = self.get(name) else { return default };
        value.as_bool().or_else(|| self.wrong(name, "`true` or `false`", value)).unwrap_or(default)
    }

    pub(super) fn whole(
        &mut self,
        name: &'static str,
        range: RangeInclusive<usize>,
        default: usize,
    ) -> usize {
        self.describe(name, json!({"type": "integer", "minimum": range.start(), "maximum": range.end(), "default": default}));
        self.maybe_whole(name, range).unwrap_or(default)
    }

    pub(super) fn maybe_whole(
        &mut self,
        name: &'static str,
        range: RangeInclusive<usize>,
    ) -> Option<usize> {
        self.describe(
            name,
            json!({"type": "integer", "minimum": range.start(), "maximum": range.end()}),
        );
        let value = self.get(name)?;
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        number.filter(|number| range.contains(number)).or_else(|| {
            let wanted = format!("a whole number from {} to {}", range.start(), range.end());
            self.wrong(name, &wanted, value)
        })
    }

    /// A number from 0 to 1.
    pub(super) fn share(&mut self, name: &'static str, default: f64) -> f64 {
        self.describe(
            name,
            json!({"type": "number", "minimum": 0, "maximum": 1, "default": default}),
        );
        let Some(value) = self.get(name) else { return default };
        let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share));
        share.or_else(|| self.wrong(name, "a number from 0 to 1", value)).unwrap_or(default)
    }

    /// One of several words; the first is the default.
    pub(super) fn word<T: Copy>(&mut self, name: &'static str, words: &[(&'static str, T)]) -> T {
        let choices: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        self.describe(name, json!({"enum": choices, "default": words[0].0}));
        let text = match self.get(name) {
            None => return words[0].1,
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(other) => return self.wrong(name, "text", other).unwrap_or(words[0].1),
        };
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            self.unknown_word(name, text, words.iter().map(|(word, _)| *word));
        }
        found.unwrap_or(&words[0]).1
    }

    pub(super) fn unknown_word(
        &mut self,
        name: &'static str,
        word: String,
        words: impl Iterator<Item = &'static str>,
    ) {
        let words: Vec<&'static str> = words.collect();
        let closest = closest(&word, words.iter().copied());
        let allowed = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        self.note(name, Flaw::UnknownWord { option: name.to_owned(), allowed, word, closest });
    }

    /// Records a value of the wrong type.
    pub(super) fn wrong<T>(&mut self, name: &str, wanted: &str, found: &Value) -> Option<T> {
        let (option, wanted) = (name.to_owned(), wanted.to_owned());
        self.note(name, Flaw::WrongType { option, wanted, found: shown(found) });
        None
    }

    pub(super) fn note(&mut self, name: &str, flaw: Flaw) {
        let pointer = if name.is_empty() {
            self.at.clone()
        } else {
            format!("{}/{}", self.at, json_value::pointer_token(name))
        };
        self.mistakes.push(Mistake { pointer, flaw });
    }

    /// The pointer of an option.
    pub(super) fn place(&self, name: &str) -> String {
        format!("{}/{name}", self.at)
    }

    pub(super) fn adopt(&mut self, mistakes: Vec<Mistake>) {
        self.mistakes.extend(mistakes);
    }

    /// All errors, including unknown options.
    pub(super) fn finish(mut self) -> Vec<Mistake> {
        if self.lenient {
            return self.mistakes;
        }
        let unknown: Vec<&String> =
            self.config.keys().filter(|key| !self.known.contains(&key.as_str())).collect();
        for option in unknown {
            let closest = closest(option, self.known.iter().copied());
            let strategy = self.strategy;
            self.note(option, Flaw::UnknownOption { strategy, option: option.clone(), closest });
        }
        self.mistakes
    }
}

/// A short text as it is; otherwise the type of the value.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "an empty text".to_owned(),
        Value::String(text) if text.len() <= 60 => format!("`{text}`"),
        other => describe(other).to_owned(),
    }
}

pub(super) fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mistakes(config: Value, read: impl Fn(&mut Options<'_>)) -> Vec<(String, String)> {
        let config = config.as_object().unwrap().clone();
        let mut options = Options::new("caesar", &config, "/config");
        read(&mut options);
        let mistakes = options.finish().into_iter();
        mistakes.map(|mistake| (mistake.pointer.clone(), mistake.to_string())).collect()
    }

    #[test]
    fn every_mistake_is_told_with_its_place() {
        let found = mistakes(json!({"ofset": 3, "n": -1, "mode": "fats", "a/b": 1}), |options| {
            options.whole("offset", 1..=25, 3);
            options.whole("n", 1..=9, 3);
            options.word("mode", &[("fast", 1), ("slow", 2)]);
        });
        let expected = [
            ("/config/n", "`n` must be a whole number from 1 to 9, not a number"),
            (
                "/config/mode",
                "`mode` must be one of `fast`, `slow`, not `fats`; did you mean `fast`?",
            ),
            ("/config/ofset", "`caesar` has no option `ofset`; did you mean `offset`?"),
            ("/config/a~1b", "`caesar` has no option `a/b`"),
        ];
        assert_eq!(found, expected.map(|(place, text)| (place.to_owned(), text.to_owned())));
    }

    #[test]
    fn what_is_right_or_absent_is_no_mistake() {
        let found = mistakes(json!({"n": 4, "share": 1, "list": "x", "label": null}), |options| {
            assert_eq!(options.whole("n", 1..=9, 3), 4);
            assert!(options.share("share", 0.5) > 0.9);
            assert_eq!(options.texts("list"), Some(vec!["x".to_owned()]));
            assert_eq!(options.text("label", "d"), "d");
            assert!(options.flag("absent", true));
        });
        assert!(found.is_empty(), "{found:?}");
    }
}
