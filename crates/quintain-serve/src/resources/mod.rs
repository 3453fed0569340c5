//! The registry of resources.

use crate::resource::ResourceKind;

/// Every entry, in the order of lists.
pub static RESOURCES: &[&dyn ResourceKind] = &[];
