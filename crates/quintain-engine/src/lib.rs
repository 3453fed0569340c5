//! Orchestration: sessions with targets, and the translation of frames into evidence.

pub mod exchange;
pub mod sessions;
pub mod world;

pub use sessions::{OpenError, RouteError, Sessions};
pub use world::World;
