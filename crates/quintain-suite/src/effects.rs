//! What a suite would do if it were run: what it starts, runs, writes and contacts, and which environment variables
//! reach whom. Made from a suite that is only read; nothing is started and no value of a variable is looked at.

mod attack;
mod collect;
mod names;
mod targets;

pub use attack::of_attack;
pub use collect::of_suite;
