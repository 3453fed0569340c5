//! `update_generator` and `clone_generator`.

use quintain_engine::store::EntityKind;
use serde_json::{Value, json};

use super::create_generator::{parameters, properties};
use super::definition::{Arguments, WRITE, flag, id, object, text, tools, writing};
use super::list_generators::{generator_json, generator_schema};
use super::test_generator;
use crate::platform::confirm::forget;
use crate::platform::credentials::reveal;
use crate::principal::Group;
use crate::tool::{Call, Reply, ToolError};

tools! {
    UpdateGenerator = {
        name: "update_generator",
        title: "Change a generator",
        description: "Changes the given settings of a generator and keeps the others. `parameters` and `connection` are merged key by key; null removes a key.",
        core: false,
        scope: writing(Group::Generators),
        hints: WRITE,
        argument_aliases: &[],
        is_long: false,
    }
    input: {
        let mut properties = properties(json!({
            "generator_id": id("Id or name of the generator"),
            "test_after_update": flag("Send a test prompt at once", false),
        }));
        if let Some(properties) = properties.as_object_mut() { properties.remove("provider_type"); }
        properties["parameters"] = parameters("Options of the model to change; null removes one");
        object(properties, &["generator_id"])
    },
    output: generator_schema(),
    call: update;

    CloneGenerator = {
        name: "clone_generator",
        title: "Copy a generator",
        description: "Copies a generator with its credentials under a new name, with other parameters or another model.",
        core: false,
        scope: writing(Group::Generators),
        hints: WRITE,
        argument_aliases: &[("generator_id", "source_generator_id"), ("name", "new_name")],
        is_long: false,
    }
    input: object(json!({
        "source_generator_id": id("Id or name of the generator to copy"),
        "new_name": id("Name of the copy"),
        "parameter_overrides": parameters("Parameters that replace those of the source; null removes one"),
        "model_override": text("Another model"),
        "test_after_clone": flag("Send a test prompt at once", false),
    }), &["source_generator_id", "new_name"]),
    output: generator_schema(),
    call: clone;
}

/// Puts the keys of a map into another one; null removes a key.
pub(super) fn merge(into: &mut Value, from: &Value) {
    let Some(from) = from.as_object() else { return };
    if !into.is_object() {
        *into = json!({});
    }
    let Some(into) = into.as_object_mut() else { return };
    for (key, value) in from {
        if value.is_null() {
            into.remove(key);
        } else {
            into.insert(key.clone(), value.clone());
        }
    }
}

async fn update(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    let wanted = arguments.required("generator_id");
    let read = platform.entity(principal, EntityKind::Generator, wanted).await?;
    let mut body = read.body.clone();
    for key in ["model_name", "system_prompt", "enabled"] {
        if let Some(value) = arguments.0.get(key) {
            body[key] = value.clone();
        }
    }
    for key in ["parameters", "connection"] {
        if let Some(value) = arguments.0.get(key) {
            merge(&mut body[key], value);
        }
    }
    // A target that changed is confirmed and tested again.
    if ["connection", "parameters"].iter().any(|key| arguments.0.contains_key(*key)) {
        forget(&mut body);
        body.as_object_mut().and_then(|body| body.remove("last_test"));
    }
    let name = arguments.text("name").unwrap_or(&read.name);
    let changed = platform.change_generator(principal, &read, name, body).await?;
    let mut shown = generator_json(&changed, false);
    if arguments.flag("test_after_update", false) {
        let tested = test_generator::test(platform, principal, host, &changed.id, &[], 30).await;
        shown["test_results"] = tested.unwrap_or_else(|error| error.structured());
    }
    Ok(Reply::new(shown, format!("changed {}", changed.id)))
}

async fn clone(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let arguments = Arguments(arguments);
    let wanted = arguments.required("source_generator_id");
    let read = platform.entity(principal, EntityKind::Generator, wanted).await?;
    let hidden = platform.credentials.get(&principal.owner, &read.id).await?;
    let mut body = read.body.clone();
    reveal(&mut body, &hidden);
    if let Some(overrides) = arguments.0.get("parameter_overrides") {
        merge(&mut body["parameters"], overrides);
    }
    if let Some(model) = arguments.text("model_override") {
        body["model_name"] = json!(model);
    }
    forget(&mut body);
    body.as_object_mut().and_then(|body| body.remove("last_test"));
    let name = arguments.required("new_name");
    let entity = platform.add_generator(principal, Some(name), body).await?;
    let mut shown = generator_json(&entity, false);
    if arguments.flag("test_after_clone", false) {
        let tested = test_generator::test(platform, principal, host, &entity.id, &[], 30).await;
        shown["test_results"] = tested.unwrap_or_else(|error| error.structured());
    }
    Ok(Reply::new(shown, format!("created {} ({name})", entity.id)))
}
