//! Ciphers and signalling alphabets, without a key or with a short one.

pub(super) mod bijection;
pub(super) mod shifts;
pub(super) mod signals;
pub(super) mod transposition;
