//! The configuration of a demo server. The caller provides it; this crate reads no environment.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use crate::credentials;

/// Which of the two implementations of the tools runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Twin {
    /// Has every weakness of [`crate::weaknesses`].
    Vulnerable,
    /// Has none of them.
    #[default]
    Patched,
}

impl Twin {
    pub(crate) fn is_vulnerable(self) -> bool {
        self == Self::Vulnerable
    }
}

/// What an HTTP client must present. The values that are accepted are in [`crate::credentials`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Auth {
    /// Every caller is [`DemoConfig::user`].
    #[default]
    None,
    Bearer,
    Basic,
    ApiKey {
        /// Name of the header or of the query parameter.
        name: String,
        placement: ApiKeyPlacement,
    },
    /// Access tokens from the authorization server that runs in the same HTTP app.
    OAuth,
}

impl Auth {
    /// An API key in the `X-API-Key` header.
    pub fn api_key() -> Self {
        Self::ApiKey { name: "X-API-Key".into(), placement: ApiKeyPlacement::Header }
    }
}

/// The place of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApiKeyPlacement {
    #[default]
    Header,
    Query,
}

/// Settings of one demo server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DemoConfig {
    pub twin: Twin,
    /// The caller if the transport carries no credential: stdio, and HTTP without auth.
    /// Also the user in whose name the authorize endpoint approves.
    pub user: String,
    pub auth: Auth,
    /// Lifetime of OAuth access tokens.
    pub token_ttl: Duration,
    /// Number of tools per `tools/list` page; all on one page if absent.
    pub page_size: Option<usize>,
    /// Address for HTTP; port 0 selects a free one.
    pub bind: SocketAddr,
    /// Directory for data, which is kept; a temporary directory that is removed at the end if absent.
    pub data_dir: Option<PathBuf>,
}

impl Default for DemoConfig {
    fn default() -> Self {
        Self {
            twin: Twin::default(),
            user: credentials::CUSTOMER.into(),
            auth: Auth::default(),
            token_ttl: Duration::from_secs(90),
            page_size: None,
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            data_dir: None,
        }
    }
}

impl DemoConfig {
    pub fn new(twin: Twin) -> Self {
        Self { twin, ..Self::default() }
    }

    pub fn with_user(mut self, user: impl Into<String>) -> Self {
        self.user = user.into();
        self
    }

    pub fn with_auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    pub fn with_token_ttl(mut self, token_ttl: Duration) -> Self {
        self.token_ttl = token_ttl;
        self
    }

    pub fn with_page_size(mut self, page_size: usize) -> Self {
        self.page_size = Some(page_size.max(1));
        self
    }

    pub fn with_bind(mut self, bind: SocketAddr) -> Self {
        self.bind = bind;
        self
    }

    pub fn with_data_dir(mut self, data_dir: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(data_dir.into());
        self
    }
}
