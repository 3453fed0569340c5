//! One limited exchange with an authorization server: no redirects, at most 1 MiB, one deadline for everything.

use std::sync::Arc;
use std::time::Duration;

use ::http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use ::http::{HeaderMap, Method, StatusCode};
use bytes::Bytes;
use reqwest::RequestBuilder;
use serde_json::Value;
use url::Url;

use super::boundary::{Boundary, Resolver};
use crate::auth::AuthError;
use crate::auth::error::shown;
use crate::destination::Destinations;
use crate::net::{self, Client, SendError};

/// Maximum size of a metadata document or token response.
const BODY_BYTES: usize = 1 << 20;

#[derive(Clone)]
pub(crate) struct Http {
    client: Client,
    timeout: Duration,
}

/// The response.
pub(crate) struct HttpReply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Http {
    pub(crate) fn new(
        timeout: Duration,
        to: &Url,
        boundary: Arc<Boundary>,
        destinations: &Destinations,
    ) -> Result<Self, AuthError> {
        let resolver = Arc::new(Resolver(boundary));
        let client = Client::build(net::builder(timeout, to), destinations, Some(resolver));
        let client = client.map_err(|error| AuthError::Failed(net::chain(&error)))?;
        Ok(Self { client, timeout })
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) fn post(&self, url: &Url) -> RequestBuilder {
        self.client.request(Method::POST, url.clone()).header(ACCEPT, "application/json")
    }

    pub(crate) fn form(&self, url: &Url, body: String) -> RequestBuilder {
        self.post(url).header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)
    }

    pub(crate) async fn get(&self, url: &Url, timeout: Duration) -> Result<HttpReply, AuthError> {
        let request =
            self.client.request(Method::GET, url.clone()).header(ACCEPT, "application/json");
        self.within(request, url, timeout.min(self.timeout)).await
    }

    pub(crate) async fn send(
        &self,
        request: RequestBuilder,
        url: &Url,
    ) -> Result<HttpReply, AuthError> {
        self.within(request, url, self.timeout).await
    }

    /// Only the headers of the response; its body may be an endless stream.
    pub(crate) async fn headers(
        &self,
        request: RequestBuilder,
        url: &Url,
    ) -> Result<HeaderMap, AuthError> {
        let after = self.timeout;
        match tokio::time::timeout(after, self.client.send(request)).await {
            Ok(Ok(response)) => Ok(response.headers().clone()),
            Ok(Err(error)) => Err(unsent(error, url)),
            Err(_) => Err(AuthError::TimedOut { url: url.to_string(), after }),
        }
    }

    async fn within(
        &self,
        request: RequestBuilder,
        url: &Url,
        after: Duration,
    ) -> Result<HttpReply, AuthError> {
        let exchange = async {
            let response = self.client.send(request).await.map_err(|error| unsent(error, url))?;
            let (status, headers) = (response.status(), response.headers().clone());
            match net::bounded_body(response, BODY_BYTES).await {
                Ok(body) => Ok(HttpReply { status, headers, body }),
                Err(error) => {
                    Err(AuthError::BadAnswer { url: url.to_string(), reason: net::chain(&error) })
                }
            }
        };
        tokio::time::timeout(after, exchange)
            .await
            .unwrap_or_else(|_| Err(AuthError::TimedOut { url: url.to_string(), after }))
    }
}

fn unsent(error: SendError, url: &Url) -> AuthError {
    match error {
        SendError::NotAllowed(error) => error.into(),
        SendError::Failed(_) => {
            AuthError::Unreachable { url: url.to_string(), reason: error.to_string() }
        }
    }
}

impl HttpReply {
    /// The body as a JSON object; anything else is `None`.
    pub(crate) fn object(&self) -> Option<serde_json::Map<String, Value>> {
        match serde_json::from_slice(&self.body) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// The status as text, with the target of a redirect that was not followed.
    pub(crate) fn status_line(&self) -> String {
        match self.headers.get(LOCATION).filter(|_| self.status.is_redirection()) {
            Some(to) => format!(
                "{}, a redirect to {} that is not followed",
                self.status,
                shown(&String::from_utf8_lossy(to.as_bytes()))
            ),
            None => self.status.to_string(),
        }
    }

    /// The media type of the body.
    pub(crate) fn kind(&self) -> String {
        match self.headers.get(CONTENT_TYPE) {
            Some(kind) => format!("`{}`", shown(&String::from_utf8_lossy(kind.as_bytes()))),
            None => "a body without a type".to_owned(),
        }
    }

    /// The start of the body, for errors about responses that are not JSON.
    pub(crate) fn excerpt(&self) -> String {
        shown(&String::from_utf8_lossy(&self.body[..self.body.len().min(400)]))
    }
}
