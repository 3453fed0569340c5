//! Texts and how they are compared: pure functions over strings, for assertions to judge with.

pub mod js;
