//! How many jobs run concurrently. A job beyond the limit is queued: its run is stored, nothing of it is started.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::eval::{Stop, stopped};
use crate::store::Writer;

/// The slots that jobs share; without a limit there are always more.
#[derive(Clone, Default)]
pub(super) struct Slots {
    runs: Option<Arc<Semaphore>>,
    /// As many suites are loaded concurrently. Separate, so that a request can wait in the store as `queued`.
    loads: Option<Arc<Semaphore>>,
}

impl Slots {
    /// At least one.
    pub(super) fn limited(limit: usize) -> Self {
        let slots = || Some(Arc::new(Semaphore::new(limit.max(1))));
        Self { runs: slots(), loads: slots() }
    }

    /// Waits until a suite may be loaded. The permit is freed when it is dropped.
    pub(super) async fn wait_to_load(&self) -> Option<OwnedSemaphorePermit> {
        self.loads.clone()?.acquire_owned().await.ok()
    }

    /// A slot for one job.
    pub(super) fn reserve(&self) -> Slot {
        let permit = self.runs.clone().and_then(|slots| slots.try_acquire_owned().ok());
        Slot { slots: self.runs.clone(), permit }
    }
}

/// The slot of a job; freed when it is dropped.
pub(super) struct Slot {
    slots: Option<Arc<Semaphore>>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Slot {
    /// Whether the job has to wait.
    pub(super) fn is_queued(&self) -> bool {
        self.slots.is_some() && self.permit.is_none()
    }

    /// Waits until the job may run. A job that is cancelled meanwhile needs no slot.
    pub(super) async fn wait_for_turn(&mut self, stop: &mut Stop, writer: Option<&Writer>) {
        let Some(slots) = self.slots.clone().filter(|_| self.permit.is_none()) else { return };
        tokio::select! {
            permit = slots.acquire_owned() => self.permit = permit.ok(),
            () = stopped(stop) => {}
        }
        if let Some(writer) = writer {
            writer.begin().await;
        }
    }
}
