//! Keeps a number of calls in flight, in the same way for every measured client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::Failure;

/// Time for `calls` calls, made by `in_flight` tasks that each wait for their response.
pub async fn drive<F, A>(calls: usize, in_flight: usize, call: F) -> Result<Duration, Failure>
where
    F: Fn() -> A + Send + Sync + 'static,
    A: Future<Output = Result<(), Failure>> + Send,
{
    let (call, left) = (Arc::new(call), Arc::new(AtomicUsize::new(calls)));
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..in_flight {
        let (call, left) = (call.clone(), left.clone());
        tasks.spawn(async move {
            let more = |left: usize| left.checked_sub(1);
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok() {
                call().await?;
            }
            Ok::<(), Failure>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(started.elapsed())
}

/// The tokio runtime of a client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// As the product does.
    One,
    /// One per core.
    Many,
}

/// A fresh runtime, so that one measurement does not influence the next.
pub fn runtime(threads: Threads) -> Result<Runtime, Failure> {
    let mut builder = match threads {
        Threads::One => Builder::new_current_thread(),
        Threads::Many => Builder::new_multi_thread(),
    };
    Ok(builder.enable_all().build()?)
}
