//! A run that grades traces: reads them in a thread of their own, and stores and reports every verdict at once.

mod case;
mod reading;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use quintain_evidence::event::{Event, RunInfo};
use quintain_evidence::graded::GradeSummary;
use quintain_evidence::result::CaseResult;
use quintain_evidence::tally::{Summary, Tally};
use quintain_grade::evaluate::Grading;
use quintain_grade::readers::{ReadOptions, Reader, Record};
use quintain_grade::selection::SelectionTally;

use crate::eval::{Stop, mask, stopped};
use crate::masked::Emitted;
use crate::store::{Run, RunEnd, Store, Writer};
use crate::world::World;
use reading::Read;

pub(crate) use case::LABEL;

/// Where traces come from.
pub enum TraceSource {
    /// A file, by the name that users know and its path.
    File {
        name: String,
        path: PathBuf,
    },
    Text {
        name: String,
        text: Arc<str>,
    },
    /// The cases of a stored run.
    Run(Store, Run),
}

/// What to grade, and how.
pub struct GradeRun<'a> {
    pub sources: Vec<TraceSource>,
    /// None detects the format of each file.
    pub format: Option<&'static dyn Reader>,
    pub read: ReadOptions,
    pub grading: &'a Grading,
    pub info: &'a RunInfo,
    pub world: &'a World,
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    pub summary: Summary,
    /// Files that could not be read at all, and why.
    pub unreadable: Vec<String>,
    /// Why the store could not save the run.
    pub store_error: Option<String>,
}

/// Grades until all traces are read or `stop` becomes true.
pub async fn execute(
    run: GradeRun<'_>,
    mut stop: Stop,
    writer: Option<Writer>,
    listen: &mut dyn FnMut(Emitted),
) -> Outcome {
    let started = Instant::now();
    listen(Event::Started(Arc::new(run.info.clone())).into());
    let GradeRun { sources, format, read, grading, info, world } = run;
    let mut verdicts = Verdicts {
        grading,
        world,
        tally: Tally::new(info),
        selection: SelectionTally::default(),
        summary: GradeSummary::default(),
        unreadable: Vec::new(),
        graded: 0,
        writer: writer.as_ref(),
        listen,
    };
    let mut records = reading::start(sources, format, read);
    let mut interrupted = false;
    loop {
        let read = tokio::select! {
            biased;
            () = stopped(&mut stop) => {
                interrupted = true;
                break;
            }
            read = records.recv() => read,
        };
        let Some(read) = read else { break };
        verdicts.take(read).await;
    }
    // The thread ends with its channel.
    drop(records);
    let Verdicts { tally, selection, mut summary, unreadable, .. } = verdicts;
    summary.selection = selection.report();
    let mut totals = tally.finish(started.elapsed(), interrupted);
    totals.grade = Some(Box::new(summary));
    // Most formats do not record how long calls took.
    totals.latency = totals.latency.filter(|latency| latency.max > 0.0);
    let end = if interrupted { RunEnd::Interrupted } else { RunEnd::Finished };
    let store_error = match writer {
        Some(writer) => writer.finish(&totals, end).await.err().map(|error| error.to_string()),
        None => None,
    };
    listen(Event::Finished(Arc::new(totals.clone())).into());
    Outcome { summary: totals, unreadable, store_error }
}

/// Grades, counts, stores and reports trace by trace.
struct Verdicts<'a> {
    grading: &'a Grading,
    world: &'a World,
    tally: Tally,
    selection: SelectionTally,
    summary: GradeSummary,
    unreadable: Vec<String>,
    graded: usize,
    writer: Option<&'a Writer>,
    listen: &'a mut dyn FnMut(Emitted),
}

impl Verdicts<'_> {
    async fn take(&mut self, read: Read) {
        let result = match read {
            Read::Record(Record::Trace(trace, place)) => {
                let number = self.graded + 1;
                let mut graded = self.grading.grade(&trace, || format!("case {number}"));
                graded.trace.source = Some(place.to_string());
                if let Some(selection) = &graded.selection {
                    self.selection.add(selection);
                }
                self.summary.add(&graded.trace);
                case::of_trace(self.graded, *trace, graded.trace, place)
            }
            Read::Record(Record::Bad(bad)) => {
                self.summary.bad_records += 1;
                case::of_bad_record(self.graded, bad)
            }
            Read::Unreadable(why) => {
                self.unreadable.push(why);
                return;
            }
        };
        self.graded += 1;
        self.keep(result).await;
    }

    async fn keep(&mut self, result: CaseResult) {
        let result = mask(result, &self.world.redactor);
        if let Some(writer) = self.writer {
            writer.case(&result).await;
        }
        self.tally.add(&result);
        (self.listen)(Emitted::Case(result));
    }
}
