//! How to authenticate to a server. Credentials are secrets: `Debug` does not show them.

use secrecy::SecretString;

#[derive(Debug, Clone, Default)]
pub enum Auth {
    #[default]
    None,
    Bearer {
        token: SecretString,
    },
    Basic {
        username: String,
        password: SecretString,
    },
    ApiKey {
        value: SecretString,
        key_name: String,
        placement: ApiKeyPlacement,
    },
    OAuth(OAuth),
    /// Tokens stored by an interactive login.
    Stored,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ApiKeyPlacement {
    #[default]
    Header,
    Query,
}

#[derive(Debug, Clone)]
pub struct OAuth {
    pub grant: Grant,
    /// Discovered from the server if absent.
    pub token_url: Option<String>,
    pub client_id: Option<String>,
    pub client_secret: Option<SecretString>,
    pub client_auth: ClientAuth,
    pub scopes: Vec<String>,
    pub audience: Option<String>,
    pub resource: Option<String>,
}

#[derive(Debug, Clone)]
pub enum Grant {
    /// The client acts for itself and authenticates with its secret or with a signing key (`private_key_jwt`).
    ClientCredentials {
        key: Option<SigningKey>,
    },
    Password {
        username: String,
        password: SecretString,
    },
    /// A JWT signed by another issuer, such as that of a workload (RFC 7523).
    JwtBearer {
        assertion: SecretString,
    },
    /// A user's login at an identity provider, exchanged for an assertion.
    IdentityAssertion(IdentityProvider),
}

/// A private key that signs the client's assertions.
#[derive(Debug, Clone)]
pub struct SigningKey {
    pub pem: SecretString,
    pub algorithm: &'static str,
    pub key_id: Option<String>,
}

/// An enterprise's identity provider, and the login of one of its users.
#[derive(Debug, Clone)]
pub struct IdentityProvider {
    pub token_url: String,
    pub client_id: String,
    pub client_secret: Option<SecretString>,
    pub id_token: SecretString,
}

impl Grant {
    /// The secret values.
    pub fn secrets(&self) -> Vec<&SecretString> {
        match self {
            Self::ClientCredentials { key } => key.iter().map(|key| &key.pem).collect(),
            Self::Password { password, .. } => vec![password],
            Self::JwtBearer { assertion } => vec![assertion],
            Self::IdentityAssertion(provider) => {
                provider.client_secret.iter().chain([&provider.id_token]).collect()
            }
        }
    }

    /// The other texts of the configuration.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::ClientCredentials { key } => {
                key.iter().filter_map(|key| key.key_id.as_deref()).collect()
            }
            Self::Password { username, .. } => vec![username],
            Self::JwtBearer { .. } => Vec::new(),
            Self::IdentityAssertion(provider) => vec![&provider.token_url, &provider.client_id],
        }
    }
}

/// How the client authenticates at the token endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClientAuth {
    /// What the authorization server's metadata offers; the request body if the metadata does not say.
    #[default]
    Auto,
    Body,
    Basic,
}
