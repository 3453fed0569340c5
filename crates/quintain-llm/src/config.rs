//! Reads the options of a model, and its keys from options, variables or files. All mistakes are reported at once.

use std::path::Path;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use quintain_content::secret;
use secrecy::SecretString;
use serde_json::{Map, Value};
use url::Url;

use crate::environment::Environment;
use crate::spec::{ModelSpec, kind};

/// A mistake in the options of a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// The option at fault, a key of `config`.
    pub key: Option<String>,
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl ConfigError {
    pub fn new(message: impl Into<String>) -> Self {
        Self { key: None, message: message.into(), help: None }
    }

    pub fn of(key: &str, message: impl Into<String>) -> Self {
        Self { key: Some(key.to_owned()), message: message.into(), help: None }
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Options that give a key.
pub(crate) const KEY_KEYS: &[&str] = &["apiKey", "apiKeyEnvar", "apiKeyFile", "headers"];

/// Options about addresses and keys, whose letter case matters most.
pub(crate) const ADDRESS_KEYS: [&str; 5] =
    ["apiBaseUrl", "apiHost", "apiKey", "apiKeyEnvar", "apiKeyFile"];

/// Where a provider takes its key from.
pub(crate) struct KeySource<'a> {
    /// The variables, the most specific first.
    pub(crate) variables: &'a [&'a str],
    /// Without a key nothing can be asked.
    pub(crate) required: bool,
    /// As messages name the service.
    pub(crate) service: &'a str,
}

/// The options of one model while they are read.
pub(crate) struct Options<'a> {
    config: &'a Map<String, Value>,
    spec: &'a ModelSpec,
    outer: &'a dyn Environment,
    errors: Vec<ConfigError>,
    secrets: Vec<SecretString>,
}

impl<'a> Options<'a> {
    pub(crate) fn new(spec: &'a ModelSpec, outer: &'a dyn Environment) -> Self {
        Self { config: &spec.config, spec, outer, errors: Vec::new(), secrets: Vec::new() }
    }

    pub(crate) fn config(&self) -> &'a Map<String, Value> {
        self.config
    }

    /// A variable that is set and not empty; those of the entry first.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let own = self.spec.env.get(name).cloned();
        own.or_else(|| self.outer.variable(name)).filter(|text| !text.is_empty())
    }

    /// The first of several variables that is set.
    pub(crate) fn first_variable(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.variable(name))
    }

    pub(crate) fn fail(&mut self, error: ConfigError) {
        self.errors.push(error);
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.config.get(key).filter(|value| !value.is_null())
    }

    fn wrong<T>(&mut self, key: &str, expected: &str, found: &Value) -> Option<T> {
        let message = format!("`{key}` must be {expected}, not {}", kind(found));
        self.fail(ConfigError::of(key, message));
        None
    }

    pub(crate) fn text(&mut self, key: &str) -> Option<String> {
        match self.get(key)? {
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            other => self.wrong(key, "a text", other),
        }
    }

    pub(crate) fn flag(&mut self, key: &str) -> Option<bool> {
        match self.get(key)? {
            Value::Bool(flag) => Some(*flag),
            other => self.wrong(key, "true or false", other),
        }
    }

    pub(crate) fn number(&mut self, key: &str) -> Option<f64> {
        let value = self.get(key)?;
        match as_number(value) {
            Some(number) => Some(number),
            None => self.wrong(key, "a number", value),
        }
    }

    /// A number above 0.
    pub(crate) fn positive(&mut self, key: &str) -> Option<f64> {
        let number = self.number(key)?;
        if number > 0.0 && number.is_finite() {
            return Some(number);
        }
        self.fail(ConfigError::of(key, format!("`{key}` must be a number above 0")));
        None
    }

    /// A whole number from 0.
    pub(crate) fn natural(&mut self, key: &str) -> Option<u64> {
        let number = self.number(key)?;
        if number >= 0.0 && number.fract() == 0.0 {
            return Some(number as u64);
        }
        self.fail(ConfigError::of(key, format!("`{key}` must be a whole number from 0")));
        None
    }

    /// A whole number from 1.
    pub(crate) fn count(&mut self, key: &str) -> Option<u64> {
        let number = self.number(key)?;
        if number >= 1.0 && number.fract() == 0.0 {
            return Some(number as u64);
        }
        self.fail(ConfigError::of(key, format!("`{key}` must be a whole number above 0")));
        None
    }

    pub(crate) fn millis(&mut self, key: &str) -> Option<Duration> {
        self.count(key).map(Duration::from_millis)
    }

    pub(crate) fn object(&mut self, key: &str) -> Option<&'a Map<String, Value>> {
        match self.get(key)? {
            Value::Object(map) => Some(map),
            other => self.wrong(key, "a map", other),
        }
    }

    /// A base URL without a slash at its end. It may contain a password or a key.
    pub(crate) fn url(&mut self, key: Option<&str>, text: &str) -> Option<Url> {
        self.secrets.extend(secret::of_url(text).into_iter().map(|secret| secret.value));
        let parsed = Url::parse(text.trim().trim_end_matches('/')).ok();
        let web = parsed.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        if web.is_none() {
            let message = format!("`{}` is not a valid URL", secret::shown_url(text));
            let error = ConfigError { key: key.map(str::to_owned), message, help: None };
            self.fail(error.help("expected a URL such as `https://models.example/v1`"));
        }
        web
    }

    /// The key of the service: option, option naming a variable, key file, then the usual variables.
    pub(crate) fn key(&mut self, source: &KeySource<'_>) -> Option<SecretString> {
        let own = self.text("apiKey");
        let named = self.text("apiKeyEnvar");
        let from_named = named.as_ref().and_then(|name| self.variable(name));
        let file =
            self.text("apiKeyFile").and_then(|path| match self.outer.file(Path::new(&path)) {
                Ok(text) => Some(text.trim().to_owned()).filter(|key| !key.is_empty()),
                Err(why) => {
                    let message = format!("cannot read the key file `{path}`: {why}");
                    self.fail(ConfigError::of("apiKeyFile", message));
                    None
                }
            });
        // A named variable replaces the usual ones: a key must not reach another service than its own.
        let usual = if named.is_some() { &[] } else { source.variables };
        let key = own
            .or(from_named)
            .or(file)
            .or_else(|| self.first_variable(usual))
            .map(SecretString::from);
        if let Some(key) = &key {
            self.secrets.push(key.clone());
        } else if source.required {
            let names = named.iter().map(String::as_str).chain(usual.iter().copied());
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            let error = ConfigError::new(format!("{} needs a key", source.service));
            let variables = names.join(" or ");
            self.fail(
                error.help(format!("set {variables}, `config.apiKey` or `config.apiKeyFile`")),
            );
        }
        key
    }

    /// `headers` of the options. All of them are marked as sensitive, since users put keys there.
    pub(crate) fn headers(&mut self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in self.object("headers").into_iter().flatten() {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                other => {
                    let message = format!("header `{name}` must be a text, not {}", kind(other));
                    self.fail(ConfigError::of("headers", message));
                    continue;
                }
            };
            let parsed_name = HeaderName::try_from(name.as_str());
            let parsed_value = HeaderValue::try_from(text.as_str());
            let (Ok(header), Ok(mut parsed)) = (parsed_name, parsed_value) else {
                let message = format!("`{name}` is not a valid header");
                self.fail(ConfigError::of("headers", message));
                continue;
            };
            let found = secret::of_named(name, &text);
            self.secrets.extend(found.into_iter().map(|secret| secret.value));
            parsed.set_sensitive(true);
            headers.insert(header, parsed);
        }
        headers
    }

    /// Everything secret that was read.
    pub(crate) fn secrets(&self) -> Vec<SecretString> {
        self.secrets.clone()
    }

    /// Reports options that differ from those about addresses and keys only by letter case: they would have no effect, and
    /// the request with its key would go elsewhere.
    fn check_spelling(&mut self) {
        let misspelt = |key: &String| {
            let meant = ADDRESS_KEYS.iter().find(|name| name.eq_ignore_ascii_case(key));
            meant.filter(|name| *name != key).map(|name| (key.clone(), *name))
        };
        let found: Vec<_> = self.config.keys().filter_map(misspelt).collect();
        for (key, meant) in found {
            let error = ConfigError::of(&key, format!("unknown option `{key}`"));
            self.fail(error.help(format!("did you mean `{meant}`?")));
        }
    }

    /// # Errors
    /// All mistakes found while reading.
    pub(crate) fn finish<T>(mut self, made: Option<T>) -> Result<T, Vec<ConfigError>> {
        self.check_spelling();
        match made {
            Some(made) if self.errors.is_empty() => Ok(made),
            _ => Err(self.errors),
        }
    }
}

/// A number, or a text that is one: variables and templates make texts.
pub(crate) fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}
