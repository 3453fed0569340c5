//! Reads traces in a thread, so that a large file is parsed while earlier traces are graded. Few records wait in memory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::ops::ControlFlow;

use futures_util::TryStreamExt as _;
use quintain_evidence::answer_record::AnswerRecord;
use quintain_evidence::result::SourcePlace;
use quintain_evidence::trace::Trace;
use quintain_grade::readers::{self, BadRecord, ReadOptions, Reader, Record, stored_run};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::TraceSource;
use crate::store::{Run, RunKind, Store, StoreError};

/// Records that wait to be graded.
const WAITING: usize = 64;
const BUFFER: usize = 256 << 10;

/// What the thread found.
pub(super) enum Read {
    Record(Record),
    /// A trace of a stored run, with what was answered about it then.
    Graded(Box<Trace>, SourcePlace, Vec<AnswerRecord>),
    /// A source that could not be read, or not to its end.
    Unreadable(String),
}

/// Starts to read the sources in order.
pub(super) fn start(
    sources: Vec<TraceSource>,
    format: Option<&'static dyn Reader>,
    options: ReadOptions,
) -> Receiver<Read> {
    let (send, receive) = channel(WAITING);
    let handle = tokio::runtime::Handle::current();
    // Blocking threads of the runtime are not waited for when a run is aborted.
    handle.clone().spawn_blocking(move || {
        for source in sources {
            let done = match source {
                TraceSource::File { name, path } => match open(&path) {
                    Ok(file) => {
                        read(BufReader::with_capacity(BUFFER, file), &name, format, &options, &send)
                    }
                    Err(error) => Err(format!("cannot read `{name}`: {error}")),
                },
                TraceSource::Text { name, text } => {
                    read(text.as_bytes(), &name, format, &options, &send)
                }
                TraceSource::Missing(why) => Err(why),
                TraceSource::Run(store, run) => {
                    handle.block_on(stored(&store, &run, &options, &send))
                }
            };
            if let Err(why) = done
                && send.blocking_send(Read::Unreadable(why)).is_err()
            {
                return;
            }
        }
    });
    receive
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
    send: &Sender<Read>,
) -> Result<(), String> {
    let mut sink = |record| match send.blocking_send(Read::Record(record)) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    let found = readers::read(input, name, format, options, &mut sink);
    found.map(|_| ()).map_err(|error| error.to_string())
}

/// The conversations of a stored run, with what its targets listed. A case that was itself a trace is that trace.
async fn stored(
    store: &Store,
    run: &Run,
    options: &ReadOptions,
    send: &Sender<Read>,
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
            Read::Graded(Box::new(trace), place, case.evidence.answers.clone())
        } else {
            let problem = "it could not be read when the run was graded".to_owned();
            Read::Record(Record::Bad(BadRecord { place, problem }))
        };
        if send.send(read).await.is_err() {
            break;
        }
    }
    Ok(())
}
