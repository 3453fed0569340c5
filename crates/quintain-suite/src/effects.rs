//! The effects of running a suite: what it starts, runs, writes and contacts, and which environment variables each
//! of them receives. The suite is only read for this; nothing starts, and values of variables are not read.

mod attack;
mod collect;

pub use attack::of_attack;
pub use collect::{Models, of_suite};
