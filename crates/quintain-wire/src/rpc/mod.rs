//! JSON-RPC over a transport that moves bytes: ids, waiting callers, deadlines, deliberate faults.

pub mod call;
pub mod connection;
mod encode;
pub mod fault;
pub mod notices;
pub mod responder;

pub use call::{CallError, Deadline, Reply, Request};
pub use connection::Connection;
pub use fault::Fault;
pub use notices::Notice;
pub use responder::{Elicited, Responder, Script};
