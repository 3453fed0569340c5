//! JSON-RPC over a transport that moves bytes: ids, waiting callers, deadlines.

pub mod call;
pub mod connection;
mod encode;
pub mod notices;
pub mod responder;

pub use call::{CallError, Deadline, Reply, Request};
pub use connection::Connection;
pub use notices::Notice;
pub use responder::{Elicited, Responder, Script};
