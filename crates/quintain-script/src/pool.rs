//! Threads that run scripts. A script gets a thread of its own with a stack of known size, and a
//! caller who has waited long enough can leave: most of the engine can be interrupted, but a few of
//! its built-in loops cannot.

use std::collections::VecDeque;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::engine::{Engine, Report, Task};
use crate::{Limits, ScriptError};

/// Several times what the engine is allowed, for the parts of it that do not count.
const STACK: usize = 4 << 20;
/// What a script's own limit is exceeded by before its thread is given up.
const GRACE: Duration = Duration::from_millis(250);
/// Threads that are kept for the next script.
const KEPT: usize = 16;

static IDLE: Mutex<VecDeque<Worker>> = Mutex::new(VecDeque::new());

struct Worker {
    jobs: mpsc::Sender<Job>,
}

struct Job {
    task: Task,
    reply: mpsc::Sender<Report>,
}

/// Runs a task and waits for it, but not longer than it may take.
pub(crate) fn run(task: Task) -> Result<Report, ScriptError> {
    let Limits { time, .. } = task.limits;
    let (reply, report) = mpsc::channel();
    let mut job = Job { task, reply };
    let worker = loop {
        let waiting = idle().pop_front();
        let fresh = waiting.is_none();
        let worker = if let Some(worker) = waiting {
            worker
        } else {
            // Two, so that one prepares itself while the other runs.
            keep(Worker::start()?);
            Worker::start()?
        };
        match worker.jobs.send(job) {
            Ok(()) => break worker,
            // The thread broke while it was idle; a new one that does is beyond help.
            Err(_) if fresh => return Err(broken()),
            Err(mpsc::SendError(back)) => job = back,
        }
    };
    match report.recv_timeout(time.saturating_add(GRACE)) {
        Ok(report) => {
            keep(worker);
            Ok(report)
        }
        // The thread ends by itself as soon as the engine lets it.
        Err(RecvTimeoutError::Timeout) => Err(ScriptError::TimedOut { after: time }),
        Err(RecvTimeoutError::Disconnected) => Err(broken()),
    }
}

/// For the next script. The one that has rested longest is next, for it is prepared.
fn keep(worker: Worker) {
    let mut idle = idle();
    if idle.len() < KEPT {
        idle.push_back(worker);
    }
}

fn idle() -> std::sync::MutexGuard<'static, VecDeque<Worker>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn broken() -> ScriptError {
    ScriptError::Engine { why: "its thread ended".to_owned() }
}

impl Worker {
    fn start() -> Result<Self, ScriptError> {
        let (jobs, next) = mpsc::channel();
        thread::Builder::new()
            .name("script".to_owned())
            .stack_size(STACK)
            .spawn(move || work(&next))
            .map_err(|error| ScriptError::Engine { why: error.to_string() })?;
        Ok(Self { jobs })
    }
}

/// The next engine is prepared while nobody waits. None is used twice, so nothing can leak from one
/// script into another.
fn work(jobs: &mpsc::Receiver<Job>) {
    loop {
        let engine = Engine::prepare();
        let Ok(Job { task, reply }) = jobs.recv() else { return };
        let report = match engine {
            Ok(engine) => engine.run(&task),
            Err(error) => Report::failed(ScriptError::Engine { why: error.to_string() }),
        };
        // Nobody listens any more if the caller gave up.
        let _ = reply.send(report);
    }
}
