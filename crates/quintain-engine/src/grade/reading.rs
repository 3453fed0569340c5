//! Reads traces in a thread, so that a large file is parsed while earlier traces are graded. Few records wait in memory.

use std::fs::File;
use std::io::{self, BufReader};
use std::ops::ControlFlow;

use futures_util::TryStreamExt as _;
use quintain_evidence::result::Place;
use quintain_grade::readers::{self, ReadOptions, Reader, Record, stored_run};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::TraceSource;

/// Records that wait to be graded.
const WAITING: usize = 64;
const BUFFER: usize = 256 << 10;

/// What the thread found.
pub(super) enum Read {
    Record(Record),
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
                TraceSource::Run(store, run) => handle.block_on(stored(&store, &run, &send)),
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

/// The conversations of a stored run. A case that was itself a trace is that trace.
async fn stored(
    store: &crate::store::Store,
    run: &crate::store::Run,
    send: &Sender<Read>,
) -> Result<(), String> {
    let mut cases = store.cases(run);
    let failed = |error: crate::store::StoreError| error.to_string();
    while let Some(case) = cases.try_next().await.map_err(failed)? {
        let trace = match &case.evidence.trace {
            Some(trace) => (**trace).clone(),
            None => stored_run::trace_of(&case),
        };
        let line = case.ordinal + 1;
        let place = case.place.clone().unwrap_or(Place { file: run.id.clone(), line, column: 1 });
        if send.send(Read::Record(Record::Trace(Box::new(trace), place))).await.is_err() {
            break;
        }
    }
    Ok(())
}
