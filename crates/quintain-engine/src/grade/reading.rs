//! Reads traces in a thread and checks them in others, so that a large file is parsed while earlier traces are checked and
//! graded. Few records wait in memory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::ops::ControlFlow;

use futures_util::TryStreamExt as _;
use quintain_evidence::answer_record::AnswerRecord;
use quintain_evidence::result::SourcePlace;
use quintain_evidence::trace::Trace;
use quintain_grade::evaluate::CheckResults;
use quintain_grade::policy::CallPolicy;
use quintain_grade::readers::{self, BadRecord, ReadOptions, Reader, Record, stored_run};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::TraceSource;
use crate::store::{Run, RunKind, Store, StoreError};

/// Records that wait in each thread.
const WAITING: usize = 32;
const BUFFER: usize = 256 << 10;
/// More threads than these wait for the one that reads.
const MAX_CHECKERS: usize = 8;

/// What the threads found.
pub(super) enum Read {
    Trace(Box<ReadTrace>),
    Bad(BadRecord),
    /// A source that could not be read, or not to its end.
    Unreadable(String),
}

/// A trace and what the checks say about it.
pub(super) struct ReadTrace {
    pub(super) trace: Trace,
    pub(super) place: SourcePlace,
    /// What was answered about a trace of a stored run then.
    pub(super) answers: Vec<AnswerRecord>,
    pub(super) checked: CheckResults,
}

impl ReadTrace {
    fn unchecked(trace: Trace, place: SourcePlace, answers: Vec<AnswerRecord>) -> Read {
        Read::Trace(Box::new(Self { trace, place, answers, checked: CheckResults::default() }))
    }
}

/// What was read, in the order of the sources.
pub(super) struct Records {
    from: Vec<Receiver<Read>>,
    next: usize,
}

impl Records {
    pub(super) async fn recv(&mut self) -> Option<Read> {
        // Records are dealt to the threads in turn. A record that is not awaited to its end stays the next one.
        let read = self.from[self.next].recv().await?;
        self.next = (self.next + 1) % self.from.len();
        Some(read)
    }
}

/// Deals records to the threads that check them.
struct Deal {
    to: Vec<Sender<Read>>,
    next: usize,
}

impl Deal {
    fn next(&mut self) -> &Sender<Read> {
        let at = self.next;
        self.next = (at + 1) % self.to.len();
        &self.to[at]
    }
}

/// Starts to read the sources in order, and to check the traces.
pub(super) fn start(
    sources: Vec<TraceSource>,
    format: Option<&'static dyn Reader>,
    options: ReadOptions,
    policy: &CallPolicy,
) -> Records {
    let count = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_CHECKERS);
    let (mut to, mut from) = (Vec::new(), Vec::new());
    let handle = tokio::runtime::Handle::current();
    for _ in 0..count {
        let (send, mut unchecked) = channel(WAITING);
        let (checked, receive) = channel(WAITING);
        let policy = policy.clone();
        // Blocking threads of the runtime are not waited for when a run is aborted.
        handle.spawn_blocking(move || {
            while let Some(mut read) = unchecked.blocking_recv() {
                if let Read::Trace(read) = &mut read {
                    read.checked = CheckResults::of(&read.trace, &policy);
                }
                if checked.blocking_send(read).is_err() {
                    return;
                }
            }
        });
        to.push(send);
        from.push(receive);
    }
    let mut send = Deal { to, next: 0 };
    handle.clone().spawn_blocking(move || {
        for source in sources {
            let done = match source {
                TraceSource::File { name, path } => match open(&path) {
                    Ok(file) => {
                        let file = BufReader::with_capacity(BUFFER, file);
                        read(file, &name, format, &options, &mut send)
                    }
                    Err(error) => Err(format!("cannot read `{name}`: {error}")),
                },
                TraceSource::Text { name, text } => {
                    read(text.as_bytes(), &name, format, &options, &mut send)
                }
                TraceSource::Missing(why) => Err(why),
                TraceSource::Run(store, run) => {
                    handle.block_on(stored(&store, &run, &options, &mut send))
                }
            };
            if let Err(why) = done
                && send.next().blocking_send(Read::Unreadable(why)).is_err()
            {
                return;
            }
        }
    });
    Records { from, next: 0 }
}

fn open(path: &std::path::Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    Ok(file)
}

fn read(
    input: impl io::BufRead,
    name: &str,
    format: Option<&'static dyn Reader>,
    options: &ReadOptions,
    send: &mut Deal,
) -> Result<(), String> {
    let mut sink = |record| {
        let read = match record {
            Record::Trace(trace, place) => ReadTrace::unchecked(*trace, place, Vec::new()),
            Record::Bad(bad) => Read::Bad(bad),
        };
        match send.next().blocking_send(read) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    };
    let found = readers::read(input, name, format, options, &mut sink);
    found.map(|_| ()).map_err(|error| error.to_string())
}

/// The conversations of a stored run, with what its targets listed. A case that was itself a trace is that trace.
async fn stored(
    store: &Store,
    run: &Run,
    options: &ReadOptions,
    send: &mut Deal,
) -> Result<(), String> {
    let failed = |error: StoreError| error.to_string();
    let mut known: HashMap<String, ReadOptions> = HashMap::new();
    for (target, surfaces) in store.surfaces(run).await.map_err(failed)? {
        let servers = surfaces.iter().map(|(name, surface)| stored_run::server_of(name, surface));
        let servers = options.servers.iter().cloned().chain(servers).collect();
        known.insert(target, ReadOptions { servers, ..options.clone() });
    }
    let mut cases = store.cases(run);
    while let Some(case) = cases.try_next().await.map_err(failed)? {
        let line = case.ordinal + 1;
        let place =
            case.place.clone().unwrap_or(SourcePlace { file: run.id.clone(), line, column: 1 });
        let trace = match &case.evidence.trace {
            Some(trace) => Some((**trace).clone()),
            // A record that could not be read then is not a trace without calls now.
            None if run.kind == RunKind::Grade => None,
            None => Some(stored_run::trace_of(&case)),
        };
        let read = if let Some(mut trace) = trace {
            readers::complete(&mut trace, known.get(case.target.name()).unwrap_or(options));
            ReadTrace::unchecked(trace, place, case.evidence.answers.clone())
        } else {
            let problem = "it could not be read when the run was graded".to_owned();
            Read::Bad(BadRecord { place, problem })
        };
        if send.next().send(read).await.is_err() {
            break;
        }
    }
    Ok(())
}
