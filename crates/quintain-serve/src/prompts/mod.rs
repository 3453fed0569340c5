//! The registry of prompts.

use crate::prompt::Prompt;

/// Every entry, in the order of lists.
pub static PROMPTS: &[&dyn Prompt] = &[];
