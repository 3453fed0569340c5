//! Takes what a run reports while it goes on and masks its secrets: nothing unmasked gets into a job, and only
//! jobs get into the store.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

use quintain_evidence::answer_record::{AnswerRecord, KeptAnswer};
use quintain_evidence::event::RunInfo;
use quintain_evidence::result::CaseResult;
use quintain_evidence::surface::Surface;
use quintain_evidence::tally::Summary;
use quintain_evidence::trial_record::TrialRecord;
use quintain_wire::redact::Redactor;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::case_row::CaseRow;
use super::commit::{Damage, Finish, Job, QUEUE, Start, work};
use super::event_log::EventLog;
use super::findings::FindingRow;
use super::pack::{Packed, Packer};
use super::{Run, RunEnd, RunKind, RunState, ScoreRecord, Store, StoreError, TraceRecord, number};
use crate::masked;

/// A file of the suite as it was read, so that a run can be judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteText {
    /// As the user named it.
    pub name: String,
    /// Where relative paths in it start.
    pub base_dir: PathBuf,
    /// Its text.
    pub text: Arc<str>,
}

/// A run that begins.
#[derive(Debug, Clone, Copy)]
pub struct NewRun<'a> {
    pub kind: RunKind,
    /// Who asked for it; [`super::LOCAL_OWNER`] on the command line.
    pub owner: &'a str,
    pub info: &'a RunInfo,
    pub suite: &'a [SuiteText],
    /// It waits for its turn until [`Writer::begin`].
    pub queued: bool,
}

/// Stores one run. A writer that is dropped without [`Writer::finish`] leaves a failed run, a process that ends
/// without it one that died.
pub struct Writer {
    jobs: mpsc::Sender<Job>,
    task: JoinHandle<Damage>,
    packer: Mutex<Packer>,
    redactor: Redactor,
    log: EventLog,
}

impl Store {
    /// Begins a new run whose secrets `redactor` knows. Returns at once; [`Writer::finish`] reports what went
    /// wrong.
    pub fn start(&self, new: NewRun<'_>, redactor: &Redactor) -> Writer {
        let mut packer = Packer::new();
        let text = |text: &str| redactor.masked_text(text).into_owned();
        let texts = new.suite.iter().map(|file| {
            let base_dir = file.base_dir.display().to_string();
            let packed = packer.text(&redactor.masked_text(&file.text));
            (text(&file.name), text(&base_dir), packed)
        });
        let suite: Vec<_> = texts.collect();
        let info = masked::run(new.info, redactor);
        // Plain data always has a JSON form.
        let packed = packer.json(&info).unwrap_or_default();
        let start = Start {
            kind: new.kind,
            state: if new.queued { RunState::Queued } else { RunState::Running },
            owner: text(new.owner),
            info: info.into_owned(),
            packed,
            suite,
        };
        self.writer(None, Job::Start(Box::new(start)), packer, redactor)
    }

    /// Resumes a stored run: results of the same case are replaced. Fails, in [`Writer::finish`], if another
    /// process has resumed it since it was looked up.
    pub fn resume(&self, run: &Run, redactor: &Redactor) -> Writer {
        let take_over = Job::Resume { earlier: run.writer.clone() };
        self.writer(Some(run.number), take_over, Packer::new(), redactor)
    }

    fn writer(&self, run: Option<i64>, first: Job, packer: Packer, redactor: &Redactor) -> Writer {
        let (jobs, waiting) = mpsc::channel(QUEUE);
        // The queue is empty, so there is room.
        let _ = jobs.try_send(first);
        let log = EventLog::new();
        let task = tokio::spawn(work(self.clone(), run, waiting, log.clone()));
        Writer { jobs, task, packer: Mutex::new(packer), redactor: redactor.clone(), log }
    }
}

impl Writer {
    /// A queued run begins.
    pub async fn begin(&self) {
        self.send(Job::Begin).await;
    }

    /// Stores a result; waits only if the disk is far behind.
    pub async fn case(&self, case: &CaseResult) {
        let row = CaseRow::of(&masked::case(case, &self.redactor), &mut self.lock());
        self.put("a result", row.map(|row| Job::Case(Box::new(row)))).await;
    }

    /// Stores what the servers of a target list.
    pub async fn surfaces(&self, target: &str, surfaces: &[(String, Surface)]) {
        let target = self.redactor.masked_text(target).into_owned();
        let packed = self.packed(&surfaces.to_vec());
        self.put("a surface", packed.map(|surfaces| Job::Surface { target, surfaces })).await;
    }

    /// Stores what a red-team run learned, before it attacks.
    pub async fn knowledge<T>(&self, knowledge: &T)
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        self.put("what was learned", self.packed(knowledge).map(Job::Knowledge)).await;
    }

    /// Stores a finished trial, so that it need not be repeated.
    pub async fn trial(&self, record: &TrialRecord) {
        let packed = self.packed(record).and_then(|packed| {
            let key = self.redactor.masked(&record.key)?;
            Ok(Job::Trial(key.into_owned(), packed))
        });
        self.put("a trial", packed).await;
    }

    /// Stores an answer that belongs to no case; a second answer to the same question replaces it.
    pub async fn answer(&self, answer: &AnswerRecord) {
        let masked = self.redactor.masked(answer).map_err(StoreError::from);
        let job = masked.and_then(|masked| {
            let model = match &masked.answer {
                KeptAnswer::Value(value) => value.get("model").and_then(|model| model.as_str()),
                _ => None,
            };
            Ok(Job::Answer {
                key: masked.key.clone(),
                model: model.map(str::to_owned),
                cost: masked.cost.price,
                duration_ms: masked.took.as_secs_f64() * 1e3,
                content: self.lock().json(&masked)?,
            })
        });
        self.put("an answer", job).await;
    }

    /// Stores a recorded conversation.
    pub async fn put_trace(&self, trace: &TraceRecord) {
        let masked = self.redactor.masked(trace).map_err(StoreError::from);
        let job = masked.and_then(|masked| {
            let content = self.lock().json(&masked.part(|trace| trace.content.clone()))?;
            let TraceRecord { ordinal, name, content: _ } = masked.into_owned();
            Ok(Job::Trace { ordinal: number(ordinal), name, content })
        });
        self.put("a trace", job).await;
    }

    /// Stores the score of a conversation.
    pub async fn put_score(&self, score: &ScoreRecord) {
        let masked = self.redactor.masked(score).map_err(StoreError::from);
        let job = masked.and_then(|masked| {
            let content = self.lock().json(&masked.part(|score| score.content.clone()))?;
            let ScoreRecord { ordinal, metric, score, passed, content: _ } = masked.into_owned();
            Ok(Job::Score { ordinal: number(ordinal), metric, score, passed, content })
        });
        self.put("a score", job).await;
    }

    /// Where the events of the run go, for listeners that come late.
    pub fn event_log(&self) -> EventLog {
        self.log.clone()
    }

    /// A result that is reported and not stored, since it is to be repeated when the run resumes.
    pub fn unfinished_case(&self, case: &CaseResult) {
        self.log.without_row(case.ordinal);
    }

    /// Replaces what is known of the run.
    pub async fn info(&self, info: &RunInfo) {
        let packed = self.lock().json(&masked::run(info, &self.redactor));
        self.put("what is known of the run", packed.map(Job::Info)).await;
    }

    /// Forgets a run that came to nothing.
    pub async fn discard(self) {
        self.send(Job::Discard).await;
        drop(self.jobs);
        let _ = self.task.await;
    }

    /// Ends the run and waits until everything is on disk.
    ///
    /// # Errors
    /// When some of it could not be stored.
    pub async fn finish(self, summary: &Summary, end: RunEnd) -> Result<(), StoreError> {
        let finish = self.ended(summary, end)?;
        self.send(Job::Finish(Box::new(finish))).await;
        drop(self.jobs);
        let damage = self.task.await.unwrap_or_default();
        match (damage.first, damage.missing) {
            (None, _) => Ok(()),
            (Some(error), 0) => Err(error),
            (Some(error), missing) => {
                Err(StoreError::Incomplete { missing, first: Box::new(error) })
            }
        }
    }

    /// The findings of a summary become rows, the rest of it is packed.
    fn ended(&self, summary: &Summary, end: RunEnd) -> Result<Finish, StoreError> {
        let masked = masked::totals(summary, &self.redactor);
        let mut packer = self.lock();
        let mut findings = Vec::new();
        if let Some(report) = &masked.redteam {
            let reported = report.findings.iter().map(|finding| (false, finding));
            let suppressed = report.suppressed.iter().map(|finding| (true, finding));
            for (position, (suppressed, finding)) in reported.chain(suppressed).enumerate() {
                let finding = masked.part(|_| finding.clone());
                findings.push(FindingRow::of(position, suppressed, &finding, &mut packer)?);
            }
        }
        let rest = masked.part(|summary| {
            let mut rest = summary.clone();
            if let Some(report) = &mut rest.redteam {
                (report.findings, report.suppressed) = (Vec::new(), Vec::new());
            }
            rest
        });
        let counts = [rest.passed, rest.failed, rest.errored].map(number);
        Ok(Finish { end, counts, summary: packer.json(&rest)?, findings })
    }

    fn packed<T>(&self, value: &T) -> Result<Packed, StoreError>
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        let masked = self.redactor.masked(value)?;
        self.lock().json(&masked)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Packer> {
        self.packer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What cannot be masked is left out, with a warning.
    async fn put(&self, what: &'static str, job: Result<Job, StoreError>) {
        match job {
            Ok(job) => self.send(job).await,
            Err(error) => tracing::warn!(%error, "{what} is not stored"),
        }
    }

    async fn send(&self, job: Job) {
        // The task ends after us, unless the runtime ends.
        let _ = self.jobs.send(job).await;
    }
}
