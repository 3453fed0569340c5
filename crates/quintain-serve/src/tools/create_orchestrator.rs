//! `create_orchestrator`, `validate_orchestrator_config` and `clone_orchestrator`.

use quintain_engine::store::EntityKind;
use serde_json::{Map, Value, json};

use super::definition::{
    Arguments, READ, WRITE, flag, id, named_list, number, object, one_of, reading, shape, text,
    texts, tools, writing,
};
use super::list_orchestrators::{orchestrator_schema, shown_orchestrator};
use super::start_orchestrator;
use super::update_generator::merge;
use crate::platform::Platform;
use crate::platform::orchestrator::{Planned, Settings, TYPES};
use crate::principal::{Group, Principal};
use crate::tool::{Call, ErrorCode, Reply, ToolError};

/// Settings that the original has at the top level, and their names in `config`.
const TOP_LEVEL: [(&str, &str); 5] = [
    ("converters", "converters"),
    ("scorers", "scorers"),
    ("max_iterations", "max_turns"),
    ("concurrent_limit", "concurrency"),
    ("seed", "seed"),
];

tools! {
    CreateOrchestrator = {
        name: "create_orchestrator",
        title: "Create an orchestrator",
        description: "Configures a run against a generator: attacks on an MCP server (mcp_scan, mcp_fuzz, mcp_authz), attack strategies on a model (crescendo, pair, tree_of_attacks ...), or the entries of a data set (prompt_sending, eval). start_orchestrator runs it.",
        core: true,
        scope: writing(Group::Orchestrators),
        hints: WRITE,
        argument_aliases: &[("target_generators", "target_generator_id"), ("dataset_name", "dataset_id")],
        is_long: false,
    }
    input: object(properties(json!({
        "name": {"type": "string", "minLength": 1, "maxLength": 100, "description": "Unique name; default: the id"},
        "auto_start": flag("Start it at once", false),
        "confirm": flag("The user agreed to the attack; needed with auto_start where the host cannot ask", false),
    })), &["orchestrator_type", "target_generator_id"]),
    output: orchestrator_schema(),
    call: create;

    ValidateOrchestratorConfig = {
        name: "validate_orchestrator_config",
        title: "Check the configuration of an orchestrator",
        description: "Reports the problems that create_orchestrator or a start would have, and estimates the number of requests. Stores and contacts nothing.",
        core: true,
        scope: reading(Group::Orchestrators),
        hints: READ,
        argument_aliases: &[("target_generators", "target_generator_id"), ("dataset_name", "dataset_id")],
        is_long: false,
    }
    input: object(properties(json!({
        "check_compatibility": flag("Accepted for compatibility", true),
        "estimate_resources": flag("Accepted for compatibility", true),
    })), &["orchestrator_type", "target_generator_id"]),
    output: shape(json!({
        "valid": {"type": "boolean"},
        "issues": {"type": "array", "items": {"type": "string"}},
        "notes": {"type": "array", "items": {"type": "string"}},
        "estimate": shape(json!({
            "requests": {"type": ["integer", "null"]},
            "seconds": {"type": ["number", "null"]},
            "llm_calls": {"type": ["integer", "null"]},
        }), &["requests"]),
    }), &["valid", "issues", "estimate"]),
    call: validate;

    CloneOrchestrator = {
        name: "clone_orchestrator",
        title: "Copy an orchestrator",
        description: "Copies an orchestrator under a new name, with other settings. Results are not copied.",
        core: false,
        scope: writing(Group::Orchestrators),
        hints: WRITE,
        argument_aliases: &[],
        is_long: false,
    }
    input: object(json!({
        "source_orchestrator_id": id("Id or name of the orchestrator to copy"),
        "new_name": id("Name of the copy"),
        "configuration_overrides": {"type": "object", "description": "Settings that replace those of the source: orchestrator_type, target_generator_id, dataset_id, config"},
        "copy_results": flag("Accepted for compatibility; results belong to the run that made them", false),
    }), &["source_orchestrator_id", "new_name"]),
    output: orchestrator_schema(),
    call: clone;
}

fn properties(more: Value) -> Value {
    let mut properties = json!({
        "orchestrator_type": one_of(&TYPES, "What to run"),
        "target_generator_id": texts(1, "The generator to test or attack, by id or name"),
        "dataset_id": id("The data set, by id or name; required for prompt_sending"),
        "config": {
            "type": "object",
            "description": "Settings of the run",
            "properties": {
                "converters": named_list("Converters, applied one after the other"),
                "scorers": named_list("Scorers: assertions that a safe response passes"),
                "plugins": {"type": "array", "maxItems": 200, "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}, "description": "Attacks to run; default: all that fit"},
                "tests": {"type": "array", "maxItems": 10_000, "items": {"type": "object"}, "description": "Tests of an eval, as in a suite"},
                "max_turns": number(1, 100, 10, "Turns of a conversation"),
                "max_backtracks": number(0, 100, 10, "Refused turns that are tried again"),
                "tree_width": number(1, 20, 3, "Accepted for compatibility"),
                "tree_depth": number(1, 20, 5, "Accepted for compatibility"),
                "branching_factor": number(1, 10, 2, "Accepted for compatibility"),
                "generations": number(1, 100, 1, "How often every prompt is sent"),
                "num_tests": number(1, 5_000, 5, "Places that every attack tries; default: all"),
                "concurrency": number(1, 64, 4, "Concurrent requests"),
                "rate_limit_rps": {"type": "number", "exclusiveMinimum": 0},
                "timeout_s": number(1, 86_400, 300, "Duration of a run"),
                "seed": number(0, u64::from(u32::MAX), 0, "Random seed"),
                "stop_on_first_hit": flag("Accepted for compatibility", false),
                "adversary_generator_id": id("The model that writes the messages of conversations; default: built-in messages"),
                "judge_generator_id": id("The model that judges what no detector can decide"),
                "purpose": text("What the target is for"),
                "identities": {"type": "array", "items": {"type": "object"}, "description": "Users of an MCP server for mcp_authz, as in a suite"},
                "destructive": one_of(&["never", "own", "all"], "Whether destructive tools may be called"),
                "budget": {"type": "object", "properties": {
                    "max_requests": {"type": "integer", "minimum": 1},
                    "max_seconds": {"type": "integer", "minimum": 1},
                    "max_tokens": {"type": "integer", "minimum": 1},
                }, "additionalProperties": false},
            },
            "additionalProperties": false,
        },
        "converters": named_list("The same as config.converters"),
        "scorers": named_list("The same as config.scorers"),
        "max_iterations": number(1, 1_000, 10, "The same as config.max_turns"),
        "concurrent_limit": number(1, 20, 5, "The same as config.concurrency"),
        "memory_labels": {"type": "object", "description": "Labels that are stored with the runs"},
    });
    if let (Value::Object(properties), Value::Object(more)) = (&mut properties, more) {
        properties.extend(more);
    }
    properties
}

/// The body of an orchestrator.
fn body(arguments: &Map<String, Value>) -> Result<Value, ToolError> {
    let targets = match arguments.get("target_generator_id") {
        Some(Value::Array(several)) => several.clone(),
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    };
    let [target] = &targets[..] else {
        let what = "an orchestrator has one target";
        return Err(ToolError::new(ErrorCode::InvalidConfiguration, what)
            .with_hint("create one orchestrator for each generator"));
    };
    let mut config = arguments.get("config").cloned().unwrap_or_else(|| json!({}));
    for (top, ours) in TOP_LEVEL {
        if let Some(value) = arguments.get(top)
            && config.get(ours).is_none()
        {
            config[ours] = value.clone();
        }
    }
    let mut body = json!({
        "orchestrator_type": arguments.get("orchestrator_type"),
        "target_generator_id": target,
        "config": config,
    });
    for key in ["dataset_id", "memory_labels"] {
        if let Some(value) = arguments.get(key) {
            body[key] = value.clone();
        }
    }
    Ok(body)
}

/// Checks that it could run, and names target and data set by their ids.
async fn planned(
    platform: &Platform,
    principal: &Principal,
    body: &mut Value,
) -> Result<Planned, ToolError> {
    let planned = platform.plan(principal, &Settings::new(body, None), None).await?;
    if let Some(target) = planned.generators.first() {
        body["target_generator_id"] = json!(target.id);
    }
    if let Some(wanted) = body["dataset_id"].as_str() {
        let dataset = platform.dataset(principal, wanted).await?;
        body["dataset_id"] = json!(dataset.id);
    }
    Ok(planned)
}

async fn create(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let mut body = body(&arguments)?;
    let planned = planned(platform, principal, &mut body).await?;
    let arguments = Arguments(arguments);
    let kind = EntityKind::Orchestrator;
    let entity = platform.add_entity(principal, kind, arguments.text("name"), &body).await?;
    let mut summary = format!("created {} ({})", entity.id, entity.name);
    if arguments.flag("auto_start", false) {
        let confirm = arguments.flag("confirm", false);
        let run =
            start_orchestrator::start(platform, principal, host, &entity.id, None, confirm).await?;
        summary.push_str("; started ");
        summary.push_str(&run);
    }
    let entity = platform.entity(principal, kind, &entity.id).await?;
    let mut shown = shown_orchestrator(platform, principal, &entity).await?;
    shown["notes"] = json!(planned.notes);
    Ok(Reply::new(shown, summary))
}

async fn validate(call: Call<'_>) -> Result<Reply, ToolError> {
    let outcome = match body(&call.arguments) {
        Ok(mut body) => planned(call.platform, call.principal, &mut body).await,
        Err(error) => Err(error),
    };
    let (issues, notes, requests) = match outcome {
        Ok(planned) => (Vec::new(), planned.notes, planned.requests),
        Err(error) => {
            let hint = error.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
            (vec![format!("{}{hint}", error.message)], Vec::new(), None)
        }
    };
    let summary = if issues.is_empty() { "valid".to_owned() } else { issues.join("\n") };
    let estimate = json!({"requests": requests, "seconds": null, "llm_calls": null});
    let structured =
        json!({"valid": issues.is_empty(), "issues": issues, "notes": notes, "estimate": estimate});
    Ok(Reply::new(structured, summary))
}

async fn clone(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, arguments, .. } = call;
    let arguments = Arguments(arguments);
    let kind = EntityKind::Orchestrator;
    let read =
        platform.entity(principal, kind, arguments.required("source_orchestrator_id")).await?;
    let mut body = read.body.clone();
    if let Some(overrides) = arguments.0.get("configuration_overrides") {
        let mut config = body["config"].clone();
        merge(&mut config, &overrides["config"]);
        let allowed = ["orchestrator_type", "target_generator_id", "dataset_id", "memory_labels"];
        for key in allowed {
            if let Some(value) = overrides.get(key) {
                body[key] = value.clone();
            }
        }
        body["config"] = config;
    }
    if let Some(body) = body.as_object_mut() {
        body.remove("stopped");
        body.remove("latest_run");
    }
    planned(platform, principal, &mut body).await?;
    let name = arguments.required("new_name");
    let entity = platform.add_entity(principal, kind, Some(name), &body).await?;
    let shown = shown_orchestrator(platform, principal, &entity).await?;
    Ok(Reply::new(shown, format!("created {} ({name})", entity.id)))
}
