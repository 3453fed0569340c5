//! Writes a run to disk: one task takes all jobs that wait in the queue and writes them in one transaction. If the
//! disk fails, the stored copy is incomplete, but the run continues.

use quintain_evidence::event::RunInfo;
use quintain_evidence::trial_record::TrialKey;
use sqlx::Connection as _;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::case_row::CaseRow;
use super::event_log::EventLog;
use super::findings::FindingRow;
use super::heartbeat;
use super::pack::Packed;
use super::sqlite::{BEGIN, Connection};
use super::{RunEnd, RunKind, RunState, Store, StoreError, number, sql};

/// Capacity of the queue. The run waits while it is full.
pub(super) const QUEUE: usize = 1_024;
/// Number of consecutive failed transactions after which writing stops.
const STRIKES: u32 = 3;

pub(super) enum Job {
    Start(Box<Start>),
    /// Takes over a stored run if its writer has not changed.
    Resume {
        earlier: Option<String>,
    },
    Begin,
    Surface {
        target: String,
        surfaces: Packed,
    },
    Case(Box<CaseRow>),
    Knowledge(Packed),
    Trial(TrialKey, Packed),
    Answer {
        key: String,
        model: Option<String>,
        cost: Option<f64>,
        duration_ms: f64,
        content: Packed,
    },
    Trace {
        ordinal: i64,
        name: String,
        content: Packed,
    },
    Score {
        ordinal: i64,
        metric: String,
        score: Option<f64>,
        passed: Option<bool>,
        content: Packed,
    },
    /// More is known of the run.
    Info(Packed),
    /// The run came to nothing and is forgotten.
    Discard,
    Finish(Box<Finish>),
}

/// A run at its start.
pub(super) struct Start {
    pub(super) kind: RunKind,
    pub(super) state: RunState,
    pub(super) owner: String,
    pub(super) info: RunInfo,
    pub(super) packed: Packed,
    /// Name, folder and text of each file.
    pub(super) suite: Vec<(String, String, Packed)>,
}

/// A run at its end.
pub(super) struct Finish {
    pub(super) end: RunEnd,
    /// Passed, failed, errored.
    pub(super) counts: [i64; 3],
    pub(super) summary: Packed,
    pub(super) findings: Vec<FindingRow>,
}

/// What could not be written.
#[derive(Default)]
pub(super) struct Damage {
    pub(super) missing: usize,
    pub(super) first: Option<StoreError>,
}

impl Damage {
    fn add(&mut self, error: StoreError) {
        tracing::debug!(%error, "results are not stored");
        self.first.get_or_insert(error);
    }
}

/// Why a transaction was aborted.
enum GivenUp {
    Failed(sqlx::Error),
    /// Another process resumed the run.
    TakenOver,
    /// The run was deleted meanwhile. This is not an error.
    Deleted,
    /// An earlier transaction failed and was already reported.
    NoRun,
}

impl From<sqlx::Error> for GivenUp {
    fn from(error: sqlx::Error) -> Self {
        Self::Failed(error)
    }
}

/// The run to write to.
struct Target {
    number: Option<i64>,
    /// Identifies this writer.
    token: String,
}

pub(super) async fn work(
    store: Store,
    run: Option<i64>,
    mut waiting: mpsc::Receiver<Job>,
    log: EventLog,
) -> Damage {
    let damage = write_all(store, run, &mut waiting, &log).await;
    log.close();
    damage
}

async fn write_all(
    store: Store,
    run: Option<i64>,
    waiting: &mut mpsc::Receiver<Job>,
    log: &EventLog,
) -> Damage {
    let mut damage = Damage::default();
    let mut connection = match store.pool.acquire().await {
        Ok(connection) => Some(connection),
        Err(error) => {
            damage.add(store.failed(error));
            None
        }
    };
    let mut target = Target { number: run, token: heartbeat::token() };
    let mut group = Vec::new();
    let mut beats = interval(heartbeat::INTERVAL);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beats.reset();
    let (mut strikes, mut ended) = (0, false);
    loop {
        // An empty group is a heartbeat.
        tokio::select! {
            taken = waiting.recv_many(&mut group, QUEUE) => if taken == 0 { break },
            () = log.flush_requested() => {}
            _ = beats.tick() => {}
        }
        let events = log.take();
        // The cases that these events refer to were queued before them.
        while let Ok(job) = waiting.try_recv() {
            group.push(job);
        }
        ended |= group.iter().any(|job| matches!(job, Job::Finish(_) | Job::Discard));
        let written = match &mut connection {
            Some(connection) if strikes < STRIKES => {
                commit(connection, &mut target, &group, &events).await
            }
            // Keep emptying the queue, so that the run does not block.
            _ => Err(GivenUp::NoRun),
        };
        match written {
            Ok(()) => strikes = 0,
            Err(GivenUp::Deleted) => {}
            // A late heartbeat is not an error.
            Err(_) if group.is_empty() => {}
            Err(why) => {
                strikes += 1;
                damage.missing += group.iter().filter(|job| matches!(job, Job::Case(_))).count();
                match why {
                    GivenUp::Failed(error) => damage.add(store.failed(error)),
                    GivenUp::TakenOver => damage.add(StoreError::TakenOver),
                    GivenUp::Deleted | GivenUp::NoRun => {}
                }
            }
        }
        group.clear();
    }
    if let (false, Some(connection), Some(number)) = (ended, &mut connection, target.number) {
        // The writer was dropped without `finish`, while the process is still running.
        let failed = sqlx::query(sql::ABANDON).bind(RunState::Ended(RunEnd::Failed).word());
        let failed = failed.bind(number).bind(&target.token).execute(&mut **connection).await;
        if let Err(error) = failed {
            damage.add(store.failed(error));
        }
    }
    damage
}

async fn commit(
    connection: &mut Connection,
    target: &mut Target,
    group: &[Job],
    events: &[(i64, Packed)],
) -> Result<(), GivenUp> {
    let mut transaction = connection.begin_with(BEGIN).await?;
    let mut jobs = group.iter().peekable();
    let mut number = target.number;
    match jobs.next_if(|job| matches!(job, Job::Start(_) | Job::Resume { .. })) {
        Some(Job::Start(new)) => number = Some(start(&mut transaction, new, &target.token).await?),
        Some(Job::Resume { earlier }) => {
            let query = sqlx::query(sql::TAKE_OVER).bind(RunState::Running.word());
            let query = query.bind(&target.token).bind(heartbeat::now()).bind(number);
            let done = query.bind(earlier).execute(&mut *transaction).await?;
            let run = number.ok_or(GivenUp::NoRun)?;
            owned(&mut transaction, run, done.rows_affected()).await?;
            // The events of this sitting count from 1 again and begin with the earlier cases.
            sqlx::query(sql::DELETE_EVENTS).bind(run).execute(&mut *transaction).await?;
        }
        _ => {
            let query = sqlx::query(sql::BEAT).bind(heartbeat::now());
            let run = number.ok_or(GivenUp::NoRun)?;
            let done = query.bind(run).bind(&target.token).execute(&mut *transaction).await?;
            owned(&mut transaction, run, done.rows_affected()).await?;
        }
    }
    let run = number.ok_or(GivenUp::NoRun)?;
    for job in jobs {
        write(&mut transaction, run, job).await?;
    }
    if !group.iter().any(|job| matches!(job, Job::Discard)) {
        for (sequence, content) in events {
            let query = sqlx::query(sql::PUT_EVENT).bind(run).bind(sequence).bind(content.bytes());
            query.execute(&mut *transaction).await?;
        }
    }
    transaction.commit().await?;
    target.number = number;
    Ok(())
}

/// Checks that the run still belongs to this writer, given the number of rows that it changed.
async fn owned(connection: &mut Connection, run: i64, changed: u64) -> Result<(), GivenUp> {
    if changed > 0 {
        return Ok(());
    }
    let query = sqlx::query_scalar::<_, Option<String>>(sql::WRITER).bind(run);
    let found = query.fetch_optional(connection).await?;
    Err(if found.is_some() { GivenUp::TakenOver } else { GivenUp::Deleted })
}

async fn write(connection: &mut Connection, run: i64, job: &Job) -> sqlx::Result<()> {
    let query = match job {
        // Always first in the queue, and already handled by `commit`.
        Job::Start(_) | Job::Resume { .. } => return Ok(()),
        Job::Finish(finish) => return end(connection, run, finish).await,
        Job::Begin => sqlx::query(sql::SET_STATE).bind(RunState::Running.word()).bind(run),
        Job::Case(row) => sqlx::query(sql::PUT_CASE)
            .bind(run)
            .bind(row.ordinal)
            .bind(row.test_idx)
            .bind(row.prompt_idx)
            .bind(row.repeat)
            .bind(&row.target)
            .bind(row.status)
            .bind(row.score)
            .bind(row.latency_ms)
            .bind(&row.description)
            .bind(&row.prompt)
            .bind(row.vars_hash)
            .bind(row.result.bytes())
            .bind(row.evidence.bytes()),
        Job::Surface { target, surfaces } => {
            sqlx::query(sql::PUT_SURFACES).bind(run).bind(target).bind(surfaces.bytes())
        }
        Job::Knowledge(content) => sqlx::query(sql::PUT_KNOWLEDGE).bind(run).bind(content.bytes()),
        Job::Trial(key, content) => sqlx::query(sql::PUT_TRIAL)
            .bind(run)
            .bind(&key.attack)
            .bind(&key.place)
            .bind(number(key.nth))
            .bind(content.bytes()),
        Job::Answer { key, model, cost, duration_ms, content } => sqlx::query(sql::PUT_ANSWER)
            .bind(run)
            .bind(key)
            .bind(model)
            .bind(cost)
            .bind(duration_ms)
            .bind(content.bytes()),
        Job::Trace { ordinal, name, content } => {
            sqlx::query(sql::PUT_TRACE).bind(run).bind(ordinal).bind(name).bind(content.bytes())
        }
        Job::Score { ordinal, metric, score, passed, content } => sqlx::query(sql::PUT_SCORE)
            .bind(run)
            .bind(ordinal)
            .bind(metric)
            .bind(score)
            .bind(passed)
            .bind(content.bytes()),
        Job::Info(content) => sqlx::query(sql::SET_INFO).bind(content.bytes()).bind(run),
        Job::Discard => sqlx::query(sql::DELETE_RUN).bind(run),
    };
    query.execute(connection).await?;
    Ok(())
}

async fn start(connection: &mut Connection, new: &Start, token: &str) -> sqlx::Result<i64> {
    let Start { kind, state, owner, info, packed, suite } = new;
    let run: i64 = sqlx::query_scalar(sql::NEXT_RUN).fetch_one(&mut *connection).await?;
    sqlx::query(sql::INSERT_RUN)
        .bind(run)
        .bind(&info.id)
        .bind(&info.created)
        .bind(&info.description)
        .bind(kind.word())
        .bind(owner)
        .bind(state.word())
        .bind(token)
        .bind(heartbeat::now())
        .execute(&mut *connection)
        .await?;
    let query = sqlx::query(sql::INSERT_DETAILS).bind(run).bind(packed.bytes());
    query.execute(&mut *connection).await?;
    for (name, value) in &info.tags {
        let query = sqlx::query(sql::INSERT_TAG).bind(run).bind(name).bind(value);
        query.execute(&mut *connection).await?;
    }
    for (place, (name, base_dir, content)) in suite.iter().enumerate() {
        let query = sqlx::query(sql::INSERT_SUITE_TEXT).bind(run).bind(number(place)).bind(name);
        query.bind(base_dir).bind(content.bytes()).execute(&mut *connection).await?;
    }
    Ok(run)
}

async fn end(connection: &mut Connection, run: i64, finish: &Finish) -> sqlx::Result<()> {
    let Finish { end, counts: [passed, failed, errored], summary, findings } = finish;
    let query = sqlx::query(sql::SET_STATE).bind(RunState::Ended(*end).word()).bind(run);
    query.execute(&mut *connection).await?;
    let query = sqlx::query(sql::SET_COUNTS).bind(passed).bind(failed).bind(errored).bind(run);
    query.execute(&mut *connection).await?;
    let query = sqlx::query(sql::SET_SUMMARY).bind(summary.bytes()).bind(run);
    query.execute(&mut *connection).await?;
    // Remove findings that the run stored before it was resumed.
    for statement in [sql::DELETE_FINGERPRINTS, sql::DELETE_FINDINGS] {
        sqlx::query(statement).bind(run).execute(&mut *connection).await?;
    }
    for finding in findings {
        finding.insert(connection, run).await?;
    }
    Ok(())
}
