//! State shared by all connections.

use std::sync::Arc;
use std::time::Duration;

use super::resource_cache::ResourceCache;
use super::running::Parked;
use super::task_store::TaskStore;
use crate::audit::{Audit, Deed};
use crate::catalogue::Catalogue;
use crate::counters::Counters;
use crate::platform::Platform;
use crate::settings::Settings;

/// How long stopped runs may take to store what they have.
const LONGEST_FAREWELL: Duration = Duration::from_secs(5);

/// State shared by all connections.
pub struct Server {
    pub platform: Platform,
    pub catalogue: Catalogue,
    pub counters: Counters,
    audit: Option<Arc<Audit>>,
    pub(super) cache: ResourceCache,
    pub(super) tasks: TaskStore,
    /// Calls of modern clients that wait for an answer of the user.
    pub(super) parked: Parked,
}

impl Server {
    pub fn new(platform: Platform, catalogue: Catalogue, audit: Option<Audit>) -> Arc<Self> {
        let cache = ResourceCache::new(platform.settings.resource_cache_ttl);
        Arc::new(Self {
            platform,
            catalogue,
            counters: Counters::default(),
            audit: audit.map(Arc::new),
            cache,
            tasks: TaskStore::default(),
            parked: Parked::default(),
        })
    }

    pub fn settings(&self) -> &Settings {
        &self.platform.settings
    }

    /// Whether the next action can be recorded. What cannot be recorded is not done.
    pub async fn can_record(&self) -> bool {
        let Some(audit) = self.audit.clone() else { return true };
        match tokio::task::spawn_blocking(move || audit.check()).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                tracing::error!(%error, "the audit log cannot be continued");
                false
            }
            Err(_) => false,
        }
    }

    /// Records who did what. False if it cannot be recorded.
    pub async fn record(
        &self,
        owner: &str,
        action: &str,
        target: Option<&str>,
        outcome: &str,
    ) -> bool {
        let Some(audit) = self.audit.clone() else { return true };
        let (owner, action, outcome) = (owner.to_owned(), action.to_owned(), outcome.to_owned());
        let target = target.map(str::to_owned);
        let write = move || {
            let target = target.as_deref();
            audit.record(Deed { owner: &owner, action: &action, target, outcome: &outcome })
        };
        match tokio::task::spawn_blocking(write).await {
            Ok(Ok(())) => return true,
            Ok(Err(error)) => tracing::error!(%error, "cannot write the audit log"),
            Err(error) => tracing::error!(%error, "the audit log was not written"),
        }
        false
    }

    /// Stops all runs, so that they can be resumed, and cancels all calls, so that the process can end.
    pub fn stop(&self) {
        self.platform.active.stop_all();
        self.tasks.cancel_all();
        self.parked.cancel_all();
    }

    /// Waits until all runs have stored what they have.
    pub async fn finished(&self) {
        self.platform.active.finished(LONGEST_FAREWELL).await;
    }
}
