//! The two metadata documents: of the protected resource (RFC 9728) and of its authorization server
//! (RFC 8414, OpenID Connect Discovery). Fields of the wrong type count as absent.

use serde_json::{Map, Value};
use url::Url;

/// What a protected resource says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceMetadata {
    /// Its identifier.
    pub resource: Option<String>,
    /// The issuers it accepts tokens from.
    pub authorization_servers: Vec<String>,
    /// The scopes it knows.
    pub scopes_supported: Option<Vec<String>>,
    /// Whether tokens must be bound to a key (RFC 9449).
    pub dpop_required: bool,
}

/// What an authorization server says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerMetadata {
    /// Its identifier.
    pub issuer: Option<String>,
    /// Where users log in.
    pub authorization_endpoint: Option<String>,
    /// Where tokens are asked for.
    pub token_endpoint: Option<String>,
    /// Where clients register themselves.
    pub registration_endpoint: Option<String>,
    /// The scopes it knows.
    pub scopes_supported: Option<Vec<String>>,
    /// `S256`, one hopes.
    pub code_challenge_methods_supported: Option<Vec<String>>,
    /// How clients can prove themselves.
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The algorithms it knows for proofs of possession (RFC 9449).
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// Whether it sends `iss` along with the code (RFC 9207).
    pub iss_parameter: bool,
    /// Whether a client id may be the URL of a Client ID Metadata Document.
    pub client_id_metadata_documents: bool,
}

impl ResourceMetadata {
    /// Reads a document.
    pub fn from_object(object: &Map<String, Value>) -> Self {
        Self {
            resource: text(object, "resource"),
            authorization_servers: list(object, "authorization_servers").unwrap_or_default(),
            scopes_supported: list(object, "scopes_supported"),
            dpop_required: flag(object, "dpop_bound_access_tokens_required"),
        }
    }

    /// Whether a token for this resource may be sent to `server`: same origin, and a path above it.
    pub fn covers(&self, server: &Url) -> bool {
        let Some(resource) = &self.resource else { return true };
        let Ok(resource) = Url::parse(resource) else { return false };
        let (above, path) = (resource.path().trim_end_matches('/'), server.path());
        resource.origin() == server.origin()
            && path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl ServerMetadata {
    /// Reads a document.
    pub fn from_object(object: &Map<String, Value>) -> Self {
        Self {
            issuer: text(object, "issuer"),
            authorization_endpoint: text(object, "authorization_endpoint"),
            token_endpoint: text(object, "token_endpoint"),
            registration_endpoint: text(object, "registration_endpoint"),
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

    /// The endpoints that the 2025-03-26 protocol assumes where there is no metadata at all.
    pub fn default_for(origin: &str) -> Self {
        Self {
            authorization_endpoint: Some(format!("{origin}/authorize")),
            token_endpoint: Some(format!("{origin}/token")),
            registration_endpoint: Some(format!("{origin}/register")),
            ..Self::default()
        }
    }

    /// Whether the scope is among those the server knows.
    pub fn knows_scope(&self, scope: &str) -> bool {
        self.scopes_supported.as_ref().is_some_and(|list| list.iter().any(|known| known == scope))
    }
}

fn text(object: &Map<String, Value>, name: &str) -> Option<String> {
    object.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn flag(object: &Map<String, Value>, name: &str) -> bool {
    object.get(name) == Some(&Value::Bool(true))
}

fn list(object: &Map<String, Value>, name: &str) -> Option<Vec<String>> {
    let items = object.get(name)?.as_array()?;
    Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_covers_its_own_paths_and_nothing_else() {
        let covers = |resource: &str, server: &str| {
            let metadata =
                ResourceMetadata { resource: Some(resource.to_owned()), ..Default::default() };
            metadata.covers(&server.parse().unwrap())
        };
        assert!(covers("https://h/mcp", "https://h/mcp"));
        assert!(covers("https://H", "https://h/mcp"));
        assert!(covers("https://h/", "https://h/a/b"));
        assert!(!covers("https://h/mc", "https://h/mcp"));
        assert!(!covers("https://evil/mcp", "https://h/mcp"));
        assert!(!covers("http://h/mcp", "https://h/mcp"));
        assert!(!covers("nonsense", "https://h/mcp"));
    }

    #[test]
    fn fields_of_the_wrong_type_count_as_absent() {
        let value = serde_json::json!({
            "issuer": 7, "token_endpoint": ["x"], "scopes_supported": "a b",
            "code_challenge_methods_supported": [1, "S256", null],
            "authorization_response_iss_parameter_supported": "true",
        });
        let metadata = ServerMetadata::from_object(value.as_object().unwrap());
        let expected = ServerMetadata {
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            ..Default::default()
        };
        assert_eq!(metadata, expected);
    }
}
