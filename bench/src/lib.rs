//! Code that the benchmarks and their raw servers share.

pub mod answer;
pub mod serve;
