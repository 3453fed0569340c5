//! The caller. A transport identifies the caller once; tools only use it.

use axum::http::request::Parts;
use rmcp::{RoleServer, service::RequestContext};

/// The user of a request, and the rights of their credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) user: String,
    /// OAuth scopes; `None` if the credential is not limited by scopes.
    pub(crate) scopes: Option<Vec<String>>,
}

impl Caller {
    pub(crate) fn unlimited(user: impl Into<String>) -> Self {
        Self { user: user.into(), scopes: None }
    }

    /// The caller that the HTTP layer attached to this request, otherwise `fallback`.
    ///
    /// The service passes the HTTP head on with each message, so that a session always uses the
    /// credential of the current request and not that of its first one.
    pub(crate) fn of(request: &RequestContext<RoleServer>, fallback: &Self) -> Self {
        request
            .extensions
            .get::<Parts>()
            .and_then(|parts| parts.extensions.get::<Self>())
            .unwrap_or(fallback)
            .clone()
    }

    pub(crate) fn may_write(&self) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.iter().any(|scope| scope == "write"))
    }
}

/// The role of a user of TechMart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Customer,
    Support,
    Admin,
}

impl Role {
    pub(crate) const NAMES: [&'static str; 3] = ["customer", "support", "admin"];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "customer" => Some(Self::Customer),
            "support" => Some(Self::Support),
            "admin" => Some(Self::Admin),
            _ => None,
        }
    }

    pub(crate) fn is_staff(self) -> bool {
        self != Self::Customer
    }
}
