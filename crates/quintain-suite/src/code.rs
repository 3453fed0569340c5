//! User code in a suite: inline or in a file, in one of three languages. JavaScript runs in this process;
//! for the others a check asks a question, which the user's interpreter answers.

mod context;
mod grade;

pub use crate::run_code::RunCode;
pub use context::context;
pub use grade::{Grade, Voice};
