//! `list_datasets` and `get_dataset`.

use quintain_engine::store::EntityKind;
use serde_json::{Value, json};

use super::definition::{
    Arguments, READ, id, object, one_of, page_of, paged, reading, shape, text, tools,
};
use crate::datasets::{Dataset, builtin};
use crate::platform::orchestrator::dataset_of;
use crate::platform::results::shown;
use crate::principal::Group;
use crate::tool::{Call, Reply, ToolError};

tools! {
    ListDatasets = {
        name: "list_datasets",
        title: "List data sets",
        description: "Lists the built-in data sets and yours. Use the `dataset_id` of an item in create_orchestrator.",
        core: true,
        scope: reading(Group::Datasets),
        hints: READ,
        argument_aliases: &[],
        is_long: false,
    }
    input: object(paged(json!({
        "category": text("Only this category: security, safety, fairness, privacy, control, capability ..."),
        "source": one_of(&["builtin", "user"], "Only built-in ones, or only yours"),
    })), &[]),
    output: page_of(dataset_schema()),
    call: list;

    GetDataset = {
        name: "get_dataset",
        title: "Get a data set",
        description: "Shows a data set and a page of its entries.",
        core: false,
        scope: reading(Group::Datasets),
        hints: READ,
        argument_aliases: &[("dataset_name", "dataset_id")],
        is_long: false,
    }
    input: object(paged(json!({"dataset_id": id("Id or name of the data set")})), &["dataset_id"]),
    output: shape(json!({
        "dataset": dataset_schema(),
        "items": {"type": "array", "items": {"type": "object"}},
        "next_cursor": {"type": "string"},
        "total": {"type": "integer"},
    }), &["dataset", "items", "total"]),
    call: get;
}

/// The schema of a data set without its entries.
pub(super) fn dataset_schema() -> Value {
    shape(
        json!({
            "id": {"type": "string"},
            "dataset_id": {"type": "string"},
            "name": {"type": "string"},
            "description": {"type": "string"},
            "category": {"type": "string"},
            "license": {"type": "string"},
            "source": {"type": "string"},
            "entries": {"type": "integer"},
            "uri": {"type": "string"},
        }),
        &["dataset_id", "name", "category", "license", "source", "entries", "uri"],
    )
}

/// A data set without its entries.
pub(super) fn dataset_json(dataset: &Dataset) -> Value {
    json!({
        "id": dataset.id, "dataset_id": dataset.id, "name": dataset.name, "description": dataset.description,
        "category": dataset.category, "license": dataset.license, "source": dataset.source,
        "entries": dataset.entries.len(), "uri": format!("quintain://datasets/{}", dataset.id),
    })
}

async fn list(call: Call<'_>) -> Result<Reply, ToolError> {
    let arguments = Arguments(call.arguments);
    let mut items = Vec::new();
    if arguments.text("source") != Some("user") {
        items.extend(builtin().iter().map(dataset_json));
    }
    if arguments.text("source") != Some("builtin") {
        for entity in call.platform.entities(call.principal, EntityKind::Dataset).await? {
            items.push(dataset_json(&dataset_of(entity)?));
        }
    }
    if let Some(category) = arguments.text("category") {
        items.retain(|one| one["category"] == category);
    }
    let names: Vec<&str> =
        items.iter().take(40).filter_map(|one| one["dataset_id"].as_str()).collect();
    let text = format!("{} data sets: {}", items.len(), names.join(", "));
    Ok(Reply::new(arguments.page(items), text))
}

async fn get(call: Call<'_>) -> Result<Reply, ToolError> {
    let arguments = Arguments(call.arguments);
    let dataset = call.platform.dataset(call.principal, arguments.required("dataset_id")).await?;
    let entries =
        dataset.entries.iter().map(|entry| serde_json::to_value(entry).unwrap_or_default());
    let mut page = arguments.page(entries.collect());
    page["dataset"] = dataset_json(&dataset);
    let text = format!("{}: {} entries", shown(&dataset.name), dataset.entries.len());
    let uri = format!("quintain://datasets/{}", dataset.id);
    Ok(Reply::new(page, text).with_link(uri, &dataset.name, "application/json"))
}
