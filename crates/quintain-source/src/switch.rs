//! Environment variables that switch something on.

use std::collections::BTreeMap;

/// Whether a variable has a value that means yes.
pub fn switched_on(env: &BTreeMap<String, String>, name: &str) -> bool {
    let value = env.get(name).map(|value| value.trim().to_ascii_lowercase());
    value.is_some_and(|value| matches!(value.as_str(), "1" | "true" | "yes" | "on"))
}
