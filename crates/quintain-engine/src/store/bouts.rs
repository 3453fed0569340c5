//! What a red-team run left behind: what it learned and the bouts it fought.

use quintain_evidence::trial_record::TrialRecord;

use super::{Run, Store, StoreError, pack};
use crate::redteam::Lesson;

impl Store {
    /// What a run learned, if it came so far.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn lesson(&self, run: &Run) -> Result<Option<Lesson>, StoreError> {
        let query = sqlx::query_scalar("SELECT content FROM lesson WHERE run = $1");
        let found: Option<Vec<u8>> = query
            .bind(run.number)
            .fetch_optional(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
        found.map(|packed| pack::json("lesson", &packed)).transpose()
    }

    /// The bouts of a run.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn bouts(&self, run: &Run) -> Result<Vec<TrialRecord>, StoreError> {
        let sql = "SELECT content FROM bout WHERE run = $1 ORDER BY attack, place, nth";
        let found: Vec<Vec<u8>> = sqlx::query_scalar(sql)
            .bind(run.number)
            .fetch_all(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
        found.iter().map(|packed| pack::json("bout", packed)).collect()
    }
}
