//! What a run stores in addition to its cases and findings: answers to the questions of checks, conversations, their
//! scores, and events for late listeners.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Run, Store, StoreError, index, pack, sql};

/// Maximum number of events per query.
const EVENTS: i64 = 1_000;

/// The answer to a question of a check, with its cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// A digest of the question. The same question of the same run has one answer.
    pub key: String,
    /// The model, if one was asked.
    pub model: Option<String>,
    /// In US dollars, if known.
    pub cost: Option<f64>,
    pub duration_ms: f64,
    /// The answer, optionally with the question, in any form.
    pub content: Value,
}

/// A recorded conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceRecord {
    /// Its position in the run.
    pub ordinal: usize,
    pub name: String,
    pub content: Value,
}

/// The score of a conversation by a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreRecord {
    /// The position of the conversation in the run.
    pub ordinal: usize,
    pub metric: String,
    /// `None` if it could not be computed.
    pub score: Option<f64>,
    pub passed: Option<bool>,
    /// Reason, threshold, findings.
    pub content: Value,
}

/// An event of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRecord {
    /// Increases within a run.
    pub sequence: u64,
    pub content: Value,
}

type AnswerColumns = (String, Option<String>, Option<f64>, f64, Vec<u8>);

impl Store {
    /// All answers of a run, by key.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn answers(&self, run: &Run) -> Result<Vec<AnswerRecord>, StoreError> {
        let query = sqlx::query_as(sql::ANSWERS).bind(run.number);
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        rows.into_iter().map(answer).collect()
    }

    /// The answer of a run to one question.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn answer(&self, run: &Run, key: &str) -> Result<Option<AnswerRecord>, StoreError> {
        let query = sqlx::query_as(sql::ANSWER).bind(run.number).bind(key);
        let row = query.fetch_optional(&self.pool).await.map_err(|error| self.failed(error))?;
        row.map(answer).transpose()
    }

    /// The conversations of a run.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn traces(&self, run: &Run) -> Result<Vec<TraceRecord>, StoreError> {
        let query = sqlx::query_as(sql::TRACES).bind(run.number);
        let rows: Vec<(i64, String, Vec<u8>)> =
            query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let trace = |(ordinal, name, packed): (i64, String, Vec<u8>)| {
            let content = pack::json("trace", &packed)?;
            Ok(TraceRecord { ordinal: index(ordinal), name, content })
        };
        rows.into_iter().map(trace).collect()
    }

    /// The scores of the conversations of a run.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn scores(&self, run: &Run) -> Result<Vec<ScoreRecord>, StoreError> {
        type Columns = (i64, String, Option<f64>, Option<bool>, Vec<u8>);
        let query = sqlx::query_as(sql::SCORES).bind(run.number);
        let rows: Vec<Columns> =
            query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let score = |(ordinal, metric, score, passed, packed): Columns| {
            let content = pack::json("score", &packed)?;
            Ok(ScoreRecord { ordinal: index(ordinal), metric, score, passed, content })
        };
        rows.into_iter().map(score).collect()
    }

    /// Events of a run after this sequence number, or from the start. Returns a limited number, so call again with the
    /// last number until the result is empty.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn events(
        &self,
        run: &Run,
        after: Option<u64>,
    ) -> Result<Vec<EventRecord>, StoreError> {
        let after = after.map_or(-1, |after| i64::try_from(after).unwrap_or(i64::MAX));
        let query = sqlx::query_as(sql::EVENTS).bind(run.number).bind(after).bind(EVENTS);
        let rows: Vec<(i64, Vec<u8>)> =
            query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let event = |(sequence, packed): (i64, Vec<u8>)| {
            let content = pack::json("event", &packed)?;
            Ok(EventRecord { sequence: u64::try_from(sequence).unwrap_or_default(), content })
        };
        rows.into_iter().map(event).collect()
    }
}

fn answer(columns: AnswerColumns) -> Result<AnswerRecord, StoreError> {
    let (key, model, cost, duration_ms, packed) = columns;
    let content = pack::json("answer", &packed)?;
    Ok(AnswerRecord { key, model, cost, duration_ms, content })
}
