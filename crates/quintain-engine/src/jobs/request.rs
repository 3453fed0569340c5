//! What a client requests. Owned and serialisable, so that a request can be queued or sent to another machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use quintain_evidence::finding::Finding;
use quintain_grade::policy::{CallPolicy, FailIf};
use quintain_redteam::accepted_findings::Suppression;
use quintain_redteam::orders::Destructive;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::inquiry::AskMode;
use crate::metrics::{MetricRequest, RouterRequest};
use crate::models::ModelSettings;
use crate::policy::Policy;
use crate::store::SuiteText;

/// A requested run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunRequest {
    /// The id of the run: its kind, random letters and the time.  The client chooses it.
    pub id: String,
    /// RFC 3339, UTC.
    pub created: String,
    /// The version of the client.
    pub version: String,
    /// The owner of the run.
    pub owner: String,
    /// What the run may use.
    pub policy: Policy,
    /// Whether to save the run in the store.
    pub stored: bool,
    pub description: Option<String>,
    pub tags: BTreeMap<String, String>,
    pub work: Work,
}

/// What to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Work {
    Eval(Box<EvalWork>),
    Rejudge(Box<RejudgeWork>),
    Redteam(Box<RedteamWork>),
    Replay(Box<ReplayWork>),
    Grade(Box<GradeWork>),
}

/// Grade traces.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GradeWork {
    pub inputs: Vec<TraceInput>,
    /// The format of all inputs. Default: detected for each.
    pub format: Option<String>,
    /// Unwraps calls that an application makes through a router.
    pub router: Option<RouterRequest>,
    /// A file with the tools of the servers, for traces that do not record them.
    pub surface: Option<PathBuf>,
    pub metrics: Vec<MetricRequest>,
    pub calls: CallPolicy,
    pub fail_if: FailIf,
    pub models: ModelSettings,
    /// Which questions to ask about traces that were graded before.
    pub ask: AskMode,
    /// The text of a calibration that `meta-eval` wrote.
    pub calibration: Option<String>,
    /// Maximum number of traces that wait for a judge. Default: 4.
    pub concurrency: Option<usize>,
}

/// Where traces come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceInput {
    File(PathBuf),
    Text {
        name: String,
        text: String,
    },
    /// A stored run.
    Run(String),
}

/// Run a suite.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EvalWork {
    /// The texts of the suite.
    pub suite: Vec<SuiteText>,
    /// Texts to store with the run in addition to the suite.
    #[serde(alias = "kept")]
    pub extra_texts: Vec<SuiteText>,
    /// Environment variables that override those of the process.
    pub variables: BTreeMap<String, String>,
    /// Filters and repetitions, under the names that the run stores.
    pub choices: Map<String, Value>,
    pub overrides: Overrides,
    pub resume: Option<Resume>,
    pub models: ModelSettings,
    /// Working directory of servers that name none.
    pub folder: Option<PathBuf>,
}

/// Settings that override the suite and the environment.
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

/// A stored run to resume.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Resume {
    pub run: String,
    /// Run only the cases that ended in an error.
    pub retry_errors: bool,
}

/// Judge the stored answers of a run again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RejudgeWork {
    pub run: String,
    pub suite: Vec<SuiteText>,
    /// Texts to store with the run in addition to the suite.
    #[serde(alias = "kept")]
    pub extra_texts: Vec<SuiteText>,
    pub update_snapshots: bool,
    #[serde(default)]
    pub ask: AskMode,
    #[serde(default)]
    pub models: ModelSettings,
}

/// Attack a target.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RedteamWork {
    /// The texts of the suite, if there is one.
    pub suite: Vec<SuiteText>,
    /// Texts to store with the run in addition to the suite.
    #[serde(alias = "kept")]
    pub extra_texts: Vec<SuiteText>,
    pub target: TargetRequest,
    pub orders: OrderRequest,
    /// Command-line words that name the target in reproduction commands. Default: derived from how the target starts.
    #[serde(alias = "again")]
    pub reproduction_target: Option<String>,
    pub resume: Option<String>,
    pub models: ModelSettings,
}

/// Replay findings of a stored run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReplayWork {
    pub suite: Vec<SuiteText>,
    pub target: TargetRequest,
    pub findings: Vec<Finding>,
    /// Skip findings of unknown attacks instead of refusing the request.
    pub partial: bool,
    pub destructive: Destructive,
    pub allow_remote: bool,
}

/// Which target, and settings that override those of the suite.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetRequest {
    /// A target of the suite. Default: its only one.
    pub name: Option<String>,
    /// Without a suite: a URL.
    pub url: Option<String>,
    /// Without a suite: a command and its arguments.
    pub command: Vec<String>,
    pub headers: Vec<(String, String)>,
    pub env: Vec<(String, String)>,
    pub cwd: Option<PathBuf>,
    pub transport: Option<String>,
    pub protocol: Option<String>,
    pub timeout_ms: Option<u64>,
    pub stored_auth_only: bool,
    /// Working directory of servers that name none.
    pub folder: Option<PathBuf>,
}

/// Settings that override `redteam` of the suite.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OrderRequest {
    pub plugins: Vec<String>,
    pub num_tests: Option<usize>,
    pub budget_calls: Option<usize>,
    pub budget_seconds: Option<u64>,
    pub budget_tokens: Option<u64>,
    /// In US dollars.
    pub budget_cost: Option<f64>,
    pub seed: Option<u64>,
    pub concurrency: Option<usize>,
    pub destructive: Destructive,
    pub allow_remote: bool,
    /// Accepted findings; `today` decides which have expired.
    pub suppressions: Vec<Suppression>,
    pub today: String,
}
