//! Writes a run while it goes on: one task takes results from a queue, and all that wait there
//! become one transaction. A disk that fails costs the stored copy, never the run.

use std::sync::Arc;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use quintain_evidence::event::RunInfo;
use quintain_evidence::result::CaseResult;
use quintain_evidence::surface::Surface;
use quintain_evidence::tally::Summary;
use quintain_evidence::trial_record::{TrialKey, TrialRecord};
use quintain_wire::redact::Redactor;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::pack::{Packed, Packer};
use super::row::CaseRow;
use super::{BEGIN, Run, Store, StoreError};
use crate::masked;
use crate::redteam::Lesson;

/// Results that may wait for the disk before the run does.
const QUEUE: usize = 1_024;
/// Transactions that fail in a row before the disk is left alone.
const STRIKES: u32 = 3;

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

enum Job {
    Start { info: Box<RunInfo>, packed: Packed, suite: Vec<(String, String, Packed)> },
    Surface { target: String, surfaces: Packed },
    Case(Box<CaseRow>),
    Lesson(Packed),
    Bout(TrialKey, Packed),
    Finish { state: &'static str, summary: Packed },
}

/// Takes what a run tells, and masks its secrets: nothing unmasked gets into a job, and what is not a
/// job gets nowhere. Without `finish` the run stays stored as unfinished.
pub struct Writer {
    jobs: mpsc::Sender<Job>,
    task: JoinHandle<Damage>,
    packer: Mutex<Packer>,
    redactor: Redactor,
}

/// What did not reach the disk.
#[derive(Default)]
struct Damage {
    missing: usize,
    first: Option<StoreError>,
}

impl Store {
    /// Begins a new run whose secrets `redactor` knows. Returns at once; what goes wrong is said at the
    /// end.
    pub fn start(&self, info: &RunInfo, suite: &[SuiteText], redactor: &Redactor) -> Writer {
        let mut packer = Packer::new();
        let text = |text: &str| redactor.masked_text(text).into_owned();
        let texts = suite.iter().map(|file| {
            let base_dir = file.base_dir.display().to_string();
            let packed = packer.text(&redactor.masked_text(&file.text));
            (text(&file.name), text(&base_dir), packed)
        });
        let suite: Vec<_> = texts.collect();
        let info = masked::run(info, redactor);
        // Plain data always has a JSON form.
        let packed = packer.json(&info).unwrap_or_default();
        let start = Job::Start { info: Box::new(info.into_owned()), packed, suite };
        self.writer(None, Some(start), packer, redactor)
    }

    /// Goes on with a stored run: results of the same case are replaced.
    pub fn resume(&self, run: &Run, redactor: &Redactor) -> Writer {
        self.writer(Some(run.number), None, Packer::new(), redactor)
    }

    fn writer(
        &self,
        run: Option<i64>,
        first: Option<Job>,
        packer: Packer,
        redactor: &Redactor,
    ) -> Writer {
        let (jobs, waiting) = mpsc::channel(QUEUE);
        if let Some(first) = first {
            // The queue is empty, so there is room.
            let _ = jobs.try_send(first);
        }
        let task = tokio::spawn(work(self.clone(), run, waiting));
        Writer { jobs, task, packer: Mutex::new(packer), redactor: redactor.clone() }
    }
}

impl Writer {
    /// Stores a result; waits only if the disk is far behind.
    pub async fn case(&self, case: &CaseResult) {
        let row = {
            let mut packer = self.packer.lock().unwrap_or_else(PoisonError::into_inner);
            CaseRow::of(&masked::case(case, &self.redactor), &mut packer)
        };
        match row {
            Ok(row) => self.send(Job::Case(Box::new(row))).await,
            Err(error) => tracing::warn!(%error, ordinal = case.ordinal, "a result is not stored"),
        }
    }

    /// Stores what the servers of a target list.
    pub async fn surfaces(&self, target: &str, surfaces: &[(String, Surface)]) {
        let named = self.redactor.masked_text(target).into_owned();
        match self.packed(&surfaces.to_vec()) {
            Ok(surfaces) => self.send(Job::Surface { target: named, surfaces }).await,
            Err(error) => tracing::warn!(%error, target, "a surface is not stored"),
        }
    }

    /// Stores what a red-team run learned, before it begins.
    pub async fn lesson(&self, lesson: &Lesson) {
        match self.packed(lesson) {
            Ok(packed) => self.send(Job::Lesson(packed)).await,
            Err(error) => tracing::warn!(%error, "what was learned is not stored"),
        }
    }

    /// Stores what came of a bout, so that it need not be fought again.
    pub async fn bout(&self, record: &TrialRecord) {
        let packed = self.packed(record).and_then(|packed| {
            let key = self.redactor.masked(&record.key)?;
            Ok(Job::Bout(key.into_owned(), packed))
        });
        match packed {
            Ok(job) => self.send(job).await,
            Err(error) => tracing::warn!(%error, "a bout is not stored"),
        }
    }

    fn packed<T>(&self, value: &T) -> Result<Packed, StoreError>
    where
        T: Serialize + DeserializeOwned + Clone,
    {
        let masked = self.redactor.masked(value)?;
        self.packer.lock().unwrap_or_else(PoisonError::into_inner).json(&masked)
    }

    /// Ends the run and waits until everything is on disk.
    ///
    /// # Errors
    /// When some of it could not be stored.
    pub async fn finish(self, summary: &Summary) -> Result<(), StoreError> {
        let state = if summary.interrupted { "interrupted" } else { "finished" };
        let summary = {
            let mut packer = self.packer.lock().unwrap_or_else(PoisonError::into_inner);
            packer.json(&masked::totals(summary, &self.redactor))?
        };
        self.send(Job::Finish { state, summary }).await;
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

    async fn send(&self, job: Job) {
        // The task ends after us, unless the runtime ends.
        let _ = self.jobs.send(job).await;
    }
}

async fn work(store: Store, mut run: Option<i64>, mut waiting: mpsc::Receiver<Job>) -> Damage {
    let mut damage = Damage::default();
    let mut connection = match store.pool.acquire().await {
        Ok(connection) => Some(connection),
        Err(error) => {
            damage.first = Some(store.failed(error));
            None
        }
    };
    let mut group = Vec::new();
    let mut strikes = 0;
    while waiting.recv_many(&mut group, QUEUE).await > 0 {
        let written = match &mut connection {
            Some(connection) if strikes < STRIKES => commit(connection, &mut run, &group).await,
            // The run goes on, so the queue has to be emptied.
            _ => Err(None),
        };
        match written {
            Ok(()) => strikes = 0,
            Err(error) => {
                strikes += 1;
                damage.missing += group.iter().filter(|job| matches!(job, Job::Case(_))).count();
                if let Some(error) = error {
                    let error = store.failed(error);
                    tracing::debug!(%error, "results are not stored");
                    damage.first.get_or_insert(error);
                }
            }
        }
        group.clear();
    }
    damage
}

async fn commit(
    connection: &mut SqliteConnection,
    run: &mut Option<i64>,
    group: &[Job],
) -> Result<(), Option<sqlx::Error>> {
    let mut transaction = connection.begin_with(BEGIN).await?;
    let mut number = *run;
    for job in group {
        match (job, number) {
            (Job::Start { info, packed, suite }, _) => {
                number = Some(start(&mut transaction, info, packed, suite).await?);
            }
            // The run itself could not be stored, which has been said.
            (_, None) => return Err(None),
            (Job::Case(row), Some(run)) => case(&mut transaction, run, row).await?,
            (Job::Surface { target, surfaces }, Some(run)) => {
                let sql = "INSERT INTO suite_surface (run, target, surfaces) VALUES ($1, $2, $3)
                    ON CONFLICT (run, target) DO UPDATE SET surfaces = excluded.surfaces";
                let query = sqlx::query(sql).bind(run).bind(target).bind(surfaces.bytes());
                query.execute(&mut *transaction).await?;
            }
            (Job::Lesson(content), Some(run)) => {
                let sql = "INSERT INTO lesson (run, content) VALUES ($1, $2)
                    ON CONFLICT (run) DO UPDATE SET content = excluded.content";
                sqlx::query(sql).bind(run).bind(content.bytes()).execute(&mut *transaction).await?;
            }
            (Job::Bout(key, content), Some(run)) => {
                let sql = "INSERT INTO bout (run, attack, place, nth, content)
                    VALUES ($1, $2, $3, $4, $5)
                    ON CONFLICT (run, attack, place, nth) DO UPDATE SET content = excluded.content";
                let query = sqlx::query(sql).bind(run).bind(&key.attack).bind(&key.place);
                let query = query.bind(super::row::number(key.nth)).bind(content.bytes());
                query.execute(&mut *transaction).await?;
            }
            (Job::Finish { state, summary }, Some(run)) => {
                let sql = "UPDATE run SET state = $1, summary = $2 WHERE number = $3";
                let query = sqlx::query(sql).bind(*state).bind(summary.bytes()).bind(run);
                query.execute(&mut *transaction).await?;
            }
        }
    }
    transaction.commit().await?;
    *run = number;
    Ok(())
}

async fn start(
    transaction: &mut SqliteConnection,
    info: &RunInfo,
    packed: &Packed,
    suite: &[(String, String, Packed)],
) -> sqlx::Result<i64> {
    let sql = "UPDATE program SET last_run = last_run + 1 RETURNING last_run";
    let number: i64 = sqlx::query_scalar(sql).fetch_one(&mut *transaction).await?;
    let sql = "INSERT INTO run (number, id, created, description, state, info)
        VALUES ($1, $2, $3, $4, 'open', $5)";
    let query = sqlx::query(sql).bind(number).bind(&info.id).bind(&info.created);
    query.bind(&info.description).bind(packed.bytes()).execute(&mut *transaction).await?;
    for (name, value) in &info.tags {
        let sql = "INSERT INTO run_tag (run, name, value) VALUES ($1, $2, $3)";
        sqlx::query(sql).bind(number).bind(name).bind(value).execute(&mut *transaction).await?;
    }
    for (place, (name, base_dir, content)) in suite.iter().enumerate() {
        let sql = "INSERT INTO suite_text (run, place, name, base_dir, content)
            VALUES ($1, $2, $3, $4, $5)";
        let query = sqlx::query(sql).bind(number).bind(super::row::number(place)).bind(name);
        query.bind(base_dir).bind(content.bytes()).execute(&mut *transaction).await?;
    }
    Ok(number)
}

async fn case(transaction: &mut SqliteConnection, run: i64, row: &CaseRow) -> sqlx::Result<()> {
    // A run that was deleted meanwhile takes no more results; that is no failure.
    let sql = "INSERT INTO case_result (run, ordinal, test_idx, prompt_idx, repeat, target, status,
            score, latency_ms, description, prompt, vars_hash, result, evidence)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
        WHERE EXISTS (SELECT 1 FROM run WHERE number = $1)
        ON CONFLICT (run, test_idx, prompt_idx, target, repeat) DO UPDATE SET
            ordinal = excluded.ordinal, status = excluded.status, score = excluded.score,
            latency_ms = excluded.latency_ms, description = excluded.description,
            prompt = excluded.prompt, vars_hash = excluded.vars_hash, result = excluded.result,
            evidence = excluded.evidence";
    let query = sqlx::query(sql).bind(run).bind(row.ordinal).bind(row.test_idx);
    let query = query.bind(row.prompt_idx).bind(row.repeat).bind(&row.target).bind(row.status);
    let query = query.bind(row.score).bind(row.latency_ms).bind(&row.description);
    let query = query.bind(&row.prompt).bind(row.vars_hash);
    let query = query.bind(row.result.bytes()).bind(row.evidence.bytes());
    query.execute(transaction).await?;
    Ok(())
}
