//! `quintain replay`: tries a finding again.

use std::sync::Arc;

use quintain_core::finding::{Confidence, Finding};
use quintain_engine::redteam::{Campaign, execute};
use quintain_engine::store::{RunFilter, Store, StoreError};
use serde_json::json;

use super::redteam::{failed, info, of_suite, reproduction};
use super::target::TargetArgs;
use super::{Desk, runs, store};
use crate::exit::Exit;

/// Try a finding again: does it still work?
///
/// The finding is looked up in the store. Its attack is made again at the same place, with fresh marks,
/// against the target that is named. Exit code 100 says that it still works, 0 that it does not.
///
/// Examples:
///   quintain replay F-b8b8c670 -- python3 server.py
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Id or fingerprint of the finding
    #[arg(value_name = "FINDING")]
    finding: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Call tools that may destroy something, too
    #[arg(long)]
    include_destructive: bool,
    /// Attack a target that is not on this machine; you must be allowed to
    #[arg(long)]
    allow_remote: bool,
    // Last, since its heading would cover the options after it.
    #[command(flatten)]
    target: TargetArgs,
}

pub(super) async fn run(args: Args, desk: &Desk) -> Exit {
    let found = async {
        let store = store::open(desk).await?;
        find(&store, &args.finding).await
    };
    let finding = match found.await {
        Ok(Some(finding)) => finding,
        Ok(None) => {
            let help = "`quintain redteam report` shows the findings of the last run";
            desk.console.error(&format!("there is no finding `{}`", args.finding), Some(help));
            return Exit::Nothing;
        }
        Err(error) => {
            desk.console.error(&error.to_string(), runs::help(&error));
            return Exit::Usage;
        }
    };
    let (target, world, opened) = match args.target.resolve_with_suite(desk, args.json) {
        Ok(resolved) => resolved,
        Err(exit) => return exit,
    };
    // A suite may define the attack, and who the target is spoken to as.
    let mut orders = match of_suite(opened.as_ref(), desk) {
        Ok(orders) => orders,
        Err(exit) => return exit,
    };
    orders.plugins.clear();
    orders.not_run.clear();
    orders.strategies = Arc::default();
    orders.destructive |= args.include_destructive;
    orders.allow_remote = args.allow_remote;
    orders.only = Some(finding.place.key());
    if orders.add(&finding.rule, None, None).is_err() {
        let help = "if a suite defines it, name the suite with -c";
        let what = format!("there is no attack `{}`", finding.rule);
        desk.console.error(&what, Some(help));
        return Exit::Usage;
    }
    let name = finding.target.clone();
    let reproduce = |step: &_| reproduction(step, &target.servers.first()?.launch);
    let campaign = Campaign {
        target: &target,
        name: &name,
        world: &world,
        orders: &orders,
        reproduce: &reproduce,
        past: None,
    };
    let planned = |planned| info(&name, &orders, planned, desk);
    let outcome = execute(&campaign, planned, desk.stop.clone(), |_| None, &mut |_| {}).await;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return failed(&error, &target, desk),
    };
    let Some(report) = &outcome.summary.redteam else { return Exit::Nothing };
    let again = report.findings.iter().find(|one| one.fingerprint == finding.fingerprint);
    let still = again.is_some_and(|again| again.confidence == Confidence::Confirmed);
    if args.json {
        desk.console.json(&json!({"finding": finding.id, "title": finding.title, "works": still,
            "now": again}));
    } else {
        let word = match again {
            Some(_) if still => "still works",
            Some(_) => "works now and then",
            None if report.attacks.iter().all(|attack| attack.bouts == 0) => {
                "could not be tried: the place is not there, or no call of it works"
            }
            None => "does not work any more",
        };
        desk.console.out(&format!("{} {}: {word}", finding.id, finding.title));
    }
    match again {
        Some(_) => Exit::Failed,
        None if report.attacks.iter().all(|attack| attack.bouts == 0) => Exit::Nothing,
        None => Exit::Passed,
    }
}

/// The newest finding with this id or the beginning of this fingerprint.
async fn find(store: &Store, wanted: &str) -> Result<Option<Finding>, StoreError> {
    let wanted = wanted.strip_prefix("F-").unwrap_or(wanted);
    if wanted.len() < 4 {
        return Ok(None);
    }
    for run in store.runs(&RunFilter::default()).await? {
        let report = run.summary.and_then(|summary| summary.redteam);
        let mut findings = report.into_iter().flat_map(|report| report.findings);
        let found = findings.find(|finding| finding.fingerprint.starts_with(wanted));
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
