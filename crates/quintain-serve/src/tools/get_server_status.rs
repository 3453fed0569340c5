//! `get_server_status`.

use quintain_engine::store::EntityKind;
use serde_json::json;

use super::definition::{READ, object, reading, shape, tools};
use crate::principal::Group;
use crate::tool::{Call, Reply, ToolError};

tools! {
    GetServerStatus = {
        name: "get_server_status",
        title: "Get the status of the server",
        description: "Shows version, your runs under way, your quota, and what you configured.",
        core: true,
        scope: reading(Group::Results),
        hints: READ,
        argument_aliases: &[],
        is_long: false,
    }
    input: object(json!({}), &[]),
    output: shape(json!({
        "version": {"type": "string"},
        "operator": {"type": "boolean"},
        "runs_under_way": {"type": "integer"},
        "counts": {"type": "object"},
        "quota": {"type": "object"},
        "stored_bytes": {"type": "integer"},
    }), &["version", "runs_under_way", "counts", "quota"]),
    call: status;
}

async fn status(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, .. } = call;
    let mut counts = json!({"builtin_datasets": crate::datasets::builtin().len()});
    for (name, kind) in [
        ("generators", EntityKind::Generator),
        ("datasets", EntityKind::Dataset),
        ("orchestrators", EntityKind::Orchestrator),
    ] {
        counts[name] = json!(platform.entities(principal, kind).await?.len());
    }
    let quota = platform.quota(principal);
    let running = platform.active.count(Some(&principal.owner));
    let structured = json!({
        "version": platform.allowances.version,
        "operator": principal.operator,
        "runs_under_way": running,
        "counts": counts,
        "quota": {
            "concurrent_runs": quota.concurrent_runs, "stored_runs": quota.stored_runs,
            "calls_per_run": quota.calls_per_run, "seconds_per_run": quota.seconds_per_run,
            "stored_bytes": quota.stored_bytes,
        },
        "stored_bytes": platform.store.stored_bytes(&principal.owner).await?,
    });
    Ok(Reply::new(
        structured,
        format!("quintain {}, {running} runs under way", platform.allowances.version),
    ))
}
