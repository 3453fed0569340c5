//! Which values each identity has seen, and whether it had to request them by id.

use std::collections::BTreeSet;

use quintain_evidence::surface::Tool;
use serde_json::Value;

use crate::attack::TargetView;
use crate::attacks::tool_access;
use crate::knowledge::{Learned, words};

/// Arguments that limit how much a call returns, not what.
const PAGING: [&str; 8] = ["limit", "offset", "page", "count", "size", "max", "cursor", "per"];

pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Values that one identity has seen and the other has not. `broadly` counts only values from calls that name
/// no object, since a vulnerable server returns every object that a caller can name.
pub(super) fn seen_only_by<'k>(
    view: &'k TargetView<'_>,
    owner: usize,
    other: usize,
    broadly: bool,
) -> Vec<&'k Learned> {
    let of_other = seen_by(view, other, broadly);
    let only = |learned: &&Learned| {
        learned.identity == owner
            && (!broadly || is_broad(view, &learned.tool))
            && !of_other.contains(&text_of(&learned.value))
    };
    view.knowledge.values.iter().filter(only).collect()
}

/// Every value that an identity has seen.
pub(super) fn seen_by(view: &TargetView<'_>, identity: usize, broadly: bool) -> BTreeSet<String> {
    let values = view.knowledge.values.iter().filter(|learned| {
        learned.identity == identity && (!broadly || is_broad(view, &learned.tool))
    });
    values.map(|learned| text_of(&learned.value)).collect()
}

/// Whether a tool returns objects to every caller without an id in the request. The response of an
/// administrator tool proves nothing about who may see the objects.
fn is_broad(view: &TargetView<'_>, name: &str) -> bool {
    let mut tools = view.tools().filter(|(_, tool)| tool.name() == Some(name));
    let for_admins =
        |tool: &Tool| tool_access::says_for_admins(tool) || tool_access::is_for_admins(tool);
    if tools.next().is_some_and(|(_, tool)| for_admins(tool)) {
        return false;
    }
    let mut baselines = view.knowledge.baselines.iter();
    let baseline = baselines.find_map(|known| {
        let tool = tool_access::tool_of(view, known)?;
        (tool.name() == Some(name)).then(|| (tool, tool_access::arguments(known)))
    });
    if let Some((tool, args)) = baseline {
        return args.keys().all(|argument| chooses_little(tool, argument));
    }
    let mut tools = view.surfaces.iter().flat_map(|(_, surface)| &surface.tools);
    let tool = tools.find(|tool| tool.name() == Some(name));
    tool.is_some_and(|tool| {
        tool.required_args().iter().all(|argument| chooses_little(tool, argument))
    })
}

fn chooses_little(tool: &Tool, argument: &str) -> bool {
    let schema = tool.properties().and_then(|properties| properties.get(argument));
    let listed = schema.is_some_and(|schema| {
        schema.get("enum").is_some() || schema.get("type") == Some(&Value::from("boolean"))
    });
    listed || words(argument).iter().any(|word| PAGING.contains(&word.as_str()))
}
