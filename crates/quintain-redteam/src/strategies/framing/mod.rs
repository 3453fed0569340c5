//! Frames around the text that make it look like something else. The frames themselves are harmless.

pub(super) mod art;
pub(super) mod code;
pub(super) mod decode;
pub(super) mod markup;
pub(super) mod puzzles;
pub(super) mod scholarly;
pub(super) mod shots;
pub(super) mod templates;
pub(super) mod web_page;

/// Placeholder for the text in a template.
pub(super) const SLOT: &str = "{objective}";

pub(super) fn filled(template: &str, text: &str) -> String {
    template.replace(SLOT, text)
}
