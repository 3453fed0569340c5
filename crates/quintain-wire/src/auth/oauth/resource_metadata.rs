//! The metadata of a protected resource (RFC 9728). Fields of the wrong type count as absent.

use serde_json::{Map, Value};
use url::Url;

/// The metadata of a protected resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourceMetadata {
    /// Its identifier.
    pub(crate) resource: Option<String>,
    /// The issuers whose tokens it accepts.
    pub(crate) authorization_servers: Vec<String>,
    /// The scopes it supports.
    pub(crate) scopes_supported: Option<Vec<String>>,
    /// Whether tokens must be bound to a key (RFC 9449).
    pub(crate) dpop_required: bool,
}

impl ResourceMetadata {
    /// Reads a document.
    pub(crate) fn from_object(object: &Map<String, Value>) -> Self {
        Self {
            resource: text(object, "resource"),
            authorization_servers: list(object, "authorization_servers").unwrap_or_default(),
            scopes_supported: list(object, "scopes_supported"),
            dpop_required: flag(object, "dpop_bound_access_tokens_required"),
        }
    }

    /// Whether a token for this resource may be sent to `server`: same origin, and a path above it.
    pub(crate) fn covers(&self, server: &Url) -> bool {
        let Some(resource) = &self.resource else { return true };
        let Ok(resource) = Url::parse(resource) else { return false };
        let (above, path) = (resource.path().trim_end_matches('/'), server.path());
        resource.origin() == server.origin()
            && path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

pub(super) fn text(object: &Map<String, Value>, name: &str) -> Option<String> {
    object.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

pub(super) fn flag(object: &Map<String, Value>, name: &str) -> bool {
    object.get(name) == Some(&Value::Bool(true))
}

pub(super) fn list(object: &Map<String, Value>, name: &str) -> Option<Vec<String>> {
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
}
