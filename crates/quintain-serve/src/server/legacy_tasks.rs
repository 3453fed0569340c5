//! The methods of 2025-11-25 that rmcp does not know: tasks that the client asks for, and the list of tools that says which
//! can be one.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{ErrorCode as RpcCode, ProgressToken};
use serde_json::{Map, Value, json};

use super::call::{Caller, Refused, seed, start, too_many};
use super::conformance;
use super::paging::page;
use super::shared::Server;
use super::task_store::{TaskEntry, TaskState};
use super::tools::{self, listed_with_tasks};

/// The key by which a message refers to a task.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// Answers a request whose method had the prefix of the envelope.
pub(super) async fn answer(
    server: &Arc<Server>,
    mut caller: Caller,
    method: &str,
    params: Option<Value>,
) -> Result<Value, ErrorData> {
    let params = match params {
        Some(Value::Object(params)) => params,
        _ => Map::new(),
    };
    let cursor = params.get("cursor").and_then(Value::as_str);
    let size = server.settings().page_size;
    match method {
        "tools/list" => {
            if !server.settings().enable_tools {
                return Err(ErrorData::new(RpcCode::METHOD_NOT_FOUND, "tools/list", None));
            }
            let mut tools: Vec<Value> =
                server.catalogue.tools(&caller.principal).map(listed_with_tasks).collect();
            if server.catalogue.is_for_conformance {
                let fixtures = conformance::tools().into_iter();
                tools.splice(0..0, fixtures.filter_map(|tool| serde_json::to_value(tool).ok()));
            }
            let (tools, next) = page("tools", tools, cursor, size)?;
            Ok(with_cursor(json!({"tools": tools}), next))
        }
        "tools/call" => {
            let token = params.get("_meta").and_then(|meta| meta.get("progressToken"));
            caller.token =
                token.and_then(|token| serde_json::from_value::<ProgressToken>(token.clone()).ok());
            create(server, &caller, &params)
        }
        "tasks/list" => {
            let tasks = server.tasks.list(&caller.principal.owner);
            let tasks = tasks.iter().map(|task| shown(task)).collect();
            let (tasks, next) = page("tasks", tasks, cursor, size)?;
            Ok(with_cursor(json!({"tasks": tasks}), next))
        }
        "tasks/get" => Ok(shown(&*own_task(server, &caller, &params)?)),
        "tasks/cancel" => {
            let task = own_task(server, &caller, &params)?;
            if task.state().1.is_final() {
                let what = "Cannot cancel task: already in a terminal status";
                return Err(ErrorData::invalid_params(what, None));
            }
            task.cancel.cancel();
            task.finished().await;
            Ok(shown(&task))
        }
        "tasks/result" => {
            let task = own_task(server, &caller, &params)?;
            let finished = tokio::select! {
                finished = task.finished() => finished,
                () = caller.cancel.cancelled() => TaskState::Cancelled,
            };
            let TaskState::Done(result) = finished else {
                return Err(ErrorData::invalid_params("Task was cancelled", None));
            };
            let mut result = serde_json::to_value(result)
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            if let Some(result) = result.as_object_mut() {
                result.remove("resultType");
            }
            result["_meta"] = json!({RELATED: {"taskId": task.id}});
            Ok(result)
        }
        other => Err(ErrorData::new(RpcCode::METHOD_NOT_FOUND, other.to_owned(), None)),
    }
}

fn create(
    server: &Arc<Server>,
    caller: &Caller,
    params: &Map<String, Value>,
) -> Result<Value, ErrorData> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let arguments = params.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
    let is_long = server.catalogue.tool(name).map(|offered| offered.tool.meta().is_long);
    if is_long == Some(false) {
        let what = format!("{name} does not run as a task");
        return Err(ErrorData::new(RpcCode::METHOD_NOT_FOUND, what, None));
    }
    let call = match start(server, caller, name, arguments, true) {
        Ok(call) => call,
        Err(Refused::Protocol(error)) => return Err(error),
        Err(Refused::Tool(refused)) => return to_value(&refused),
    };
    let ttl = params.get("task").and_then(|task| task.get("ttl")).and_then(Value::as_u64);
    match server.tasks.start(call, ttl.map(Duration::from_millis)) {
        Some(task) => Ok(json!({"task": shown(&task)})),
        None => to_value(&too_many("tasks")),
    }
}

fn to_value(result: &rmcp::model::CallToolResult) -> Result<Value, ErrorData> {
    let mut value = serde_json::to_value(result)
        .unwrap_or_else(|_| json!(tools::failed("the result cannot be written")));
    if let Some(value) = value.as_object_mut() {
        value.remove("resultType");
    }
    Ok(value)
}

fn own_task(
    server: &Server,
    caller: &Caller,
    params: &Map<String, Value>,
) -> Result<Arc<TaskEntry>, ErrorData> {
    let id = params.get("taskId").and_then(Value::as_str).unwrap_or_default();
    let task = server.tasks.get(id, &caller.principal.owner);
    task.ok_or_else(|| ErrorData::invalid_params("Failed to retrieve task: Task not found", None))
}

/// A task as 2025-11-25 writes it.
fn shown(task: &TaskEntry) -> Value {
    let seed = seed(task);
    let mut shown = json!({
        "taskId": seed.task_id,
        "status": seed.status,
        "createdAt": seed.created_at,
        "lastUpdatedAt": seed.last_updated_at,
        "ttl": seed.ttl_ms,
        "pollInterval": seed.poll_interval_ms,
    });
    if let Some(message) = seed.status_message {
        shown["statusMessage"] = json!(message);
    }
    shown
}

fn with_cursor(mut result: Value, next: Option<String>) -> Value {
    if let Some(next) = next {
        result["nextCursor"] = json!(next);
    }
    result
}
