//! A span in OTLP/JSON, or as exporters print it to files and consoles, with its values decoded.

use serde_json::{Map, Value};

use super::table::{self, Field};
use crate::json_input::record::{any_text, id_text, json_in, seconds, text};

#[derive(Debug)]
pub(super) struct Span {
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) name: String,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) attributes: Map<String, Value>,
    pub(super) events: Vec<(String, Map<String, Value>)>,
    pub(super) is_error: bool,
    pub(super) status: Option<String>,
}

/// Whether a value looks like a span.
pub(super) fn is_span(value: &Value) -> bool {
    ids(value).is_some()
}

fn ids(value: &Value) -> Option<(String, String)> {
    let context = value.get("context").unwrap_or(value);
    let trace = any_text(context, &["traceId", "trace_id"])?;
    let span = any_text(context, &["spanId", "span_id"])?;
    Some((trace.to_owned(), span.to_owned()))
}

impl Span {
    /// # Errors
    /// If it has no ids or no start.
    pub(super) fn of(value: &Value) -> Result<Self, String> {
        let (trace, id) = ids(value).ok_or("a span needs `traceId` and `spanId`")?;
        let time = |keys: &[&str]| keys.iter().find_map(|key| seconds(value.get(key)?));
        let start = time(&["startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime"])
            .ok_or("a span needs `startTimeUnixNano`")?;
        let end = time(&["endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime"]);
        let parent = any_text(value, &["parentSpanId", "parent_span_id", "parent_id", "parentId"]);
        let (is_error, status) = status(value.get("status"));
        let events = value.get("events").and_then(Value::as_array).into_iter().flatten();
        Ok(Self {
            trace,
            id,
            parent: parent.filter(|id| !id.is_empty()).map(str::to_owned),
            name: text(value, "name").unwrap_or_default().to_owned(),
            start,
            end: end.unwrap_or(start),
            attributes: attributes(value.get("attributes")),
            events: events
                .map(|event| {
                    let name = text(event, "name").unwrap_or_default().to_owned();
                    (name, attributes(event.get("attributes")))
                })
                .collect(),
            is_error,
            status,
        })
    }

    pub(super) fn get(&self, field: Field) -> Option<&Value> {
        table::names(field).iter().find_map(|name| self.attributes.get(*name))
    }

    pub(super) fn text(&self, field: Field) -> Option<String> {
        self.get(field).and_then(id_text).filter(|text| !text.is_empty())
    }

    /// A value that may be written as JSON text.
    pub(super) fn json(&self, field: Field) -> Option<Value> {
        decoded(self.get(field)?)
    }
}

pub(super) fn decoded(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => json_in(text),
        other => Some(other.clone()),
    }
}

fn status(status: Option<&Value>) -> (bool, Option<String>) {
    let Some(status) = status else { return (false, None) };
    let code = any_text(status, &["code", "status_code"]).or_else(|| status.as_str());
    let number = status.get("code").and_then(Value::as_i64);
    let is_error =
        number == Some(2) || code.is_some_and(|code| code.to_ascii_uppercase().ends_with("ERROR"));
    (is_error, any_text(status, &["message", "description"]).map(str::to_owned))
}

/// Attributes as a list of keys with typed values, or as an object.
fn attributes(value: Option<&Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(members)) => members.clone(),
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|item| Some((text(item, "key")?.to_owned(), plain(item.get("value")?, 0))))
            .collect(),
        _ => Map::new(),
    }
}

fn plain(value: &Value, depth: usize) -> Value {
    let member = |names: &[&str]| names.iter().find_map(|name| value.get(name));
    if depth > 100 {
        return Value::Null;
    }
    if let Some(text) = member(&["stringValue", "string_value", "boolValue", "bool_value"]) {
        return text.clone();
    }
    if let Some(number) = member(&["intValue", "int_value", "doubleValue", "double_value"]) {
        let parsed = number.as_str().and_then(|text| text.parse::<i64>().ok());
        return parsed.map_or_else(|| number.clone(), Value::from);
    }
    if let Some(list) = member(&["arrayValue", "array_value"]) {
        let items = list.get("values").and_then(Value::as_array).into_iter().flatten();
        return items.map(|item| plain(item, depth + 1)).collect();
    }
    if let Some(list) = member(&["kvlistValue", "kvlist_value"]) {
        let items = list.get("values").and_then(Value::as_array).into_iter().flatten();
        let members = items.filter_map(|item| {
            Some((text(item, "key")?.to_owned(), plain(item.get("value")?, depth + 1)))
        });
        return members.collect::<Map<String, Value>>().into();
    }
    match value {
        Value::Object(_) => member(&["bytesValue", "bytes_value"]).cloned().unwrap_or_default(),
        other => other.clone(),
    }
}
