//! What the measuring program and its raw servers share.

pub mod answer;
