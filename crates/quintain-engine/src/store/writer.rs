//! Masks secrets in what a run reports and queues it for writing. Changes contain only masked data, and only changes reach
//! the store.

use quintain_evidence::answer_record::AnswerRecord;
use quintain_evidence::event::RunInfo;
use quintain_evidence::result::CaseResult;
use quintain_evidence::surface::Surface;
use quintain_evidence::tally::Summary;
use quintain_evidence::trial_record::TrialRecord;
use quintain_wire::redact::Redactor;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::commit::{Change, Finish, Start};
use super::event_log::EventLog;
use super::findings::FindingRow;
use super::pack::Packed;
use super::records::AnswerRow;
use super::suite_text::SuiteText;
use super::writer_thread::WriterThread;
use super::{Run, RunEnd, RunKind, RunState, Store, StoreError, number};
use crate::masked::{self, MaskedCase};

/// A new run.
#[derive(Debug, Clone, Copy)]
pub struct NewRun<'a> {
    pub kind: RunKind,
    /// Who requested the run; [`super::LOCAL_OWNER`] on the command line.
    pub owner: &'a str,
    pub info: &'a RunInfo,
    pub suite: &'a [SuiteText],
    /// The run waits until [`Writer::begin`].
    pub queued: bool,
}

/// Stores one run. Without [`Writer::finish`], the run counts as failed if the writer is dropped, and as died if the
/// process ends.
pub struct Writer {
    thread: WriterThread,
    redactor: Redactor,
}

impl Store {
    /// Starts a new run whose secrets `redactor` knows. Returns immediately; [`Writer::finish`] reports errors.
    pub fn start(&self, new: NewRun<'_>, redactor: &Redactor) -> Writer {
        let text = |text: &str| redactor.masked_text(text).into_owned();
        let texts = new.suite.iter().map(|file| {
            let base_dir = file.base_dir.display().to_string();
            let content = Packed::text(&redactor.masked_text(&file.text));
            (text(&file.name), text(&base_dir), content)
        });
        let suite: Vec<_> = texts.collect();
        let info = masked::run(new.info, redactor);
        let start = Start {
            kind: new.kind,
            state: if new.queued { RunState::Queued } else { RunState::Running },
            owner: text(new.owner),
            id: info.id.clone(),
            created: info.created.clone(),
            description: info.description.clone(),
            tags: info.tags.clone(),
            // This data can always be serialised.
            info: Packed::json(&info).unwrap_or_default(),
            suite,
        };
        self.writer(None, Change::Start(Box::new(start)), redactor)
    }

    /// Resumes a stored run. New results replace those of the same case. [`Writer::finish`] fails if another process
    /// resumed the run since it was looked up.
    pub fn resume(&self, run: &Run, redactor: &Redactor) -> Writer {
        let take_over = Change::Resume { earlier: run.writer.clone() };
        self.writer(Some(run.number), take_over, redactor)
    }

    fn writer(&self, run: Option<i64>, first: Change, redactor: &Redactor) -> Writer {
        let thread = WriterThread::start(self, run, first);
        Writer { thread, redactor: redactor.clone() }
    }
}

impl Writer {
    /// Marks a queued run as running.
    pub async fn begin(&self) {
        self.thread.send(Change::Begin).await;
    }

    /// Stores a result. Waits only if the queue is full.
    pub async fn case(&self, case: &MaskedCase) {
        self.thread.send(Change::Case(masked::case_again(case, &self.redactor))).await;
    }

    /// Stores the surfaces of a target's servers.
    pub async fn surfaces(&self, target: &str, surfaces: &[(String, Surface)]) {
        let target = self.redactor.masked_text(target).into_owned();
        let packed = self.packed(&surfaces.to_vec());
        self.put("a surface", packed.map(|surfaces| Change::Surface { target, surfaces })).await;
    }

    /// Stores the knowledge of a red-team run, before it attacks.
    pub async fn knowledge<T>(&self, knowledge: &T)
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        self.put("the knowledge", self.packed(knowledge).map(Change::Knowledge)).await;
    }

    /// Stores a finished trial, so that a resumed run does not repeat it.
    pub async fn trial(&self, record: &TrialRecord) {
        let packed = self.packed(record).and_then(|packed| {
            let key = self.redactor.masked(&record.key)?;
            Ok(Change::Trial(key.into_owned(), packed))
        });
        self.put("a trial", packed).await;
    }

    /// Stores an answer that belongs to no case; a second answer to the same question replaces it.
    pub async fn answer(&self, answer: &AnswerRecord) {
        let masked = self.redactor.masked(answer).map_err(StoreError::from);
        let change = masked.and_then(|masked| {
            Ok(Change::Answer(AnswerRow::of(&masked, None), Packed::json(&masked)?))
        });
        self.put("an answer", change).await;
    }

    /// Where the events of the run go, for listeners that come late.
    pub fn event_log(&self) -> EventLog {
        self.thread.log().clone()
    }

    /// A result that is reported and not stored, since it is to be repeated when the run resumes.
    pub fn unfinished_case(&self, case: &CaseResult) {
        self.thread.log().without_row(case.ordinal);
    }

    /// Replaces what is known of the run.
    pub async fn info(&self, info: &RunInfo) {
        let packed = Packed::json(&masked::run(info, &self.redactor));
        self.put("what is known of the run", packed.map(Change::Info)).await;
    }

    /// Forgets a run that came to nothing.
    pub async fn discard(self) {
        self.thread.send(Change::Discard).await;
        self.thread.finish().await;
    }

    /// Ends the run and waits until everything is written.
    ///
    /// # Errors
    /// When some of it could not be stored.
    pub async fn finish(self, summary: &Summary, end: RunEnd) -> Result<(), StoreError> {
        let finish = self.ended(summary, end)?;
        self.thread.send(Change::Finish(Box::new(finish))).await;
        let write_errors = self.thread.finish().await;
        match (write_errors.first, write_errors.missing) {
            (None, _) => Ok(()),
            (Some(error), 0) => Err(error),
            (Some(error), missing) => {
                Err(StoreError::Incomplete { missing, first: Box::new(error) })
            }
        }
    }

    /// Converts the findings of a summary to rows and packs the rest.
    fn ended(&self, summary: &Summary, end: RunEnd) -> Result<Finish, StoreError> {
        let masked = masked::totals(summary, &self.redactor);
        let mut findings = Vec::new();
        if let Some(report) = &masked.redteam {
            let reported = report.findings.iter().map(|finding| (false, finding));
            let suppressed = report.suppressed.iter().map(|finding| (true, finding));
            for (position, (suppressed, finding)) in reported.chain(suppressed).enumerate() {
                let finding = masked.part(|_| finding.clone());
                findings.push(FindingRow::of(position, suppressed, &finding)?);
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
        let duration_ms = rest.duration_ms;
        Ok(Finish { end, counts, duration_ms, summary: Packed::json(&rest)?, findings })
    }

    fn packed<T>(&self, value: &T) -> Result<Packed, StoreError>
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        let masked = self.redactor.masked(value)?;
        Packed::json(&masked)
    }

    /// Queues a change. Skips data that cannot be masked, with a warning.
    async fn put(&self, what: &'static str, change: Result<Change, StoreError>) {
        match change {
            Ok(change) => self.thread.send(change).await,
            Err(error) => tracing::warn!(%error, "{what} is not stored"),
        }
    }
}
