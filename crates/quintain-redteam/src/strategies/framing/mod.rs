//! Frames around the text that make it look like something else. The frames carry nothing harmful
//! themselves.

pub(super) mod art;
pub(super) mod code;
pub(super) mod decode;
pub(super) mod markup;
pub(super) mod puzzles;
pub(super) mod shots;
pub(super) mod templates;

/// Where the text goes in a template.
pub(super) const SLOT: &str = "{objective}";

pub(super) fn filled(template: &str, text: &str) -> String {
    template.replace(SLOT, text)
}
