//! `list_orchestrators` and `get_orchestrator`.

use std::time::Duration;

use quintain_engine::store::{Entity, EntityKind};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::definition::{
    Arguments, READ, flag, id, number, object, one_of, page_of, paged, reading, shape, tools,
};
use crate::platform::Platform;
use crate::platform::orchestrator::{TAG, TYPES, status};
use crate::principal::{Group, Principal};
use crate::tool::{Call, Reply, ToolError};

/// What an orchestrator can be.
const STATUSES: [&str; 6] = ["pending", "running", "completed", "failed", "paused", "cancelled"];

tools! {
    ListOrchestrators = {
        name: "list_orchestrators",
        title: "List orchestrators",
        description: "Lists your orchestrators with their status, newest first.",
        core: false,
        scope: reading(Group::Orchestrators),
        hints: READ,
        argument_aliases: &[],
        is_long: false,
    }
    input: {
        let mut properties = paged(json!({
            "status": one_of(&STATUSES, "Only orchestrators with this status"),
            "orchestrator_type": one_of(&TYPES, "Only orchestrators of this type"),
            "created_after": {"type": "string", "format": "date-time", "description": "Only orchestrators created after this time, such as 2026-01-31T12:00:00Z"},
            "include_stats": flag("Add the counts of the latest run", true),
        }));
        properties["limit"] = number(1, 500, 50, "Items per page");
        object(properties, &[])
    },
    output: page_of(orchestrator_schema()),
    call: list;

    GetOrchestrator = {
        name: "get_orchestrator",
        title: "Get an orchestrator",
        description: "Shows an orchestrator with status and progress. `wait_seconds` waits until its run ends, so that you need not poll.",
        core: true,
        scope: reading(Group::Orchestrators),
        hints: READ,
        argument_aliases: &[],
        is_long: true,
    }
    input: object(json!({
        "orchestrator_id": id("Id or name of the orchestrator"),
        "wait_seconds": number(0, 45, 0, "Wait for the end of the run at most this long"),
        "include_configuration": flag("Include `config`", true),
        "include_progress": flag("Include `progress`", true),
        "include_results_summary": flag("Include `summary`", true),
    }), &["orchestrator_id"]),
    output: orchestrator_schema(),
    call: get;
}

/// The schema of an orchestrator in results.
pub(super) fn orchestrator_schema() -> Value {
    shape(
        json!({
            "id": {"type": "string"},
            "orchestrator_id": {"type": "string"},
            "name": {"type": "string"},
            "orchestrator_type": {"type": "string"},
            "target_generator_id": {"type": "string"},
            "dataset_id": {"type": ["string", "null"]},
            "status": {"type": "string", "enum": STATUSES},
            "run_id": {"type": ["string", "null"]},
            "runs": {"type": "array", "items": {"type": "string"}},
            "progress": {"type": ["object", "null"]},
            "summary": {"type": ["object", "null"]},
            "config": {"type": "object"},
            "results_uri": {"type": ["string", "null"]},
            "notes": {"type": "array", "items": {"type": "string"}},
            "failure": {"type": ["string", "null"]},
            "version": {"type": "integer"},
            "created_at": {"type": "string"},
        }),
        &["orchestrator_id", "name", "orchestrator_type", "target_generator_id", "status"],
    )
}

/// An orchestrator in results, with what the store knows of its runs.
pub(super) async fn shown_orchestrator(
    platform: &Platform,
    principal: &Principal,
    entity: &Entity,
) -> Result<Value, ToolError> {
    let runs = platform.runs_tagged(principal, TAG, &entity.id).await?;
    // A resumed run is the latest one although it was created earlier.
    let wanted = entity.body["latest_run"].as_str();
    let latest = runs.iter().find(|run| Some(run.id.as_str()) == wanted).or(runs.first());
    let mut status = status(&entity.body, latest);
    let live = wanted.and_then(|run| platform.active.progress(&principal.owner, run));
    let live = live.map(|live| live.borrow().clone());
    let failure = live.as_ref().and_then(|live| live.failure.clone());
    if let Some(live) = &live {
        if !live.is_ended {
            status = "running";
        } else if failure.is_some() && latest.is_none_or(crate::platform::runs::is_under_way) {
            status = "failed";
        }
    }
    let (summary, progress) = match latest {
        Some(run) => {
            let (counts, _) = platform.counts(run).await?;
            let done = counts.attempts + counts.errors;
            let stored = json!({"done": done, "total": null, "hits": counts.hits, "errors": counts.errors, "phase": null});
            let progress = live
                .as_ref()
                .filter(|live| !live.is_ended)
                .map(super::super::platform::runs::RunProgress::as_json);
            (Some(counts.as_json()), Some(progress.unwrap_or(stored)))
        }
        None => (None, live.as_ref().map(super::super::platform::runs::RunProgress::as_json)),
    };
    let run_id = latest.map(|run| run.id.as_str()).or(wanted);
    Ok(json!({
        "id": entity.id,
        "orchestrator_id": entity.id,
        "name": entity.name,
        "orchestrator_type": entity.body["orchestrator_type"],
        "target_generator_id": entity.body["target_generator_id"],
        "dataset_id": entity.body["dataset_id"],
        "status": status,
        "run_id": run_id,
        "runs": runs.iter().take(50).map(|run| run.id.as_str()).collect::<Vec<_>>(),
        "progress": progress,
        "summary": summary,
        "config": entity.body["config"],
        "results_uri": run_id.map(|run| format!("quintain://results/{}/{run}", entity.id)),
        "failure": failure.map(|why| crate::platform::results::shown(&why)),
        "version": entity.version,
        "created_at": entity.created,
    }))
}

/// A time in RFC 3339.
fn instant(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).ok()
}

async fn list(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, arguments, .. } = call;
    let arguments = Arguments(arguments);
    let mut all = platform.entities(principal, EntityKind::Orchestrator).await?;
    all.reverse();
    let after = arguments.text("created_after").and_then(instant);
    let mut items = Vec::new();
    for entity in &all {
        let is_type = arguments
            .text("orchestrator_type")
            .is_none_or(|wanted| entity.body["orchestrator_type"] == wanted);
        let is_new = after.is_none_or(|after| instant(&entity.created).is_none_or(|at| at > after));
        if !is_type || !is_new {
            continue;
        }
        let mut shown = shown_orchestrator(platform, principal, entity).await?;
        if arguments.text("status").is_some_and(|wanted| shown["status"] != wanted) {
            continue;
        }
        if let Some(shown) = shown.as_object_mut() {
            shown.remove("config");
            if !arguments.flag("include_stats", true) {
                shown.remove("summary");
            }
        }
        items.push(shown);
    }
    let summary = format!("{} orchestrators", items.len());
    Ok(Reply::new(arguments.page(items), summary))
}

async fn get(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    let (kind, wanted) = (EntityKind::Orchestrator, arguments.required("orchestrator_id"));
    let entity = platform.entity(principal, kind, wanted).await?;
    let seconds = arguments.number("wait_seconds", 0);
    if let (true, Some(run)) = (seconds > 0, entity.body["latest_run"].as_str()) {
        platform.wait(&principal.owner, run, Duration::from_secs(seconds), host).await;
    }
    let entity = platform.entity(principal, kind, &entity.id).await?;
    let mut shown = shown_orchestrator(platform, principal, &entity).await?;
    if let Some(shown) = shown.as_object_mut() {
        for (argument, key) in [
            ("include_configuration", "config"),
            ("include_progress", "progress"),
            ("include_results_summary", "summary"),
        ] {
            if !arguments.flag(argument, true) {
                shown.remove(key);
            }
        }
    }
    let progress = &shown["progress"];
    let summary = format!(
        "{} is {}: {} done, {} hits, {} errors",
        entity.name,
        shown["status"].as_str().unwrap_or_default(),
        progress["done"].as_u64().unwrap_or_default(),
        progress["hits"].as_u64().unwrap_or_default(),
        progress["errors"].as_u64().unwrap_or_default(),
    );
    Ok(Reply::new(shown, summary))
}
