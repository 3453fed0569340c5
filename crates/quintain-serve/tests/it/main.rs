//! The tools, called in process through a host that answers as a test wants.

mod hostile;
mod journey;
mod registry;
mod resources;
mod support;
