//! `delete_generator`, `delete_dataset` and `delete_orchestrator`.

use quintain_engine::store::EntityKind;
use serde_json::{Value, json};

use super::definition::{Arguments, DELETE, flag, id, object, shape, tools, writing};
use crate::platform::confirm::confirm_deletion;
use crate::platform::credentials::Hidden;
use crate::platform::orchestrator::TAG;
use crate::platform::runs::is_under_way;
use crate::principal::Group;
use crate::tool::{Call, ErrorCode, Reply, ToolError};

tools! {
    DeleteGenerator = {
        name: "delete_generator",
        title: "Delete a generator",
        description: "Deletes a generator and its credentials. Fails if an orchestrator uses it, unless `force` is set.",
        core: false,
        scope: writing(Group::Generators),
        hints: DELETE,
        argument_aliases: &[],
        is_long: false,
    }
    input: input("generator_id", json!({})),
    output: deleted_schema(),
    call: generator;

    DeleteDataset = {
        name: "delete_dataset",
        title: "Delete a data set",
        description: "Deletes a data set of yours. Fails if an orchestrator uses it, unless `force` is set. Built-in data sets cannot be deleted.",
        core: false,
        scope: writing(Group::Datasets),
        hints: DELETE,
        argument_aliases: &[],
        is_long: false,
    }
    input: input("dataset_id", json!({})),
    output: deleted_schema(),
    call: dataset;

    DeleteOrchestrator = {
        name: "delete_orchestrator",
        title: "Delete an orchestrator",
        description: "Deletes an orchestrator and, unless `keep_results` is set, its runs. Fails while a run is under way, unless `force` is set.",
        core: false,
        scope: writing(Group::Orchestrators),
        hints: DELETE,
        argument_aliases: &[],
        is_long: false,
    }
    input: input("orchestrator_id", json!({"keep_results": flag("Keep the runs in the store", false)})),
    output: deleted_schema(),
    call: orchestrator;
}

fn input(key: &str, more: Value) -> Value {
    let mut properties = more;
    properties[key] = id("Id or name");
    properties["force"] = flag("Delete even if it is in use", false);
    properties["confirm"] = flag("The user agreed; needed where the host cannot ask", false);
    object(properties, &[key])
}

fn deleted_schema() -> Value {
    shape(json!({"deleted": {"type": "string"}, "runs": {"type": "integer"}}), &["deleted"])
}

async fn generator(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    let kind = EntityKind::Generator;
    let entity = platform.entity(principal, kind, arguments.required("generator_id")).await?;
    let uses =
        ["target_generator_id", "config/adversary_generator_id", "config/judge_generator_id"];
    let names = [entity.id.as_str(), entity.name.as_str()];
    refuse_used(platform, principal, &uses, &names, arguments.flag("force", false)).await?;
    let what = format!("the generator `{}`", entity.name);
    confirm_deletion(host, &what, arguments.flag("confirm", false)).await?;
    platform.remove_entity(principal, kind, &entity.id).await?;
    platform.credentials.put(&principal.owner, &entity.id, Hidden::new()).await?;
    Ok(Reply::new(json!({"deleted": entity.id}), format!("deleted {what}")))
}

async fn dataset(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    let (kind, wanted) = (EntityKind::Dataset, arguments.required("dataset_id"));
    if crate::datasets::find(wanted).is_some() {
        let what = "built-in data sets cannot be deleted";
        return Err(ToolError::new(ErrorCode::NotAllowed, what));
    }
    let entity = platform.entity(principal, kind, wanted).await?;
    let names = [entity.id.as_str(), entity.name.as_str()];
    refuse_used(platform, principal, &["dataset_id"], &names, arguments.flag("force", false))
        .await?;
    let what = format!("the data set `{}`", entity.name);
    confirm_deletion(host, &what, arguments.flag("confirm", false)).await?;
    platform.remove_entity(principal, kind, &entity.id).await?;
    Ok(Reply::new(json!({"deleted": entity.id}), format!("deleted {what}")))
}

/// Fails if an orchestrator names one of these.
async fn refuse_used(
    platform: &crate::platform::Platform,
    principal: &crate::principal::Principal,
    keys: &[&str],
    names: &[&str],
    force: bool,
) -> Result<(), ToolError> {
    if force {
        return Ok(());
    }
    for orchestrator in platform.entities(principal, EntityKind::Orchestrator).await? {
        let used = keys.iter().any(|key| {
            let value = orchestrator.body.pointer(&format!("/{key}")).and_then(Value::as_str);
            value.is_some_and(|value| names.contains(&value))
        });
        if used {
            let what = format!("the orchestrator `{}` uses it", orchestrator.name);
            let error = ToolError::new(ErrorCode::InUse, what);
            return Err(error.with_hint("delete the orchestrator first, or set `force`"));
        }
    }
    Ok(())
}

async fn orchestrator(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    let kind = EntityKind::Orchestrator;
    let entity = platform.entity(principal, kind, arguments.required("orchestrator_id")).await?;
    let runs = platform.runs_tagged(principal, TAG, &entity.id).await?;
    let under_way: Vec<_> = runs.iter().filter(|run| is_under_way(run)).collect();
    if !under_way.is_empty() && !arguments.flag("force", false) {
        let error = ToolError::new(ErrorCode::InUse, "a run of this orchestrator is under way");
        return Err(error.with_hint("stop_orchestrator first, or set `force`"));
    }
    let what = format!("the orchestrator `{}`", entity.name);
    confirm_deletion(host, &what, arguments.flag("confirm", false)).await?;
    for run in under_way {
        platform.active.stop(&principal.owner, &run.id, true);
    }
    let mut gone = 0;
    if !arguments.flag("keep_results", false) {
        gone = platform.store.delete(&runs).await?;
    }
    platform.remove_entity(principal, kind, &entity.id).await?;
    Ok(Reply::new(json!({"deleted": entity.id, "runs": gone}), format!("deleted {what}")))
}
