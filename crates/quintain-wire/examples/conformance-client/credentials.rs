//! The credentials that each scenario passes to its client.

use std::sync::Arc;

use quintain_wire::auth::oauth::SigningKey;
use quintain_wire::auth::{AuthConfig, GrantConfig, IdentityProvider, LoginOptions, OAuthConfig};
use secrecy::SecretString;
use serde_json::Value;

use super::Result;
use super::headless::HeadlessOpener;

/// The suite expects this client id in all scenarios that allow a metadata document.
const CLIENT_METADATA: &str = "https://conformance-test.local/client-metadata.json";

pub(crate) fn config(scenario: &str, context: &Value) -> Result<AuthConfig> {
    if !scenario.starts_with("auth/") {
        return Ok(AuthConfig::None);
    }
    let text = |name: &str| context[name].as_str().map(str::to_owned);
    let secret = |name: &str| text(name).map(SecretString::from);
    let grant = match scenario {
        "auth/client-credentials-jwt" => GrantConfig::ClientCredentials {
            key: Some(SigningKey {
                pem: secret("private_key_pem").ok_or("the context has no key")?,
                algorithm: text("signing_algorithm").ok_or("the context names no algorithm")?,
                key_id: None,
            }),
        },
        "auth/client-credentials-basic" => GrantConfig::ClientCredentials { key: None },
        "auth/wif-jwt-bearer" => GrantConfig::JwtBearer {
            assertion: secret("valid_jwt").ok_or("the context has no assertion")?,
        },
        "auth/cross-app-access-complete-flow" | "auth/enterprise-managed-authorization" => {
            GrantConfig::IdentityAssertion(IdentityProvider {
                token_url: text("idp_token_endpoint").unwrap_or_default().parse()?,
                client_id: text("idp_client_id").ok_or("the context names no client")?,
                client_secret: None,
                id_token: secret("idp_id_token").ok_or("the context has no ID token")?,
            })
        }
        _ => {
            return Ok(AuthConfig::Interactive {
                options: LoginOptions {
                    client_id: text("client_id"),
                    client_secret: secret("client_secret"),
                    client_metadata_url: Some(CLIENT_METADATA.parse()?),
                    ..LoginOptions::default()
                },
                opener: Arc::new(HeadlessOpener),
            });
        }
    };
    Ok(AuthConfig::OAuth(OAuthConfig {
        client_id: text("client_id"),
        client_secret: secret("client_secret"),
        ..OAuthConfig::new(grant)
    }))
}
