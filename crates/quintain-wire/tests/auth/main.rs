//! Credentials for URL targets, tried against small servers of our own and against oidc-provider.

mod discovery;
mod grants;
mod hostile;
mod login;
mod oidc;
mod renewal;
mod stored;
mod support;
