//! Reads what a red-team run stores for resuming it: its knowledge and every finished trial.

use quintain_evidence::trial_record::TrialRecord;
use serde::de::DeserializeOwned;

use super::{Run, Store, StoreError, pack, sql};

impl Store {
    /// The knowledge of a run, if it finished learning. The caller chooses the type.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn knowledge<T: DeserializeOwned>(&self, run: &Run) -> Result<Option<T>, StoreError> {
        let found: Option<Vec<u8>> = sqlx::query_scalar(sql::KNOWLEDGE)
            .bind(run.number)
            .fetch_optional(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
        found.map(|packed| pack::json("knowledge", &packed)).transpose()
    }

    /// The finished trials of a run.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn trials(&self, run: &Run) -> Result<Vec<TrialRecord>, StoreError> {
        let found: Vec<Vec<u8>> = sqlx::query_scalar(sql::TRIALS)
            .bind(run.number)
            .fetch_all(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
        found.iter().map(|packed| pack::json("trial", packed)).collect()
    }
}
