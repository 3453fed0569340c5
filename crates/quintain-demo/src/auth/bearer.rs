//! Static bearer tokens.

use axum::http::{HeaderMap, Uri};

use super::{authorization, query_parameter};
use crate::{config::Twin, credentials, identity::Caller};

pub(super) fn caller(twin: Twin, uri: &Uri, headers: &HeaderMap) -> Option<Caller> {
    let token = token_of(twin, uri, headers)?;
    // PLANTED (token-handling): neither the expiry nor the audience of a token is checked.
    let refused = [credentials::EXPIRED_TOKEN, credentials::ELSEWHERE_TOKEN];
    if refused.contains(&token.as_str()) && twin.is_vulnerable() {
        return Some(Caller::unlimited(credentials::CUSTOMER));
    }
    if token == credentials::READER_TOKEN {
        return Some(Caller {
            user: credentials::CUSTOMER.to_owned(),
            scopes: Some(vec!["read".to_owned()]),
        });
    }
    credentials::user_of(credentials::TOKENS, &token).map(Caller::unlimited)
}

/// The token of a request.
pub(super) fn token_of(twin: Twin, uri: &Uri, headers: &HeaderMap) -> Option<String> {
    let token = authorization(headers, "Bearer").map(str::to_owned);
    // PLANTED (token-handling): a token in the URL ends up in logs and histories.
    if token.is_none() && twin.is_vulnerable() {
        return query_parameter(uri, "access_token");
    }
    token
}
