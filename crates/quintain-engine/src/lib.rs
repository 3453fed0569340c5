//! Runs suites and attacks: opens sessions with targets, turns frames into evidence, and stores runs.

pub mod confined;
mod eval;
pub mod exchange;
mod external_services;
mod files;
pub mod grade;
pub mod inquiry;
mod interpreters;
pub mod jobs;
pub mod masked;
pub mod metrics;
pub mod model_readiness;
pub mod models;
pub mod planted;
pub mod policy;
mod process;
pub mod redteam;
mod role_models;
pub mod secrets;
pub mod sessions;
pub mod store;
mod targets;
mod web;
pub mod world;

pub use files::{AllowedFiles, Disk, allowed};
pub use policy::{Access, Denied, Policy};
pub use role_models::read_only as read_model;
pub use sessions::{OpenError, RouteError, Sessions};
pub use store::{Store, StoreError};
pub use targets::kinds as target_kinds;
pub use world::{Sampler, World};
