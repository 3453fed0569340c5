//! Ciphers and signalling alphabets that need no key to be told, or a short one.

pub(super) mod bijection;
pub(super) mod shifts;
pub(super) mod signals;
pub(super) mod transposition;
