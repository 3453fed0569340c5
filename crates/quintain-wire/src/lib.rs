//! The MCP client side: frames, JSON-RPC, protocol eras, transports and auth.
//!
//! A tester has to send what a typed SDK refuses to send, and to keep what a typed SDK drops, so this crate moves
//! bytes first and offers types second. It knows nothing of suites, checks or attacks.

pub mod auth;
pub mod connect;
pub mod destination;
pub mod era;
pub mod frame;
pub mod limits;
pub mod message;
pub mod net;
pub mod recording;
pub mod redact;
mod resolver;
pub mod rpc;
pub mod session;
pub mod transport;
mod zone;
