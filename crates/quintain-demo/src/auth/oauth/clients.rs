//! OAuth clients: the documented ones, and those that register themselves (RFC 7591).

use std::{collections::HashMap, sync::Arc};

use axum::{Json, extract::State, http::StatusCode};
use serde_json::{Value, json};

use super::{super::Gate, error::OAuthError, random_text};
use crate::credentials;

/// The data of one client.
#[derive(Debug, Clone)]
pub(super) struct Client {
    /// `None` for a public client.
    pub(super) secret: Option<String>,
    /// The user that the client acts as without approval.
    pub(super) user: Option<&'static str>,
    /// `None` for the documented clients, which may use any address on this machine.
    pub(super) redirect_uris: Option<Vec<String>>,
}

#[derive(Default)]
pub(super) struct Clients(HashMap<String, Client>);

impl Clients {
    pub(super) fn known() -> Self {
        let clients = credentials::CLIENTS.iter().map(|((id, secret), user)| {
            let client =
                Client { secret: Some((*secret).into()), user: Some(user), redirect_uris: None };
            ((*id).to_owned(), client)
        });
        Self(clients.collect())
    }

    pub(super) fn get(&self, id: &str) -> Option<Client> {
        self.0.get(id).cloned()
    }
}

/// The dynamic registration endpoint.
pub(super) async fn register(
    State(gate): State<Arc<Gate>>,
    Json(request): Json<Value>,
) -> Result<(StatusCode, Json<Value>), OAuthError> {
    let redirect_uris: Vec<String> = request["redirect_uris"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    if redirect_uris.is_empty() || redirect_uris.iter().any(|uri| url::Url::parse(uri).is_err()) {
        return Err(OAuthError::InvalidRedirectUri);
    }
    let method = request["token_endpoint_auth_method"].as_str().unwrap_or("client_secret_basic");
    let secret = if method == "none" { None } else { Some(random_text()?) };
    let id = format!("dyn-{}", random_text()?);

    let mut answer = json!({
        "client_id": id,
        "redirect_uris": redirect_uris,
        "token_endpoint_auth_method": method,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    });
    if let Some(name) = request["client_name"].as_str() {
        answer["client_name"] = name.into();
    }
    if let Some(secret) = &secret {
        answer["client_secret"] = secret.as_str().into();
        answer["client_secret_expires_at"] = 0.into();
    }
    let client = Client { secret, user: None, redirect_uris: Some(redirect_uris) };
    gate.oauth.clients().0.insert(id, client);
    Ok((StatusCode::CREATED, Json(answer)))
}
