//! Forgetting runs, and giving their space back.

use super::{BEGIN, Run, Store, StoreError};

impl Store {
    /// Deletes these runs with everything that belongs to them, and says how many were there.
    ///
    /// It takes runs that somebody has looked up, and no condition that could match more than was meant.
    ///
    /// # Errors
    /// When the store cannot be written; then all runs are still there.
    pub async fn delete(&self, runs: &[Run]) -> Result<u64, StoreError> {
        let delete = async {
            let mut transaction = self.pool.begin_with(BEGIN).await?;
            let mut gone = 0;
            for run in runs {
                let query = sqlx::query("DELETE FROM run WHERE number = $1").bind(run.number);
                gone += query.execute(&mut *transaction).await?.rows_affected();
            }
            transaction.commit().await?;
            sqlx::Result::Ok(gone)
        };
        let gone = delete.await.map_err(|error| self.failed(error))?;
        if gone > 0 {
            self.give_back().await;
        }
        Ok(gone)
    }

    /// Free pages go back to the file system. Failing that, later runs use them.
    async fn give_back(&self) {
        for sql in ["PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"] {
            // Each row that comes back is one step, so all of them have to be taken.
            if let Err(error) = sqlx::query(sql).fetch_all(&self.pool).await {
                tracing::debug!(%error, sql, "space was not given back");
            }
        }
    }
}
