//! The data of one demo: an SQLite database and a few files, both below one root directory.

mod files;
mod schema;
mod seed;

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Map, Value};
use sqlx::{
    AssertSqlSafe, Column, Row as _, SqlSafeStr, SqlStr, Sqlite, SqliteConnection, SqlitePool,
    TypeInfo, ValueRef,
    query::Query,
    sqlite::{
        SqliteArguments, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow,
        SqliteSynchronous,
    },
};
use tempfile::TempDir;

use crate::{
    error::DemoError,
    identity::{Caller, Role},
    tool_error::ToolError,
};

/// SQLite calls the progress handler after this number of steps. `MAX_CHECKS` calls take about a second.
const STEPS_PER_CHECK: i32 = 10_000;
const MAX_CHECKS: u32 = 2_000;

const LONGEST_CLOSE: Duration = Duration::from_millis(500);

/// One row, column by column, in the order of the query.
pub(crate) type Row = Map<String, Value>;

/// A value for a placeholder in a statement.
pub(crate) enum Bind<'a> {
    Text(&'a str),
    Int(i64),
}

impl<'a> From<&'a str> for Bind<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Bind<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Bind<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

/// Database and files of one server. Sessions share it.
pub(crate) struct Store {
    /// Queries run on connections that cannot write, not even to an attached database. So the SQL
    /// injections of the vulnerable twin are real but harmless.
    reader: SqlitePool,
    writer: SqlitePool,
    root: PathBuf,
    /// The root, if it must be removed.
    temporary: Mutex<Option<TempDir>>,
}

/// A folder that only this user can use.
fn temporary_directory() -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix("techmart-").tempdir()
}

impl Store {
    pub(crate) async fn open(data_dir: Option<&Path>) -> Result<Self, DemoError> {
        let (root, temporary) = if let Some(path) = data_dir {
            (path.to_path_buf(), None)
        } else {
            let directory = temporary_directory().map_err(DemoError::TemporaryDirectory)?;
            (directory.path().to_path_buf(), Some(directory))
        };
        let root = files::prepare(&root)
            .map_err(|source| DemoError::DataDirectory { path: root.clone(), source })?;

        // The data is temporary, so durability would only cost time.
        let options = SqliteConnectOptions::new()
            .filename(root.join("techmart.db"))
            .journal_mode(SqliteJournalMode::Memory)
            .synchronous(SqliteSynchronous::Off)
            .busy_timeout(Duration::from_secs(5));
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options.clone().create_if_missing(true))
            .await?;
        schema::create(&writer).await?;
        seed::insert(&writer).await?;
        let reader = SqlitePoolOptions::new()
            .max_connections(4)
            .after_connect(|connection, _| Box::pin(limit(connection)))
            .before_acquire(|connection, _| {
                Box::pin(async { limit(connection).await.map(|()| true) })
            })
            .connect_lazy_with(options.read_only(true));
        Ok(Self { reader, writer, root, temporary: Mutex::new(temporary) })
    }

    /// Removes the data, even if a session has not ended yet.
    pub(crate) async fn close(&self) {
        let connections = async { tokio::join!(self.reader.close(), self.writer.close()) };
        // A running query keeps its connection; the files are removed anyway where the system allows it.
        let _ = tokio::time::timeout(LONGEST_CLOSE, connections).await;
        let temporary = self.temporary.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Err(error)) = temporary.map(TempDir::close) {
            tracing::debug!(%error, "cannot remove the data directory");
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn invoices(&self) -> PathBuf {
        self.root.join("invoices")
    }

    pub(crate) fn statements(&self) -> PathBuf {
        self.root.join("statements")
    }

    pub(crate) fn reports(&self) -> PathBuf {
        self.root.join("reports")
    }

    /// Runs a query that is a constant of the source.
    pub(crate) async fn select(
        &self,
        sql: &'static str,
        binds: &[Bind<'_>],
    ) -> Result<Vec<Row>, ToolError> {
        self.run(sql, sql.into_sql_str(), binds).await
    }

    /// PLANTED (sql-injection): runs a query that was built from input. The assertion that it is safe is
    /// false, and it is the only such one in the crate.
    pub(crate) async fn select_built(
        &self,
        sql: String,
        binds: &[Bind<'_>],
    ) -> Result<Vec<Row>, ToolError> {
        self.run(&sql.clone(), AssertSqlSafe(sql).into_sql_str(), binds).await
    }

    async fn run(
        &self,
        text: &str,
        sql: SqlStr,
        binds: &[Bind<'_>],
    ) -> Result<Vec<Row>, ToolError> {
        let rows = bind(sqlx::query(sql), binds)
            .fetch_all(&self.reader)
            .await
            .map_err(|source| ToolError::database(text, source))?;
        rows.iter()
            .map(|row| to_json(row).map_err(|source| ToolError::database(text, source)))
            .collect()
    }

    /// Runs a statement that changes data, and returns the number of affected rows.
    pub(crate) async fn execute(
        &self,
        sql: &'static str,
        binds: &[Bind<'_>],
    ) -> Result<u64, ToolError> {
        let done = bind(sqlx::query(sql), binds)
            .execute(&self.writer)
            .await
            .map_err(|source| ToolError::database(sql, source))?;
        Ok(done.rows_affected())
    }

    /// Books a payment of payer, payee, amount, currency and memo, and returns its number.
    pub(crate) async fn insert_transaction(&self, binds: &[Bind<'_>; 5]) -> Result<i64, ToolError> {
        // There is one writing connection, so no other call can take the same number.
        const SQL: &str =
            "INSERT INTO transactions (id, user_id, payee, amount, currency, memo, status)
             SELECT 'txn_' || (max(number) + 1), ?, ?, ?, ?, ?, 'completed' FROM transactions";
        let done = bind(sqlx::query(SQL), binds)
            .execute(&self.writer)
            .await
            .map_err(|source| ToolError::database(SQL, source))?;
        Ok(done.last_insert_rowid())
    }

    /// The role of a user, or `None` if there is no such user.
    pub(crate) async fn role(&self, user: &str) -> Result<Option<Role>, ToolError> {
        let rows = self.select("SELECT role FROM users WHERE id = ?", &[user.into()]).await?;
        Ok(rows.first().and_then(|row| row["role"].as_str()).and_then(Role::from_name))
    }

    /// Writes one line to the audit log.
    pub(crate) async fn audit(
        &self,
        caller: &Caller,
        action: &'static str,
        detail: &str,
    ) -> Result<(), ToolError> {
        self.execute(
            "INSERT INTO audit (actor, action, detail) VALUES (?, ?, ?)",
            &[(&caller.user).into(), action.into(), detail.into()],
        )
        .await
        .map(drop)
    }
}

/// Ends a query that runs too long, as an injected one might.
async fn limit(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut left = MAX_CHECKS;
    connection.lock_handle().await?.set_progress_handler(STEPS_PER_CHECK, move || {
        left = left.saturating_sub(1);
        left > 0
    });
    Ok(())
}

fn bind<'q>(
    mut query: Query<'q, Sqlite, SqliteArguments>,
    binds: &[Bind<'_>],
) -> Query<'q, Sqlite, SqliteArguments> {
    for value in binds {
        query = match value {
            Bind::Text(text) => query.bind((*text).to_owned()),
            Bind::Int(number) => query.bind(*number),
        };
    }
    query
}

/// SQLite types values, not columns, so each value is inspected.
fn to_json(row: &SqliteRow) -> Result<Row, sqlx::Error> {
    let mut object = Row::new();
    for column in row.columns() {
        let index = column.ordinal();
        let raw = row.try_get_raw(index)?;
        let kind = if raw.is_null() { "NULL".into() } else { raw.type_info().name().to_owned() };
        let value = match kind.as_str() {
            "NULL" => Value::Null,
            "INTEGER" => row.try_get_unchecked::<i64, _>(index)?.into(),
            "REAL" => row.try_get_unchecked::<f64, _>(index)?.into(),
            _ => row.try_get_unchecked::<String, _>(index)?.into(),
        };
        object.insert(column.name().to_owned(), value);
    }
    Ok(object)
}
