//! Names of attributes and events in spans. The GenAI and MCP conventions are still in development, so every name is
//! here, the newest first; this table is all that changes with them.

/// The conventions that the table follows: GenAI and MCP of OpenTelemetry, with the older names of GenAI, and those of
/// OpenInference and OpenLLMetry.
pub(super) const VERSION: &str = "semconv-genai 1.41, openinference 1, openllmetry 0.4";

/// What a span can record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Method,
    Operation,
    SpanKind,
    ToolName,
    PromptName,
    ResourceUri,
    CallId,
    Arguments,
    Result,
    /// Arguments and results that may be any text.
    LooseArguments,
    LooseResult,
    Server,
    ErrorType,
    ErrorCode,
    SystemInstructions,
    InputMessages,
    OutputMessages,
    ToolDefinitions,
    Conversation,
}

/// The attributes of a field, newest first.
pub(super) fn names(field: Field) -> &'static [&'static str] {
    match field {
        Field::Method => &["mcp.method.name", "mcp.method", "rpc.method"],
        Field::Operation => &["gen_ai.operation.name"],
        Field::SpanKind => &["openinference.span.kind", "traceloop.span.kind"],
        Field::ToolName => {
            &["gen_ai.tool.name", "mcp.tool.name", "tool.name", "traceloop.entity.name"]
        }
        Field::PromptName => &["gen_ai.prompt.name", "mcp.prompt.name"],
        Field::ResourceUri => &["mcp.resource.uri"],
        Field::CallId => {
            &["gen_ai.tool.call.id", "tool_call.id", "jsonrpc.request.id", "mcp.request.id"]
        }
        Field::Arguments => &[
            "gen_ai.tool.call.arguments",
            "gen_ai.tool.arguments",
            "mcp.request.argument",
            "tool.parameters",
        ],
        Field::Result => &["gen_ai.tool.call.result", "gen_ai.tool.result", "mcp.response.value"],
        Field::LooseArguments => &["input.value", "traceloop.entity.input"],
        Field::LooseResult => &["output.value", "traceloop.entity.output"],
        Field::Server => &["mcp.server.name", "server.address"],
        Field::ErrorType => &["error.type"],
        Field::ErrorCode => &["rpc.response.status_code", "rpc.jsonrpc.error_code"],
        Field::SystemInstructions => &["gen_ai.system_instructions"],
        Field::InputMessages => &["gen_ai.input.messages", "gen_ai.prompt"],
        Field::OutputMessages => &["gen_ai.output.messages", "gen_ai.completion"],
        Field::ToolDefinitions => &["gen_ai.tool.definitions", "gen_ai.request.tools"],
        Field::Conversation => &["gen_ai.conversation.id", "session.id"],
    }
}

/// Families of attributes with one message each: prefix, what comes before a member, and whether the model wrote it.
pub(super) static INDEXED: &[(&str, &str, bool)] = &[
    ("gen_ai.prompt.", "", false),
    ("gen_ai.completion.", "", true),
    ("llm.input_messages.", "message.", false),
    ("llm.output_messages.", "message.", true),
];

/// Events with one message each, and its role.
pub(super) static MESSAGE_EVENTS: &[(&str, &str)] = &[
    ("gen_ai.system.message", "system"),
    ("gen_ai.user.message", "user"),
    ("gen_ai.assistant.message", "assistant"),
    ("gen_ai.tool.message", "tool"),
    ("gen_ai.choice", "assistant"),
];
