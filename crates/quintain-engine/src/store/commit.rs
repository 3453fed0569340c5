//! The rows of one transaction. Slow work, such as compression, is done before the transaction begins, so that other
//! processes do not wait for the lock.

use std::collections::{BTreeMap, HashSet};

use quintain_evidence::trial_record::TrialKey;
use sqlx::Connection as _;

use super::case_row::CaseRow;
use super::findings::FindingRow;
use super::heartbeat;
use super::pack::{Packed, Packer};
use super::records::AnswerRow;
use super::sqlite::{BEGIN, Connection};
use super::{RunEnd, RunKind, RunState, number, sql};
use crate::masked::MaskedCase;

/// Something to write.
pub(super) enum Change {
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
    Case(MaskedCase),
    Knowledge(Packed),
    Trial(TrialKey, Packed),
    /// An answer that belongs to no case.
    Answer(AnswerRow, Packed),
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
    pub(super) id: String,
    pub(super) created: String,
    pub(super) description: Option<String>,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) info: Packed,
    /// Name, folder and text of each file.
    pub(super) suite: Vec<(String, String, Packed)>,
}

/// A run at its end.
pub(super) struct Finish {
    pub(super) end: RunEnd,
    /// Passed, failed, errored.
    pub(super) counts: [i64; 3],
    pub(super) duration_ms: f64,
    pub(super) summary: Packed,
    pub(super) findings: Vec<FindingRow>,
}

/// Why a transaction was aborted.
pub(super) enum CommitError {
    Failed(sqlx::Error),
    /// Another process resumed the run.
    TakenOver,
    /// The run was deleted meanwhile.
    Deleted,
    /// An earlier transaction failed and was already reported.
    NoRun,
}

impl From<sqlx::Error> for CommitError {
    fn from(error: sqlx::Error) -> Self {
        Self::Failed(error)
    }
}

/// The run to write to.
pub(super) struct Target {
    number: Option<i64>,
    /// Identifies this writer.
    token: String,
}

impl Target {
    /// The run of this number, or a new one.
    pub(super) fn new(number: Option<i64>) -> Self {
        Self { number, token: heartbeat::token() }
    }
}

impl Change {
    /// Everything that can be compressed. [`CaseRow::of`] compresses results.
    fn contents(&mut self) -> Vec<&mut Packed> {
        match self {
            Self::Start(start) => {
                let texts = start.suite.iter_mut().map(|(_, _, content)| content);
                std::iter::once(&mut start.info).chain(texts).collect()
            }
            Self::Finish(finish) => {
                let findings = finish.findings.iter_mut().map(FindingRow::content);
                std::iter::once(&mut finish.summary).chain(findings).collect()
            }
            Self::Surface { surfaces: content, .. }
            | Self::Knowledge(content)
            | Self::Trial(_, content)
            | Self::Answer(_, content)
            | Self::Info(content) => vec![content],
            Self::Resume { .. } | Self::Begin | Self::Case(_) | Self::Discard => Vec::new(),
        }
    }
}

/// Compressed data for one transaction.
pub(super) struct Batch {
    changes: Vec<Change>,
    cases: Vec<CaseRow>,
    /// Each with the sequence number of its last event.
    events: Vec<(i64, Packed)>,
}

impl Batch {
    /// Takes all changes. Skips results that cannot be serialised, with a warning.
    pub(super) fn of(
        group: &mut Vec<Change>,
        mut events: Vec<(i64, Packed)>,
        packer: &mut Packer,
    ) -> Self {
        events.iter_mut().for_each(|(_, content)| content.shrink(packer));
        let mut batch = Self { changes: Vec::new(), cases: Vec::new(), events };
        for mut change in group.drain(..) {
            if let Change::Case(case) = &change {
                match CaseRow::of(case, packer) {
                    Ok(row) => batch.cases.push(row),
                    Err(error) => tracing::warn!(%error, "a result is not stored"),
                }
                continue;
            }
            change.contents().into_iter().for_each(|content| content.shrink(packer));
            batch.changes.push(change);
        }
        batch
    }

    /// Whether it is only a heartbeat, perhaps with events.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.cases.is_empty()
    }

    /// Number of results.
    pub(super) fn cases(&self) -> usize {
        self.cases.len()
    }

    /// Whether the run ends.
    pub(super) fn is_last(&self) -> bool {
        self.changes.iter().any(|change| matches!(change, Change::Finish(_) | Change::Discard))
    }
}

/// Marks the run as failed: the writer was dropped without `finish`, while the process is still running.
pub(super) async fn abandon(connection: &mut Connection, target: &Target) -> sqlx::Result<()> {
    let Some(number) = target.number else { return Ok(()) };
    let query = sqlx::query(sql::ABANDON).bind(RunState::Ended(RunEnd::Failed).word());
    query.bind(number).bind(&target.token).execute(connection).await?;
    Ok(())
}

pub(super) async fn commit(
    connection: &mut Connection,
    target: &mut Target,
    batch: &Batch,
) -> Result<(), CommitError> {
    let mut transaction = connection.begin_with(BEGIN).await?;
    let mut changes = batch.changes.iter().peekable();
    let mut number = target.number;
    match changes.next_if(|change| matches!(change, Change::Start(_) | Change::Resume { .. })) {
        Some(Change::Start(new)) => {
            number = Some(start(&mut transaction, new, &target.token).await?);
        }
        Some(Change::Resume { earlier }) => {
            let query = sqlx::query(sql::TAKE_OVER).bind(RunState::Running.word());
            let query = query.bind(&target.token).bind(heartbeat::now()).bind(number);
            let done = query.bind(earlier).execute(&mut *transaction).await?;
            let run = number.ok_or(CommitError::NoRun)?;
            check_owner(&mut transaction, run, done.rows_affected()).await?;
            // The events of this sitting count from 1 again and begin with the earlier cases.
            sqlx::query(sql::DELETE_EVENTS).bind(run).execute(&mut *transaction).await?;
        }
        _ => {
            let query = sqlx::query(sql::BEAT).bind(heartbeat::now());
            let run = number.ok_or(CommitError::NoRun)?;
            let done = query.bind(run).bind(&target.token).execute(&mut *transaction).await?;
            check_owner(&mut transaction, run, done.rows_affected()).await?;
        }
    }
    let run = number.ok_or(CommitError::NoRun)?;
    put_cases(&mut transaction, run, &batch.cases).await?;
    for change in changes {
        write(&mut transaction, run, change).await?;
    }
    if !batch.changes.iter().any(|change| matches!(change, Change::Discard)) {
        for (sequence, content) in &batch.events {
            let query = sqlx::query(sql::PUT_EVENT).bind(run).bind(sequence).bind(content.bytes());
            query.execute(&mut *transaction).await?;
        }
    }
    transaction.commit().await?;
    target.number = number;
    Ok(())
}

/// Checks that the run still belongs to this writer, given the number of rows that it changed.
async fn check_owner(
    connection: &mut Connection,
    run: i64,
    changed: u64,
) -> Result<(), CommitError> {
    if changed > 0 {
        return Ok(());
    }
    let query = sqlx::query_scalar::<_, Option<String>>(sql::WRITER).bind(run);
    let found = query.fetch_optional(connection).await?;
    Err(if found.is_some() { CommitError::TakenOver } else { CommitError::Deleted })
}

/// Writes several rows per statement where possible: every statement is a round trip to another thread.
async fn put_cases(connection: &mut Connection, run: i64, rows: &[CaseRow]) -> sqlx::Result<()> {
    for rows in rows.chunks(sql::CASES_AT_ONCE) {
        let distinct: HashSet<_> = rows.iter().map(CaseRow::key).collect();
        // PostgreSQL cannot update the same row twice in one statement.
        if rows.len() == sql::CASES_AT_ONCE && distinct.len() == rows.len() {
            put(connection, sql::PUT_CASES, run, rows).await?;
            continue;
        }
        for row in rows {
            put(connection, sql::PUT_CASE, run, std::slice::from_ref(row)).await?;
        }
    }
    for row in rows {
        for answer in &row.answers {
            answer.insert(connection, run, None).await?;
        }
        if let Some(trace) = &row.trace {
            trace.insert(connection, run, row.ordinal).await?;
        }
    }
    Ok(())
}

async fn put(
    connection: &mut Connection,
    statement: &'static str,
    run: i64,
    rows: &[CaseRow],
) -> sqlx::Result<()> {
    let mut query = sqlx::query(statement).bind(run);
    for row in rows {
        query = query
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
            .bind(row.evidence.bytes());
    }
    query.execute(connection).await?;
    Ok(())
}

async fn write(connection: &mut Connection, run: i64, change: &Change) -> sqlx::Result<()> {
    let query = match change {
        // Already handled by `commit`.
        Change::Start(_) | Change::Resume { .. } | Change::Case(_) => return Ok(()),
        Change::Finish(finish) => return end(connection, run, finish).await,
        Change::Answer(row, content) => return row.insert(connection, run, Some(content)).await,
        Change::Begin => sqlx::query(sql::SET_STATE).bind(RunState::Running.word()).bind(run),
        Change::Surface { target, surfaces } => {
            sqlx::query(sql::PUT_SURFACES).bind(run).bind(target).bind(surfaces.bytes())
        }
        Change::Knowledge(content) => {
            sqlx::query(sql::PUT_KNOWLEDGE).bind(run).bind(content.bytes())
        }
        Change::Trial(key, content) => sqlx::query(sql::PUT_TRIAL)
            .bind(run)
            .bind(&key.attack)
            .bind(&key.place)
            .bind(number(key.nth))
            .bind(content.bytes()),
        Change::Info(content) => sqlx::query(sql::SET_INFO).bind(content.bytes()).bind(run),
        Change::Discard => sqlx::query(sql::DELETE_RUN).bind(run),
    };
    query.execute(connection).await?;
    Ok(())
}

async fn start(connection: &mut Connection, new: &Start, token: &str) -> sqlx::Result<i64> {
    let Start { kind, state, owner, id, created, description, tags, info, suite } = new;
    let run: i64 = sqlx::query_scalar(sql::NEXT_RUN).fetch_one(&mut *connection).await?;
    sqlx::query(sql::INSERT_RUN)
        .bind(run)
        .bind(id)
        .bind(created)
        .bind(description)
        .bind(kind.word())
        .bind(owner)
        .bind(state.word())
        .bind(token)
        .bind(heartbeat::now())
        .execute(&mut *connection)
        .await?;
    let query = sqlx::query(sql::INSERT_DETAILS).bind(run).bind(info.bytes());
    query.execute(&mut *connection).await?;
    for (name, value) in tags {
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
    let Finish { end, counts: [passed, failed, errored], duration_ms, summary, findings } = finish;
    let query = sqlx::query(sql::SET_STATE).bind(RunState::Ended(*end).word()).bind(run);
    query.execute(&mut *connection).await?;
    let query = sqlx::query(sql::SET_COUNTS).bind(passed).bind(failed).bind(errored);
    query.bind(duration_ms).bind(run).execute(&mut *connection).await?;
    let query = sqlx::query(sql::SET_SUMMARY).bind(summary.bytes()).bind(run);
    query.execute(&mut *connection).await?;
    // Remove findings that the run stored before it was resumed.
    for statement in [sql::DELETE_FINGERPRINTS, sql::DELETE_FINDINGS] {
        sqlx::query(statement).bind(run).execute(&mut *connection).await?;
    }
    for finding in findings {
        finding.insert(connection, run).await?;
    }
    sqlx::query(sql::SET_FINDINGS).bind(run).execute(connection).await?;
    Ok(())
}
