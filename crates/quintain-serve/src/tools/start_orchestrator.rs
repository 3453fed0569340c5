//! `start_orchestrator`, `resume_orchestrator`, `stop_orchestrator` and `pause_orchestrator`.

use std::collections::BTreeMap;
use std::time::Duration;

use quintain_engine::store::EntityKind;
use serde_json::{Value, json};

use super::definition::{
    ATTACK, Arguments, WRITE, flag, id, object, one_of, shape, text, tools, writing,
};
use super::list_orchestrators::shown_orchestrator;
use crate::host::Host;
use crate::platform::Platform;
use crate::platform::orchestrator::{Settings, TAG, status};
use crate::platform::runs::{NewJob, is_under_way};
use crate::principal::{Group, Principal};
use crate::tool::{Call, ErrorCode, Hints, Reply, ToolError};

/// How long a call waits for a run that ends after it was stopped.
const STOPPING: Duration = Duration::from_secs(10);

tools! {
    StartOrchestrator = {
        name: "start_orchestrator",
        title: "Start an orchestrator",
        description: "Starts a run and returns at once with its run_id, unless `execution_config.wait` is set or the call runs as a task. Asks the user before the first attack on a target. Follow it with get_orchestrator (`wait_seconds`), read it with get_orchestrator_results.",
        core: true,
        scope: writing(Group::Orchestrators),
        hints: ATTACK,
        argument_aliases: &[],
        is_long: true,
    }
    input: object(json!({
        "orchestrator_id": id("Id or name of the orchestrator"),
        "execution_config": {"type": "object", "description": "Settings of this run", "properties": {
            "execution_name": text("A name for the run"),
            "sample_size": {"type": "integer", "minimum": 1, "maximum": 100_000, "description": "Only the first entries of the data set"},
            "overrides": {"type": "object", "description": "Settings that replace those of `config` for this run"},
            "wait": flag("Return when the run has ended", false),
        }, "additionalProperties": false},
        "priority": one_of(&["low", "normal", "high"], "Accepted for compatibility"),
        "notifications": flag("Accepted for compatibility", true),
        "confirm": flag("The user agreed to the attack; needed where the host cannot ask", false),
    }), &["orchestrator_id"]),
    output: started_schema(),
    call: start_call;

    ResumeOrchestrator = {
        name: "resume_orchestrator",
        title: "Resume an orchestrator",
        description: "Continues a run that was paused, stopped or interrupted, without repeating what is finished.",
        core: false,
        scope: writing(Group::Orchestrators),
        hints: ATTACK,
        argument_aliases: &[],
        is_long: true,
    }
    input: object(json!({
        "orchestrator_id": id("Id or name of the orchestrator"),
        "priority": one_of(&["low", "normal", "high"], "Accepted for compatibility"),
        "confirm": flag("The user agreed to the attack; needed where the host cannot ask", false),
    }), &["orchestrator_id"]),
    output: started_schema(),
    call: resume_call;

    StopOrchestrator = {
        name: "stop_orchestrator",
        title: "Stop an orchestrator",
        description: "Ends the run. What is finished is kept, and resume_orchestrator can continue it.",
        core: true,
        scope: writing(Group::Orchestrators),
        hints: Hints { idempotent: true, ..WRITE },
        argument_aliases: &[],
        is_long: false,
    }
    input: object(json!({
        "orchestrator_id": id("Id or name of the orchestrator"),
        "force": flag("Do not wait for requests in flight", false),
        "save_partial_results": flag("Accepted for compatibility: what is finished is always kept", true),
    }), &["orchestrator_id"]),
    output: started_schema(),
    call: stop_call;

    PauseOrchestrator = {
        name: "pause_orchestrator",
        title: "Pause an orchestrator",
        description: "Ends the run so that resume_orchestrator continues it later.",
        core: false,
        scope: writing(Group::Orchestrators),
        hints: Hints { idempotent: true, ..WRITE },
        argument_aliases: &[],
        is_long: false,
    }
    input: object(json!({
        "orchestrator_id": id("Id or name of the orchestrator"),
        "save_state": flag("Accepted for compatibility: the state is always kept", true),
    }), &["orchestrator_id"]),
    output: started_schema(),
    call: pause_call;
}

fn started_schema() -> Value {
    shape(
        json!({
            "orchestrator_id": {"type": "string"},
            "run_id": {"type": ["string", "null"]},
            "status": {"type": "string"},
            "progress": {"type": ["object", "null"]},
            "summary": {"type": ["object", "null"]},
            "results_uri": {"type": ["string", "null"]},
        }),
        &["orchestrator_id", "status"],
    )
}

/// Starts a run of an orchestrator, and returns its id.
pub(super) async fn start(
    platform: &Platform,
    principal: &Principal,
    host: &dyn Host,
    wanted: &str,
    execution: Option<&Value>,
    confirm: bool,
) -> Result<String, ToolError> {
    begin(platform, principal, host, wanted, execution, confirm, None).await
}

async fn begin(
    platform: &Platform,
    principal: &Principal,
    host: &dyn Host,
    wanted: &str,
    execution: Option<&Value>,
    confirm: bool,
    resume: Option<&str>,
) -> Result<String, ToolError> {
    let kind = EntityKind::Orchestrator;
    let entity = platform.entity(principal, kind, wanted).await?;
    let latest = entity.body["latest_run"].as_str().unwrap_or_default();
    let is_active = platform
        .active
        .progress(&principal.owner, latest)
        .is_some_and(|progress| !progress.borrow().is_ended);
    if is_active {
        let error = ToolError::new(ErrorCode::Conflict, format!("{latest} is under way"));
        return Err(error.with_hint("wait for it, or stop_orchestrator first"));
    }
    let mut planned =
        platform.plan(principal, &Settings::new(&entity.body, execution), resume).await?;
    if let (true, Some(target)) = (planned.is_attack, planned.generators.first_mut()) {
        platform.confirm_attack(principal, host, target, confirm, planned.destroys).await?;
    }
    for generator in &mut planned.generators {
        platform.confirm_contact(principal, host, generator).await?;
    }
    let generators: Vec<_> = planned.generators.iter().collect();
    let mut tags = BTreeMap::from([(TAG.to_owned(), entity.id.clone())]);
    for (key, value) in entity.body["memory_labels"].as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        tags.entry(key.clone()).or_insert(value);
    }
    let name = execution.and_then(|one| one["execution_name"].as_str());
    let description = Some(name.unwrap_or(&entity.name).to_owned());
    let job = NewJob { stored: true, tags, description };
    let mut request = platform.request(principal, &generators, planned.work, job);
    if let Some(run) = resume {
        run.clone_into(&mut request.id);
    }
    let run = platform.start(principal, request, &generators, host.sampler()).await?;
    // Reading again: confirming may take the user a while.
    let entity = platform.entity(principal, kind, &entity.id).await?;
    let mut body = entity.body.clone();
    body["latest_run"] = json!(run);
    if let Some(body) = body.as_object_mut() {
        body.remove("stopped");
    }
    platform.change_entity(principal, kind, &entity, &entity.name, &body).await?;
    Ok(run)
}

async fn start_call(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    let (wanted, confirm) =
        (arguments.required("orchestrator_id"), arguments.flag("confirm", false));
    let execution = arguments.0.get("execution_config");
    let waits = execution.and_then(|one| one["wait"].as_bool()).unwrap_or_else(|| host.is_task());
    let run = start(platform, principal, host, wanted, execution, confirm).await?;
    if waits {
        follow(platform, principal, host, wanted, &run).await?;
    }
    state(platform, principal, wanted).await
}

/// Waits for a run. A client that cancels the call stops the run; what is finished is kept.
async fn follow(
    platform: &Platform,
    principal: &Principal,
    host: &dyn Host,
    wanted: &str,
    run: &str,
) -> Result<(), ToolError> {
    let limit = Duration::from_secs(platform.quota(principal).seconds_per_run);
    let was_cancelled = tokio::select! {
        biased;
        () = host.cancelled() => true,
        () = platform.wait(&principal.owner, run, limit, host) => false,
    };
    let was_stopped = was_cancelled && platform.active.stop(&principal.owner, run, false);
    // What the end of the server stops is only paused.
    if was_stopped && !platform.active.is_closing() {
        let kind = EntityKind::Orchestrator;
        let entity = platform.entity(principal, kind, wanted).await?;
        let mut body = entity.body.clone();
        body["stopped"] = json!(run);
        platform.change_entity(principal, kind, &entity, &entity.name, &body).await?;
    }
    Ok(())
}

async fn resume_call(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    let wanted = arguments.required("orchestrator_id");
    let entity = platform.entity(principal, EntityKind::Orchestrator, wanted).await?;
    let runs = platform.runs_tagged(principal, TAG, &entity.id).await?;
    let latest = entity.body["latest_run"].as_str();
    let run = runs.iter().find(|run| Some(run.id.as_str()) == latest).or(runs.first());
    let now = status(&entity.body, run);
    let Some(run) = run.filter(|_| matches!(now, "paused" | "cancelled" | "failed")) else {
        let what = format!("the orchestrator is {now}; there is nothing to resume");
        return Err(ToolError::new(ErrorCode::Conflict, what));
    };
    let confirm = arguments.flag("confirm", false);
    let run = begin(platform, principal, host, &entity.id, None, confirm, Some(&run.id)).await?;
    if host.is_task() {
        follow(platform, principal, host, &entity.id, &run).await?;
    }
    state(platform, principal, &entity.id).await
}

async fn stop_call(call: Call<'_>) -> Result<Reply, ToolError> {
    let force = call.arguments.get("force") == Some(&json!(true));
    end(call, force, true).await
}

async fn pause_call(call: Call<'_>) -> Result<Reply, ToolError> {
    end(call, false, false).await
}

async fn end(call: Call<'_>, force: bool, is_final: bool) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    let (kind, wanted) = (EntityKind::Orchestrator, arguments.required("orchestrator_id"));
    let entity = platform.entity(principal, kind, wanted).await?;
    let Some(run) = entity.body["latest_run"].as_str().map(str::to_owned) else {
        return Err(ToolError::new(ErrorCode::Conflict, "it was not started"));
    };
    let mut body = entity.body.clone();
    if is_final {
        body["stopped"] = json!(run);
    } else if let Some(body) = body.as_object_mut() {
        body.remove("stopped");
    }
    if body != entity.body {
        platform.change_entity(principal, kind, &entity, &entity.name, &body).await?;
    }
    let stopped = platform.active.stop(&principal.owner, &run, force);
    if stopped {
        platform.wait(&principal.owner, &run, STOPPING, host).await;
    } else if platform.stored_run(principal, &run).await.is_ok_and(|run| is_under_way(&run)) {
        let what = "another process executes this run";
        return Err(ToolError::new(ErrorCode::Conflict, what));
    }
    state(platform, principal, &entity.id).await
}

/// The status of an orchestrator, in short.
async fn state(
    platform: &Platform,
    principal: &Principal,
    wanted: &str,
) -> Result<Reply, ToolError> {
    let entity = platform.entity(principal, EntityKind::Orchestrator, wanted).await?;
    let shown = shown_orchestrator(platform, principal, &entity).await?;
    let keys = ["orchestrator_id", "run_id", "status", "progress", "summary", "results_uri"];
    let structured: serde_json::Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), shown[*key].clone())).collect();
    let status = shown["status"].as_str().unwrap_or_default();
    let run = shown["run_id"].as_str().unwrap_or_default();
    let reply = Reply::new(Value::Object(structured), format!("{run} is {status}"));
    let uri = shown["results_uri"].as_str().map(str::to_owned);
    Ok(match uri {
        Some(uri) => reply.with_link(uri, "results", "application/json"),
        None => reply,
    })
}
