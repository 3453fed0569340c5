//! placeholder
pub struct Pattern;
