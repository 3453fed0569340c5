//! A run that grades traces: reads them in a thread of their own, and stores and reports every verdict at once.

mod case;
mod reading;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesOrdered;
use quintain_evidence::answer_record::AnswerRecord;
use quintain_evidence::event::{Event, RunInfo};
use quintain_evidence::evidence::Evidence;
use quintain_evidence::graded::GradeSummary;
use quintain_evidence::result::{CaseResult, SourcePlace};
use quintain_evidence::tally::{Summary, Tally};
use quintain_evidence::trace::Trace;
use quintain_grade::evaluate::{Graded, Grading, GradingSession};
use quintain_grade::meta_eval::CalibrationFile;
use quintain_grade::metrics::JudgeMode;
use quintain_grade::readers::{BadRecord, ReadOptions, Reader};
use quintain_grade::selection::SelectionTally;
use quintain_suite::suite::Consent;

use crate::eval::{Stop, mask, stopped};
use crate::external_services::ExternalServices;
use crate::inquiry::{AnswerSources, AskMode, Asker};
use crate::masked::Emitted;
use crate::metrics::{judge_mode, score};
use crate::models::ModelSettings;
use crate::role_models::RoleModels;
use crate::store::{Run, RunEnd, Store, Writer};
use crate::world::World;
use reading::{Read, ReadTrace};

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
    /// A source that is not there, and why.
    Missing(String),
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
    /// Which models judge, if metrics ask one.
    pub models: &'a ModelSettings,
    /// Which questions to ask about traces that were graded before.
    pub ask: AskMode,
    /// Maximum number of traces that wait for a judge.
    pub concurrency: usize,
    /// What scores mean, as labels of people show.
    pub calibration: Option<&'a CalibrationFile>,
}

/// The result of a run.
#[derive(Debug)]
pub struct GradeOutcome {
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
) -> GradeOutcome {
    let started = Instant::now();
    listen(Event::Started(Arc::new(run.info.clone())).into());
    let GradeRun {
        sources,
        format,
        read,
        grading,
        info,
        world,
        models,
        ask,
        concurrency,
        calibration,
    } = run;
    let consent = Consent::of_the_user();
    let judges = Arc::new(RoleModels::new(&[], &world.env, models.clone(), world, consent));
    let services = ExternalServices::new(consent, (*world.env).clone(), world);
    let answer_sources = AnswerSources::new(services, ask, concurrency)
        .with_model(judges)
        // Preparing the run has reported lines that cannot be read.
        .with_recorded(models.recorded().ok().flatten());
    let mode = judge_mode(models);
    let judge = Judge {
        calibration,
        grading,
        mode,
        ask,
        asker: Asker { answer_sources: &answer_sources, target: None, repetition: 0 },
    };
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
    let mut records = reading::start(sources, format, read, &grading.calls);
    // Traces are graded in their order; those that ask a judge wait for it together.
    let mut waiting = FuturesOrdered::new();
    let (mut interrupted, mut number, mut is_open) = (false, 0, true);
    while is_open || !waiting.is_empty() {
        tokio::select! {
            biased;
            () = stopped(&mut stop) => {
                interrupted = true;
                break;
            }
            Some(verdict) = waiting.next(), if !waiting.is_empty() => {
                // Where the job pauses while its client lags behind.
                tokio::task::yield_now().await;
                verdicts.take(verdict).await;
            }
            read = records.recv(), if is_open && waiting.len() < concurrency.max(1) => match read {
                None => is_open = false,
                Some(read) => {
                    if !matches!(read, Read::Unreadable(_)) {
                        number += 1;
                    }
                    waiting.push_back(judge.verdict(read, number));
                }
            },
        }
    }
    drop(waiting);
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
    GradeOutcome { summary: totals, unreadable, store_error }
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

/// What became of a record.
enum TraceVerdict {
    Graded {
        trace: Box<Trace>,
        place: SourcePlace,
        graded: Box<Graded>,
        answers: Vec<AnswerRecord>,
    },
    Bad(BadRecord),
    Unreadable(String),
}

/// Grades single traces, and asks what metrics ask.
struct Judge<'a> {
    calibration: Option<&'a CalibrationFile>,
    grading: &'a Grading,
    mode: JudgeMode,
    ask: AskMode,
    asker: Asker<'a>,
}

impl Judge<'_> {
    /// `number` counts the records from 1.
    async fn verdict(&self, read: Read, number: usize) -> TraceVerdict {
        let ReadTrace { trace, place, answers, checked } = match read {
            Read::Trace(read) => *read,
            Read::Bad(bad) => return TraceVerdict::Bad(bad),
            Read::Unreadable(why) => return TraceVerdict::Unreadable(why),
        };
        let mut evidence = Evidence { answers, ..Evidence::default() };
        self.ask.keep_answers(&mut evidence);
        let name = || format!("case {number}");
        let session = GradingSession::checked(self.grading, &trace, self.mode, checked);
        let mut graded = score(session, &self.asker, &mut evidence, name).await;
        graded.trace.source = Some(place.to_string());
        if let Some(calibration) = self.calibration {
            graded.trace.metrics.iter_mut().for_each(|score| calibration.apply(score));
        }
        let answers = evidence.answers;
        TraceVerdict::Graded { trace: Box::new(trace), place, graded: Box::new(graded), answers }
    }
}

impl Verdicts<'_> {
    async fn take(&mut self, verdict: TraceVerdict) {
        let result = match verdict {
            TraceVerdict::Graded { trace, place, graded, answers } => {
                if let Some(selection) = &graded.selection {
                    self.selection.add(selection);
                }
                self.summary.add(&graded.trace);
                let fail_if = &self.grading.fail_if;
                case::of_trace(self.graded, *trace, graded.trace, fail_if, answers, place)
            }
            TraceVerdict::Bad(bad) => {
                self.summary.bad_records += 1;
                case::of_bad_record(self.graded, bad)
            }
            TraceVerdict::Unreadable(why) => {
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
