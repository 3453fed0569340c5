//! Which runs there are, and what is known of each beside its cases.

use std::path::PathBuf;

use quintain_evidence::event::RunInfo;
use quintain_evidence::surface::Surface;
use quintain_evidence::tally::Summary;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::row::number;
use super::{Moment, Store, StoreError, SuiteText, pack};

/// How many runs an ambiguous prefix shows.
const CANDIDATES: i64 = 3;

/// One stored run, as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub(super) number: i64,
    /// The id of its [`RunInfo`].
    pub id: String,
    /// RFC 3339, UTC.
    pub created: String,
    /// What the suite says.
    pub description: Option<String>,
    /// How it ended.
    pub state: RunState,
    /// None if the run goes on, or ended without a word.
    pub summary: Option<Summary>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// It goes on, or its process died.
    Open,
    /// To its end.
    Finished,
    /// The user stopped it.
    Interrupted,
}

/// Which runs to list. An empty filter lists all.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// At most so many.
    pub limit: Option<usize>,
    /// The description contains this, in any case of letters.
    pub description: Option<String>,
    /// It has this tag, with this value if one is given.
    pub tag: Option<(String, Option<String>)>,
    /// It was created before this moment.
    pub before: Option<Moment>,
}

impl Store {
    /// The runs, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>, StoreError> {
        const SQL: &str = "SELECT number, id, created, description, state, summary FROM run
            WHERE ($1 IS NULL OR lower(description) LIKE '%' || lower($1) || '%' ESCAPE '\\')
            AND ($2 IS NULL OR EXISTS (SELECT 1 FROM run_tag
                WHERE run = number AND name = $2 AND ($3 IS NULL OR value = $3)))
            AND ($5 IS NULL OR created < $5)
            ORDER BY created DESC, number DESC LIMIT $4";
        let (name, value) = match &filter.tag {
            Some((name, value)) => (Some(name.as_str()), value.as_deref()),
            None => (None, None),
        };
        let description = filter.description.as_deref().map(literal);
        let limit = filter.limit.map_or(i64::MAX, number);
        let before = filter.before.map(|moment| moment.to_string());
        let query =
            sqlx::query(SQL).bind(description).bind(name).bind(value).bind(limit).bind(before);
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        rows.iter().map(run).collect()
    }

    /// The run of this id, of an id that begins like this, `latest`, or `latest~1` for the one
    /// before it.
    ///
    /// # Errors
    /// When there is no such run, or more than one.
    pub async fn find(&self, wanted: &str) -> Result<Run, StoreError> {
        self.find_of(wanted, "").await
    }

    /// The same where `latest` means the latest run whose id begins so.
    ///
    /// # Errors
    /// When there is no such run, or more than one.
    pub async fn find_of(&self, wanted: &str, kind: &str) -> Result<Run, StoreError> {
        let missing = || StoreError::NoSuchRun { wanted: wanted.to_owned() };
        if let Some(back) = back_from_latest(wanted) {
            let sql = "SELECT number, id, created, description, state, summary FROM run
                WHERE substr(id, 1, length($2)) = $2
                ORDER BY created DESC, number DESC LIMIT 1 OFFSET $1";
            let found = sqlx::query(sql).bind(back).bind(kind).fetch_optional(&self.pool).await;
            let found = found.map_err(|error| self.failed(error))?;
            return run(&found.ok_or_else(missing)?);
        }
        if wanted.is_empty() {
            return Err(missing());
        }
        let sql = "SELECT number, id, created, description, state, summary FROM run
            WHERE substr(id, 1, length($1)) = $1
            ORDER BY id <> $1, created DESC, number DESC LIMIT $2";
        let query = sqlx::query(sql).bind(wanted).bind(CANDIDATES);
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let mut found = rows.iter().map(run).collect::<Result<Vec<_>, _>>()?;
        if found.is_empty() {
            return Err(missing());
        }
        if found.len() > 1 && found[0].id != wanted {
            let candidates = found.into_iter().map(|run| run.id).collect();
            return Err(StoreError::Ambiguous { wanted: wanted.to_owned(), candidates });
        }
        Ok(found.swap_remove(0))
    }

    /// What was known of a run before it started.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn info(&self, run: &Run) -> Result<RunInfo, StoreError> {
        let query = sqlx::query_scalar("SELECT info FROM run WHERE number = $1").bind(run.number);
        let info: Option<Vec<u8>> =
            query.fetch_optional(&self.pool).await.map_err(|error| self.failed(error))?;
        let info = info.ok_or_else(|| StoreError::NoSuchRun { wanted: run.id.clone() })?;
        pack::json("run", &info)
    }

    /// The files of the suite as they were then.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn suite_texts(&self, run: &Run) -> Result<Vec<SuiteText>, StoreError> {
        let sql = "SELECT name, base_dir, content FROM suite_text WHERE run = $1 ORDER BY place";
        let rows: Vec<(String, String, Vec<u8>)> = sqlx::query_as(sql)
            .bind(run.number)
            .fetch_all(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
        let text = |(name, base_dir, content): (String, String, Vec<u8>)| {
            let text = pack::text("suite", &content)?;
            Ok(SuiteText { name, base_dir: PathBuf::from(base_dir), text })
        };
        rows.into_iter().map(text).collect()
    }

    /// What the servers of the targets listed: target, then server and surface.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn surfaces(
        &self,
        run: &Run,
    ) -> Result<Vec<(String, Vec<(String, Surface)>)>, StoreError> {
        let sql = "SELECT target, surfaces FROM suite_surface WHERE run = $1 ORDER BY target";
        let rows: Vec<(String, Vec<u8>)> = sqlx::query_as(sql)
            .bind(run.number)
            .fetch_all(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
        let read =
            |(target, packed): (String, Vec<u8>)| Ok((target, pack::json("surface", &packed)?));
        rows.into_iter().map(read).collect()
    }
}

fn run(row: &SqliteRow) -> Result<Run, StoreError> {
    let read = || -> sqlx::Result<_> {
        let state = match row.try_get::<&str, _>("state")? {
            "finished" => RunState::Finished,
            "interrupted" => RunState::Interrupted,
            _ => RunState::Open,
        };
        let run = Run {
            number: row.try_get("number")?,
            id: row.try_get("id")?,
            created: row.try_get("created")?,
            description: row.try_get("description")?,
            state,
            summary: None,
        };
        Ok((run, row.try_get::<Option<&[u8]>, _>("summary")?))
    };
    let (run, summary) = read().map_err(|error| StoreError::unreadable("run", error))?;
    let summary = summary.map(|packed| pack::json("summary", packed)).transpose()?;
    Ok(Run { summary, ..run })
}

/// A text in which no character is a wildcard.
fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            literal.push('\\');
        }
        literal.push(c);
    }
    literal
}

/// `latest` is 0, `latest~2` is 2.
fn back_from_latest(wanted: &str) -> Option<i64> {
    match wanted.strip_prefix("latest")? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok().filter(|back| *back >= 0),
    }
}
