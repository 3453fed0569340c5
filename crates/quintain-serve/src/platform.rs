//! What all connections share: settings, jobs, the store, and what principals configured.

use quintain_engine::Store;
use quintain_engine::jobs::Jobs;

use crate::settings::Settings;
use crate::updates::Updates;

/// The platform behind the tools, prompts and resources.
pub struct Platform {
    pub settings: Settings,
    pub jobs: Jobs,
    pub store: Store,
    /// Where changes of resources are announced.
    pub updates: Updates,
}
