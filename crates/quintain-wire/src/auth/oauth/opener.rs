//! Opens the login page of an authorization server.

use futures_util::future::BoxFuture;
use url::Url;

use crate::auth::AuthError;

/// Opens the login page.
pub trait Opener: Send + Sync + std::fmt::Debug {
    /// Starts the user agent; may return before the login is finished.
    fn open<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<(), AuthError>>;
}
