//! Who a caller is: local tokens, tokens of our own authorisation server, and tokens of an external OpenID Connect issuer.

mod claims;
mod ended;
mod external;
mod keys;
mod ledger;
pub mod oauth;
mod private_file;
mod refusal;
mod verifier;

pub use claims::{Claims, LOCAL_AUDIENCE, LOCAL_ISSUER};
pub use external::{ExternalIssuer, IssuerError};
pub use keys::{KeyError, KeyRing};
pub use ledger::{Ledger, TokenRow};
pub use private_file::folder_in;
pub(crate) use private_file::write as write_private;
pub use refusal::Refusal;
pub use verifier::Verifier;
