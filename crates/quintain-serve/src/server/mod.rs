//! The MCP server on rmcp, in both eras of the protocol: what the methods of the protocol mean for the registries. How bytes
//! arrive, and who sent them, is the business of `stdio` and of the module `http`.

mod batches;
mod call;
mod client_host;
mod completion;
mod conformance;
mod conformance_answers;
mod conformance_tasks;
mod connection;
mod envelope;
mod info;
mod legacy_tasks;
mod log_messages;
mod message_channel;
mod paging;
mod prompts;
mod resource_cache;
mod resources;
mod running;
mod shared;
mod stdio;
mod subscriptions;
mod task_store;
mod tools;

pub use batches::{has_batches, messages_of};
pub use connection::Connection;
pub use envelope::{Checked, check as check_message};
pub use info::with_task_capability;
pub use message_channel::MessageChannel;
pub use shared::Server;
pub use stdio::serve_stdio;
