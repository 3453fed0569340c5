//! `list_generators` and `get_generator`.

use quintain_engine::store::{Entity, EntityKind};
use serde_json::{Value, json};

use super::definition::{
    Arguments, READ, flag, id, object, one_of, page_of, paged, reading, shape, text, tools,
};
use crate::principal::Group;
use crate::tool::{Call, Reply, ToolError};

tools! {
    ListGenerators = {
        name: "list_generators",
        title: "List generators",
        description: "Lists the targets and models that you configured. Use the `generator_id` of an item in other tools.",
        core: true,
        scope: reading(Group::Generators),
        hints: READ,
        argument_aliases: &[],
        is_long: false,
    }
    input: object(paged(json!({
        "provider_type": text("Only generators of this kind: mcp, openai, anthropic, ollama ..."),
        "status": one_of(&["active", "inactive", "error"], "Only generators with this status"),
        "include_test_results": flag("Add the result of the latest test_generator", false),
    })), &[]),
    output: page_of(generator_schema()),
    call: list;

    GetGenerator = {
        name: "get_generator",
        title: "Get a generator",
        description: "Shows one generator with its settings. Credentials are masked.",
        core: false,
        scope: reading(Group::Generators),
        hints: READ,
        argument_aliases: &[],
        is_long: false,
    }
    input: object(json!({
        "generator_id": id("Id or name of the generator"),
        "include_test_history": flag("Add the result of the latest test_generator", false),
    }), &["generator_id"]),
    output: generator_schema(),
    call: get;
}

/// The schema of a generator in results.
pub(super) fn generator_schema() -> Value {
    shape(
        json!({
            "id": {"type": "string"},
            "generator_id": {"type": "string"},
            "name": {"type": "string"},
            "provider_type": {"type": "string"},
            "model_name": {"type": "string"},
            "status": {"type": "string", "enum": ["active", "inactive", "error"]},
            "enabled": {"type": "boolean"},
            "connection": {"type": "object"},
            "parameters": {"type": "object"},
            "system_prompt": {"type": "string"},
            "version": {"type": "integer"},
            "created_at": {"type": "string"},
            "updated_at": {"type": "string"},
            "last_test": {"type": "object"},
            "test_results": {"type": "object"},
        }),
        &[
            "generator_id",
            "name",
            "provider_type",
            "model_name",
            "status",
            "enabled",
            "version",
            "created_at",
        ],
    )
}

/// A generator in results. Its stored body has only masked credentials.
pub(super) fn generator_json(entity: &Entity, with_test: bool) -> Value {
    let body = &entity.body;
    let enabled = body["enabled"] != false;
    let failed = body["last_test"]["ok"] == false;
    let status = if !enabled {
        "inactive"
    } else if failed {
        "error"
    } else {
        "active"
    };
    let mut shown = json!({
        "id": entity.id,
        "generator_id": entity.id,
        "name": entity.name,
        "provider_type": body["provider_type"],
        "model_name": body["model_name"].as_str().unwrap_or_default(),
        "status": status,
        "enabled": enabled,
        "version": entity.version,
        "created_at": entity.created,
        "updated_at": entity.updated,
    });
    for key in ["connection", "parameters", "system_prompt"] {
        if let Some(value) = body.get(key).filter(|value| !value.is_null()) {
            shown[key] = value.clone();
        }
    }
    if with_test && body["last_test"].is_object() {
        shown["last_test"] = body["last_test"].clone();
    }
    shown
}

async fn list(call: Call<'_>) -> Result<Reply, ToolError> {
    let arguments = Arguments(call.arguments);
    let all = call.platform.entities(call.principal, EntityKind::Generator).await?;
    let with_test = arguments.flag("include_test_results", false);
    let is = |shown: &Value, key: &str, argument: &str| {
        arguments.text(argument).is_none_or(|wanted| shown[key] == wanted)
    };
    let items: Vec<Value> = all
        .iter()
        .map(|entity| generator_json(entity, with_test))
        .filter(|shown| {
            is(shown, "provider_type", "provider_type") && is(shown, "status", "status")
        })
        .collect();
    let lines: Vec<String> = items
        .iter()
        .take(20)
        .map(|one| {
            format!(
                "{} {} ({})",
                one["generator_id"].as_str().unwrap_or_default(),
                one["name"].as_str().unwrap_or_default(),
                one["provider_type"].as_str().unwrap_or_default()
            )
        })
        .collect();
    let summary = format!("{} generators\n{}", items.len(), lines.join("\n"));
    Ok(Reply::new(arguments.page(items), summary))
}

async fn get(call: Call<'_>) -> Result<Reply, ToolError> {
    let arguments = Arguments(call.arguments);
    let wanted = arguments.required("generator_id");
    let entity = call.platform.entity(call.principal, EntityKind::Generator, wanted).await?;
    let shown = generator_json(&entity, arguments.flag("include_test_history", false));
    let summary =
        format!("{} ({})", entity.name, shown["provider_type"].as_str().unwrap_or_default());
    Ok(Reply::new(shown, summary))
}
