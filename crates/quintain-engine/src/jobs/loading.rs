//! Loads the suite of a job in a thread of its own, since the scripts of a suite may compute for a minute. Dropping the
//! future ends the scripts, so that a request can be cancelled while its suite is loaded.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use quintain_evidence::code::{Code, Language};
use quintain_evidence::question::Question;
use quintain_evidence::static_finding::SurfaceInspection;
use quintain_suite::suite::{Consent, Files, Purpose, SuiteFile, load};
use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::environment::{Jobs, LoadedSuite, Refusal, RequestNotice, usable};
use super::handle::STACK_BYTES;
use super::load_answers::{LoadAnswers, text_of};
use crate::eval::{Stop, stopped};
use crate::inquiry::{AskMode, OFFLINE_CODE};
use crate::interpreters::{Call, Interpreters, value};
use crate::policy::Commands;
use crate::store::SuiteText;
use crate::targets::kinds;
use crate::world::World;

/// Limits of a script that generates tests or settings.
const SCRIPT_TIME: Duration = Duration::from_mins(1);
const SCRIPT_BYTES: usize = 64 << 20;
/// How long a dropped load waits for its interpreters to end.
const DROP_TIMEOUT: Duration = Duration::from_millis(500);

/// Loads a suite for a run, and calls its scripts. Learns its secrets before it sends diagnostics.
pub(super) async fn load_for_run(
    jobs: &Jobs,
    consent: Consent,
    texts: Vec<SuiteFile>,
    env: &BTreeMap<String, String>,
    files: Arc<LoadingFiles>,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Result<LoadedSuite, Refusal> {
    let _turn = jobs.slots.wait_to_load().await;
    let mut loading = Loading::of(&files);
    let (given, env) = (texts.clone(), env.clone());
    let (send, loaded) = oneshot::channel();
    let work = move || {
        let _ = send.send(load(texts, &env, files, Purpose::Run(consent), &kinds()));
    };
    // A thread that ends leaves its memory to that of the job, unlike a thread of a pool.
    let thread = std::thread::Builder::new().name("load".to_owned()).stack_size(STACK_BYTES);
    let thread = thread.spawn(work);
    let thread =
        thread.map_err(|error| Refusal::usage(format!("cannot start a thread: {error}"), None))?;
    let loaded = loaded.await;
    loading.is_over = true;
    match (loaded, thread.join()) {
        (_, Err(panic)) => std::panic::resume_unwind(panic),
        (Ok(loaded), _) => {
            usable(loaded, given, &jobs.world.redactor, notify).ok_or(Refusal::Suite)
        }
        (Err(_), _) => Err(Refusal::Cancelled),
    }
}

/// A load under way. Dropping it before its end ends the interpreters.
struct Loading {
    cancel: watch::Sender<bool>,
    calls: Arc<AtomicUsize>,
    is_over: bool,
}

impl Loading {
    fn of(files: &LoadingFiles) -> Self {
        Self { cancel: files.cancel.clone(), calls: files.calls.clone(), is_over: false }
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.cancel.send_replace(true);
        // The process may be about to end, and must not leave an interpreter behind.
        let until = Instant::now() + DROP_TIMEOUT;
        while self.calls.load(Ordering::Acquire) > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// The files of a suite while it is loaded for a run. Calls its scripts, or answers them from a stored run, and
/// remembers all answers.
pub(super) struct LoadingFiles {
    files: Arc<dyn Files>,
    world: World,
    mode: AskMode,
    stored: Mutex<LoadAnswers>,
    given: Mutex<Vec<(Question, Value)>>,
    cancel: watch::Sender<bool>,
    /// Number of interpreters that run now.
    calls: Arc<AtomicUsize>,
}

impl LoadingFiles {
    /// For a run: all scripts are called.
    pub(super) fn called(jobs: &Jobs) -> Arc<Self> {
        Self::stored(jobs, LoadAnswers::default(), AskMode::Again)
    }

    /// For judging a run again.
    pub(super) fn stored(jobs: &Jobs, stored: LoadAnswers, mode: AskMode) -> Arc<Self> {
        Arc::new(Self {
            files: jobs.files.clone(),
            world: jobs.world.clone(),
            mode,
            stored: Mutex::new(stored),
            given: Mutex::default(),
            cancel: watch::channel(false).0,
            calls: Arc::default(),
        })
    }

    /// The answers as a text to store with the run. Masked here, after all secrets of the suite are known.
    pub(super) fn text(&self) -> Option<SuiteText> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        text_of(&given, &self.world.redactor)
    }

    fn answer(&self, question: &Question) -> Option<Value> {
        if self.mode == AskMode::Again {
            return None;
        }
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        stored.next(question, &self.world.redactor)
    }

    /// Refuses everything once the load is cancelled, so that its thread ends soon.
    fn refuse_cancelled(&self) -> io::Result<()> {
        if *self.cancel.borrow() { Err(io::Error::other(CANCELLED)) } else { Ok(()) }
    }
}

const CANCELLED: &str = "cancelled";

impl Files for LoadingFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.refuse_cancelled()?;
        self.files.read(path)
    }

    fn matching(&self, pattern: &Path) -> io::Result<Vec<PathBuf>> {
        self.refuse_cancelled()?;
        self.files.matching(pattern)
    }

    fn run(
        &self,
        consent: Consent,
        code: &Code,
        function: &str,
        arguments: &[Value],
        env: &BTreeMap<String, String>,
    ) -> Result<Value, String> {
        let question = Question::Run {
            code: code.clone(),
            function: function.to_owned(),
            arguments: arguments.to_vec(),
        };
        let value = match self.answer(&question) {
            Some(value) => value,
            None if self.mode == AskMode::Nothing => return Err(OFFLINE_CODE.to_owned()),
            None => {
                let call = Call { code, function, arguments, executable: None };
                self.calls.fetch_add(1, Ordering::AcqRel);
                let made =
                    interpret(consent, &call, env, self.world.commands(), self.cancel.subscribe());
                self.calls.fetch_sub(1, Ordering::AcqRel);
                made?
            }
        };
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.push((question, value.clone()));
        Ok(value)
    }

    fn may_run(&self, language: Language) -> Result<(), String> {
        self.refuse_cancelled().map_err(|error| error.to_string())?;
        self.files.may_run(language)
    }

    fn may_see(&self, variable: &str) -> Result<(), String> {
        self.files.may_see(variable)
    }

    fn inspections(&self) -> &[&'static dyn SurfaceInspection] {
        self.files.inspections()
    }
}

/// Calls a function of a script in an interpreter of its own.
fn interpret(
    consent: Consent,
    call: &Call<'_>,
    env: &BTreeMap<String, String>,
    commands: Commands,
    mut stop: Stop,
) -> Result<Value, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        let interpreters =
            Interpreters::new(consent, env.clone(), SCRIPT_TIME, SCRIPT_BYTES, commands);
        let answer = tokio::select! {
            biased;
            // Dropping the call kills the interpreter.
            () = stopped(&mut stop) => return Err(CANCELLED.to_owned()),
            answer = interpreters.call(call) => answer,
        };
        interpreters.close().await;
        value(answer)
    })
}
