//! What follows the rows: columns with their sums, statistics, the suite, and our own part.

use quintain_evidence::event::Column;
use quintain_evidence::finding::Finding;
use quintain_evidence::redteam_report::Coverage as Framework;
use quintain_evidence::redteam_report::Silent;
use quintain_evidence::redteam_report::{
    AttackReport, FileChange, Insight, NotRun, PhaseTime, RedteamReport, Risk, ToolCoverage, Unused,
};
use quintain_evidence::tally::{ColumnTally, Latency, Summary, Tokens, Unsteady};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::Layout;
use crate::number::{Number, Numbers, millis};
use crate::{Options, StoredRun};

/// Changes with every incompatible change of our own parts.
const FORMAT_VERSION: u32 = 1;

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokensUsed {
    total: u64,
    prompt: u64,
    completion: u64,
    cached: u64,
    num_requests: u64,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct CompletionDetails {
    reasoning: u64,
    accepted_prediction: u64,
    rejected_prediction: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct GraderUsage {
    total: u64,
    prompt: u64,
    completion: u64,
    cached: u64,
    num_requests: u64,
    completion_details: CompletionDetails,
}

impl From<&Tokens> for TokensUsed {
    fn from(tokens: &Tokens) -> Self {
        let Tokens { total, prompt, completion, cached, requests } = *tokens;
        Self { total, prompt, completion, cached, num_requests: requests }
    }
}

impl GraderUsage {
    fn add(&mut self, tokens: &Tokens) {
        self.total = self.total.saturating_add(tokens.total);
        self.prompt = self.prompt.saturating_add(tokens.prompt);
        self.completion = self.completion.saturating_add(tokens.completion);
        self.cached = self.cached.saturating_add(tokens.cached);
        self.num_requests = self.num_requests.saturating_add(tokens.requests);
    }
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenUsage {
    prompt: u64,
    completion: u64,
    cached: u64,
    total: u64,
    num_requests: u64,
    completion_details: CompletionDetails,
    assertions: GraderUsage,
}

impl TokenUsage {
    pub(super) fn one_request() -> Self {
        Self { num_requests: 1, ..Self::default() }
    }

    fn sum<'a>(tallies: impl IntoIterator<Item = &'a ColumnTally>) -> Self {
        tallies.into_iter().fold(Self::default(), |mut sum, tally| {
            let tokens = &tally.tokens;
            sum.assertions.add(&tally.judge_tokens);
            sum.prompt = sum.prompt.saturating_add(tokens.prompt);
            sum.completion = sum.completion.saturating_add(tokens.completion);
            sum.cached = sum.cached.saturating_add(tokens.cached);
            sum.total = sum.total.saturating_add(tokens.total);
            sum.num_requests = sum.num_requests.saturating_add(tokens.requests);
            sum
        })
    }
}

/// `results.prompts`.
pub(crate) struct Prompts<'a>(pub(crate) &'a Layout, pub(crate) &'a Summary);

impl Serialize for Prompts<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let Self(layout, summary) = self;
        let none = ColumnTally::default();
        let columns = layout.run.columns.iter().enumerate().map(|(at, column)| PromptEntry {
            id: layout.prompt_ids.get(at).map_or("", String::as_str),
            column,
            tally: summary.columns.get(at).unwrap_or(&none),
        });
        out.collect_seq(columns)
    }
}

struct PromptEntry<'a> {
    id: &'a str,
    column: &'a Column,
    tally: &'a ColumnTally,
}

impl Serialize for PromptEntry<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        map.serialize_entry("id", self.id)?;
        map.serialize_entry("raw", &self.column.raw)?;
        map.serialize_entry("label", &self.column.label)?;
        map.serialize_entry("provider", self.column.target.name())?;
        map.serialize_entry("metrics", &Metrics(self.tally))?;
        map.end()
    }
}

struct Metrics<'a>(&'a ColumnTally);

impl Serialize for Metrics<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let tally = self.0;
        let mut named = tally.named_scores.clone();
        named.extend(tally.derived.iter().map(|(name, value)| (name.clone(), *value)));
        let mut map = out.serialize_map(None)?;
        map.serialize_entry("score", &Number(tally.score))?;
        map.serialize_entry("testPassCount", &tally.passed)?;
        map.serialize_entry("testFailCount", &tally.failed)?;
        map.serialize_entry("testErrorCount", &tally.errored)?;
        map.serialize_entry("assertPassCount", &tally.asserts_passed)?;
        map.serialize_entry("assertFailCount", &tally.asserts_failed)?;
        map.serialize_entry("totalLatencyMs", &millis(tally.total_latency_ms))?;
        map.serialize_entry("tokenUsage", &TokenUsage::sum([tally]))?;
        map.serialize_entry("namedScores", &Numbers(&named))?;
        map.serialize_entry("namedScoresCount", &tally.named_counts)?;
        map.serialize_entry("namedScoreWeights", &Numbers(&tally.named_weights))?;
        map.serialize_entry("cost", &Number(tally.cost))?;
        map.end()
    }
}

/// `results.stats`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stats {
    successes: usize,
    failures: usize,
    errors: usize,
    token_usage: TokenUsage,
    duration_ms: Number,
    evaluation_duration_ms: Number,
}

impl Stats {
    pub(crate) fn of(summary: &Summary) -> Self {
        Self {
            successes: summary.passed,
            failures: summary.failed,
            errors: summary.errored,
            token_usage: TokenUsage::sum(&summary.columns),
            duration_ms: millis(summary.duration_ms),
            evaluation_duration_ms: millis(summary.duration_ms),
        }
    }
}

/// The keys of the document in addition to `evalId` and `results`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rest<'a> {
    config: &'a Value,
    shareable_url: Option<&'a str>,
    metadata: Metadata<'a>,
    vars: &'a [String],
    runtime_options: &'a Map<String, Value>,
    findings: &'a [Finding],
    #[serde(skip_serializing_if = "<[Finding]>::is_empty")]
    suppressed: &'a [Finding],
    #[serde(skip_serializing_if = "<[Unused]>::is_empty")]
    unused_suppressions: &'a [Unused],
    coverage: Coverage<'a>,
    quintain: Own<'a>,
}

/// What was and was not attacked.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Coverage<'a> {
    #[serde(flatten)]
    attacked: Option<Attacked<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Attacked<'a> {
    attacks: &'a [AttackReport],
    not_run: &'a [NotRun],
    tools: &'a [ToolCoverage],
    silent: &'a [Silent],
    phases: &'a [PhaseTime],
    calls: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    /// In US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_short: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    changes: &'a [FileChange],
    risk: Option<&'a Risk>,
    learned: &'a Insight,
    frameworks: &'a [Framework],
}

impl<'a> Attacked<'a> {
    fn of(report: &'a RedteamReport) -> Self {
        Self {
            attacks: &report.attacks,
            not_run: &report.not_run,
            tools: &report.tools,
            silent: &report.silent,
            phases: &report.phases,
            calls: report.calls,
            tokens: Some(report.tokens).filter(|tokens| *tokens > 0),
            cost: Some(report.cost).filter(|cost| *cost > 0.0),
            seed: report.seed,
            cut_short: report.cut_short.as_deref(),
            changes: &report.changes,
            risk: report.risk.as_ref(),
            learned: &report.learned,
            frameworks: &report.frameworks,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    quintain_version: &'a str,
    platform: &'static str,
    arch: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exported_at: Option<&'a str>,
    evaluation_created_at: &'a str,
}

#[derive(Serialize)]
struct Own<'a> {
    version: &'a str,
    run: &'a str,
    #[serde(flatten)]
    stored: Option<&'a StoredRun>,
    format_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    planned: usize,
    missing: usize,
    interrupted: bool,
    latency: Option<Percentiles>,
    flaky: usize,
    varying: usize,
    unsteady: &'a [Unsteady],
}

#[derive(Serialize)]
struct Percentiles {
    min: Number,
    mean: Number,
    p50: Number,
    p90: Number,
    p95: Number,
    p99: Number,
    max: Number,
}

impl Percentiles {
    fn of(latency: &Latency) -> Self {
        Self {
            min: millis(latency.min),
            mean: millis(latency.mean),
            p50: millis(latency.p50),
            p90: millis(latency.p90),
            p95: millis(latency.p95),
            p99: millis(latency.p99),
            max: millis(latency.max),
        }
    }
}

impl<'a> Rest<'a> {
    pub(crate) fn of(layout: &'a Layout, summary: &'a Summary, options: &'a Options) -> Self {
        let report = summary.redteam.as_deref();
        let run = &layout.run;
        Self {
            config: &run.config,
            shareable_url: None,
            metadata: Metadata {
                quintain_version: &run.version,
                platform: std::env::consts::OS,
                arch: std::env::consts::ARCH,
                exported_at: options.exported_at.as_deref(),
                evaluation_created_at: &run.created,
            },
            vars: layout.vars(),
            runtime_options: &run.options,
            findings: report.map_or(&[], |report| &report.findings),
            suppressed: report.map_or(&[], |report| &report.suppressed),
            unused_suppressions: report.map_or(&[], |report| &report.unused),
            coverage: Coverage { attacked: report.map(Attacked::of) },
            quintain: Own {
                version: &run.version,
                run: &run.id,
                stored: options.stored.as_ref(),
                format_version: FORMAT_VERSION,
                description: run.description.as_deref(),
                planned: run.planned,
                missing: summary.missing,
                interrupted: summary.interrupted,
                latency: summary.latency.as_ref().map(Percentiles::of),
                flaky: summary.flaky,
                varying: summary.varying,
                unsteady: &summary.unsteady,
            },
        }
    }
}
