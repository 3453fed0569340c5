//! What must be shown nowhere, and how that is decided: by the name that a value has, or by its form. Pure;
//! who masks what was found here is no business of this module.

mod rule;
mod url;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::SecretString;

pub use rule::{is_credential, is_secret, looks_random, names_a_secret};
pub use url::{in_queries, of_url, shown_url};

/// A text that must be shown nowhere.
#[derive(Debug, Clone)]
pub struct Secret {
    pub value: SecretString,
    /// What can be shown instead: a URL without its secret parts. A mask, if there is nothing.
    pub shown: Option<String>,
}

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: SecretString::from(value.into()), shown: None }
    }
}

/// The secrets in a value that is one: the parts of a URL, a token without its scheme, a password without
/// the user.
pub fn of_value(value: &str) -> Vec<Secret> {
    if value.contains("://") && !value.contains(char::is_whitespace) {
        return of_url(value);
    }
    let mut found = vec![Secret::new(value)];
    let Some((scheme, credential)) = value.trim().split_once(' ') else { return found };
    let credential = credential.trim();
    if !scheme.chars().all(char::is_alphanumeric) || credential.contains(char::is_whitespace) {
        return found;
    }
    found.push(Secret::new(credential));
    let decoded = STANDARD.decode(credential).ok().and_then(|text| String::from_utf8(text).ok());
    if let (true, Some(pair)) = (scheme.eq_ignore_ascii_case("basic"), decoded) {
        found.extend(pair.split_once(':').map(|(_, password)| Secret::new(password)));
    }
    found
}

/// The secrets in a value of this name: of a variable, a header, a part of a query.
pub fn of_named(name: &str, value: &str) -> Vec<Secret> {
    if value.contains("://") {
        of_url(value)
    } else if is_secret(name, value) {
        of_value(value)
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    fn texts(found: &[Secret]) -> Vec<&str> {
        found.iter().map(|secret| secret.value.expose_secret()).collect()
    }

    #[test]
    fn a_token_is_a_secret_without_its_scheme_and_a_password_without_its_user() {
        assert_eq!(
            texts(&of_named("Authorization", "Bearer abcd1234")),
            ["Bearer abcd1234", "abcd1234"]
        );
        let basic = of_named("authorization", "Basic dXNlcjpodW50ZXIy");
        assert_eq!(texts(&basic), ["Basic dXNlcjpodW50ZXIy", "dXNlcjpodW50ZXIy", "hunter2"]);
        assert_eq!(texts(&of_named("X-Token", "two words here")), ["two words here"]);
    }

    #[test]
    fn a_url_under_any_name_is_a_secret_in_its_parts_only() {
        let found = of_named("DATABASE", "postgres://app:s3cret-pw@db.example.org/main");
        assert!(texts(&found).contains(&"s3cret-pw"));
        assert_eq!(found[0].shown.as_deref(), Some("postgres://app:***@db.example.org/main"));
        assert!(of_named("TOKEN_URL", "https://issuer.example.org/token").is_empty());
    }
}
