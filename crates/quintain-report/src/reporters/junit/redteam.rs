//! Failed trials. They wait for the findings, which contain the proofs.

use std::io::{self, Write};

use quintain_evidence::finding::Finding;
use quintain_evidence::redteam_report::RedteamReport;
use serde::{Deserialize, Serialize};

use super::{attribute, content};
use crate::findings::{Counts, Standing, TRIAL_TYPE, percents, risk, seen, shown_by, tags, timing};
use crate::spool::Spool;
use crate::text::{count, excerpt, line};

const MAX_PROOFS: usize = 20;
const MAX_TEXT: usize = 2_000;

/// A failed trial, complete except for its findings.
#[derive(Serialize, Deserialize)]
pub(super) struct FailedTrial {
    pub(super) column: usize,
    pub(super) attack: String,
    pub(super) name: String,
    pub(super) reason: String,
    pub(super) before: String,
    pub(super) after: String,
}

/// The totals of the run.
pub(super) fn properties(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    let mut all = vec![
        ("seed".to_owned(), report.seed.to_string()),
        ("calls".to_owned(), report.calls.to_string()),
        ("findings".to_owned(), Counts::of(&report.findings).text(report.suppressed.len())),
    ];
    all.push(("risk".to_owned(), risk(report)));
    all.extend(report.phases.iter().map(|one| {
        let name = format!("phase.{}", line(&one.phase, 40));
        (name, timing(one))
    }));
    for attack in report.attacks.iter().filter(|attack| attack.trials > 0) {
        let (low, high) = attack.interval;
        let hits = format!("{} of {}", attack.hits, attack.trials);
        let share = percents(attack.rate, low, high);
        all.push((format!("attack.{}", line(&attack.attack, 60)), format!("{hits}: {share}")));
    }
    for entry in report.frameworks.iter().flat_map(|coverage| &coverage.entries) {
        all.push((format!("framework.{}", line(&entry.id, 40)), entry.word()));
    }
    writeln!(out, "    <properties>")?;
    for (name, value) in all {
        let (name, value) = (attribute(&name).into_owned(), attribute(&value).into_owned());
        writeln!(out, "      <property name=\"{name}\" value=\"{value}\"/>")?;
    }
    writeln!(out, "    </properties>")
}

/// Confirmed findings without a failed trial: they were detected after their trial had ended.
pub(super) fn late<'r>(
    trials: &mut Spool,
    report: &'r RedteamReport,
) -> io::Result<Vec<&'r Finding>> {
    let bad = |finding: &&Finding| Standing::of(finding) == Standing::Confirmed;
    let found = report.findings.iter().flat_map(Finding::parts);
    let mut late: Vec<&Finding> = found.filter(bad).collect();
    trials.each(|trial: FailedTrial| {
        for known in shown_by(report, &trial.attack, &trial.name, &trial.reason) {
            late.retain(|finding| finding.fingerprint != known.fingerprint);
        }
        Ok(())
    })?;
    Ok(late)
}

/// The failed trials of a column.
pub(super) fn write(
    out: &mut impl Write,
    trials: &mut Spool,
    column: usize,
    report: &RedteamReport,
) -> io::Result<()> {
    trials.each(|trial: FailedTrial| {
        if trial.column != column {
            return Ok(());
        }
        out.write_all(trial.before.as_bytes())?;
        for finding in shown_by(report, &trial.attack, &trial.name, &trial.reason) {
            write!(out, "\n{}", content(&description(finding)))?;
        }
        out.write_all(trial.after.as_bytes())
    })
}

/// An attack that did not run is skipped, not passed.
pub(super) fn write_skipped(out: &mut impl Write, report: &RedteamReport) -> io::Result<()> {
    for one in &report.not_run {
        writeln!(
            out,
            "    <testcase classname=\"suite\" name=\"{}\" time=\"0.000\">\n      \
             <skipped message=\"{}\"/>\n    </testcase>",
            attribute(&line(&one.what, 200)),
            attribute(&line(&one.why, 500))
        )?;
    }
    Ok(())
}

pub(super) fn write_late(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let name = format!("{} at {}", line(&finding.rule, 60), line(&finding.place.to_string(), 200));
    writeln!(
        out,
        "    <testcase classname=\"{}\" name=\"{}\" time=\"0.000\">\n      \
         <failure message=\"{}\" type=\"{}\">{}</failure>\n    </testcase>",
        attribute(&line(&format!("suite/{}", finding.target), 300)),
        attribute(&name),
        attribute(&line(&finding.title, 300)),
        attribute(&format!("{TRIAL_TYPE}{}", line(&finding.rule, 80))),
        content(&description(finding))
    )
}

/// Title, proofs, and how to reproduce it.
fn description(finding: &Finding) -> String {
    let tags = tags(finding).join(", ");
    let mut lines = vec![
        format!("{}: {}", finding.severity.word().to_uppercase(), line(&finding.title, MAX_TEXT)),
        format!("{}, {}, {tags}", line(&finding.id, 40), Standing::of(finding).word()),
    ];
    for proof in finding.proofs.iter().take(MAX_PROOFS) {
        let form = line(proof.form.trim_end_matches(':'), 250);
        lines.push(format!("{form}: {}", excerpt(&proof.what, MAX_TEXT)));
        lines.extend(proof.attempt.observations.iter().take(5).map(|one| seen(one, MAX_TEXT)));
    }
    let more = finding.proofs.len().saturating_sub(MAX_PROOFS);
    if more > 0 {
        lines.push(format!("... and {}", count(more, "more proof", "more proofs")));
    }
    let mut commands: Vec<&str> =
        [&finding.reproduce, &finding.replay].into_iter().flatten().map(String::as_str).collect();
    commands.dedup();
    lines.extend(commands.into_iter().map(|text| excerpt(text, MAX_TEXT)));
    lines.join("\n")
}
