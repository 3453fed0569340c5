//! `quintain call`: sends one request to a target and prints the response.

use std::io::Read as _;
use std::sync::Arc;

use quintain_content::schema::{self, Fault};
use quintain_engine::exchange::notice;
use quintain_engine::{RouteError, Sessions};
use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::tool_call::{self, ToolCall};
use quintain_source::visible;
use quintain_wire::frame::MemoryRecorder;
use serde_json::{Map, Value, json};

use super::target::{self, TargetArgs};
use super::{App, render};
use crate::exit::Exit;

const TAPE: usize = 64 << 20;
/// Maximum number of tools to list.
const MAX_NAMES: usize = 20;
/// The log levels of the protocol, least severe first.
const LOG_LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// Call a tool, read a resource, get a prompt, or send any request
///
/// Examples:
///   quintain call echo '{"message": "hi"}' -- npx -y @modelcontextprotocol/server-everything
///   quintain call --url http://127.0.0.1:3000/mcp get_transaction '{"transaction_id": "txn_123"}'
///   quintain call -c quintain.yaml '{"tool": "echo", "args": {"message": "hi"}}'
///   quintain call --resource demo://guide -- ./server
///   quintain call --prompt greet '{"name": "Ada"}' -- ./server
///   quintain call --raw '{"method": "completion/complete", "params": {}}' -- ./server
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// TOOL and its arguments as JSON (`-` reads standard input, `@FILE` a file), or one JSON tool call
    #[arg(value_name = "TOOL JSON", num_args = 0..=2)]
    words: Vec<String>,
    /// Read a resource
    #[arg(long, value_name = "URI", conflicts_with_all = ["prompt", "raw"])]
    resource: Option<String>,
    /// Get a prompt; its arguments follow as JSON
    #[arg(long, value_name = "NAME", conflicts_with = "raw")]
    prompt: Option<String>,
    /// Send any request: an object with `method` and `params`
    #[arg(long, value_name = "JSON")]
    raw: Option<String>,
    /// Server to send the request to, if the target has several
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Run the tool as a task and wait for its result
    #[arg(long, conflicts_with_all = ["resource", "prompt", "raw"])]
    task: bool,
    /// Ask the server for log messages of this level and above, and print them to standard error
    #[arg(long, value_name = "LEVEL", value_parser = LOG_LEVELS)]
    log_level: Option<String>,
    /// Print the exchange as JSON
    #[arg(long)]
    json: bool,
    /// Print the raw exchange to standard error
    #[arg(long)]
    frames: bool,
    // Last, because its heading would also cover the options that follow it.
    #[command(flatten)]
    target: TargetArgs,
}

/// The request to the target.
enum Ask {
    Tool(ToolCall),
    Request(String, Map<String, Value>),
}

pub(super) async fn run(mut args: Args, app: &App) -> Exit {
    let words = std::mem::take(&mut args.words);
    let words = if words.is_empty() { trailing_words(&mut args) } else { words };
    let console = &app.console;
    let fail = |message: &str, help: Option<&str>, exit: Exit| {
        if args.json {
            console.json(&json!({"error": message}));
        }
        console.error(message, help);
        exit
    };
    let pairs = pairs(words.get(1..).unwrap_or_default());
    let ask = match ask(&args, words) {
        Ok(ask) => ask,
        Err(message) => {
            let help = message.starts_with("Invalid JSON in the ").then(|| {
                let example = pairs.map(|pairs| pairs.to_string());
                let example = example.as_deref().unwrap_or(r#"{"transaction_id": "txn_123"}"#);
                format!("write the arguments as JSON: '{example}'")
            });
            return fail(&message, help.as_deref(), Exit::Usage);
        }
    };
    let (target, mut world) = match args.target.resolve(app, args.json) {
        Ok(resolved) => resolved,
        Err(exit) => return exit,
    };
    world.tasks = args.task;
    let tape = Arc::new(MemoryRecorder::new(TAPE));
    if args.frames {
        world.recorder = Some(tape.clone());
    }
    let show_frames = || {
        if args.frames {
            console.drawn(&render::frames(&tape, console));
        }
    };
    let sessions = match target::open(&target, &world, app).await {
        Ok(sessions) => sessions,
        Err(error) => {
            show_frames();
            let help = target::advice(&error, &target);
            return fail(&error.to_string(), help.as_deref(), target::exit_of(&error));
        }
    };
    let link = match &ask {
        Ask::Tool(call) => sessions.route(call),
        Ask::Request(..) => sessions.link(args.server.as_deref()),
    };
    if let (Ok(link), Some(level)) = (&link, &args.log_level)
        && let Err(error) = link.set_log_level(level).await
    {
        console.warn(&format!("the server sends no log messages: {}", visible(&error.to_string())));
    }
    let exchange = match &ask {
        Ask::Tool(call) => {
            warn_of_arguments(&sessions, call, app);
            let _busy = console.busy(&format!("calling {}", call.tool));
            if args.task { sessions.call_as_task(call).await } else { sessions.call(call).await }
        }
        Ask::Request(method, params) => match &link {
            Ok(link) => {
                let _busy = console.busy(&format!("sending {method}"));
                Ok(link.exchange(method, params.clone()).await)
            }
            Err(error) => Err(error.clone()),
        },
    };
    let exit = match exchange {
        Ok(mut exchange) => {
            if let (Ok(link), Some(_)) = (&link, &args.log_level) {
                exchange.notices.extend(link.take_notices().iter().map(notice));
                show_logs(&exchange, app);
            }
            report(&exchange, args.json, app)
        }
        Err(error) => {
            let is_refused = matches!(error, RouteError::NotListed { .. });
            let exit = if is_refused { Exit::Unreachable } else { Exit::Usage };
            let names: Vec<String> = match &error {
                RouteError::NotFound { closest: None, .. } => {
                    let mut names = sessions.tool_names();
                    names.dedup();
                    names
                }
                _ => Vec::new(),
            };
            let help = (!names.is_empty()).then(|| offered(&names));
            fail(&error.to_string(), help.as_deref(), exit)
        }
    };
    sessions.close().await;
    show_frames();
    exit
}

/// What a server offers instead of an unknown tool.
fn offered(names: &[String]) -> String {
    let shown: Vec<String> =
        names.iter().take(MAX_NAMES).map(|name| visible(name).into_owned()).collect();
    let more = names.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("tools: {}{more}; `quintain inspect` describes them", shown.join(", "))
}

/// The arguments that `name=value` words mean.
fn pairs(words: &[String]) -> Option<Value> {
    let pair = |word: &String| {
        let (name, value) = word.split_once('=')?;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        is_name.then(|| (name.to_owned(), value))
    };
    let pairs: Option<Map<String, Value>> = words.iter().map(pair).collect();
    pairs.filter(|pairs| !pairs.is_empty()).map(Value::Object)
}

/// `call -- COMMAND ARG... TOOL JSON`: the call may also be at the end of the command.
fn trailing_words(args: &mut Args) -> Vec<String> {
    let command = &mut args.target.command;
    let is_call = |text: &String| serde_json::from_str::<Map<String, Value>>(text).is_ok();
    let asks_otherwise = args.resource.is_some() || args.prompt.is_some() || args.raw.is_some();
    if asks_otherwise || command.len() < 3 || !command.last().is_some_and(is_call) {
        return Vec::new();
    }
    command.split_off(command.len() - 2)
}

fn ask(args: &Args, words: Vec<String>) -> Result<Ask, String> {
    if let Some(uri) = &args.resource {
        let params = Map::from_iter([("uri".to_owned(), uri.clone().into())]);
        return Ok(Ask::Request("resources/read".into(), params));
    }
    if let Some(name) = &args.prompt {
        let arguments = words.first().map(|text| object(text, "the prompt's arguments"));
        let arguments = arguments.transpose()?.unwrap_or_default();
        let params = Map::from_iter([
            ("name".to_owned(), name.clone().into()),
            ("arguments".to_owned(), arguments.into()),
        ]);
        return Ok(Ask::Request("prompts/get".into(), params));
    }
    if let Some(raw) = &args.raw {
        let mut request = object(raw, "--raw")?;
        let Some(Value::String(method)) = request.remove("method") else {
            return Err("--raw needs a `method`, for example {\"method\": \"ping\"}".into());
        };
        let params = match request.remove("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err("`params` of --raw must be an object".into()),
        };
        return Ok(Ask::Request(method, params));
    }
    let mut call = match &words[..] {
        [] => return Err("name a tool, for example: quintain call TOOL '{}' -- COMMAND".into()),
        [whole] if whole.trim_start().starts_with('{') => {
            tool_call::parse(whole).map_err(|error| error.to_string())?
        }
        [tool, rest @ ..] => {
            let args = rest.first().map(|text| object(text, "the tool's arguments")).transpose()?;
            ToolCall { tool: tool.clone(), args: args.unwrap_or_default(), server: None }
        }
    };
    if args.server.is_some() {
        call.server.clone_from(&args.server);
    }
    Ok(Ask::Tool(call))
}

fn object(text: &str, what: &str) -> Result<Map<String, Value>, String> {
    let read = match text.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file)
            .map_err(|error| format!("cannot read `{file}`: {error}"))?,
        None if text == "-" => {
            let mut read = String::new();
            let done = std::io::stdin().read_to_string(&mut read);
            done.map_err(|error| format!("cannot read standard input: {error}"))?;
            read
        }
        None => text.to_owned(),
    };
    match serde_json::from_str(&read) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(format!("Invalid JSON: {what} must be an object")),
        Err(error) => Err(format!("Invalid JSON in {what}: {error}")),
    }
}

/// Arguments that do not match the tool's schema are sent nevertheless: the response of the tool is of interest.
fn warn_of_arguments(sessions: &Sessions, call: &ToolCall, app: &App) {
    let Ok(link) = sessions.route(call) else { return };
    let Some(schema) = link.input_schema(&call.tool) else { return };
    let arguments = Value::Object(sessions.arguments(call));
    for problem in schema::validate(&schema, &arguments) {
        let place = if problem.pointer.is_empty() { "/" } else { &problem.pointer };
        let what = match problem.fault {
            Fault::Arguments => "the arguments do not fit the tool's schema",
            Fault::Schema => "the tool's schema is unusable",
        };
        app.console.warn(&format!("{what} at {}: {}", visible(place), visible(&problem.message)));
    }
}

/// Prints the log messages of an exchange, one per line.
fn show_logs(exchange: &Exchange, app: &App) {
    let logs = exchange.notices.iter().filter(|notice| notice["method"] == "notifications/message");
    for params in logs.map(|notice| &notice["params"]) {
        let word = |name: &str| params[name].as_str().unwrap_or_default();
        let data = match &params["data"] {
            Value::String(text) => text.clone(),
            data => data.to_string(),
        };
        let logger = word("logger");
        let from = if logger.is_empty() { String::new() } else { format!(" {logger}") };
        let line = format!("log {}{from}: {data}", word("level"));
        app.console.err(&visible(&line));
    }
}

fn report(exchange: &Exchange, as_json: bool, app: &App) -> Exit {
    let console = &app.console;
    if as_json {
        console.json(&exchange_json(exchange));
    }
    let took = exchange.took.as_secs_f64() * 1e3;
    match &exchange.outcome {
        Outcome::Reply(result) => {
            if !as_json {
                console.out(&render::result(result));
            }
            console.note(&format!("{took:.1} ms"));
            Exit::Passed
        }
        Outcome::ToolError(result) => {
            if !as_json {
                console.out(&render::result(result));
            }
            console.error(&error_text(exchange).unwrap_or_default(), None);
            Exit::Failed
        }
        Outcome::RpcError { data, .. } => {
            console.error(&visible(&error_text(exchange).unwrap_or_default()), None);
            if let Some(data) = data.as_ref().filter(|_| !as_json) {
                console.err(&render::pretty(data));
            }
            Exit::Failed
        }
        _ => {
            let message = error_text(exchange).unwrap_or_default();
            let help = instead(exchange);
            console.error(&crate::console::indented(&message, ""), help.as_deref());
            Exit::Unreachable
        }
    }
}

/// What the target sent instead of a response, if it sent anything.
fn instead(exchange: &Exchange) -> Option<String> {
    let count =
        |key: &str| exchange.notices.iter().filter(|notice| notice.get(key).is_some()).count();
    let (garbled, stray) = (count("garbled"), count("stray"));
    let mut parts = Vec::new();
    if garbled > 0 {
        let first = exchange.notices.iter().find_map(|notice| notice.get("garbled"));
        let first = first.and_then(Value::as_str).unwrap_or_default();
        let shown: String = first.chars().take(60).collect();
        parts.push(format!("{garbled} that are not JSON-RPC (first: `{}`)", visible(&shown)));
    }
    if stray > 0 {
        parts.push(format!("{stray} with an unknown id"));
    }
    let others = exchange.notices.len() - garbled - stray;
    if others > 0 {
        parts.push(format!("{others} notifications"));
    }
    (!parts.is_empty())
        .then(|| format!("the target sent messages, but no response: {}", parts.join(", ")))
}

/// The error message. Existing suites match its wording.
fn error_text(exchange: &Exchange) -> Option<String> {
    match &exchange.outcome {
        Outcome::ToolError(_) => {
            Some("MCP tool error: the tool reports a failure (isError)".to_owned())
        }
        _ => quintain_evidence::response::error_text(exchange),
    }
}

fn exchange_json(exchange: &Exchange) -> Value {
    let mut report = json!({
        "server": exchange.server,
        "method": exchange.method,
        "sent": exchange.sent,
        "took_ms": exchange.took.as_secs_f64() * 1e3,
        "notices": exchange.notices,
    });
    if let Some(result) = exchange.outcome.result() {
        report["result"] = result.clone();
    }
    if let Some(error) = error_text(exchange) {
        report["error"] = error.into();
    }
    if let Outcome::RpcError { code, message, data } = &exchange.outcome {
        report["rpcError"] = json!({"code": code, "message": message, "data": data});
    }
    report
}
