//! What all connections share: settings, jobs, the store, and what principals configured.

mod allowances;
pub mod confirm;
pub mod converters;
pub mod credentials;
pub mod entities;
mod garak_report;
pub mod generator;
pub mod id;
pub mod orchestrator;
pub mod policy;
pub mod results;
pub mod runs;
pub mod suite;
pub mod target;

use quintain_engine::Store;
use quintain_engine::jobs::Jobs;

pub use allowances::{Allowances, Quota};
pub use credentials::Credentials;
pub use runs::{ActiveRuns, RunProgress};

use crate::settings::Settings;
use crate::updates::Updates;

/// The platform behind the tools, prompts and resources.
pub struct Platform {
    pub settings: Settings,
    pub jobs: Jobs,
    pub store: Store,
    /// Where changes of resources are announced.
    pub updates: Updates,
    pub allowances: Allowances,
    pub credentials: Credentials,
    pub active: ActiveRuns,
}

impl Platform {
    /// The credentials of targets are kept in the state directory of the jobs; without one, in memory only.
    pub fn new(jobs: Jobs, store: Store, settings: Settings, allowances: Allowances) -> Self {
        let credentials = Credentials::new(jobs.world.state_dir.as_deref());
        let jobs = jobs.with_limit(allowances.concurrent_runs);
        let mut allowances = allowances;
        // Keys, tokens, the store and the audit log stay apart, also if the workspace contains their folder.
        allowances.hidden.extend(jobs.world.state_dir.clone());
        allowances.hidden.extend(store.path().parent().map(std::path::Path::to_owned));
        let (updates, active) = (Updates::default(), ActiveRuns::default());
        Self { settings, jobs, store, updates, allowances, credentials, active }
    }
}
