//! What a client asks for. Owned and serialisable, so that it can be queued, and sent to another machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use quintain_evidence::finding::Finding;
use quintain_redteam::baseline::Suppression;
use quintain_redteam::orders::Destructive;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::inquiry::AskMode;
use crate::policy::Policy;
use crate::store::SuiteText;

/// One run as it is requested.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunRequest {
    /// The name of the run: its kind, random letters and the moment, chosen by whoever has a clock.
    pub id: String,
    /// RFC 3339, UTC.
    pub created: String,
    /// The version of the client.
    pub version: String,
    /// Whose run it is.
    pub owner: String,
    /// What it may use.
    pub policy: Policy,
    /// Whether it is kept in the store.
    pub stored: bool,
    pub description: Option<String>,
    pub tags: BTreeMap<String, String>,
    pub work: Work,
}

/// What is to be done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Work {
    Eval(Box<EvalWork>),
    Rejudge(RejudgeWork),
    Redteam(Box<RedteamWork>),
    Replay(Box<ReplayWork>),
}

/// Run a suite.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EvalWork {
    /// The texts of the suite.
    pub suite: Vec<SuiteText>,
    /// Texts that are kept with the run beside the suite.
    pub kept: Vec<SuiteText>,
    /// Environment variables over those of the process.
    pub variables: BTreeMap<String, String>,
    /// Filters and repetitions, by the names that a run stores them under.
    pub choices: Map<String, Value>,
    pub overrides: Overrides,
    pub resume: Option<Resume>,
    /// Where servers run that name no folder.
    pub folder: Option<PathBuf>,
}

/// What counts instead of what the suite and the environment say.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Overrides {
    pub concurrency: Option<usize>,
    pub delay_ms: Option<u64>,
    pub timeout_ms: Option<u64>,
    pub max_time_ms: Option<u64>,
    pub rate: Option<f64>,
    pub retries: u32,
    pub fail_on_tool_error: bool,
    pub update_snapshots: bool,
}

/// A stored run that is continued.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Resume {
    pub run: String,
    /// Only what ended in an error is run again.
    pub retry_errors: bool,
}

/// Judge the answers of a stored run again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RejudgeWork {
    pub run: String,
    pub suite: Vec<SuiteText>,
    /// Texts that are kept with the run beside the suite.
    pub kept: Vec<SuiteText>,
    pub update_snapshots: bool,
    #[serde(default)]
    pub ask: AskMode,
}

/// Attack a target.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RedteamWork {
    /// The texts of the suite, if there is one.
    pub suite: Vec<SuiteText>,
    /// Texts that are kept with the run beside the suite.
    pub kept: Vec<SuiteText>,
    pub target: TargetRequest,
    pub orders: OrderRequest,
    /// How a command line names the target again; found out from how it is started if not given.
    pub again: Option<String>,
    pub resume: Option<String>,
}

/// Try findings of a stored run again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReplayWork {
    pub suite: Vec<SuiteText>,
    pub target: TargetRequest,
    pub findings: Vec<Finding>,
    /// Findings of attacks that are not known here are left out.
    pub partial: bool,
    pub destructive: Destructive,
    pub allow_remote: bool,
}

/// Which target, and what counts instead of what the suite says of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetRequest {
    /// One of the suite; the only one if none is named.
    pub name: Option<String>,
    /// In no suite: an address.
    pub url: Option<String>,
    /// In no suite: a command and its arguments.
    pub command: Vec<String>,
    pub headers: Vec<(String, String)>,
    pub env: Vec<(String, String)>,
    pub cwd: Option<PathBuf>,
    pub transport: Option<String>,
    pub protocol: Option<String>,
    pub timeout_ms: Option<u64>,
    pub stored_auth_only: bool,
    /// Where servers run that name no folder.
    pub folder: Option<PathBuf>,
}

/// What counts instead of what `redteam` of the suite says.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OrderRequest {
    pub plugins: Vec<String>,
    pub num_tests: Option<usize>,
    pub budget_calls: Option<usize>,
    pub budget_seconds: Option<u64>,
    pub seed: Option<u64>,
    pub concurrency: Option<usize>,
    pub destructive: Destructive,
    pub allow_remote: bool,
    /// Accepted findings, and the day on which that is asked.
    pub suppressions: Vec<Suppression>,
    pub today: String,
}
