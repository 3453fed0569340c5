//! The tools that the conformance suite calls to test tasks. They run as tasks at once, where ours wait two seconds first.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult,
    ErrorCode, InputRequest,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::call::{Caller, UNEXPECTED_END, seed, too_many};
use super::client_host::{ClientHost, ClientParts, InputNeeded};
use super::conformance_answers::{Answer, argument, ask, made, question, response, said};
use super::running::{RunningCall, Step};
use super::shared::Server;
use super::tools;

const PAUSE: Duration = Duration::from_secs(1);
/// The longest that `slow_compute` sleeps.
const MOST_SECONDS: u64 = 600;
/// How many questions a tool may ask at once.
const MOST_QUESTIONS: usize = 4;

/// The tools, as listed.
pub(super) fn tools() -> Vec<Value> {
    let text = json!({"type": "string"});
    let tool = |name: &str, properties: Value| json!({"name": name, "description": "For the conformance suite only", "inputSchema": {"type": "object", "properties": properties}});
    vec![
        tool("greet", json!({"name": text})),
        tool("slow_compute", json!({"seconds": {"type": "integer"}, "label": text})),
        tool("failing_job", json!({})),
        tool("protocol_error_job", json!({})),
        tool("confirm_delete", json!({"filename": text})),
        tool("multi_input", json!({})),
        tool("test_tool_with_task", json!({})),
    ]
}

/// Answers a call of one of the tools; `None` for every other tool.
pub(super) async fn call(
    server: &Arc<Server>,
    caller: &Caller,
    request: &CallToolRequestParams,
) -> Option<Answer> {
    let follows = caller.follows_tasks();
    let tool = match request.name.as_ref() {
        "greet" => return Some(said(format!("Hello, {}!", argument(request, "name")))),
        "slow_compute" => Tool::Slow(seconds(request)),
        "failing_job" => Tool::Failing,
        "protocol_error_job" => Tool::Ending,
        "confirm_delete" => Tool::Asking(1),
        "multi_input" => Tool::Asking(2),
        "test_tool_with_task" => match response(request, "user_name") {
            Some(answer) => Tool::Named(
                answer.pointer("/content/name").and_then(Value::as_str).unwrap_or("you").to_owned(),
            ),
            None if follows => {
                return Some(ask([("user_name", question("What is your name?", "name"))], None));
            }
            None => return Some(Err(missing())),
        },
        _ => return None,
    };
    let needs_tasks = matches!(tool, Tool::Failing | Tool::Ending | Tool::Named(_));
    if needs_tasks && !follows {
        return Some(Err(missing()));
    }
    let is_instant = matches!(tool, Tool::Slow(0));
    let mut call = tool.start(server, caller);
    if follows && !is_instant {
        return Some(Ok(match server.tasks.start(call, None) {
            Some(task) => CreateTaskResult::new(seed(&task)).into(),
            None => too_many("tasks").into(),
        }));
    }
    Some(Ok(finished(&mut call, caller).await))
}

async fn finished(call: &mut RunningCall, caller: &Caller) -> CallToolResponse {
    match call.step(None, &caller.cancel).await {
        Step::Done(result) => result.into(),
        _ => tools::failed(UNEXPECTED_END).into(),
    }
}

fn seconds(request: &CallToolRequestParams) -> u64 {
    let arguments = request.arguments.as_ref();
    let seconds = arguments.and_then(|arguments| arguments.get("seconds"));
    seconds.and_then(Value::as_u64).unwrap_or(1).min(MOST_SECONDS)
}

fn missing() -> ErrorData {
    let data =
        json!({"requiredCapabilities": {"extensions": {rmcp::model::TASKS_EXTENSION_ID: {}}}});
    ErrorData::new(ErrorCode(-32021), "Missing required client capability", Some(data))
}

/// What a tool does.
enum Tool {
    Slow(u64),
    /// A tool error.
    Failing,
    /// The tool ends without a result.
    Ending,
    /// The number of questions at once.
    Asking(usize),
    Named(String),
}

impl Tool {
    fn start(self, server: &Server, caller: &Caller) -> RunningCall {
        let (inputs, asked) = mpsc::channel(MOST_QUESTIONS);
        let host = Arc::new(ClientHost::new(ClientParts {
            peer: caller.peer.clone(),
            token: caller.token.clone(),
            capabilities: caller.capabilities.clone(),
            inputs: Some(inputs.clone()),
            updates: server.platform.updates.clone(),
            owner: &caller.principal.owner,
            settings: server.settings(),
            is_task: true,
        }));
        let owner = &caller.principal.owner;
        RunningCall::new(owner, "fixture", serde_json::Map::new(), host, asked, self.work(inputs))
    }

    fn work(self, inputs: mpsc::Sender<InputNeeded>) -> JoinHandle<CallToolResult> {
        match self {
            Self::Slow(seconds) => tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                success(format!("Computed for {seconds} s"))
            }),
            Self::Failing => tokio::spawn(async {
                tokio::time::sleep(PAUSE).await;
                CallToolResult::error(vec![ContentBlock::text("This job fails")])
            }),
            Self::Ending => {
                let work = tokio::spawn(std::future::pending());
                let abort = work.abort_handle();
                tokio::spawn(async move {
                    tokio::time::sleep(PAUSE).await;
                    abort.abort();
                });
                work
            }
            Self::Asking(count) => tokio::spawn(async move {
                let mut answers = Vec::new();
                for number in 1..=count {
                    match send(&inputs, number).await {
                        Ok(answer) => answers.push(answer),
                        Err(error) => return tools::failed(&error.message),
                    }
                }
                for answer in answers {
                    if answer.await.is_err() {
                        return tools::failed("the question was not answered");
                    }
                }
                success("Confirmed".to_owned())
            }),
            Self::Named(name) => tokio::spawn(async move {
                tokio::time::sleep(PAUSE).await;
                success(format!("Hello, {name}!"))
            }),
        }
    }
}

fn success(text: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// Asks a question; returns where its answer arrives.
async fn send(
    inputs: &mpsc::Sender<InputNeeded>,
    number: usize,
) -> Result<oneshot::Receiver<Value>, ErrorData> {
    let request: InputRequest = made(question(&format!("Question {number}: continue?"), "name"))?;
    let (answer, answered) = oneshot::channel();
    let needed = InputNeeded { request, answer };
    match inputs.send(needed).await {
        Ok(()) => Ok(answered),
        Err(_) => Err(ErrorData::internal_error("nobody can be asked", None)),
    }
}
