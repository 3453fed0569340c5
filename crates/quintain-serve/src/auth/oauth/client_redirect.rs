//! The way back to a client, with a code or an error.

use axum::response::{IntoResponse as _, Redirect, Response};
use url::Url;

use super::error::OAuthError;
use super::provider::Provider;

/// Sends the browser back to the client.
pub(super) fn back(
    provider: &Provider,
    redirect_uri: &str,
    state: Option<&str>,
    outcome: Result<&str, OAuthError>,
) -> Response {
    let Ok(mut target) = Url::parse(redirect_uri) else {
        return OAuthError::InvalidRedirectUri.into_response();
    };
    {
        let mut query = target.query_pairs_mut();
        match outcome {
            Ok(code) => query.append_pair("code", code),
            Err(error) => query.append_pair("error", error.word()),
        };
        if let Some(state) = state {
            query.append_pair("state", state);
        }
        query.append_pair("iss", provider.verifier.base_url());
    }
    Redirect::to(target.as_str()).into_response()
}
