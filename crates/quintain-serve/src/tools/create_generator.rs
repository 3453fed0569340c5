//! `create_generator` and `validate_generator_config`.

use serde_json::{Map, Value, json};

use super::definition::{CONTACT, READ, flag, object, reading, shape, tools, writing};
use super::list_generators::{generator_json, generator_schema};
use super::test_generator;
use crate::arguments::issues;
use crate::platform::generator::{Generator, check_body, provider_types};
use crate::principal::Group;
use crate::tool::{Call, ErrorCode, Reply, ToolError};

tools! {
    CreateGenerator = {
        name: "create_generator",
        title: "Create a generator",
        description: "Configures a target or a model: an MCP server (`provider_type: mcp` with `connection`), a language model (openai, anthropic, ollama ...), an HTTP endpoint, or a fixture (echo, scripted). Credentials are kept apart and masked in every reply.",
        core: true,
        scope: writing(Group::Generators),
        hints: CONTACT,
        argument_aliases: &[],
        is_long: false,
    }
    input: {
        let mut properties = properties(json!({
            "test_after_creation": flag("Send a test prompt at once", false),
        }));
        properties["parameters"] = parameters("Options of the model; other providers' options are passed on");
        properties["provider_type"]["enum"] = json!(provider_types());
        object(properties, &["provider_type"])
    },
    output: generator_schema(),
    call: create;

    ValidateGeneratorConfig = {
        name: "validate_generator_config",
        title: "Check the configuration of a generator",
        description: "Reports all problems of a configuration that create_generator would have. Stores nothing.",
        core: false,
        scope: reading(Group::Generators),
        hints: READ,
        argument_aliases: &[],
        is_long: false,
    }
    input: object(properties(json!({
        "test_connectivity": flag("Accepted for compatibility; use test_generator to contact the target", false),
    })), &["provider_type"]),
    output: shape(json!({
        "valid": {"type": "boolean"},
        "issues": {"type": "array", "items": {"type": "string"}},
    }), &["valid", "issues"]),
    call: validate;
}

/// Options of a model: those that every provider has, within their limits, and any others.
pub(super) fn parameters(description: &str) -> Value {
    let between = |low: i32, high: i32, what: &str| json!({"type": ["number", "null"], "minimum": low, "maximum": high, "description": what});
    json!({
        "type": "object",
        "description": description,
        "properties": {
            "temperature": between(0, 2, "Randomness"),
            "max_tokens": {"type": ["integer", "null"], "minimum": 1, "description": "Maximum length of a response"},
            "top_p": between(0, 1, "Probability mass to sample from"),
            "frequency_penalty": between(-2, 2, "Penalty on repeated tokens"),
            "presence_penalty": between(-2, 2, "Penalty on tokens that occurred"),
        },
    })
}

/// Problems of the options of a model, as sentences.
fn problems_of(parameters_given: Option<&Value>) -> Vec<String> {
    let schema = json!({"type": "object", "properties": {"parameters": parameters("")}});
    let (Some(given), Ok(validator)) = (parameters_given, jsonschema::validator_for(&schema))
    else {
        return Vec::new();
    };
    let found = issues(&validator, &json!({"parameters": given}));
    found.into_iter().map(|issue| issue.message).collect()
}

/// The arguments that describe a generator.
pub(super) fn properties(more: Value) -> Value {
    let mut properties = json!({
        "name": {"type": "string", "minLength": 1, "maxLength": 100, "description": "Unique name; default: the id"},
        "provider_type": {"type": "string", "minLength": 1, "maxLength": 60, "description": "mcp, http, openai, anthropic, ollama, azure_openai, open_webui, openai_compatible, command, client_sampling, echo, scripted, or another provider of models"},
        "model_name": {"type": "string", "maxLength": 200, "description": "The model; for an MCP server a label that may be absent"},
        "parameters": {"type": "object", "description": "Options of the model: temperature, max_tokens, top_p ..."},
        "system_prompt": {"type": "string", "maxLength": 100_000, "description": "Instructions that the model gets first"},
        "connection": connection_schema(),
        "enabled": flag("Whether it can be used", true),
    });
    if let (Value::Object(properties), Value::Object(more)) = (&mut properties, more) {
        properties.extend(more);
    }
    properties
}

fn connection_schema() -> Value {
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    json!({
        "type": "object",
        "description": "How to reach the target: `command`, `args` and `env` start a server over stdio; `url`, `headers` and `auth` reach one over HTTP",
        "properties": {
            "command": {"type": "string", "minLength": 1},
            "args": {"type": "array", "items": {"type": "string"}},
            "env": map,
            "cwd": {"type": "string"},
            "url": {"type": "string", "minLength": 1},
            "headers": map,
            "transport": {"type": "string", "enum": ["auto", "streamable-http", "http", "sse"]},
            "protocol": {"type": "string"},
            "auth": {"type": "object", "properties": {"type": {"type": "string", "enum": ["bearer", "basic", "api_key", "oauth", "none"]}}, "required": ["type"]},
            "timeout_ms": {"type": "integer", "minimum": 1, "maximum": 3_600_000},
            "tools": {"type": "array", "items": {"type": "string"}},
            "exclude_tools": {"type": "array", "items": {"type": "string"}},
            "default_args": {"type": "object"},
        },
        "additionalProperties": false,
    })
}

/// The body of a generator: its arguments without those of the call.
pub(super) fn body(arguments: &Map<String, Value>) -> Value {
    let keys =
        ["provider_type", "model_name", "parameters", "system_prompt", "connection", "enabled"];
    let own = arguments.iter().filter(|(key, _)| keys.contains(&key.as_str()));
    Value::Object(own.map(|(key, value)| (key.clone(), value.clone())).collect())
}

async fn create(call: Call<'_>) -> Result<Reply, ToolError> {
    let Call { platform, principal, host, arguments } = call;
    let name = arguments.get("name").and_then(Value::as_str);
    let entity = platform.add_generator(principal, name, body(&arguments)).await?;
    let mut shown = generator_json(&entity, false);
    let mut summary = format!("created {} ({})", entity.id, entity.name);
    if arguments.get("test_after_creation") == Some(&json!(true)) {
        let tested = test_generator::test(platform, principal, host, &entity.id, &[], 30).await;
        let tested = tested.unwrap_or_else(|error| error.structured());
        summary += if tested["ok"] == true { "; it answers" } else { "; it does not answer" };
        shown["test_results"] = tested;
    }
    Ok(Reply::new(shown, summary))
}

async fn validate(call: Call<'_>) -> Result<Reply, ToolError> {
    let body = body(&call.arguments);
    let draft = Generator { id: String::new(), name: "draft".to_owned(), body: body.clone() };
    let mut issues = problems_of(body.get("parameters"));
    issues.extend(check_body(&body).err().map(|error| error.message));
    if issues.is_empty() {
        let checked = call.platform.check_generator(call.principal, &draft);
        issues.extend(checked.err().map(|error| error.message));
    }
    if issues.is_empty() && draft.is_mcp() {
        match call.platform.opened_target(call.principal, &draft).await {
            Err(error) if error.code == ErrorCode::InvalidConfiguration => {
                issues.push(error.message);
            }
            _ => {}
        }
    }
    let summary = if issues.is_empty() { "valid".to_owned() } else { issues.join("\n") };
    Ok(Reply::new(json!({"valid": issues.is_empty(), "issues": issues}), summary))
}
