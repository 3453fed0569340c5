//! Reads the cases of a stored run: as a stream, one by one, as events for reporters, or as rows for a comparison.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use quintain_evidence::event::Event;
use quintain_evidence::result::CaseResult;
use quintain_evidence::run_diff;
use quintain_evidence::tally::Tally;

use super::case_row::{self as row, Finished};
use super::{Run, Store, StoreError, number, sql};

/// Results in plan order.
pub type Cases<'a> = BoxStream<'a, Result<CaseResult, StoreError>>;

impl Store {
    /// Streams the results of a run with their evidence, one at a time.
    pub fn cases<'a>(&'a self, run: &Run) -> Cases<'a> {
        let rows = sqlx::query(sql::CASES).bind(run.number).fetch(&self.pool);
        rows.map(|row| row::case(&row.map_err(|error| self.failed(error))?)).boxed()
    }

    /// One result with its evidence.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn case(&self, run: &Run, ordinal: usize) -> Result<Option<CaseResult>, StoreError> {
        let query = sqlx::query(sql::CASE).bind(run.number).bind(number(ordinal));
        let found = query.fetch_optional(&self.pool).await.map_err(|error| self.failed(error))?;
        found.as_ref().map(row::case).transpose()
    }

    /// Emits the events of a stored run. A run that did not end is reported as interrupted.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn replay(
        &self,
        run: &Run,
        mut tell: impl FnMut(Event) + Send,
    ) -> Result<(), StoreError> {
        let info = self.info(run).await?;
        let info = Arc::new(info);
        tell(Event::Started(info.clone()));
        let summary = self.summary(run).await?;
        let mut tally = summary.is_none().then(|| Tally::new(&info));
        let mut cases = self.cases(run);
        while let Some(case) = cases.try_next().await? {
            if let Some(tally) = &mut tally {
                tally.add(&case);
            }
            tell(Event::Case(Arc::new(case)));
        }
        let counted = tally.map(|tally| tally.finish(Duration::ZERO, true));
        if let Some(summary) = summary.or(counted) {
            tell(Event::Finished(Arc::new(summary)));
        }
        Ok(())
    }

    /// The cases that have a result. Used to resume a run.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn finished(&self, run: &Run) -> Result<Vec<Finished>, StoreError> {
        let query = sqlx::query(sql::FINISHED_CASES).bind(run.number);
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        rows.iter().map(row::finished).collect()
    }

    /// The rows for a comparison of runs.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn diff_rows(&self, run: &Run) -> Result<Vec<run_diff::Row>, StoreError> {
        let query = sqlx::query(sql::COMPARED_CASES).bind(run.number);
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        rows.iter().map(row::slim).collect()
    }
}
