//! Deletes runs and frees their disk space.

use super::sqlite::{BEGIN, free_disk_space};
use super::{Run, Store, StoreError, sql};

impl Store {
    /// Deletes runs with all their data, and returns how many existed.
    ///
    /// Takes runs that were looked up, not a condition, which could match more than intended.
    ///
    /// # Errors
    /// When the store cannot be written. Then no run is deleted.
    pub async fn delete(&self, runs: &[Run]) -> Result<u64, StoreError> {
        let delete = async {
            let mut transaction = self.pool.begin_with(BEGIN).await?;
            let mut gone = 0;
            for run in runs {
                let query = sqlx::query(sql::DELETE_RUN).bind(run.number);
                gone += query.execute(&mut *transaction).await?.rows_affected();
            }
            transaction.commit().await?;
            sqlx::Result::Ok(gone)
        };
        let gone = delete.await.map_err(|error| self.failed(error))?;
        if gone > 0 {
            free_disk_space(&self.pool).await;
        }
        Ok(gone)
    }
}
