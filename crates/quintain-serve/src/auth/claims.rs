//! The claims of tokens, and the principal that they describe.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::principal::{Group, Principal, Scope};

/// The issuer of tokens made by `quintain token new`.
pub const LOCAL_ISSUER: &str = "quintain";
/// The audience of local tokens that name none: every server with the same state folder.
pub const LOCAL_AUDIENCE: &str = "quintain:local";

/// The claims of a token that we signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    pub iss: String,
    pub sub: String,
    pub aud: String,
    pub exp: u64,
    pub nbf: u64,
    pub iat: u64,
    pub jti: String,
    /// Space-separated, as OAuth writes scopes.
    pub scope: String,
    /// Made by the owner of this machine without `--scope`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operator: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The id of the local token that approved this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// All tokens that follow from one consent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
}

impl Claims {
    pub(super) fn principal(&self) -> Principal {
        if self.operator {
            let mut principal = Principal::local(&self.sub);
            // Owners of two tokens stay apart: to see what belongs to others needs the admin scope.
            principal.scopes.retain(|scope| scope.group != Group::Admin);
            return principal;
        }
        let scopes = self.scope.split_whitespace().filter_map(Scope::parse).collect();
        Principal { owner: self.sub.clone(), operator: false, scopes }
    }
}

/// The principal of an external token. Its owner contains the issuer, so that it differs from every local subject.
pub(super) fn external_principal(issuer: &str, claims: &Value) -> Option<Principal> {
    let subject =
        claims.get("sub").and_then(Value::as_str).filter(|subject| !subject.is_empty())?;
    let digest = Sha256::digest(issuer.as_bytes());
    let mark = digest.iter().take(4).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let scopes = external_words(claims).iter().filter_map(|word| Scope::parse(word)).collect();
    Some(Principal { owner: format!("oidc:{mark}:{subject}"), operator: false, scopes })
}

/// Words that can be scopes: `scope`, `scp`, and the roles of Keycloak. A role may have the prefix `quintain:` or `quintain-`.
fn external_words(claims: &Value) -> Vec<String> {
    let mut words = Vec::new();
    for name in ["scope", "scp"] {
        match claims.get(name) {
            Some(Value::String(text)) => words.extend(text.split_whitespace().map(str::to_owned)),
            Some(Value::Array(list)) => {
                words.extend(list.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            _ => {}
        }
    }
    let realm = claims.pointer("/realm_access/roles");
    let clients = claims.get("resource_access").and_then(Value::as_object);
    let clients = clients
        .into_iter()
        .flat_map(|clients| clients.values())
        .filter_map(|client| client.get("roles"));
    for roles in realm.into_iter().chain(clients) {
        let roles = roles.as_array().into_iter().flatten().filter_map(Value::as_str);
        // A bare role `admin` is an administrator of the realm, not of this server.
        words.extend(roles.filter_map(|role| {
            role.strip_prefix("quintain:")
                .or_else(|| role.strip_prefix("quintain-"))
                .map(str::to_owned)
        }));
    }
    for word in &mut words {
        if let Some(plain) =
            word.strip_prefix("quintain:").or_else(|| word.strip_prefix("quintain-"))
        {
            *word = plain.to_owned();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::principal::Access;

    #[test]
    fn roles_of_keycloak_are_scopes_only_with_our_prefix() {
        let claims = json!({
            "sub": "u1",
            "scope": "openid datasets:read",
            "realm_access": {"roles": ["admin", "quintain:results:read", "offline_access"]},
            "resource_access": {"quintain": {"roles": ["quintain-generators:write"]}},
        });
        let principal = external_principal("https://sso.example/realms/a", &claims).unwrap();
        assert!(!principal.is_admin() && !principal.operator);
        assert!(principal.may(Scope::new(Group::Results, Access::Read)));
        assert!(principal.may(Scope::new(Group::Generators, Access::Write)));
        assert!(principal.may(Scope::new(Group::Datasets, Access::Read)));
        assert!(!principal.may(Scope::new(Group::Datasets, Access::Write)));
        let other = external_principal("https://sso.example/realms/b", &claims).unwrap();
        assert_ne!(principal.owner, other.owner);
    }
}
