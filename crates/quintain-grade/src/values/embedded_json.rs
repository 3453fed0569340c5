//! JSON in texts: many servers return it as a text block.

use serde_json::Value;

/// More text is not read; checks that would miss it do not apply then.
pub(super) const MAX_TEXT: usize = 24 << 20;

/// JSON that is written as a text.
pub(crate) fn embedded(text: &str) -> Option<Value> {
    let text = text.trim();
    let framed = text.starts_with('{') && text.ends_with('}')
        || text.starts_with('[') && text.ends_with(']');
    if !framed || text.len() > MAX_TEXT {
        return None;
    }
    serde_json::from_str(text).ok()
}
