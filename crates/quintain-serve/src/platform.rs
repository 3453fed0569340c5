//! What all connections share: settings, jobs, the store, and what principals configured.

use quintain_engine::Store;
use quintain_engine::jobs::Jobs;

/// The platform behind the tools, prompts and resources.
pub struct Platform {
    pub jobs: Jobs,
    pub store: Store,
}
