//! Forgetting runs, and giving their space back.

use super::{BEGIN, Run, Store, StoreError};

/// Which runs go.
#[derive(Debug, Clone, Copy)]
pub enum Pruned<'a> {
    /// This one.
    One(&'a Run),
    /// Those created before this moment (RFC 3339, UTC).
    Before(&'a str),
    /// All of them.
    All,
}

impl Store {
    /// Deletes runs with everything that belongs to them, and says how many.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn delete(&self, which: Pruned<'_>) -> Result<u64, StoreError> {
        let delete = async {
            let mut transaction = self.pool.begin_with(BEGIN).await?;
            let query = match which {
                Pruned::One(run) => {
                    sqlx::query("DELETE FROM run WHERE number = $1").bind(run.number)
                }
                Pruned::Before(moment) => {
                    sqlx::query("DELETE FROM run WHERE created < $1").bind(moment)
                }
                Pruned::All => sqlx::query("DELETE FROM run"),
            };
            let done = query.execute(&mut *transaction).await?;
            transaction.commit().await?;
            sqlx::Result::Ok(done.rows_affected())
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
