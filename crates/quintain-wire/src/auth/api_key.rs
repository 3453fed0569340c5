//! An API key in a header or in the query of the URL.

use http::HeaderName;
use secrecy::{ExposeSecret, SecretString};

use super::fixed::{Fixed, header_safe};
use super::{AuthError, Credentials};
use crate::redact::Redactor;

/// Default name of the header or parameter.
pub(crate) const DEFAULT_NAME: &str = "X-API-Key";

/// Where an API key is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// A request header.
    #[default]
    Header,
    /// A parameter of the URL.
    Query,
}

pub(crate) fn api_key(
    value: &SecretString,
    key_name: Option<&str>,
    placement: Placement,
    redactor: &Redactor,
) -> Result<Fixed, AuthError> {
    const WHAT: &str = "the API key (`auth.value`)";
    let name = key_name.filter(|name| !name.is_empty()).unwrap_or(DEFAULT_NAME);
    let mut credentials = Credentials::default();
    match placement {
        Placement::Header => {
            header_safe(value, WHAT)?;
            let name = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| AuthError::HeaderName { name: name.to_owned() })?;
            credentials.headers.push((name, value.clone()));
        }
        Placement::Query if value.expose_secret().is_empty() => {
            return Err(AuthError::Empty { what: WHAT });
        }
        Placement::Query => credentials.query.push((name.to_owned(), value.clone())),
    }
    redactor.learn(value);
    Ok(Fixed(credentials))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: Option<&str>, placement: Placement) -> Result<Credentials, AuthError> {
        let value = SecretString::from("key_canary");
        api_key(&value, name, placement, &Redactor::default()).map(|fixed| fixed.0)
    }

    #[test]
    fn the_header_is_called_x_api_key_unless_named() {
        let credentials = key(None, Placement::Header).unwrap();
        assert_eq!(credentials.headers[0].0.as_str(), "x-api-key");
        let credentials = key(Some("X-Token"), Placement::Header).unwrap();
        assert_eq!(credentials.headers[0].0.as_str(), "x-token");
    }

    #[test]
    fn placement_query_adds_a_parameter_and_no_header() {
        let credentials = key(Some("key"), Placement::Query).unwrap();
        assert!(credentials.headers.is_empty());
        assert_eq!(credentials.query[0].0, "key");
        assert_eq!(credentials.query[0].1.expose_secret(), "key_canary");
    }

    #[test]
    fn a_name_that_is_no_header_name_is_reported_with_the_name() {
        let error = key(Some("bad name"), Placement::Header).unwrap_err().to_string();
        assert!(error.contains("`bad name`"), "{error}");
    }
}
