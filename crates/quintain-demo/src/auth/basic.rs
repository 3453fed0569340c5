//! User name and password with each request.

use axum::http::HeaderMap;
use base64::{Engine, prelude::BASE64_STANDARD};

use super::authorization;
use crate::{credentials, identity::Caller};

pub(super) fn caller(headers: &HeaderMap) -> Option<Caller> {
    let (name, password) = login(headers)?;
    credentials::user_of_pair(credentials::LOGINS, &name, &password).map(Caller::unlimited)
}

/// Name and secret of a `Basic` authorization; OAuth clients use it as well.
pub(super) fn login(headers: &HeaderMap) -> Option<(String, String)> {
    let decoded = BASE64_STANDARD.decode(authorization(headers, "Basic")?).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    let (name, password) = text.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}
