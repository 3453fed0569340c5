//! A static bearer token: `Authorization: Bearer <token>`.

use http::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};

use super::fixed::{Fixed, header_safe};
use super::{AuthError, Credentials};
use crate::redact::Redactor;

/// The header with `token`; a trailing line break, which tokens from files often have, is removed.
pub(crate) fn header(token: &SecretString) -> SecretString {
    SecretString::from(format!("Bearer {}", token.expose_secret().trim()))
}

pub(crate) fn bearer(token: &SecretString, redactor: &Redactor) -> Result<Fixed, AuthError> {
    let token = SecretString::from(token.expose_secret().trim());
    header_safe(&token, "the bearer token (`auth.token`)")?;
    redactor.learn(&token);
    let headers = vec![(AUTHORIZATION, header(&token))];
    Ok(Fixed(Credentials { headers, ..Credentials::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_becomes_an_authorization_header_and_is_masked() {
        let redactor = Redactor::default();
        let fixed = bearer(&SecretString::from("tok_canary\n"), &redactor).unwrap();
        let (name, value) = &fixed.0.headers[0];
        assert_eq!((name, value.expose_secret()), (&AUTHORIZATION, "Bearer tok_canary"));
        assert_eq!(redactor.text("got tok_canary"), "got ***");
    }

    #[test]
    fn an_empty_token_is_an_error_and_not_silence() {
        let error = bearer(&SecretString::from(" "), &Redactor::default()).err().unwrap();
        assert_eq!(
            error.to_string(),
            "the bearer token (`auth.token`) is empty; is the environment variable it comes from set?"
        );
    }

    #[test]
    fn a_token_with_a_line_break_inside_cannot_smuggle_a_header() {
        let token = SecretString::from("a\r\nX-Evil: 1");
        assert!(matches!(bearer(&token, &Redactor::default()), Err(AuthError::Unsendable { .. })));
    }
}
