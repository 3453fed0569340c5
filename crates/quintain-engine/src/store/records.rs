//! What a run stores besides its cases and findings: one row for each answer, trace and score, so that lists read no case,
//! and the events that a late listener gets.

use std::sync::Arc;

use quintain_evidence::answer_record::{AnswerRecord, KeptAnswer};
use quintain_evidence::event::{Event, RunEvent};
use quintain_evidence::graded::{GradedTrace, MetricScore};
use quintain_evidence::question::Question;
use serde_json::Value;

use super::event_log::StoredEvents;
use super::pack::Packed;
use super::sqlite::Connection;
use super::{Run, Store, StoreError, index, number, pack, sql};

/// How many rows of events are read at once.
const EVENTS: i64 = 100;

/// The ordinal of answers that belong to no case.
const NO_CASE: i64 = -1;

/// An answer in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerLine {
    /// The case it belongs to, which has the record.
    pub case: Option<usize>,
    /// The key of the question.
    pub key: String,
    /// Who answered: `model`, `script`, `web`, `call`, `file`, `message`.
    pub kind: String,
    pub model: Option<String>,
    /// In US dollars.
    pub cost: Option<f64>,
    pub duration_ms: f64,
    /// The record of an answer that belongs to no case.
    pub record: Option<AnswerRecord>,
}

/// The answers of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerTotal {
    pub kind: String,
    pub count: usize,
    pub cost: Option<f64>,
    pub duration_ms: f64,
}

/// The mean score of a metric over the traces of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanScore {
    pub metric: String,
    /// None if it could not be computed for any trace.
    pub score: Option<f64>,
    /// Number of traces with a score.
    pub count: usize,
}

/// The row of an answer.
pub(super) struct AnswerRow {
    ordinal: i64,
    key: String,
    kind: &'static str,
    model: Option<String>,
    cost: Option<f64>,
    duration_ms: f64,
}

impl AnswerRow {
    /// For an answer of a case, or of none. The record must be masked.
    pub(super) fn of(record: &AnswerRecord, case: Option<usize>) -> Self {
        let kind = match &record.question {
            Question::Model(_) => "model",
            Question::Run { .. } => "script",
            Question::Post { .. } => "web",
            Question::Call { .. } => "call",
            Question::Read(_) => "file",
            Question::Say(_) => "message",
        };
        let model = match &record.answer {
            KeptAnswer::Value(value) => value.get("model").and_then(Value::as_str),
            _ => None,
        };
        Self {
            ordinal: case.map_or(NO_CASE, number),
            key: record.key.clone(),
            kind,
            model: model.map(str::to_owned),
            cost: record.cost.price,
            duration_ms: record.took.as_secs_f64() * 1e3,
        }
    }

    pub(super) async fn insert(
        &self,
        connection: &mut Connection,
        run: i64,
        content: Option<&Packed>,
    ) -> sqlx::Result<()> {
        let query = sqlx::query(sql::PUT_ANSWER)
            .bind(run)
            .bind(self.ordinal)
            .bind(&self.key)
            .bind(self.kind)
            .bind(&self.model)
            .bind(self.cost)
            .bind(self.duration_ms)
            .bind(content.map(Packed::bytes));
        query.execute(connection).await.map(drop)
    }
}

/// The rows of a graded trace.
pub(super) struct TraceRow {
    name: String,
    source: Option<String>,
    findings: i64,
    /// Metric, score, and whether it reaches its threshold.
    scores: Vec<(String, Option<f64>, Option<bool>)>,
}

impl TraceRow {
    pub(super) fn of(graded: &GradedTrace) -> Self {
        // A metric may be undefined; the database cannot store NaN.
        let score = |one: &MetricScore| one.score.filter(|score| !score.is_nan());
        let scores = graded.metrics.iter();
        Self {
            name: graded.name.clone(),
            source: graded.source.clone(),
            findings: number(graded.findings.len()),
            scores: scores.map(|one| (one.name.clone(), score(one), one.success)).collect(),
        }
    }

    pub(super) async fn insert(
        &self,
        connection: &mut Connection,
        run: i64,
        ordinal: i64,
    ) -> sqlx::Result<()> {
        let query = sqlx::query(sql::PUT_TRACE).bind(run).bind(ordinal).bind(&self.name);
        query.bind(&self.source).bind(self.findings).execute(&mut *connection).await?;
        for (metric, score, passed) in &self.scores {
            let query = sqlx::query(sql::PUT_SCORE).bind(run).bind(ordinal).bind(metric);
            query.bind(score).bind(passed).execute(&mut *connection).await?;
        }
        Ok(())
    }
}

impl Store {
    /// The answers of a run. Does not read the cases.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn answers(&self, run: &Run) -> Result<Vec<AnswerLine>, StoreError> {
        type Columns = (i64, String, String, Option<String>, Option<f64>, f64, Option<Vec<u8>>);
        let query = sqlx::query_as(sql::ANSWERS).bind(run.number);
        let rows: Vec<Columns> =
            query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let line = |(ordinal, key, kind, model, cost, duration_ms, packed): Columns| {
            let case = (ordinal != NO_CASE).then(|| index(ordinal));
            let record = packed.map(|packed| pack::json("answer", &packed)).transpose()?;
            Ok(AnswerLine { case, key, kind, model, cost, duration_ms, record })
        };
        rows.into_iter().map(line).collect()
    }

    /// How many answers of each kind a run has, and what they cost.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn answer_totals(&self, run: &Run) -> Result<Vec<AnswerTotal>, StoreError> {
        let query = sqlx::query_as(sql::ANSWER_TOTALS).bind(run.number);
        let rows: Vec<(String, i64, Option<f64>, f64)> =
            query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let total = |(kind, count, cost, duration_ms)| AnswerTotal {
            kind,
            count: index(count),
            cost,
            duration_ms,
        };
        Ok(rows.into_iter().map(total).collect())
    }

    /// The position of the first trace of this name.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn trace_named(&self, run: &Run, name: &str) -> Result<Option<usize>, StoreError> {
        let query = sqlx::query_scalar(sql::TRACE_OF_NAME).bind(run.number).bind(name);
        let found: Option<i64> =
            query.fetch_one(&self.pool).await.map_err(|error| self.failed(error))?;
        Ok(found.map(index))
    }

    /// The mean scores of a graded run. Does not read the cases.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn mean_scores(&self, run: &Run) -> Result<Vec<MeanScore>, StoreError> {
        let query = sqlx::query_as(sql::MEAN_SCORES).bind(run.number);
        let rows: Vec<(String, Option<f64>, i64)> =
            query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let mean = |(metric, score, count)| MeanScore { metric, score, count: index(count) };
        Ok(rows.into_iter().map(mean).collect())
    }

    /// Events of a run after this sequence number, in order; none when there are no more. Ask again with the last
    /// number to continue. A run that ended has `Finished` last.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn events(&self, run: &Run, after: u64) -> Result<Vec<RunEvent>, StoreError> {
        let bound = i64::try_from(after).unwrap_or(i64::MAX);
        let query = sqlx::query_as(sql::EVENTS).bind(run.number).bind(bound).bind(EVENTS);
        let rows: Vec<(i64, Vec<u8>)> =
            query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let mut events = Vec::new();
        let id: Arc<str> = run.id.as_str().into();
        let mut add = |sequence, event| {
            if sequence > after {
                events.push(RunEvent { run: id.clone(), sequence, event });
            }
        };
        for (last, packed) in rows {
            match pack::json("event", &packed)? {
                StoredEvents::One(event) => add(u64::try_from(last).unwrap_or_default(), *event),
                StoredEvents::Cases(cases) => {
                    for (sequence, ordinal) in cases {
                        if let Some(case) = self.case(run, ordinal).await? {
                            add(sequence, Event::Case(Arc::new(case)));
                        }
                    }
                }
            }
        }
        Ok(events)
    }

    /// The last event of a run that ended.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn last_event(
        &self,
        run: &Run,
        sequence: u64,
    ) -> Result<Option<RunEvent>, StoreError> {
        let summary = self.summary(run).await?;
        let event = |summary| Event::Finished(Arc::new(summary));
        let event =
            |summary| RunEvent { run: run.id.as_str().into(), sequence, event: event(summary) };
        Ok(summary.map(event))
    }
}
