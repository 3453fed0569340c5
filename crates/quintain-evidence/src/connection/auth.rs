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
    ClientCredentials,
    Password { username: String, password: SecretString },
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
