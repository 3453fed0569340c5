//! Orchestration: sessions with targets, and the translation of frames into evidence.

pub mod exchange;
pub mod sessions;
pub mod store;
pub mod world;

pub use sessions::{OpenError, RouteError, Sessions};
pub use store::{Store, StoreError};
pub use world::World;
