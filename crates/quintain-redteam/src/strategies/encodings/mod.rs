//! Encodings of the same bytes.

pub(super) mod bases;
pub(super) mod digits;
pub(super) mod escapes;
pub(super) mod literals;
pub(super) mod mail;
