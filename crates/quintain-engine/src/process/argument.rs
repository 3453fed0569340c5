//! Command-line arguments. Every user of the machine can read them, so secrets in data are masked.

use std::ffi::{OsStr, OsString};

use quintain_wire::redact::{MASK, Redactor};
use serde_json::Value;

/// Words in the names of settings that contain credentials.
const CREDENTIAL_WORDS: [&str; 17] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "key",
    "keys",
    "passphrase",
    "passwd",
    "password",
    "secret",
    "secrets",
    "token",
    "tokens",
];

/// One argument. Every constructor that takes data masks secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Argument(OsString);

impl Argument {
    /// Literal text, from this program or the suite.
    pub(crate) fn written(text: impl Into<OsString>) -> Self {
        Self(text.into())
    }

    /// Text that may contain secrets: masks known ones.
    pub(crate) fn text(text: &str, redactor: &Redactor) -> Self {
        Self(redactor.text(text).into_owned().into())
    }

    /// A value as JSON: masks known secrets, and every string whose key names a secret.
    pub(crate) fn json(value: &Value, redactor: &Redactor) -> Self {
        Self(masked(value, redactor).to_string().into())
    }
}

impl AsRef<OsStr> for Argument {
    fn as_ref(&self) -> &OsStr {
        &self.0
    }
}

fn masked(value: &Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => redactor.text(text).into_owned().into(),
        Value::Array(items) => items.iter().map(|item| masked(item, redactor)).collect(),
        Value::Object(entries) => {
            let entry = |(name, value): (&String, &Value)| {
                let value = match value {
                    Value::String(text) if !text.is_empty() && names_a_secret(name) => MASK.into(),
                    value => masked(value, redactor),
                };
                (redactor.text(name).into_owned(), value)
            };
            Value::Object(entries.iter().map(entry).collect())
        }
        other => other.clone(),
    }
}

/// Whether a name contains a word for a credential: `apiKey`, `X-Auth-Token`, `DB_PASSWORD`, but not `author`.
fn names_a_secret(name: &str) -> bool {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.iter().any(|word| CREDENTIAL_WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_credentials_are_recognised() {
        for name in ["apiKey", "api_key", "X-Api-Key", "OPENAI_API_KEY", "token", "dbPassword"] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in ["author", "keywords", "tokenizer", "monkey", "model", ""] {
            assert!(!names_a_secret(name), "{name}");
        }
    }

    #[test]
    fn known_secrets_and_named_ones_are_masked_at_any_depth() {
        let redactor = Redactor::default();
        redactor.learn(&SecretString::from("s3cr3t-canary"));
        let value = json!({"config": {"apiKey": "literal", "url": "http://h/?k=s3cr3t-canary",
            "list": ["s3cr3t-canary", 1], "max_tokens": 5, "author": "bob"}});
        let Argument(shown) = Argument::json(&value, &redactor);
        let expected = json!({"config": {"apiKey": "***", "url": "http://h/?k=***",
            "list": ["***", 1], "max_tokens": 5, "author": "bob"}});
        assert_eq!(shown.to_str(), Some(expected.to_string().as_str()));
        assert_eq!(Argument::text("say s3cr3t-canary", &redactor), Argument::written("say ***"));
    }
}
