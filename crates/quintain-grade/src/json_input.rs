//! JSON from files that others wrote: records one by one in bounded memory, with the line of what is broken. Knows
//! nothing of traces.

pub(crate) mod prefix;
pub(crate) mod record;
pub(crate) mod sample;
mod scan;
pub(crate) mod tolerant;
pub(crate) mod walk;
