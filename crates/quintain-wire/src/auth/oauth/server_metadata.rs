//! The metadata of an authorization server (RFC 8414, OpenID Connect Discovery), verified when it is read: credentials
//! may be sent to the endpoints in a [`ServerMetadata`].
//!
//! A document is valid for the issuer that it was requested for (RFC 8414 section 3.3). A document of the server under
//! test is also valid for the origin of that server, if all its endpoints are there.

use serde_json::{Map, Value};
use url::Url;

use super::GrantContext;
use super::issuer::Issuer;
use super::resource_metadata::{flag, list, text};
use crate::auth::AuthError;
use crate::auth::error::shown;

/// The metadata of an authorization server. Its endpoints are available only through methods, so that none is used
/// unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerMetadata {
    issuer: String,
    endpoints: Endpoints,
    pub(crate) scopes_supported: Option<Vec<String>>,
    /// Must contain `S256`.
    pub(crate) code_challenge_methods_supported: Option<Vec<String>>,
    /// How clients can authenticate.
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The algorithms it supports for proofs of possession (RFC 9449).
    pub(crate) dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// Whether it sends `iss` with the code (RFC 9207).
    pub(crate) iss_parameter: bool,
    /// Whether a client id may be the URL of a Client ID Metadata Document.
    pub(crate) client_id_metadata_documents: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Endpoints {
    authorization: Option<String>,
    token: Option<String>,
    registration: Option<String>,
}

impl Endpoints {
    fn named(&self) -> impl Iterator<Item = &String> {
        let Self { authorization, token, registration } = self;
        [authorization, token, registration].into_iter().flatten()
    }
}

/// A document of another issuer than the requested one; its data must not be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// The issuer in the document.
    pub(crate) found: Option<String>,
}

impl ServerMetadata {
    /// Reads a document from a well-known URL of `issuer`.
    pub(crate) fn of_issuer(object: &Map<String, Value>, issuer: &Issuer) -> Result<Self, Foreign> {
        let found = text(object, "issuer");
        match found {
            Some(found) if issuer.is(&found) => Ok(Self::read(object, found)),
            found => Err(Foreign { found }),
        }
    }

    /// Reads a document from a well-known URL of the server under test, which no metadata names as an issuer.
    ///
    /// Some servers of the 2025-03-26 protocol leave the issuer out, or name one below their own origin. That is safe if all
    /// endpoints are on that origin as well: then credentials are sent only to the server itself.
    pub(crate) fn of_target(
        object: &Map<String, Value>,
        issuer: &Issuer,
        server: &Url,
    ) -> Result<Self, Foreign> {
        Self::of_issuer(object, issuer).or_else(|foreign| {
            let here = |named: &String| {
                Url::parse(named).is_ok_and(|named| named.origin() == server.origin())
            };
            let found = foreign.found.clone().unwrap_or_else(|| issuer.as_str().to_owned());
            let metadata = Self::read(object, found);
            let own = here(&metadata.issuer) && metadata.endpoints.named().all(here);
            if own { Ok(metadata) } else { Err(foreign) }
        })
    }

    /// The default endpoints of the 2025-03-26 protocol, if there is no metadata.
    pub(crate) fn assumed(server: &Url) -> Self {
        let issuer = Issuer::origin(server).as_str().to_owned();
        let endpoint = |path| Some(format!("{issuer}{path}"));
        let endpoints = Endpoints {
            authorization: endpoint("/authorize"),
            token: endpoint("/token"),
            registration: endpoint("/register"),
        };
        Self { endpoints, ..Self::read(&Map::new(), issuer) }
    }

    fn read(object: &Map<String, Value>, issuer: String) -> Self {
        Self {
            issuer,
            endpoints: Endpoints {
                authorization: text(object, "authorization_endpoint"),
                token: text(object, "token_endpoint"),
                registration: text(object, "registration_endpoint"),
            },
            scopes_supported: list(object, "scopes_supported"),
            code_challenge_methods_supported: list(object, "code_challenge_methods_supported"),
            token_endpoint_auth_methods_supported: list(
                object,
                "token_endpoint_auth_methods_supported",
            ),
            dpop_signing_alg_values_supported: list(object, "dpop_signing_alg_values_supported"),
            iss_parameter: flag(object, "authorization_response_iss_parameter_supported"),
            client_id_metadata_documents: flag(object, "client_id_metadata_document_supported"),
        }
    }

    /// The identifier of the authorization server, as written in its document.
    pub(crate) fn issuer(&self) -> &str {
        &self.issuer
    }

    pub(crate) fn has_token_endpoint(&self) -> bool {
        self.endpoints.token.is_some()
    }

    /// Whether the server lists the scope.
    pub(crate) fn knows_scope(&self, scope: &str) -> bool {
        self.scopes_supported.as_ref().is_some_and(|list| list.iter().any(|known| known == scope))
    }

    /// The token endpoint.
    pub(crate) async fn token_endpoint(
        &self,
        grant_context: &GrantContext,
    ) -> Result<Url, AuthError> {
        self.endpoint(self.endpoints.token.as_deref(), grant_context).await
    }

    /// The endpoint for client registration, if any.
    pub(crate) async fn registration_endpoint(
        &self,
        grant_context: &GrantContext,
    ) -> Result<Option<Url>, AuthError> {
        match &self.endpoints.registration {
            Some(named) => grant_context.endpoint(named).await.map(Some),
            None => Ok(None),
        }
    }

    /// The login page.
    ///
    /// An issuer with its login page on one server and its token endpoint on another could use the login page of an honest
    /// server (RFC 9700 section 4.4). With `iss` support it cannot, because the honest server sends its own `iss`.
    pub(crate) async fn authorization_endpoint(
        &self,
        grant_context: &GrantContext,
    ) -> Result<Url, AuthError> {
        let page = self.endpoint(self.endpoints.authorization.as_deref(), grant_context).await?;
        let token = self.token_endpoint(grant_context).await?;
        let own = Url::parse(&self.issuer).is_ok_and(|issuer| issuer.origin() == page.origin());
        if own || page.origin() == token.origin() || self.iss_parameter {
            return Ok(page);
        }
        Err(AuthError::BorrowedLogin {
            issuer: shown(&self.issuer),
            page: page.origin().ascii_serialization(),
            token: token.origin().ascii_serialization(),
        })
    }

    async fn endpoint(
        &self,
        named: Option<&str>,
        grant_context: &GrantContext,
    ) -> Result<Url, AuthError> {
        let missing = || {
            AuthError::Failed(format!(
                "the authorization server {} names no endpoint for logins",
                shown(&self.issuer)
            ))
        };
        grant_context.endpoint(named.ok_or_else(missing)?).await
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const SERVER: &str = "https://mcp.example/mcp";

    fn of_target(document: &Value) -> Result<ServerMetadata, Foreign> {
        let server: Url = SERVER.parse().unwrap();
        let object = document.as_object().unwrap();
        ServerMetadata::of_target(object, &Issuer::origin(&server), &server)
    }

    #[test]
    fn fields_of_the_wrong_type_count_as_absent() {
        let metadata = of_target(&json!({
            "issuer": 7, "token_endpoint": ["x"], "scopes_supported": "a b",
            "code_challenge_methods_supported": [1, "S256", null],
            "authorization_response_iss_parameter_supported": "true",
        }));
        let mut expected = ServerMetadata::read(&Map::new(), "https://mcp.example".to_owned());
        expected.code_challenge_methods_supported = Some(vec!["S256".to_owned()]);
        assert_eq!(metadata, Ok(expected));
    }

    #[test]
    fn the_document_of_an_issuer_has_to_name_that_issuer() {
        let server: Url = "https://as.example".parse().unwrap();
        let issuer = Issuer::origin(&server);
        let read = |document: Value| {
            ServerMetadata::of_issuer(document.as_object().unwrap(), &issuer).is_ok()
        };
        let elsewhere = "https://tokens.example/token";
        assert!(read(json!({"issuer": "https://as.example", "token_endpoint": elsewhere})));
        assert!(!read(json!({"issuer": "https://as.example/x", "token_endpoint": elsewhere})));
        assert!(!read(json!({"token_endpoint": "https://as.example/token"})));
        assert!(!read(json!({"issuer": ["https://as.example"]})));
    }

    #[test]
    fn a_target_that_is_no_issuer_speaks_for_its_own_origin_only() {
        let own = "https://mcp.example/token";
        for honest in [
            json!({"issuer": "https://mcp.example", "token_endpoint": "https://else.example/t"}),
            json!({"token_endpoint": own}),
            json!({"issuer": "https://mcp.example/oauth", "token_endpoint": own}),
        ] {
            assert!(of_target(&honest).is_ok(), "{honest}");
        }
        for hostile in [
            json!({"issuer": "https://honest.example", "token_endpoint": own}),
            json!({"token_endpoint": own, "authorization_endpoint": "https://honest.example/a"}),
            json!({"token_endpoint": own, "registration_endpoint": "https://honest.example/r"}),
            json!({"issuer": "https://mcp.example/oauth", "token_endpoint": "https://evil/t"}),
            json!({"issuer": "https://mcp.example:444", "token_endpoint": own}),
            json!({"issuer": "nonsense", "token_endpoint": own}),
            json!({"token_endpoint": "/token"}),
        ] {
            assert!(of_target(&hostile).is_err(), "{hostile}");
        }
    }

    proptest! {
        /// Whatever a target says: an endpoint on another origin is named by the requested issuer.
        #[test]
        fn no_endpoint_elsewhere_without_the_issuer_itself(
            issuer in prop_oneof!["https://(mcp|as)\\.example(/[ab]?)?", ".*"],
            token in "https://(mcp|as|evil)\\.example(:8)?/[a-z]?",
        ) {
            let document = json!({"issuer": issuer, "token_endpoint": token});
            if let Ok(found) = of_target(&document) {
                let here = Url::parse(&token).unwrap().origin()
                    == Url::parse(SERVER).unwrap().origin();
                prop_assert!(here || found.issuer().trim_end_matches('/') == "https://mcp.example");
            }
        }
    }
}
