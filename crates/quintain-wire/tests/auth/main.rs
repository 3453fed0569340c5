//! Credentials for URL targets, tested with small servers in this process and with oidc-provider.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod assertions;
mod discovery;
mod dpop;
mod grants;
#[path = "../../examples/conformance-client/headless.rs"]
mod headless;
mod hostile;
mod login;
mod mix_up;
mod oidc;
mod renewal;
mod stored;
mod support;
