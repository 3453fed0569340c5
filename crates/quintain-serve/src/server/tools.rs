//! Tools as the protocol shows them, and their results.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, Resource, Tool as Listed, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::catalogue::Offered;
use crate::tool::{ErrorCode, Reply, ToolError};

/// A tool in a list.
pub(super) fn listed(offered: &Offered) -> Listed {
    let meta = offered.tool.meta();
    let hints = meta.hints;
    let annotations = ToolAnnotations::from_raw(
        Some(meta.title.to_owned()),
        Some(hints.read_only),
        Some(hints.destructive),
        Some(hints.idempotent),
        Some(hints.open_world),
    );
    Listed::new_with_raw(meta.name, Some(meta.description.into()), object(&offered.input_schema))
        .with_title(meta.title)
        .with_raw_output_schema(with_error_form(&offered.output_schema))
        .with_annotations(annotations)
}

/// The same with what rmcp does not know: whether it can run as a task of 2025-11-25.
pub(super) fn listed_with_tasks(offered: &Offered) -> Value {
    let mut tool = serde_json::to_value(listed(offered)).unwrap_or_default();
    if offered.tool.meta().is_long {
        tool["execution"] = json!({"taskSupport": "optional"});
    }
    tool
}

fn object(schema: &Value) -> Arc<Map<String, Value>> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// The output schema with the form of a tool error. Some clients check the structured content of errors, too.
fn with_error_form(schema: &Value) -> Arc<Map<String, Value>> {
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    let required = schema.remove("required").unwrap_or_else(|| json!([]));
    let error = json!({
        "type": "object",
        "description": "Only in the result of a failed call",
        "properties": {
            "code": {"type": "string"},
            "message": {"type": "string"},
            "retryable": {"type": "boolean"},
            "hint": {"type": "string"},
        },
        "required": ["code", "message", "retryable"],
    });
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.entry("error").or_insert(error);
    }
    schema.insert("type".to_owned(), json!("object"));
    let forms = json!([{"required": required}, {"required": ["error"]}]);
    match schema.remove("anyOf") {
        None => schema.insert("anyOf".to_owned(), forms),
        Some(own) => schema.insert(
            "allOf".to_owned(),
            json!([
                {"anyOf": [{"anyOf": own}, {"required": ["error"]}]},
                {"anyOf": forms},
            ]),
        ),
    };
    Arc::new(schema)
}

/// The result of a call.
pub(super) fn result(done: Result<Reply, ToolError>) -> CallToolResult {
    let reply = match done {
        Ok(reply) => reply,
        Err(error) => return refused(&error),
    };
    let mut content = vec![ContentBlock::text(reply.text)];
    for (uri, name, mime_type) in reply.links {
        let link = Resource::new(uri, name).with_mime_type(mime_type);
        content.push(ContentBlock::resource_link(link));
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(reply.structured);
    result
}

/// A tool error.
pub(super) fn refused(error: &ToolError) -> CallToolResult {
    let text = match &error.hint {
        Some(hint) => format!("{}: {}\nhint: {hint}", error.code.word(), error.message),
        None => format!("{}: {}", error.code.word(), error.message),
    };
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = Some(error.structured());
    result
}

/// A failure of the server itself.
pub(super) fn failed(what: &str) -> CallToolResult {
    refused(&ToolError::new(ErrorCode::Internal, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_and_tool_errors_fit_the_listed_output_schema() {
        let own = json!({
            "type": "object",
            "properties": {"answer": {"type": "string"}},
            "required": ["answer"],
            "additionalProperties": false,
        });
        let listed = Value::Object((*with_error_form(&own)).clone());
        let validator = jsonschema::validator_for(&listed).unwrap();
        let error = ToolError::new(ErrorCode::NotFound, "no such thing").with_hint("list them");
        assert!(validator.is_valid(&error.structured()));
        assert!(validator.is_valid(&json!({"answer": "x"})));
        assert!(!validator.is_valid(&json!({"answer": 7})));
        assert!(!validator.is_valid(&json!({})));
    }
}
