//! Credentials that never change, so a refusal cannot be answered with new ones.

use futures_util::future::BoxFuture;
use http::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use super::{AuthError, Authorizer, Credentials, HttpRefusal};

pub(crate) struct Fixed(pub(crate) Credentials);

impl Authorizer for Fixed {
    fn credentials(&self) -> BoxFuture<'_, Result<Credentials, AuthError>> {
        Box::pin(async { Ok(self.0.clone()) })
    }

    fn refused(&self, _: HttpRefusal) -> BoxFuture<'_, Result<bool, AuthError>> {
        Box::pin(async { Ok(false) })
    }
}

/// Rejects a secret that is empty or not allowed in headers, and names it.
pub(crate) fn header_safe(secret: &SecretString, what: &'static str) -> Result<(), AuthError> {
    if secret.expose_secret().is_empty() {
        return Err(AuthError::Empty { what });
    }
    if HeaderValue::from_str(secret.expose_secret()).is_err() {
        return Err(AuthError::Unsendable { what });
    }
    Ok(())
}
