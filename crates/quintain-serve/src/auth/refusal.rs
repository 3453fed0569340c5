//! Why a token is refused.

/// Why a token is refused. Clients learn no more than this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("no token")]
    Missing,
    #[error("the token is not valid")]
    Invalid,
    #[error("the issuer cannot be reached")]
    IssuerUnreachable,
}
