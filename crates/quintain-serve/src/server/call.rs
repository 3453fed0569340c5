//! A tool call from the request to the result: who may call, which arguments are valid, how long it may take.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, CreateTaskResult,
    InputRequiredResult, ProgressToken, Task, TaskStatus,
};
use rmcp::service::Peer;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::client_host::{ClientHost, ClientParts};
use super::running::{RunningCall, Step};
use super::shared::Server;
use super::task_store::{POLL_INTERVAL_MS, TaskEntry};
use super::tools;
use crate::arguments::{Issue, error_data, issues, replace_aliases};
use crate::catalogue::Offered;
use crate::principal::Principal;
use crate::settings::ValidationErrors;
use crate::tool::{Call, ErrorCode, ToolError};

/// A call of a client with tasks that takes longer than this becomes a task.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a client reads about a tool that ended without a result.
pub(super) const UNEXPECTED_END: &str = "the call ended unexpectedly";

/// Who calls, and how the client is reached.
pub(super) struct Caller {
    pub(super) principal: Principal,
    pub(super) peer: Peer<rmcp::RoleServer>,
    pub(super) token: Option<ProgressToken>,
    pub(super) capabilities: ClientCapabilities,
    pub(super) cancel: CancellationToken,
    /// Whether questions are results of requests (2026-07-28) instead of requests to the client.
    pub(super) is_modern: bool,
}

impl Caller {
    /// Whether a call of this client that takes long becomes a task without being asked for as one.
    pub(super) fn follows_tasks(&self) -> bool {
        self.is_modern && self.capabilities.supports_tasks()
    }
}

/// Why a call does not start.
pub(super) enum Refused {
    Protocol(ErrorData),
    Tool(Box<CallToolResult>),
}

/// Checks name, rights and arguments, and starts the tool. A client that follows a task waits for the work itself.
pub(super) fn start(
    server: &Arc<Server>,
    caller: &Caller,
    name: &str,
    arguments: Map<String, Value>,
    is_task: bool,
) -> Result<RunningCall, Refused> {
    let offered =
        server.catalogue.tool(name).ok_or_else(|| Refused::Protocol(unknown_tool(name)))?;
    let meta = offered.tool.meta();
    if !caller.principal.may(meta.scope) {
        let what = format!("{name} needs the scope {}", meta.scope);
        let error = ToolError::new(ErrorCode::NotAllowed, what)
            .with_hint("ask for a token with this scope");
        return Err(Refused::Tool(Box::new(tools::refused(&error))));
    }
    let arguments = validated(server, offered, arguments)?;
    let (inputs, asked) = mpsc::channel(1);
    let host = Arc::new(ClientHost::new(ClientParts {
        peer: caller.peer.clone(),
        token: caller.token.clone(),
        capabilities: caller.capabilities.clone(),
        inputs: caller.is_modern.then_some(inputs),
        updates: server.platform.updates.clone(),
        owner: &caller.principal.owner,
        settings: server.settings(),
        is_task,
    }));
    let work = {
        let (server, host) = (Arc::clone(server), Arc::clone(&host));
        let (principal, arguments) = (caller.principal.clone(), arguments.clone());
        let tool = offered.tool;
        tokio::spawn(async move {
            let since = Instant::now();
            let target = target_of(&arguments);
            let call =
                Call { platform: &server.platform, principal: &principal, host: &*host, arguments };
            let mut done = if meta.hints.read_only || server.can_record().await {
                tool.call(call).await
            } else {
                Err(not_recorded())
            };
            let outcome = done.as_ref().map_or_else(|error| error.code.word(), |_| "ok");
            server.counters.call(meta.name, outcome, since.elapsed());
            if !meta.hints.read_only {
                server.cache.clear();
                if !server.record(&principal.owner, meta.name, target.as_deref(), outcome).await {
                    done = Err(not_recorded());
                }
            }
            tools::result(done)
        })
    };
    Ok(RunningCall::new(&caller.principal.owner, meta.name, arguments, host, asked, work))
}

fn not_recorded() -> ToolError {
    ToolError::new(ErrorCode::Internal, "the audit log cannot be written")
        .with_hint("the owner of this server finds the reason with `quintain audit verify`")
}

/// What a call acts on, for the audit log.
fn target_of(arguments: &Map<String, Value>) -> Option<String> {
    const NAMES: [&str; 7] = [
        "orchestrator_id",
        "generator_id",
        "target_generator_id",
        "dataset_id",
        "run_id",
        "finding_id",
        "name",
    ];
    NAMES.iter().find_map(|name| arguments.get(*name)?.as_str()).map(str::to_owned)
}

fn validated(
    server: &Server,
    offered: &Offered,
    mut arguments: Map<String, Value>,
) -> Result<Map<String, Value>, Refused> {
    replace_aliases(&mut arguments, offered.tool.meta().argument_aliases);
    let arguments = Value::Object(arguments);
    let found = match offered.validator() {
        Ok(validator) => issues(validator, &arguments),
        Err(why) => {
            tracing::error!(tool = offered.tool.meta().name, why, "invalid input schema");
            return Err(Refused::Protocol(ErrorData::internal_error("invalid input schema", None)));
        }
    };
    match arguments {
        Value::Object(arguments) if found.is_empty() => Ok(limited(server, offered, arguments)),
        _ => Err(invalid(server, &found)),
    }
}

/// Limits the items of a page as the settings demand.
fn limited(
    server: &Server,
    offered: &Offered,
    mut arguments: Map<String, Value>,
) -> Map<String, Value> {
    let most = server.settings().max_tool_results as u64;
    let Some(schema) = offered.input_schema.pointer("/properties/limit") else { return arguments };
    let wanted = arguments.get("limit").and_then(Value::as_u64).or(schema["default"].as_u64());
    if wanted.is_none_or(|wanted| wanted > most) {
        arguments.insert("limit".to_owned(), json!(most.max(1)));
    }
    arguments
}

fn invalid(server: &Server, found: &[Issue]) -> Refused {
    let data = error_data(found);
    match server.settings().validation_errors {
        ValidationErrors::Rpc => {
            Refused::Protocol(ErrorData::invalid_params("Invalid params", Some(data)))
        }
        ValidationErrors::Tool => {
            let sentences: Vec<&str> = found.iter().map(|issue| issue.message.as_str()).collect();
            let what = format!("invalid arguments: {}", sentences.join("; "));
            let error = ToolError::new(ErrorCode::InvalidConfiguration, what);
            let mut result = tools::refused(&error);
            result.structured_content = Some(json!({
                "error": {"code": "invalid_arguments", "message": error.message, "retryable": false,
                    "validation_errors": data["validation_errors"], "issues": data["issues"]}
            }));
            Refused::Tool(Box::new(result))
        }
    }
}

fn unknown_tool(name: &str) -> ErrorData {
    let sentence = format!("unknown tool `{name}`");
    let issue =
        json!({"path": "/name", "code": "unknown_tool", "message": sentence, "expected": null});
    let data = json!({"validation_errors": [sentence], "issues": [issue]});
    ErrorData::invalid_params(format!("Unknown tool: {name}"), Some(data))
}

/// Answers `tools/call`.
pub(super) async fn call_tool(
    server: &Arc<Server>,
    caller: Caller,
    request: CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = request.arguments.unwrap_or_default();
    let call = match request.request_state {
        Some(state) => {
            let mut call = resumed(server, &caller, &state, &request.name, &arguments)?;
            call.answer(request.input_responses.unwrap_or_default());
            call
        }
        None => match start(server, &caller, &request.name, arguments, caller.follows_tasks()) {
            Ok(call) => call,
            Err(Refused::Protocol(error)) => return Err(error),
            Err(Refused::Tool(result)) => return Ok((*result).into()),
        },
    };
    follow(server, &caller, call).await
}

/// The call that a client left to ask its user. The state must be its own, and the request the same.
fn resumed(
    server: &Server,
    caller: &Caller,
    state: &str,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<RunningCall, ErrorData> {
    let wrong = |what: &str| {
        let data = json!({"validation_errors": [what]});
        ErrorData::invalid_params("Invalid params", Some(data))
    };
    let call = server.parked.take(state, &caller.principal.owner);
    let call = call.ok_or_else(|| wrong("requestState is unknown or expired"))?;
    let mut arguments = arguments.clone();
    if let Some(offered) = server.catalogue.tool(name) {
        replace_aliases(&mut arguments, offered.tool.meta().argument_aliases);
    }
    if call.tool != name || call.arguments != arguments {
        call.stop();
        return Err(wrong("requestState belongs to another request"));
    }
    call.host.attach(caller.peer.clone(), caller.token.clone());
    Ok(call)
}

async fn follow(
    server: &Arc<Server>,
    caller: &Caller,
    mut call: RunningCall,
) -> Result<CallToolResponse, ErrorData> {
    let limit = server.settings().tool_timeout;
    let is_long =
        server.catalogue.tool(call.tool).is_some_and(|offered| offered.tool.meta().is_long);
    let may_become_task = is_long && caller.follows_tasks();
    let patience = if may_become_task { PATIENCE.min(limit) } else { limit };
    // A client that answered only a part is asked for the rest.
    let unanswered = call.unanswered();
    let step = if unanswered.is_empty() {
        call.step(Some(patience), &caller.cancel).await
    } else {
        Step::Input(unanswered)
    };
    match step {
        Step::Done(result) => Ok(result.into()),
        Step::Failed => Ok(tools::failed(UNEXPECTED_END).into()),
        Step::Input(requests) => match server.parked.keep(call) {
            Some(state) => Ok(InputRequiredResult::new(Some(requests), Some(state)).into()),
            None => Ok(too_many("calls that wait for an answer").into()),
        },
        Step::Cancelled => {
            call.stop();
            let error = ToolError::new(ErrorCode::Cancelled, "the call was cancelled");
            Ok(tools::refused(&error).into())
        }
        Step::Late if may_become_task => match server.tasks.start(call, None) {
            Some(task) => Ok(CreateTaskResult::new(seed(&task)).into()),
            None => Ok(too_many("tasks").into()),
        },
        Step::Late => {
            call.stop();
            let what = format!("the call took longer than {} s", limit.as_secs_f64());
            let error = ToolError::new(ErrorCode::Timeout, what)
                .with_hint("raise MCP_TOOL_TIMEOUT, or start long work without waiting for it");
            Ok(tools::refused(&error).into())
        }
    }
}

pub(super) fn too_many(what: &str) -> CallToolResult {
    tools::refused(&ToolError::new(ErrorCode::BudgetExceeded, format!("too many {what}")))
}

/// A task of 2026-07-28 without its payload.
pub(super) fn seed(task: &TaskEntry) -> Task {
    use time::format_description::well_known::Rfc3339;
    let (updated, state) = task.state();
    let status = match state {
        super::task_store::TaskState::Working => TaskStatus::Working,
        super::task_store::TaskState::Input(_) => TaskStatus::InputRequired,
        super::task_store::TaskState::Done(_) => TaskStatus::Completed,
        super::task_store::TaskState::Failed => TaskStatus::Failed,
        super::task_store::TaskState::Cancelled => TaskStatus::Cancelled,
    };
    let updated = updated.format(&Rfc3339).unwrap_or_default();
    let mut seed = Task::new(task.id.clone(), status, task.created_at(), updated)
        .with_ttl_ms(task.ttl_ms())
        .with_poll_interval_ms(POLL_INTERVAL_MS);
    seed.status_message = task.message();
    seed
}
