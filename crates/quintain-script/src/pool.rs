//! Threads that run scripts. A script gets its own thread with a stack of known size, and a
//! caller can stop waiting: most of the engine can be interrupted, but a few of its
//! built-in loops cannot.

use std::collections::VecDeque;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::engine::{Engine, Report, Task};
use crate::{Limits, ScriptError};

/// Several times the engine's limit, for the parts that do not count.
const STACK: usize = 4 << 20;
/// How long a script may exceed its limit before its thread is abandoned.
const GRACE: Duration = Duration::from_millis(250);
/// Maximum number of threads that are kept for the next script.
const KEPT: usize = 16;

static IDLE: Mutex<VecDeque<Worker>> = Mutex::new(VecDeque::new());

struct Worker {
    jobs: mpsc::Sender<Job>,
}

struct Job {
    task: Task,
    reply: mpsc::Sender<Report>,
}

/// Runs a task and waits for it, up to its time limit.
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
            // Two, so that one prepares an engine while the other runs.
            keep(Worker::start()?);
            Worker::start()?
        };
        match worker.jobs.send(job) {
            Ok(()) => break worker,
            // The thread failed while it was idle; if a new one fails too, there is nothing to retry.
            Err(_) if fresh => return Err(broken()),
            Err(mpsc::SendError(back)) => job = back,
        }
    };
    match report.recv_timeout(time.saturating_add(GRACE)) {
        Ok(report) => {
            keep(worker);
            Ok(report)
        }
        // The thread ends by itself as soon as the engine returns.
        Err(RecvTimeoutError::Timeout) => Err(ScriptError::TimedOut { after: time }),
        Err(RecvTimeoutError::Disconnected) => Err(broken()),
    }
}

/// Keeps a thread for the next script. The longest idle thread is next, because it is prepared.
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

/// The next engine is prepared while no caller waits. No engine is used twice, so nothing leaks from one
/// script into another.
fn work(jobs: &mpsc::Receiver<Job>) {
    loop {
        let engine = Engine::prepare();
        let Ok(Job { task, reply }) = jobs.recv() else { return };
        let report = match engine {
            Ok(engine) => engine.run(&task),
            Err(error) => Report::failed(ScriptError::Engine { why: error.to_string() }),
        };
        // There is no receiver if the caller stopped waiting.
        let _ = reply.send(report);
    }
}
