//! `compare_runs`, `replay_finding` and `mark_finding`.

use std::time::Duration;

use quintain_engine::jobs::{ReplayWork, TargetRequest, Work};
use quintain_engine::store::{EntityKind, Run};
use quintain_evidence::finding::Finding;
use quintain_evidence::run_diff::diff;
use quintain_redteam::orders::Destructive;
use serde_json::{Value, json};

use super::definition::{
    ATTACK, Arguments, READ, WRITE, flag, id, number, object, one_of, reading, shape, tools,
    writing,
};
use crate::platform::orchestrator::TAG;
use crate::platform::results::{finding_json, wilson};
use crate::platform::runs::NewJob;
use crate::platform::suite::{self, Attack};
use crate::principal::Group;
use crate::tool::{Call, Reply, ToolError};

tools! {
    CompareRuns = {
        name: "compare_runs",
        title: "Compare two runs",
        description: "Shows what is new, fixed and unchanged between two runs, and whether the rates differ by more than chance.",
        core: false,
        scope: reading(Group::Results),
        hints: READ,
        argument_aliases: &[],
        is_long: false,
    }
    input: object(json!({
        "base_run_id": id("The earlier run"),
        "head_run_id": id("The later run"),
    }), &["base_run_id", "head_run_id"]),
    output: shape(json!({
        "new": {"type": "array", "items": {"type": "object"}},
        "fixed": {"type": "array", "items": {"type": "object"}},
        "unchanged": {"type": "array", "items": {"type": "object"}},
        "cases": {"type": "object"},
        "rates": shape(json!({
            "base": {"type": "number"}, "head": {"type": "number"},
            "p_value": {"type": "number"}, "significant": {"type": "boolean"},
        }), &["base", "head", "p_value", "significant"]),
    }), &["new", "fixed", "unchanged", "cases", "rates"]),
    call: compare;

    ReplayFinding = {
        name: "replay_finding",
        title: "Replay a finding",
        description: "Repeats the attack of a finding and reports how often it still works.",
        core: false,
        scope: writing(Group::Results),
        hints: ATTACK,
        argument_aliases: &[],
        is_long: true,
    }
    input: object(json!({
        "finding_id": id("Id or fingerprint of the finding"),
        "times": number(1, 20, 3, "How often"),
        "confirm": flag("The user agreed to the attack; needed where the host cannot ask", false),
    }), &["finding_id"]),
    output: shape(json!({
        "finding_id": {"type": "string"},
        "times": {"type": "integer"},
        "reproduced": {"type": "integer"},
        "rate": {"type": "number"},
        "ci95": {"type": "array", "items": {"type": "number"}},
        "state": {"type": "string", "enum": ["vulnerable", "flaky", "fixed", "not_tested"]},
    }), &["finding_id", "times", "reproduced", "rate", "state"]),
    call: replay;

    MarkFinding = {
        name: "mark_finding",
        title: "Mark a finding",
        description: "Records your verdict about a finding: true_positive, false_positive or accepted, with a note.",
        core: false,
        scope: writing(Group::Results),
        hints: crate::tool::Hints { idempotent: true, ..WRITE },
        argument_aliases: &[],
        is_long: false,
    }
    input: object(json!({
        "finding_id": id("Id or fingerprint of the finding"),
        "verdict": one_of(&["true_positive", "false_positive", "accepted"], "Your verdict"),
        "note": {"type": "string", "maxLength": 10_000, "description": "Why"},
    }), &["finding_id", "verdict"]),
    output: shape(json!({
        "finding_id": {"type": "string"},
        "verdict": {"type": "string"},
        "note": {"type": ["string", "null"]},
    }), &["finding_id", "verdict"]),
    call: mark;
}

async fn compare(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, arguments, .. } = call;
    let arguments = Arguments(arguments);
    let base = platform.stored_run(principal, arguments.required("base_run_id")).await?;
    let head = platform.stored_run(principal, arguments.required("head_run_id")).await?;
    let (before, after) = (platform.findings(&base).await?, platform.findings(&head).await?);
    let has = |list: &[Finding], one: &Finding| {
        list.iter().any(|other| other.fingerprint == one.fingerprint)
    };
    let shown = |list: &[Finding], run: &Run, keep: &dyn Fn(&Finding) -> bool| -> Vec<Value> {
        list.iter().filter(|one| keep(one)).map(|one| finding_json(one, &run.id)).collect()
    };
    let new = shown(&after, &head, &|one| !has(&before, one));
    let fixed = shown(&before, &base, &|one| !has(&after, one));
    let unchanged = shown(&after, &head, &|one| has(&before, one));
    let rows = (platform.store.diff_rows(&base).await?, platform.store.diff_rows(&head).await?);
    let cases = diff(&rows.0, &rows.1);
    let (one, _) = platform.counts(&base).await?;
    let (other, _) = platform.counts(&head).await?;
    let p_value = two_proportions((one.hits, one.attempts), (other.hits, other.attempts));
    let rate = |hits: usize, all: usize| if all == 0 { 0.0 } else { hits as f64 / all as f64 };
    let rates = json!({
        "base": rate(one.hits, one.attempts), "head": rate(other.hits, other.attempts),
        "p_value": p_value, "significant": p_value < 0.05,
    });
    let text =
        format!("{} new, {} fixed, {} unchanged findings", new.len(), fixed.len(), unchanged.len());
    let counts = json!({
        "new_failures": cases.new_failures.len(), "fixed": cases.fixed.len(),
        "still_failing": cases.still_failing.len(), "added": cases.added.len(),
        "removed": cases.removed.len(), "unchanged": cases.unchanged, "regressed": cases.regressed,
    });
    let structured = json!({"new": new, "fixed": fixed, "unchanged": unchanged, "cases": counts, "rates": rates});
    Ok(Reply::new(structured, text))
}

/// The probability of a difference this large if both rates are the same (two-sided, normal approximation).
fn two_proportions(first: (usize, usize), second: (usize, usize)) -> f64 {
    if first.1 == 0 || second.1 == 0 {
        return 1.0;
    }
    let (first_total, second_total) = (first.1 as f64, second.1 as f64);
    let pooled = (first.0 + second.0) as f64 / (first_total + second_total);
    let spread = (pooled * (1.0 - pooled) * (1.0 / first_total + 1.0 / second_total)).sqrt();
    if spread == 0.0 {
        return 1.0;
    }
    let z = ((first.0 as f64 / first_total) - (second.0 as f64 / second_total)).abs() / spread;
    // Abramowitz and Stegun 7.1.26.
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let poly = ((((1.061_405_429 * t - 1.453_152_027) * t + 1.421_413_741) * t - 0.284_496_736)
        * t
        + 0.254_829_592)
        * t;
    (poly * (-x * x).exp()).clamp(0.0, 1.0)
}

async fn replay(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    let (run, finding) =
        platform.found_finding(principal, arguments.required("finding_id")).await?;
    let info = platform.store.info(&run).await?;
    let orchestrator = info.tags.get(TAG).cloned().unwrap_or_default();
    let entity = platform.entity(principal, EntityKind::Orchestrator, &orchestrator).await?;
    let target = entity.body["target_generator_id"].as_str().unwrap_or_default();
    let mut generator = platform.generator(principal, target).await?;
    platform
        .confirm_attack(principal, host, &mut generator, arguments.flag("confirm", false), false)
        .await?;
    let suite = suite::of_attack(&generator, Attack::default());
    let work = ReplayWork {
        suite: vec![suite::text(&suite, &platform.allowances.workspace)],
        target: TargetRequest { name: Some(generator.name.clone()), ..TargetRequest::default() },
        findings: vec![finding.clone()],
        partial: false,
        destructive: Destructive::default(),
        allow_remote: true,
    };
    let times = arguments.number("times", 3) as usize;
    let (mut reproduced, mut tested) = (0, 0);
    let limit = Duration::from_secs(platform.quota(principal).seconds_per_run);
    for _ in 0..times {
        let work = Work::Replay(Box::new(work.clone()));
        let request = platform.request(principal, &[&generator], work, NewJob::default());
        let outcome = platform.run(request, &[&generator], limit, host, |_| {}).await?;
        let report = outcome.summary.redteam.as_ref();
        let findings = report.into_iter().flat_map(|report| &report.findings);
        let again =
            findings.flat_map(Finding::parts).any(|one| one.fingerprint == finding.fingerprint);
        reproduced += usize::from(again);
        tested += usize::from(again || !outcome.tried.is_empty());
    }
    let state = match (reproduced, tested) {
        (_, 0) => "not_tested",
        (0, _) => "fixed",
        (some, all) if some < all => "flaky",
        _ => "vulnerable",
    };
    let (low, high) = wilson(reproduced, tested);
    let rate = if tested == 0 { 0.0 } else { reproduced as f64 / tested as f64 };
    let structured = json!({"finding_id": finding.id, "times": tested, "reproduced": reproduced, "rate": rate, "ci95": [low, high], "state": state});
    Ok(Reply::new(structured, format!("{}: {state}, {reproduced} of {tested}", finding.id)))
}

async fn mark(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, arguments, .. } = call;
    let arguments = Arguments(arguments);
    let (_, finding) = platform.found_finding(principal, arguments.required("finding_id")).await?;
    let body = json!({"verdict": arguments.text("verdict"), "note": arguments.text("note")});
    let kind = EntityKind::Mark;
    let fingerprint = &finding.fingerprint;
    match platform.store.entity(&principal.owner, kind, fingerprint).await? {
        Some(read) => platform.change_entity(principal, kind, &read, &read.name, &body).await?,
        None => platform.add_entity_as(principal, kind, fingerprint, fingerprint, &body).await?,
    };
    let verdict = arguments.required("verdict");
    let structured =
        json!({"finding_id": finding.id, "verdict": verdict, "note": arguments.text("note")});
    Ok(Reply::new(structured, format!("{} is {verdict}", finding.id)))
}
