//! What the official conformance suite asks of a server: tools, resources and prompts with fixed names, which do nothing but
//! answer. Only the hidden flag `--conformance` serves them, in front of the real ones.

#![expect(deprecated, reason = "the suite tests the methods of earlier versions, too")]

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CreateMessageRequestParams, ElicitRequestParams,
    GetPromptRequestParams, GetPromptResponse, InputRequiredResult, LoggingLevel,
    ProgressNotificationParam, Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::call::Caller;
use super::conformance_answers::{Answer, argument, ask, content, made, question, response, said};
use super::conformance_tasks as tasks;
use super::log_messages;
use super::shared::Server;
use crate::random::random_secret;

/// A red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// An empty sound.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/// Between two notifications.
const PAUSE: Duration = Duration::from_millis(50);

fn all<T: DeserializeOwned>(values: Vec<Value>) -> Vec<T> {
    values.into_iter().filter_map(|value| made(value).ok()).collect()
}

fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

/// The tools, as listed.
pub(super) fn tools() -> Vec<Tool> {
    let text = json!({"type": "object", "properties": {"prompt": {"type": "string"}, "message": {"type": "string"}}});
    let mut tools: Vec<Value> = NAMES
        .iter()
        .map(|name| json!({"name": name, "description": "For the conformance suite only", "inputSchema": text}))
        .collect();
    tools.push(json!({"name": "json_schema_2020_12_tool", "description": "Tool with JSON Schema 2020-12 features", "inputSchema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    }}));
    tools.push(json!({"name": "test_header_argument", "description": "For the conformance suite only", "inputSchema": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    }}));
    tools.extend(tasks::tools());
    all(tools)
}

const NAMES: [&str; 24] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_tool_with_progress",
    "test_error_handling",
    "test_sampling",
    "test_elicitation",
    "test_streaming_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_reconnection",
];

/// Answers a call of one of the tools; `None` for every other tool.
pub(super) async fn call(
    server: &Arc<Server>,
    caller: &Caller,
    request: &CallToolRequestParams,
    level: Option<LoggingLevel>,
) -> Option<Answer> {
    const OTHERS: [&str; 2] = ["json_schema_2020_12_tool", "test_header_argument"];
    let name = request.name.as_ref();
    if let Some(answer) = tasks::call(server, caller, request).await {
        return Some(answer);
    }
    if !OTHERS.contains(&name) && !NAMES.contains(&name) {
        return None;
    }
    Some(answer(caller, request, level).await)
}

async fn answer(
    caller: &Caller,
    request: &CallToolRequestParams,
    level: Option<LoggingLevel>,
) -> Answer {
    match request.name.as_ref() {
        "test_image_content" => content(json!([image()])),
        "test_audio_content" => {
            content(json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]))
        }
        "test_embedded_resource" => content(json!([{"type": "resource", "resource": {
            "uri": "test://embedded-resource", "mimeType": "text/plain",
            "text": "This is an embedded resource content.",
        }}])),
        "test_multiple_content_types" => content(json!([
            {"type": "text", "text": "Multiple content types test:"},
            image(),
            {"type": "resource", "resource": {
                "uri": "test://mixed-content-resource", "mimeType": "application/json",
                "text": "{\"test\":\"data\",\"value\":123}",
            }},
        ])),
        "test_tool_with_logging" | "test_logging_tool" => logged(caller, level).await,
        "test_tool_with_progress" => progressed(caller).await,
        "test_error_handling" => Ok(CallToolResponse::Complete(made(json!({
            "content": [{"type": "text", "text": "This tool intentionally returns an error for testing"}],
            "isError": true,
            "resultType": "complete",
        }))?)),
        "test_missing_capability" => needs_sampling(caller),
        name if name.starts_with("test_input_required_result_") => input_required(caller, request),
        "test_sampling" => sampled(caller, request).await,
        name if name.contains("elicitation") => elicited(caller, request).await,
        _ => said("This is a simple text response for testing."),
    }
}

async fn logged(caller: &Caller, level: Option<LoggingLevel>) -> Answer {
    let is_wanted = !caller.is_modern || level.is_some();
    for what in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        if is_wanted {
            log_messages::send(&caller.peer, LoggingLevel::Info, json!(what)).await;
        }
        tokio::time::sleep(PAUSE).await;
    }
    said("Tool with logging executed successfully")
}

async fn progressed(caller: &Caller) -> Answer {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = &caller.token {
            let report = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
            let _ = caller.peer.notify_progress(report).await;
        }
        tokio::time::sleep(PAUSE).await;
    }
    said("Tool with progress executed successfully")
}

fn needs_sampling(caller: &Caller) -> Answer {
    if caller.capabilities.sampling.is_some() {
        return said("The client offers sampling.");
    }
    let data = json!({"requiredCapabilities": {"sampling": {}}});
    let code = rmcp::model::ErrorCode(-32021);
    Err(ErrorData::new(code, "Missing required client capability", Some(data)))
}

async fn sampled(caller: &Caller, request: &CallToolRequestParams) -> Answer {
    let prompt = argument(request, "prompt");
    let params: CreateMessageRequestParams = made(sampling(&prompt)["params"].clone())?;
    match caller.peer.create_message(params).await {
        Ok(result) => {
            let result = serde_json::to_value(result).unwrap_or_default();
            let text = result.pointer("/content/text").or(result.pointer("/content/0/text"));
            said(format!("LLM response: {}", text.and_then(Value::as_str).unwrap_or_default()))
        }
        Err(error) => said(format!("Sampling failed: {error}")),
    }
}

fn sampling(prompt: &str) -> Value {
    json!({"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
        "maxTokens": 100,
    }})
}

fn elicitation(name: &str, message: &str) -> Value {
    let titled = |key: &str, word: &str| {
        json!({key: [
            {"const": "value1", "title": format!("First {word}")},
            {"const": "value2", "title": format!("Second {word}")},
            {"const": "value3", "title": format!("Third {word}")},
        ]})
    };
    let properties = match name {
        "test_elicitation_sep1034_defaults" => json!({
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        }),
        "test_elicitation_sep1330_enums" => {
            let mut single = titled("oneOf", "Option");
            single["type"] = json!("string");
            json!({
                "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
                "titledSingle": single,
                "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
                "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
                "titledMulti": {"type": "array", "items": titled("anyOf", "Choice")},
            })
        }
        _ => json!({"username": {"type": "string"}, "email": {"type": "string"}}),
    };
    json!({"method": "elicitation/create", "params": {
        "mode": "form", "message": message,
        "requestedSchema": {"type": "object", "properties": properties},
    }})
}

async fn elicited(caller: &Caller, request: &CallToolRequestParams) -> Answer {
    let name = request.name.as_ref();
    let message = Some(argument(request, "message")).filter(|text| !text.is_empty());
    let message = message.unwrap_or_else(|| "Please answer".to_owned());
    let asked = elicitation(name, &message);
    if caller.is_modern {
        return match response(request, "question") {
            Some(answer) => said(format!("User response: {answer}")),
            None => ask([("question", asked)], None),
        };
    }
    let params: ElicitRequestParams = made(asked["params"].clone())?;
    match caller.peer.create_elicitation(params).await {
        Ok(result) => {
            let result = serde_json::to_value(result).unwrap_or_default();
            let action = result["action"].as_str().unwrap_or_default();
            let words =
                if name == "test_elicitation" { "User response" } else { "Elicitation completed" };
            said(format!("{words}: action={action}, content={}", result["content"]))
        }
        Err(error) => said(format!("Elicitation failed: {error}")),
    }
}

fn key() -> &'static str {
    static KEY: OnceLock<String> = OnceLock::new();
    KEY.get_or_init(random_secret)
}

/// A state that the client cannot change: its content, and a digest with a key of this process.
fn state(content: &str) -> String {
    let digest = Sha256::digest(format!("{}|{content}|{}", key(), key()).as_bytes());
    format!("{}.{}", URL_SAFE_NO_PAD.encode(content), URL_SAFE_NO_PAD.encode(digest))
}

/// The content of the state that comes with a request.
fn opened(request: &CallToolRequestParams) -> Result<Option<String>, ErrorData> {
    let Some(sent) = request.request_state.as_deref() else { return Ok(None) };
    let content = sent.split('.').next().and_then(|part| URL_SAFE_NO_PAD.decode(part).ok());
    let content = content.and_then(|bytes| String::from_utf8(bytes).ok());
    match content.filter(|content| state(content) == sent) {
        Some(content) => Ok(Some(content)),
        None => Err(ErrorData::invalid_params("requestState was changed", None)),
    }
}

fn input_required(caller: &Caller, request: &CallToolRequestParams) -> Answer {
    let name = request.name.as_ref();
    let field = |answer: &Value, name: &str| {
        answer
            .pointer(&format!("/content/{name}"))
            .and_then(Value::as_str)
            .unwrap_or("you")
            .to_owned()
    };
    let roots = || json!({"method": "roots/list", "params": {}});
    let who = || question("What is your name?", "name");
    match name.trim_start_matches("test_input_required_result_") {
        "sampling" => match response(request, "capital_question") {
            Some(answer) => said(format!("The model says: {}", answer["content"])),
            None => ask([("capital_question", sampling("What is the capital of France?"))], None),
        },
        "list_roots" => match response(request, "client_roots") {
            Some(answer) => said(format!("Roots of the client: {}", answer["roots"])),
            None => ask([("client_roots", roots())], None),
        },
        "request_state" => {
            let kept = opened(request)?;
            match (response(request, "confirm"), kept) {
                (Some(_), Some(_)) => said("state-ok: the request was confirmed"),
                _ => ask([("confirm", question("Continue?", "ok"))], Some(state("confirm"))),
            }
        }
        "multiple_inputs" => {
            opened(request)?;
            let keys = ["user_name", "greeting", "client_roots"];
            let answers: Vec<&Value> =
                keys.iter().filter_map(|key| response(request, key)).collect();
            match &answers[..] {
                [name, greeting, roots] => said(format!(
                    "{}: {} {}",
                    field(name, "name"),
                    greeting["content"],
                    roots["roots"]
                )),
                _ => ask(
                    [
                        ("user_name", who()),
                        ("greeting", sampling("Generate a greeting")),
                        ("client_roots", roots()),
                    ],
                    Some(state("several")),
                ),
            }
        }
        "multi_round" => {
            let kept = opened(request)?.unwrap_or_default();
            if let (Some(answer), true) = (response(request, "step1"), kept == "round-1") {
                let kept = format!("round-2 {}", field(answer, "name"));
                let asked = question("Step 2: What is your favorite color?", "color");
                return ask([("step2", asked)], Some(state(&kept)));
            }
            if let (Some(answer), Some(name)) =
                (response(request, "step2"), kept.strip_prefix("round-2 "))
            {
                said(format!("{name} likes {}", field(answer, "color")))
            } else {
                let asked = question("Step 1: What is your name?", "name");
                ask([("step1", asked)], Some(state("round-1")))
            }
        }
        "tampered_state" => match (opened(request)?, response(request, "confirm")) {
            (Some(_), Some(_)) => said("The state is intact."),
            _ => ask([("confirm", question("Continue?", "ok"))], Some(state("tampered"))),
        },
        "capabilities" => {
            if request.input_responses.as_ref().is_some_and(|answers| !answers.is_empty()) {
                return said("The client answered.");
            }
            let offered = &caller.capabilities;
            match (offered.elicitation.is_some(), offered.sampling.is_some()) {
                (true, true) => {
                    ask([("user_name", who()), ("greeting", sampling("Say hello"))], None)
                }
                (true, false) => ask([("user_name", who())], None),
                (false, true) => ask([("greeting", sampling("Say hello"))], None),
                (false, false) => said("The client offers nothing to ask."),
            }
        }
        _ => match response(request, "user_name") {
            Some(answer) if answer["action"].is_string() => {
                said(format!("Hello, {}!", field(answer, "name")))
            }
            _ => ask([("user_name", who())], None),
        },
    }
}

/// The resources, as listed.
pub(super) fn resources() -> Vec<Resource> {
    all(vec![
        json!({"uri": "test://static-text", "name": "Static text", "description": "For the conformance suite only", "mimeType": "text/plain"}),
        json!({"uri": "test://static-binary", "name": "Static binary", "description": "For the conformance suite only", "mimeType": "image/png"}),
        json!({"uri": "test://watched-resource", "name": "Watched resource", "description": "For the conformance suite only", "mimeType": "text/plain"}),
    ])
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    all(vec![
        json!({"uriTemplate": "test://template/{id}/data", "name": "Template", "description": "For the conformance suite only", "mimeType": "application/json"}),
    ])
}

pub(super) fn is_resource(uri: &str) -> bool {
    matches!(uri, "test://static-text" | "test://static-binary" | "test://watched-resource")
        || template_id(uri).is_some()
}

fn template_id(uri: &str) -> Option<&str> {
    uri.strip_prefix("test://template/")?.strip_suffix("/data").filter(|id| !id.contains('/'))
}

pub(super) fn read(uri: &str) -> Option<Result<ReadResourceResult, ErrorData>> {
    let contents = match uri {
        "test://static-text" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        "test://watched-resource" => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "Watched resource content"})
        }
        _ => {
            let id = template_id(uri)?;
            let text =
                json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": text.to_string()})
        }
    };
    Some(made(
        json!({"contents": [contents], "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}),
    ))
}

/// The prompts, as listed.
pub(super) fn prompts() -> Vec<Prompt> {
    let argument = |name: &str| json!({"name": name, "description": "A text", "required": true});
    let prompt = |name: &str, arguments: Vec<Value>| json!({"name": name, "description": "For the conformance suite only", "arguments": arguments});
    all(vec![
        prompt("test_simple_prompt", Vec::new()),
        prompt("test_prompt_with_arguments", vec![argument("arg1"), argument("arg2")]),
        prompt("test_prompt_with_embedded_resource", vec![argument("resourceUri")]),
        prompt("test_prompt_with_image", Vec::new()),
        prompt("test_input_required_result_prompt", Vec::new()),
    ])
}

pub(super) fn prompt(
    request: &GetPromptRequestParams,
) -> Option<Result<GetPromptResponse, ErrorData>> {
    let none = Map::new();
    let arguments = request.arguments.as_ref().unwrap_or(&none);
    let word = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let from_user = |content: Value| json!({"role": "user", "content": content});
    let text = |text: String| from_user(json!({"type": "text", "text": text}));
    let messages = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            vec![text(format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                word("arg1"),
                word("arg2")
            ))]
        }
        "test_prompt_with_embedded_resource" => vec![
            from_user(json!({"type": "resource", "resource": {
                "uri": word("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            }})),
            text("Please process the embedded resource above.".to_owned()),
        ],
        "test_prompt_with_image" => {
            vec![from_user(image()), text("Please analyze the image above.".to_owned())]
        }
        "test_input_required_result_prompt" => {
            let answers = request.input_responses.as_ref();
            match answers.and_then(|answers| answers.get("user_context")) {
                Some(answer) => vec![text(format!("Context: {}", answer["content"]))],
                None => return Some(ask_context()),
            }
        }
        _ => return None,
    };
    let result: Result<rmcp::model::GetPromptResult, ErrorData> =
        made(json!({"messages": messages, "resultType": "complete"}));
    Some(result.map(Into::into))
}

fn ask_context() -> Result<GetPromptResponse, ErrorData> {
    let asked = question("What context should the prompt use?", "context");
    let requests = BTreeMap::from([("user_context".to_owned(), made(asked)?)]);
    Ok(InputRequiredResult::new(Some(requests), None).into())
}

/// Completion of the arguments of the prompts.
pub(super) fn completion(prompt: &str, typed: &str) -> Option<Vec<String>> {
    let words = ["paris", "park", "parts"];
    let fitting =
        || words.iter().filter(|word| word.starts_with(typed)).map(|word| (*word).to_owned());
    (prompt == "test_prompt_with_arguments").then(|| fitting().collect())
}
