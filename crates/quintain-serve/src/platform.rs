//! What all connections share: settings, jobs, the store, and what principals configured.

pub mod confirm;
pub mod converters;
pub mod credentials;
pub mod entities;
pub mod generator;
pub mod id;
pub mod orchestrator;

pub mod policy;
pub mod results;

pub mod runs;
pub mod settings;
pub mod suite;
pub mod target;

use quintain_engine::Store;
use quintain_engine::jobs::Jobs;

pub use credentials::Credentials;
pub use runs::{ActiveRuns, RunProgress};
pub use settings::{PlatformSettings, Quota};

/// The platform behind the tools, prompts and resources.
pub struct Platform {
    pub jobs: Jobs,
    pub store: Store,
    pub settings: PlatformSettings,
    pub credentials: Credentials,
    pub active: ActiveRuns,
}

impl Platform {
    /// The credentials of targets are kept in the state directory of the jobs; without one, in memory only.
    pub fn new(jobs: Jobs, store: Store, settings: PlatformSettings) -> Self {
        let credentials = Credentials::new(jobs.world.state_dir.as_deref());
        let jobs = jobs.with_limit(settings.concurrent_runs);
        Self { jobs, store, settings, credentials, active: ActiveRuns::default() }
    }
}
