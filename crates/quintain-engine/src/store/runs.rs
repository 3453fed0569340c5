//! Lists and finds runs, and reads everything about a run except its cases.

use std::path::PathBuf;

use quintain_evidence::event::RunInfo;
use quintain_evidence::surface::Surface;
use quintain_evidence::tally::Summary;
use sqlx::Row as _;

use super::sql::{self, PREFIX_END};
use super::sqlite::Row;
use super::{Moment, Store, StoreError, SuiteText, heartbeat, index, number, pack};

/// The owner of runs from the command line.
pub const LOCAL_OWNER: &str = "local";

/// Maximum number of candidates to show for an ambiguous prefix.
const CANDIDATES: i64 = 3;

/// A stored run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub(super) number: i64,
    /// The token of its last writer; `None` for runs of older versions.
    pub(super) writer: Option<String>,
    /// The id of its [`RunInfo`].
    pub id: String,
    /// RFC 3339, UTC.
    pub created: String,
    /// The description of the suite.
    pub description: Option<String>,
    pub kind: RunKind,
    /// Who requested the run.
    pub owner: String,
    pub state: RunState,
    /// `None` until the run ends.
    pub counts: Option<Counts>,
    /// In milliseconds; `None` until the run ends.
    pub duration_ms: Option<u64>,
    /// Number of findings that no baseline accepts, of a red-team run that ended.
    pub findings: Option<usize>,
}

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunKind {
    Eval,
    Redteam,
    Replay,
    Rejudge,
    Grade,
}

impl RunKind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Eval, Self::Redteam, Self::Replay, Self::Rejudge, Self::Grade];

    /// The name in the store and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Eval => "eval",
            Self::Redteam => "redteam",
            Self::Replay => "replay",
            Self::Rejudge => "rejudge",
            Self::Grade => "grade",
        }
    }

    /// The kind with this name.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunState {
    /// It waits to start.
    Queued,
    /// A process is executing it.
    Running,
    /// Its process ended unexpectedly. Never stored, but derived from the heartbeat.
    Died,
    Ended(RunEnd),
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunEnd {
    Finished,
    /// The user stopped it.
    Interrupted,
    /// A budget or a time limit ended it.
    LimitReached,
    /// It could not continue.
    Failed,
}

impl RunEnd {
    const ALL: [Self; 4] = [Self::Finished, Self::Interrupted, Self::LimitReached, Self::Failed];
}

impl RunState {
    /// The name in the store and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Died => "died",
            Self::Ended(RunEnd::Finished) => "finished",
            Self::Ended(RunEnd::Interrupted) => "interrupted",
            Self::Ended(RunEnd::LimitReached) => "limit-reached",
            Self::Ended(RunEnd::Failed) => "failed",
        }
    }

    /// The stored state, or `Died` if the run did not end and its process is gone.
    fn of(word: &str, is_alive: impl FnOnce() -> bool) -> Self {
        let end = RunEnd::ALL.into_iter().map(Self::Ended).find(|end| end.word() == word);
        match end {
            Some(end) => end,
            None if !is_alive() => Self::Died,
            None if word == Self::Queued.word() => Self::Queued,
            None => Self::Running,
        }
    }
}

/// Number of cases by status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
    pub errored: usize,
}

/// Which runs to list. An empty filter lists all.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Maximum number of runs.
    pub limit: Option<usize>,
    /// The description contains this text, ignoring case.
    pub description: Option<String>,
    /// The run has this tag, with this value if given.
    pub tag: Option<(String, Option<String>)>,
    /// The run was created before this moment.
    pub before: Option<Moment>,
    /// The run belongs to this owner.
    pub owner: Option<String>,
    pub kind: Option<RunKind>,
}

impl Store {
    /// The matching runs, newest first. Does not read large columns.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>, StoreError> {
        let (name, value) = match &filter.tag {
            Some((name, value)) => (Some(name.as_str()), value.as_deref()),
            None => (None, None),
        };
        let sql = if filter.owner.is_some() { sql::LIST_RUNS_OF_OWNER } else { sql::LIST_RUNS };
        let rows = sqlx::query(sql)
            .bind(filter.owner.as_deref())
            .bind(filter.description.as_deref().map(literal))
            .bind(name)
            .bind(value)
            .bind(filter.before.map(|moment| moment.to_string()))
            .bind(filter.kind.map(RunKind::word))
            .bind(filter.limit.map_or(i64::MAX, number))
            .fetch_all(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
        rows.iter().map(run).collect()
    }

    /// The number of runs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn count(&self) -> Result<usize, StoreError> {
        let count = sqlx::query_scalar(sql::COUNT_RUNS).fetch_one(&self.pool).await;
        count.map(index).map_err(|error| self.failed(error))
    }

    /// Finds a run by its id, by a prefix of its id, as `latest`, or as `latest~1` for the one before.
    ///
    /// # Errors
    /// When no run or more than one matches.
    pub async fn find(&self, wanted: &str) -> Result<Run, StoreError> {
        self.find_of(wanted, None).await
    }

    /// Like [`Self::find`], but `latest` means the latest run of a kind.
    ///
    /// # Errors
    /// When no run or more than one matches.
    pub async fn find_of(&self, wanted: &str, kind: Option<RunKind>) -> Result<Run, StoreError> {
        let missing = || StoreError::NoSuchRun { wanted: wanted.to_owned() };
        let rows = async |query: sqlx::query::Query<'_, _, _>| {
            query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))
        };
        if let Some(back) = back_from_latest(wanted) {
            let query = match kind {
                Some(kind) => sqlx::query(sql::LATEST_RUN_OF_KIND).bind(back).bind(kind.word()),
                None => sqlx::query(sql::LATEST_RUN).bind(back),
            };
            return run(rows(query).await?.first().ok_or_else(missing)?);
        }
        if wanted.is_empty() {
            return Err(missing());
        }
        if let Some(exact) = rows(sqlx::query(sql::RUN_OF_ID).bind(wanted)).await?.first() {
            return run(exact);
        }
        let query = sqlx::query(sql::RUNS_OF_PREFIX).bind(wanted);
        let found = rows(query.bind(format!("{wanted}{PREFIX_END}")).bind(CANDIDATES)).await?;
        let mut found = found.iter().map(run).collect::<Result<Vec<_>, _>>()?;
        match found.len() {
            0 => Err(missing()),
            1 => Ok(found.swap_remove(0)),
            _ => {
                let candidates = found.into_iter().map(|run| run.id).collect();
                Err(StoreError::Ambiguous { wanted: wanted.to_owned(), candidates })
            }
        }
    }

    pub(super) async fn run_of_number(&self, number: i64) -> Result<Option<Run>, StoreError> {
        let query = sqlx::query(sql::RUN).bind(number);
        let row = query.fetch_optional(&self.pool).await.map_err(|error| self.failed(error))?;
        row.as_ref().map(run).transpose()
    }

    /// The summary of a run; `None` if it has not ended.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn summary(&self, run: &Run) -> Result<Option<Summary>, StoreError> {
        let query = sqlx::query_scalar(sql::SUMMARY).bind(run.number);
        let packed: Option<Option<Vec<u8>>> =
            query.fetch_optional(&self.pool).await.map_err(|error| self.failed(error))?;
        let Some(packed) = packed.flatten() else { return Ok(None) };
        let mut summary: Summary = pack::json("summary", &packed)?;
        if let Some(report) = &mut summary.redteam {
            let findings = self.findings(run).await?;
            (report.findings, report.suppressed) = (findings.reported, findings.suppressed);
        }
        Ok(Some(summary))
    }

    /// The information about a run from its start.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn info(&self, run: &Run) -> Result<RunInfo, StoreError> {
        let query = sqlx::query_scalar(sql::INFO).bind(run.number);
        let info: Option<Vec<u8>> =
            query.fetch_optional(&self.pool).await.map_err(|error| self.failed(error))?;
        let info = info.ok_or_else(|| StoreError::NoSuchRun { wanted: run.id.clone() })?;
        pack::json("run", &info)
    }

    /// The suite files as they were when the run started.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn suite_texts(&self, run: &Run) -> Result<Vec<SuiteText>, StoreError> {
        let rows: Vec<(String, String, Vec<u8>)> = sqlx::query_as(sql::SUITE_TEXTS)
            .bind(run.number)
            .fetch_all(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
        let text = |(name, base_dir, content): (String, String, Vec<u8>)| {
            let text = pack::text("suite", &content)?;
            Ok(SuiteText { name, base_dir: PathBuf::from(base_dir), text: text.into() })
        };
        rows.into_iter().map(text).collect()
    }

    /// The surfaces of the targets: target name, then server name and surface.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn surfaces(
        &self,
        run: &Run,
    ) -> Result<Vec<(String, Vec<(String, Surface)>)>, StoreError> {
        let rows: Vec<(String, Vec<u8>)> = sqlx::query_as(sql::SURFACES)
            .bind(run.number)
            .fetch_all(&self.pool)
            .await
            .map_err(|error| self.failed(error))?;
        let read =
            |(target, packed): (String, Vec<u8>)| Ok((target, pack::json("surface", &packed)?));
        rows.into_iter().map(read).collect()
    }
}

fn run(row: &Row) -> Result<Run, StoreError> {
    let read = || -> sqlx::Result<_> {
        let writer: Option<String> = row.try_get("writer")?;
        let beat: i64 = row.try_get("heartbeat")?;
        let is_alive = || heartbeat::is_alive(writer.as_deref(), beat, heartbeat::now());
        let count = |name: &str| row.try_get::<Option<i64>, _>(name);
        let counts = match (count("passed")?, count("failed")?, count("errored")?) {
            (Some(passed), Some(failed), Some(errored)) => Some(Counts {
                passed: index(passed),
                failed: index(failed),
                errored: index(errored),
            }),
            _ => None,
        };
        let kind: &str = row.try_get("kind")?;
        let run = Run {
            number: row.try_get("number")?,
            id: row.try_get("id")?,
            created: row.try_get("created")?,
            description: row.try_get("description")?,
            kind: RunKind::Eval,
            owner: row.try_get("owner")?,
            state: RunState::of(row.try_get("state")?, is_alive),
            counts,
            duration_ms: row
                .try_get::<Option<f64>, _>("duration_ms")?
                .map(|duration| duration.max(0.0).round() as u64),
            findings: count("findings")?.map(index),
            writer: None,
        };
        Ok((Run { writer, ..run }, kind))
    };
    let (run, kind) = read().map_err(|error| StoreError::unreadable("run", error))?;
    let unknown = || StoreError::unreadable("kind", format!("`{kind}` is unknown"));
    Ok(Run { kind: RunKind::find(kind).ok_or_else(unknown)?, ..run })
}

/// Escapes wildcards for `LIKE`.
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
