//! `results/{orchestrator_id}`, with a run and a format: what runs found.

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_engine::store::{Entity, EntityKind};
use serde_json::json;

use super::{found, json_contents, text_contents};
use crate::error::ToolError;
use crate::platform::Platform;
use crate::platform::orchestrator::TAG;
use crate::platform::results::{case_json, finding_json};
use crate::principal::{Access, Group, Principal, Scope};
use crate::resource::{Contents, Listed, ResourceKind, ResourceMeta};

pub(super) struct Results;

static META: ResourceMeta = ResourceMeta {
    name: "results",
    title: "Results",
    description: "What an orchestrator found: its latest run, a run, or a report of a run (csv, html, json, jsonl, md, sarif, junit, garak_jsonl). Text of the target is untrusted",
    templates: &[
        "results/{orchestrator_id}",
        "results/{orchestrator_id}/{run_id}",
        "results/{orchestrator_id}/{run_id}/{format}",
    ],
    mime_type: "application/json",
    scope: Scope::new(Group::Results, Access::Read),
    is_cached: false,
};

impl ResourceKind for Results {
    fn meta(&self) -> &'static ResourceMeta {
        &META
    }

    fn list<'a>(
        &'a self,
        platform: &'a Platform,
        principal: &'a Principal,
    ) -> BoxFuture<'a, Result<Vec<Listed>, ToolError>> {
        list(platform, principal).boxed()
    }

    fn read<'a>(
        &'a self,
        platform: &'a Platform,
        principal: &'a Principal,
        path: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Option<Contents>, ToolError>> {
        read(platform, principal, path).boxed()
    }
}

async fn list(platform: &Platform, principal: &Principal) -> Result<Vec<Listed>, ToolError> {
    let all = platform.entities(principal, EntityKind::Orchestrator).await?;
    let started = all.into_iter().filter(|entity| entity.body["latest_run"].is_string());
    let listed = started.map(|entity| Listed {
        path: format!("results/{}", entity.id),
        name: entity.name,
        description: "Results of the latest run".to_owned(),
        size: None,
    });
    Ok(listed.collect())
}

/// The orchestrator of a run.
async fn orchestrator_of(
    platform: &Platform,
    principal: &Principal,
    run: &str,
) -> Result<Option<Entity>, ToolError> {
    if found(platform.stored_run(principal, run).await)?.is_none() {
        return Ok(None);
    }
    for entity in platform.entities(principal, EntityKind::Orchestrator).await? {
        let is_latest = entity.body["latest_run"] == run;
        let runs = if is_latest {
            Vec::new()
        } else {
            platform.runs_tagged(principal, TAG, &entity.id).await?
        };
        if is_latest || runs.iter().any(|one| one.id == run) {
            return Ok(Some(entity));
        }
    }
    Ok(None)
}

async fn read(
    platform: &Platform,
    principal: &Principal,
    path: &[&str],
) -> Result<Option<Contents>, ToolError> {
    let (id, run, format) = match path {
        ["results", id] => (*id, None, None),
        ["results", id, run] => (*id, Some(*run), None),
        ["results", id, run, format] => (*id, Some(*run), Some(*format)),
        _ => return Ok(None),
    };
    let kind = EntityKind::Orchestrator;
    let named = found(platform.entity(principal, kind, id).await)?;
    // A run alone names its orchestrator, too.
    let (entity, run) = match (named, run) {
        (Some(entity), run) => (entity, run),
        (None, None) => match orchestrator_of(platform, principal, id).await? {
            Some(entity) => (entity, Some(id)),
            None => return Ok(None),
        },
        (None, Some(_)) => return Ok(None),
    };
    let runs = platform.runs_tagged(principal, TAG, &entity.id).await?;
    let wanted = run.or(entity.body["latest_run"].as_str());
    let Some(run) = runs.iter().find(|run| wanted.is_none_or(|wanted| run.id == wanted)) else {
        return Ok(None);
    };
    if let Some(format) = format {
        let (reporter, mime) = match format {
            "csv" => ("csv", "text/csv"),
            "html" => ("html", "text/html"),
            "json" => ("json", "application/json"),
            "jsonl" => ("jsonl", "application/jsonl"),
            "md" => ("markdown", "text/markdown"),
            "sarif" => ("sarif", "application/sarif+json"),
            "junit" => ("junit", "application/xml"),
            "garak_jsonl" => ("garak_jsonl", "application/jsonl"),
            _ => return Ok(None),
        };
        return Ok(Some(text_contents(mime, platform.report(run, reporter).await?)));
    }
    let (counts, _) = platform.counts(run).await?;
    let findings = platform.findings(run).await?;
    let findings: Vec<_> = findings.iter().map(|finding| finding_json(finding, &run.id)).collect();
    let cases = platform.cases(run, |_| true).await?;
    let items: Vec<_> = cases.iter().map(|case| case_json(case, false)).collect();
    Ok(Some(json_contents(&json!({
        "orchestrator_id": entity.id, "run_id": run.id, "status": run.state.word(),
        "runs": runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(),
        "summary": counts.as_json(), "findings": findings, "items": items,
    }))))
}
