//! The registry of tools.

use crate::tool::Tool;

/// Every entry, in the order of lists.
pub static TOOLS: &[&dyn Tool] = &[];
