//! HTTP Basic: user name and password as base64 of their UTF-8 bytes (RFC 7617).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};

use super::fixed::Fixed;
use super::{AuthError, Credentials};
use crate::redact::Redactor;

/// `Basic` followed by the base64 of `username:password`.
pub(crate) fn header(username: &str, password: &SecretString) -> SecretString {
    let pair = format!("{username}:{}", password.expose_secret());
    SecretString::from(format!("Basic {}", STANDARD.encode(pair)))
}

pub(crate) fn basic(
    username: &str,
    password: &SecretString,
    redactor: &Redactor,
) -> Result<Fixed, AuthError> {
    if username.is_empty() {
        return Err(AuthError::Empty { what: "the user name (`auth.username`)" });
    }
    if username.contains(':') {
        return Err(AuthError::ColonInUsername);
    }
    redactor.learn(password);
    let value = header(username, password);
    // The base64 of the pair differs from the base64 of the password, so it is learned separately.
    let encoded = value.expose_secret().trim_start_matches("Basic ");
    redactor.learn(&SecretString::from(encoded));
    let headers = vec![(AUTHORIZATION, value)];
    Ok(Fixed(Credentials { headers, ..Credentials::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pair_is_encoded_as_utf_8_and_both_forms_are_masked() {
        let redactor = Redactor::default();
        let fixed = basic("jürgen", &SecretString::from("pässword"), &redactor).unwrap();
        let value = fixed.0.headers[0].1.expose_secret();
        assert_eq!(value, "Basic asO8cmdlbjpww6Rzc3dvcmQ=");
        assert_eq!(redactor.text(value), "Basic ***");
        assert_eq!(redactor.text("pässword"), "***");
    }

    #[test]
    fn a_colon_in_the_user_name_is_refused_because_the_server_would_split_it_there() {
        let error = basic("a:b", &SecretString::from("secret"), &Redactor::default());
        assert!(matches!(error, Err(AuthError::ColonInUsername)));
    }
}
