//! SARIF for code scanning: findings of a red-team run, or the failed cases of a suite. Results are
//! written as they arrive; the rules and taxonomies they refer to follow.

mod results;
mod rules;
mod taxonomies;

use std::io::{self, BufWriter, Write};

use quintain_content::registry::Meta;
use quintain_evidence::event::{Event, RunInfo};
use quintain_evidence::finding::Finding;
use quintain_evidence::graded::GradedTrace;
use quintain_evidence::redteam_report::RedteamReport;
use quintain_evidence::result::CaseResult;
use quintain_evidence::tally::Summary;
use rules::Rules;
use serde_json::{Value, json};

use super::json::write_json;
use crate::text::{excerpt, line};
use crate::{Options, Report, Reporter, RuleDocs, findings, gist, traces};

const META: Meta = Meta {
    id: "sarif",
    aliases: &[],
    summary: "SARIF 2.1.0 for code scanning",
    docs: "\
# What it does
Writes the findings of a red-team run as results of SARIF 2.1.0: the attack as rule with its
explanation, the severity as level, the line of the suite that defines the server, the tool and argument
as logical location, a fingerprint that is the same in every run, the weaknesses as taxonomies (OWASP,
ATLAS, CWE), the proofs and the commands that reproduce them. Findings that a baseline accepts are marked
as suppressed, with the reason. Attacks that did not run are notifications, because they are not clean.
`quintain scan` writes the same format.

For the run of a suite, the failed cases become results that point at the line of the suite.
For a run of `grade`, every finding and every failed metric becomes a result that points at its trace.

# Example
```sh
quintain redteam run -c quintain.yaml -o findings.sarif
```
",
    since: "0.1.0",
};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
const MAX_NOTIFICATIONS: usize = 500;
/// Maximum number of findings of one trace.
const MAX_TRACE_FINDINGS: usize = 1_000;

pub(super) struct Sarif;

impl Reporter for Sarif {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[".sarif", ".sarif.json"]
    }

    fn open(&self, out: Box<dyn Write + Send>, options: &Options) -> Box<dyn Report> {
        let rules = Rules::new(options.rules);
        Box::new(Log { out: BufWriter::new(out), run: None, rules, results: 0 })
    }
}

struct Log {
    out: BufWriter<Box<dyn Write + Send>>,
    run: Option<RunInfo>,
    rules: Rules,
    results: usize,
}

impl Report for Log {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Started(run) => {
                self.run = Some(RunInfo { config: Value::Null, ..(**run).clone() });
                write!(
                    self.out,
                    "{{\"version\":\"2.1.0\",\"$schema\":\"{SCHEMA}\",\n\"runs\":[{{"
                )?;
                write!(self.out, "\"results\":[")
            }
            Event::Case(case) => self.case(case),
            Event::Finished(summary) => self.finish(summary),
            // The summary contains all findings, including suppressed ones.
            Event::Phase(_) | Event::Finding(_) | Event::Warning(_) => Ok(()),
        }
    }
}

impl Log {
    fn case(&mut self, case: &CaseResult) -> io::Result<()> {
        if self.run.is_none() {
            return Ok(());
        }
        if let Some(graded) = case.graded_trace() {
            return self.trace(case, graded);
        }
        if gist::passed(case) || findings::attack_of_trial(case).is_some() {
            return Ok(());
        }
        let rule = self.rules.of_case(case);
        self.result(&results::of_case(case, &rule))
    }

    /// One result for each finding, also of a trace that passes, and for each failed metric.
    fn trace(&mut self, case: &CaseResult, graded: &GradedTrace) -> io::Result<()> {
        for finding in graded.findings.iter().take(MAX_TRACE_FINDINGS) {
            let rule = self.rules.of_check(&finding.check);
            self.result(&results::of_trace_finding(case, finding, &rule))?;
        }
        for metric in traces::failed_metrics(graded) {
            let rule = self.rules.of_check(&metric.name);
            self.result(&results::of_metric(case, metric, &rule))?;
        }
        Ok(())
    }

    fn result(&mut self, result: &Value) -> io::Result<()> {
        write!(self.out, "{}", if self.results == 0 { "\n" } else { ",\n" })?;
        self.results += 1;
        write_json(&mut self.out, result)
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let Some(run) = self.run.take() else { return Ok(()) };
        let report = summary.redteam.as_deref();
        if let Some(report) = report {
            self.findings(report)?;
        }
        let taxonomies = taxonomies::described(self.rules.frameworks());
        let driver = driver(&run.version, &self.rules, &taxonomies);
        let out = &mut self.out;
        write!(out, "\n],\n\"tool\":{{\"driver\":")?;
        write_json(out, &driver)?;
        write!(out, "}},\n\"taxonomies\":")?;
        write_json(out, &taxonomies)?;
        write!(out, ",\n\"invocations\":[")?;
        write_json(out, &invocation(&run, summary))?;
        write!(out, "],\n\"automationDetails\":")?;
        write_json(out, &json!({"id": format!("quintain/{}", run.id)}))?;
        write!(out, ",\n\"columnKind\":\"unicodeCodePoints\",\n\"properties\":")?;
        write_json(out, &properties(summary))?;
        writeln!(out, "}}]}}")?;
        out.flush()
    }

    fn findings(&mut self, report: &RedteamReport) -> io::Result<()> {
        let some = !report.suppressed.is_empty();
        for finding in report.findings.iter().chain(&report.suppressed) {
            let rule = self.rules.of_finding(finding);
            self.result(&results::of_finding(finding, &rule, some))?;
        }
        Ok(())
    }
}

/// Findings of a scan, as one log.
pub fn log(
    version: &str,
    docs: RuleDocs,
    findings: &[&Finding],
    suppressed: &[Finding],
    status: &LogStatus,
) -> Value {
    let mut rules = Rules::new(docs);
    let all = findings.iter().copied().chain(suppressed);
    let results: Vec<Value> = all
        .map(|finding| {
            let rule = rules.of_finding(finding);
            results::of_finding(finding, &rule, !suppressed.is_empty())
        })
        .collect();
    let taxonomies = taxonomies::described(rules.frameworks());
    let notifications = status.remarks.iter().map(|text| notification("note", text));
    let notifications: Vec<Value> = notifications.take(MAX_NOTIFICATIONS).collect();
    json!({
        "version": "2.1.0",
        "$schema": SCHEMA,
        "runs": [{
            "results": results,
            "tool": {"driver": driver(version, &rules, &taxonomies)},
            "taxonomies": taxonomies,
            "invocations": [{
                "executionSuccessful": status.complete,
                "toolExecutionNotifications": notifications,
            }],
            "automationDetails": {"id": "quintain/scan"},
            "columnKind": "unicodeCodePoints",
        }],
    })
}

/// What a log contains in addition to findings.
pub struct LogStatus {
    /// Whether the check was complete.
    pub complete: bool,
    /// What did not run, and why.
    pub remarks: Vec<String>,
}

fn driver(version: &str, rules: &Rules, taxonomies: &[Value]) -> Value {
    let supported: Vec<Value> = taxonomies.iter().map(|one| json!({"name": one["name"]})).collect();
    json!({
        "name": "Quintain",
        "version": version,
        "semanticVersion": version,
        "shortDescription": {"text": "Tests and attacks MCP servers"},
        "rules": rules.described(),
        "supportedTaxonomies": supported,
    })
}

fn notification(level: &str, text: &str) -> Value {
    json!({"level": level, "message": {"text": text}})
}

fn invocation(run: &RunInfo, summary: &Summary) -> Value {
    let mut notifications = Vec::new();
    let mut notify = |level: &str, text: &str| {
        if notifications.len() < MAX_NOTIFICATIONS {
            notifications.push(notification(level, text));
        }
    };
    if summary.interrupted {
        notify("error", &format!("interrupted; {} cases did not run", summary.missing));
    }
    if let Some(report) = summary.redteam.as_deref() {
        if let Some(why) = &report.cut_short {
            notify("warning", &format!("not finished: {}", excerpt(why, 500)));
        }
        for one in &report.not_run {
            notify("note", &format!("not run: {} {}", line(&one.what, 200), line(&one.why, 500)));
        }
        for one in &report.silent {
            let (tool, why) = (line(&one.tool, 200), line(&one.why, 500));
            notify("note", &format!("not attacked: {tool} ({why})"));
        }
    }
    let is_unreachable =
        summary.redteam.as_deref().is_some_and(|report| report.unreachable.is_some());
    json!({
        "executionSuccessful": !summary.interrupted && !is_unreachable,
        "startTimeUtc": run.created,
        "toolExecutionNotifications": notifications,
    })
}

fn properties(summary: &Summary) -> Value {
    match summary.redteam.as_deref() {
        Some(report) => json!({
            "attacks": report.attacks,
            "risk": report.risk,
            "calls": report.calls,
            "seed": report.seed,
            "phases": report.phases,
            "tools": report.tools,
            "learned": report.learned,
            "frameworks": report.frameworks,
        }),
        None => json!({
            "passed": summary.passed,
            "failed": summary.failed,
            "errors": summary.errored,
        }),
    }
}
