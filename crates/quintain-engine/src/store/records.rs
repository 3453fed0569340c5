//! What a run stores besides its cases and findings: answers that belong to no case, conversations, their scores,
//! and the events that a late listener gets.

use std::sync::Arc;

use quintain_evidence::answer_record::AnswerRecord;
use quintain_evidence::event::{Event, RunEvent};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event_log::StoredEvents;
use super::{Run, Store, StoreError, index, pack, sql};

/// How many rows of events are read at once.
const EVENTS: i64 = 100;

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

impl Store {
    /// The answers of a run that belong to no case, by key.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn answers(&self, run: &Run) -> Result<Vec<AnswerRecord>, StoreError> {
        let query = sqlx::query_scalar(sql::ANSWERS).bind(run.number);
        let rows: Vec<Vec<u8>> =
            query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        rows.iter().map(|packed| pack::json("answer", packed)).collect()
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
