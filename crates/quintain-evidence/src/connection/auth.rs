//! How a server wants to be authenticated to. Credentials are secrets: `Debug` does not show them.

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
    /// Tokens that an interactive login has stored.
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
    /// The client acts for itself, proven by its secret or by a key that signs (`private_key_jwt`).
    ClientCredentials {
        key: Option<SigningKey>,
    },
    Password {
        username: String,
        password: SecretString,
    },
    /// A JWT that somebody else signed, such as that of a workload (RFC 7523).
    JwtBearer {
        assertion: SecretString,
    },
    /// The login of a user at an identity provider, exchanged for an assertion.
    IdentityAssertion(IdentityProvider),
}

/// A private key that signs the assertions of a client.
#[derive(Debug, Clone)]
pub struct SigningKey {
    pub pem: SecretString,
    pub algorithm: &'static str,
    pub key_id: Option<String>,
}

/// The identity provider of an enterprise, and the login of one of its users.
#[derive(Debug, Clone)]
pub struct IdentityProvider {
    pub token_url: String,
    pub client_id: String,
    pub client_secret: Option<SecretString>,
    pub id_token: SecretString,
}

impl Grant {
    /// Its secrets.
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

    /// What else it was given as text.
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

/// How the client proves itself at the token endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClientAuth {
    /// What the metadata of the authorization server offers; the body if it does not say.
    #[default]
    Auto,
    Body,
    Basic,
}
