//! What decides which cases a run has. It is stored with the run, so that it can be gone on with.

use std::collections::HashSet;
use std::path::Path;

use futures_util::TryStreamExt as _;
use quintain_engine::store::Store;
use quintain_evidence::result::CaseStatus;
use quintain_suite::plan::Sameness;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::args::{Args, Filters};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::cli) struct Choices {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) repeat: Option<u32>,
    #[serde(flatten)]
    pub(super) filters: Filters,
}

impl Choices {
    pub(in crate::cli) fn of(args: &Args) -> Self {
        Self { repeat: args.repeat, filters: args.filters.clone() }
    }

    /// Reads what [`Choices::to_options`] wrote; what is not understood is as if not said.
    pub(in crate::cli) fn of_options(options: &Map<String, Value>) -> Self {
        serde_json::from_value(Value::Object(options.clone())).unwrap_or_default()
    }

    pub(in crate::cli) fn to_options(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(options)) => options,
            _ => Map::new(),
        }
    }

    /// `commandLineOptions` of the suite count where the command line says nothing.
    pub(in crate::cli) fn or(self, suite: &Map<String, Value>) -> Self {
        let suite = Self::of_options(suite);
        Self { repeat: self.repeat.or(suite.repeat), filters: self.filters.or(suite.filters) }
    }
}

/// The tests of an earlier run that ended so: a run of the store, or a file of results in JSON.
pub(in crate::cli) async fn ended(
    wanted: &str,
    statuses: &[CaseStatus],
    cwd: &Path,
    store: Option<&Store>,
) -> Result<HashSet<Sameness>, String> {
    if let Ok(text) = std::fs::read_to_string(cwd.join(wanted)) {
        return in_file(&text, statuses)
            .ok_or_else(|| format!("`{wanted}` holds no results; name a run or a .json report"));
    }
    let store = store.ok_or_else(|| format!("there is no run `{wanted}`"))?;
    let mut found = HashSet::new();
    let run = store.find(wanted).await.map_err(|error| error.to_string())?;
    let mut cases = store.cases(&run);
    while let Some(case) = cases.try_next().await.map_err(|error| error.to_string())? {
        let vars = case.test.get("vars").and_then(Value::as_object);
        if statuses.contains(&case.status) {
            let vars = vars.unwrap_or(&case.vars);
            found.insert(Sameness::new(case.description.as_deref(), vars));
        }
    }
    Ok(found)
}

fn in_file(text: &str, statuses: &[CaseStatus]) -> Option<HashSet<Sameness>> {
    let report: Value = serde_json::from_str(text).ok()?;
    let rows = report.pointer("/results/results")?.as_array()?;
    let ended = rows.iter().filter(|row| {
        let status = match row.get("failureReason").and_then(Value::as_u64) {
            Some(1) => CaseStatus::Failed,
            Some(2) => CaseStatus::Errored,
            _ => CaseStatus::Passed,
        };
        statuses.contains(&status)
    });
    let empty = Map::new();
    let same = ended.map(|row| {
        let test = row.get("testCase");
        let vars = test.and_then(|test| test.get("vars")).and_then(Value::as_object);
        let description = test.and_then(|test| test.get("description")).and_then(Value::as_str);
        Sameness::new(description, vars.unwrap_or(&empty))
    });
    Some(same.collect())
}
