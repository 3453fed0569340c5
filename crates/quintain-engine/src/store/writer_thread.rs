//! The thread that writes a run. It takes changes from the queue, compresses them and writes everything that gathered
//! in one transaction. The run waits only while the queue is full. If the disk fails, the stored copy is incomplete,
//! but the run continues.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::commit::{Batch, Change, CommitError, Target, abandon, commit};
use super::event_log::EventLog;
use super::pack::Packer;
use super::{Store, StoreError, heartbeat};

/// Capacity of the queue. Results wait uncompressed, so it is short.
const QUEUE: usize = 256;
/// How long changes gather for a transaction, since a transaction costs about as much as ten results. A process that is
/// killed loses what gathered.
const GATHER: Duration = Duration::from_millis(20);
/// Number of consecutive failed transactions after which writing stops.
const MAX_FAILED_COMMITS: u32 = 3;

/// The thread of one run.
pub(super) struct WriterThread {
    changes: mpsc::Sender<Change>,
    log: EventLog,
    write_errors: oneshot::Receiver<WriteErrors>,
    path: PathBuf,
}

/// What could not be written.
#[derive(Default)]
pub(super) struct WriteErrors {
    pub(super) missing: usize,
    pub(super) first: Option<StoreError>,
}

impl WriteErrors {
    fn add(&mut self, error: StoreError) {
        tracing::debug!(%error, "results are not stored");
        self.first.get_or_insert(error);
    }
}

impl WriterThread {
    /// Starts the thread with a change that starts a run, or that resumes the run of this number.
    pub(super) fn start(store: &Store, run: Option<i64>, first: Change) -> Self {
        let (changes, waiting) = mpsc::channel(QUEUE);
        // Cannot fail: the queue is empty.
        let _ = changes.try_send(first);
        let log = EventLog::new();
        let (report, write_errors) = oneshot::channel();
        let work = Work { store: store.clone(), waiting, log: log.clone() };
        // Without a thread there is no report, and `finish` returns an error.
        let _ = std::thread::Builder::new().name("store".to_owned()).spawn(move || {
            // The database has its own thread, so the runtime needs no more than timers.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            if let Ok(runtime) = runtime {
                runtime.block_on(work.run(run, report));
            }
        });
        Self { changes, log, write_errors, path: store.path.clone() }
    }

    pub(super) fn log(&self) -> &EventLog {
        &self.log
    }

    /// Queues a change. Waits only if the queue is full.
    pub(super) async fn send(&self, change: Change) {
        if let Err(mpsc::error::TrySendError::Full(change)) = self.changes.try_send(change) {
            self.log.flush();
            // Fails if the thread ended, which `finish` reports.
            let _ = self.changes.send(change).await;
        }
    }

    /// Waits until everything is written.
    pub(super) async fn finish(self) -> WriteErrors {
        drop(self.changes);
        self.log.flush();
        let gone = || StoreError::Database {
            path: self.path,
            why: "the thread that writes to it ended".to_owned(),
        };
        self.write_errors.await.unwrap_or_else(|_| WriteErrors { missing: 0, first: Some(gone()) })
    }
}

/// What the thread owns.
struct Work {
    store: Store,
    waiting: mpsc::Receiver<Change>,
    log: EventLog,
}

/// Listeners must not wait for a thread that ended or never started.
impl Drop for Work {
    fn drop(&mut self) {
        self.log.close();
    }
}

impl Work {
    async fn run(mut self, run: Option<i64>, report: oneshot::Sender<WriteErrors>) {
        let mut write_errors = WriteErrors::default();
        let mut connection = match self.store.pool.acquire().await {
            Ok(connection) => Some(connection),
            Err(error) => {
                write_errors.add(self.store.failed(error));
                None
            }
        };
        let mut target = Target::new(run);
        let mut packer = Packer::new();
        let mut group = Vec::new();
        let mut beats = interval(heartbeat::INTERVAL);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        beats.reset();
        let (mut strikes, mut ended) = (0, false);
        loop {
            // An empty group is a heartbeat.
            tokio::select! {
                taken = self.waiting.recv_many(&mut group, QUEUE) => if taken == 0 { break },
                () = self.log.flush_requested() => {}
                _ = beats.tick() => {}
            }
            self.gather(&group).await;
            let events = self.log.take();
            // The cases that these events refer to were queued before them.
            while let Ok(change) = self.waiting.try_recv() {
                group.push(change);
            }
            let batch = Batch::of(&mut group, events, &mut packer);
            let has_ended = ended;
            ended |= batch.is_last();
            let written = match &mut connection {
                Some(connection) if strikes < MAX_FAILED_COMMITS => {
                    commit(connection, &mut target, &batch).await
                }
                // Keep emptying the queue, so that the run does not block.
                _ => Err(CommitError::NoRun),
            };
            match written {
                Ok(()) => strikes = 0,
                // A run that came to nothing deletes itself.
                Err(CommitError::Deleted) if has_ended => {}
                Err(CommitError::Deleted) => write_errors.add(StoreError::Deleted),
                // A late heartbeat is not an error.
                Err(_) if batch.is_empty() => {}
                Err(why) => {
                    strikes += 1;
                    write_errors.missing += batch.cases();
                    match why {
                        CommitError::Failed(error) => write_errors.add(self.store.failed(error)),
                        CommitError::TakenOver => write_errors.add(StoreError::TakenOver),
                        CommitError::Deleted | CommitError::NoRun => {}
                    }
                }
            }
        }
        if let (false, Some(connection)) = (ended, &mut connection)
            && let Err(error) = abandon(connection, &target).await
        {
            write_errors.add(self.store.failed(error));
        }
        self.log.close();
        let _ = report.send(write_errors);
        if let Some(connection) = connection {
            // Everything is written, so a failure does no harm.
            let _ = connection.close().await;
        }
    }

    /// Waits for more changes, unless the run starts or ends, or somebody waits for the events.
    async fn gather(&self, group: &[Change]) {
        let is_urgent = |change: &Change| {
            matches!(
                change,
                Change::Start(_) | Change::Resume { .. } | Change::Finish(_) | Change::Discard
            )
        };
        if group.is_empty() || group.len() >= QUEUE || group.iter().any(is_urgent) {
            return;
        }
        tokio::select! {
            () = sleep(GATHER) => {}
            () = self.log.flush_requested() => {}
        }
    }
}
