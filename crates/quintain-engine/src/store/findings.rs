//! The findings of red-team runs, one row each. Lookup by fingerprint uses an index.

use quintain_evidence::finding::Finding;
use quintain_wire::redact::Masked;
use serde_json::Value;

use super::pack::{self, Packed};
use super::sql::{self, PREFIX_END};
use super::sqlite::Connection;
use super::{Run, Store, StoreError, number};

/// Appended to a text, sorts directly after it and before every longer text.
const JUST_AFTER: char = '\u{1}';

/// A finding in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingLine {
    /// A baseline file accepts it.
    pub suppressed: bool,
    pub fingerprint: String,
    /// The attack that found it.
    pub rule: String,
    pub severity: String,
    pub confidence: String,
    pub title: String,
}

/// The findings of a run, in the order of its report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    pub reported: Vec<Finding>,
    /// Findings that a baseline file accepts.
    pub suppressed: Vec<Finding>,
}

pub(super) struct FindingRow {
    position: i64,
    suppressed: bool,
    fingerprint: String,
    rule: String,
    severity: String,
    confidence: String,
    title: String,
    content: Packed,
    /// Fingerprints of the places that it lists.
    places: Vec<String>,
}

impl FindingRow {
    pub(super) fn of(
        position: usize,
        suppressed: bool,
        finding: &Masked<'_, Finding>,
    ) -> Result<Self, StoreError> {
        let value = serde_json::to_value(&**finding);
        let value = value.map_err(|error| StoreError::unreadable("finding", error))?;
        Ok(Self {
            content: Packed::json(finding)?,
            ..Self::columns(number(position), suppressed, &value)
        })
    }

    /// A finding that an earlier version stored in the summary of its run.
    pub(super) fn of_stored(position: i64, suppressed: bool, finding: &Value) -> Self {
        let content = Packed::stored(finding);
        Self { content, ..Self::columns(position, suppressed, finding) }
    }

    /// The part that can be compressed.
    pub(super) fn content(&mut self) -> &mut Packed {
        &mut self.content
    }

    fn columns(position: i64, suppressed: bool, finding: &Value) -> Self {
        let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
        let places = finding["places"].as_array().into_iter().flatten();
        let places = places.map(|place| &place["fingerprint"]);
        Self {
            position,
            suppressed,
            fingerprint: text("fingerprint"),
            rule: text("rule"),
            severity: text("severity"),
            confidence: text("confidence"),
            title: text("title"),
            content: Packed::default(),
            places: places.filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    }

    pub(super) async fn insert(&self, connection: &mut Connection, run: i64) -> sqlx::Result<()> {
        sqlx::query(sql::INSERT_FINDING)
            .bind(run)
            .bind(self.position)
            .bind(self.suppressed)
            .bind(&self.fingerprint)
            .bind(&self.rule)
            .bind(&self.severity)
            .bind(&self.confidence)
            .bind(&self.title)
            .bind(self.content.bytes())
            .execute(&mut *connection)
            .await?;
        for fingerprint in std::iter::once(&self.fingerprint).chain(&self.places) {
            let query = sqlx::query(sql::INSERT_FINGERPRINT).bind(run).bind(self.position);
            query.bind(fingerprint).execute(&mut *connection).await?;
        }
        Ok(())
    }
}

impl Store {
    /// The findings of a run with their proofs.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn findings(&self, run: &Run) -> Result<Findings, StoreError> {
        let query = sqlx::query_as(sql::FINDINGS).bind(run.number);
        let rows: Vec<(bool, Vec<u8>)> =
            query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let mut findings = Findings::default();
        for (suppressed, packed) in rows {
            let list = if suppressed { &mut findings.suppressed } else { &mut findings.reported };
            list.push(pack::json("finding", &packed)?);
        }
        Ok(findings)
    }

    /// The findings of a run without their proofs.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn finding_list(&self, run: &Run) -> Result<Vec<FindingLine>, StoreError> {
        type Columns = (bool, String, String, String, String, String);
        let query = sqlx::query_as(sql::LIST_FINDINGS).bind(run.number);
        let rows: Vec<Columns> =
            query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let line = |(suppressed, fingerprint, rule, severity, confidence, title): Columns| {
            FindingLine { suppressed, fingerprint, rule, severity, confidence, title }
        };
        Ok(rows.into_iter().map(line).collect())
    }

    /// The finding of a run, or a place of one, whose fingerprint starts with these digits.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn finding(&self, run: &Run, digits: &str) -> Result<Option<Finding>, StoreError> {
        let query = sqlx::query_scalar(sql::FINDING).bind(run.number).bind(digits);
        let packed: Option<Vec<u8>> = query
            .bind(format!("{digits}{PREFIX_END}"))
            .fetch_optional(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
        let Some(packed) = packed else { return Ok(None) };
        let finding: Finding = pack::json("finding", &packed)?;
        let mut each = std::iter::once(&finding).chain(&finding.places);
        Ok(each.find(|one| one.fingerprint.starts_with(digits)).cloned())
    }

    /// The latest run with a finding whose fingerprint starts with these digits. The cost does not depend on the number of
    /// runs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn latest_run_with_finding(&self, digits: &str) -> Result<Option<Run>, StoreError> {
        let found = async {
            let end = format!("{digits}{PREFIX_END}");
            let mut latest: Option<i64> = None;
            let mut from = digits.to_owned();
            loop {
                let next = sqlx::query_scalar(sql::NEXT_FINGERPRINT).bind(&from).bind(&end);
                let Some(next): Option<String> = next.fetch_optional(&self.pool).await? else {
                    return sqlx::Result::Ok(latest);
                };
                let query = sqlx::query_scalar(sql::LATEST_RUN_WITH).bind(&next);
                latest = latest.max(query.fetch_optional(&self.pool).await?);
                from = format!("{next}{JUST_AFTER}");
            }
        };
        match found.await.map_err(|error| self.failed(error))? {
            Some(number) => self.run_of_number(number).await,
            None => Ok(None),
        }
    }
}
