//! Spans in OTLP/JSON with the GenAI and MCP conventions. Spans of the same trace id are one trace, wherever they are in
//! the file.

mod assemble;
mod span;
mod table;

use std::collections::HashMap;

use quintain_content::registry::Meta;
use quintain_evidence::trace::Trace;
use serde_json::Value;

use self::assemble::Node;
use self::span::Span;
use super::{JsonRecord, Parser, Position, Reader, Sample, Traces};
use crate::json_input::record::take_any;
use crate::json_input::walk::Path;

pub(super) struct Otlp;

static META: Meta = Meta {
    id: "otlp",
    aliases: &["otel", "opentelemetry"],
    summary: "OpenTelemetry spans in JSON, with the GenAI and MCP conventions",
    docs: "\
# What it does
Reads exports with `resourceSpans`, one per file or per line, and single spans as consoles print them. Spans of tools and MCP
requests become calls; messages come from spans of models. Arguments and results are opt-in there: where they are absent,
checks that need them do not apply.

# Example
```json
{\"resourceSpans\": [{\"scopeSpans\": [{\"spans\": [{\"traceId\": \"5b8e\", \"spanId\": \"ee19\", \"name\": \"execute_tool add\",
  \"startTimeUnixNano\": \"1700000000000000000\", \"endTimeUnixNano\": \"1700000000500000000\",
  \"attributes\": [{\"key\": \"gen_ai.operation.name\", \"value\": {\"stringValue\": \"execute_tool\"}},
    {\"key\": \"gen_ai.tool.name\", \"value\": {\"stringValue\": \"add\"}}]}]}]}]}
```
",
    since: "0.2.0",
};

static CONTAINERS: &[Path] = &[&["resourceSpans"], &["resource_spans"], &["batches"], &["spans"]];

impl Reader for Otlp {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn recognises(&self, sample: &Sample) -> u8 {
        sample.best(|record| {
            let is_export = ["resourceSpans", "resource_spans", "scopeSpans", "scope_spans"]
                .iter()
                .any(|key| record.get(key).is_some());
            let spans = record.get("spans").and_then(Value::as_array).into_iter().flatten();
            if is_export || span::is_span(record) || spans.into_iter().any(span::is_span) {
                99
            } else {
                0
            }
        })
    }

    fn containers(&self) -> &'static [Path] {
        CONTAINERS
    }

    fn open(&self) -> Box<dyn Parser> {
        Box::new(OtlpParser::default())
    }
}

/// Bytes of spans that wait for others of their trace.
const MAX_OPEN: usize = 64 << 20;

/// Traces by their ids. Those that had no span for longest are completed first if memory runs out.
#[derive(Default)]
struct OtlpParser {
    open: HashMap<String, OpenTrace>,
    bytes: usize,
    touched: u64,
}

struct OpenTrace {
    at: Position,
    first: u64,
    touched: u64,
    nodes: Vec<Node>,
    parents: HashMap<String, String>,
    conversation: Option<String>,
    bytes: usize,
}

impl Parser for OtlpParser {
    fn record(&mut self, record: JsonRecord<'_>, traces: &mut Traces) -> Result<(), String> {
        let value = record.value()?;
        let mut spans = Vec::new();
        collect(value, 0, &mut spans);
        if spans.is_empty() {
            return Err("expected spans with `traceId` and `spanId`".to_owned());
        }
        let size = record.bytes.len() / spans.len();
        let mut problem = None;
        for span in spans {
            match Span::of(&span) {
                Ok(span) => self.add(&span, record.at, size),
                Err(why) => problem = Some(why),
            }
        }
        if self.bytes > MAX_OPEN {
            self.complete_oldest(traces);
        }
        problem.map_or(Ok(()), Err)
    }

    fn finish(&mut self, traces: &mut Traces) {
        let mut open: Vec<(String, OpenTrace)> = self.open.drain().collect();
        open.sort_by_key(|(_, trace)| trace.first);
        for (id, trace) in open {
            complete(id, trace, traces);
        }
        self.bytes = 0;
    }
}

impl OtlpParser {
    fn add(&mut self, span: &Span, at: Position, size: usize) {
        self.touched += 1;
        let touched = self.touched;
        let open = self.open.entry(span.trace.clone()).or_insert_with(|| OpenTrace {
            at,
            first: touched,
            touched,
            nodes: Vec::new(),
            parents: HashMap::new(),
            conversation: None,
            bytes: 0,
        });
        open.touched = touched;
        if let Some(parent) = &span.parent {
            open.parents.insert(span.id.clone(), parent.clone());
        }
        open.conversation = open.conversation.take().or_else(|| assemble::conversation_id(span));
        let mut kept = 200;
        if let Some(content) = assemble::content(span) {
            kept += size;
            let (id, start, end) = (span.id.clone(), span.start, span.end);
            open.nodes.push(Node { id, start, end, content });
        }
        open.bytes += kept;
        self.bytes += kept;
    }

    /// Completes traces until half of the memory is free, so that this happens rarely.
    fn complete_oldest(&mut self, traces: &mut Traces) {
        let mut oldest: Vec<(u64, String)> =
            self.open.iter().map(|(id, trace)| (trace.touched, id.clone())).collect();
        oldest.sort_unstable();
        for (_, id) in oldest {
            if self.bytes <= MAX_OPEN / 2 {
                break;
            }
            if let Some(trace) = self.open.remove(&id) {
                self.bytes = self.bytes.saturating_sub(trace.bytes);
                complete(id, trace, traces);
            }
        }
    }
}

/// A trace without a call or message is one of another program.
fn complete(id: String, open: OpenTrace, traces: &mut Traces) {
    if open.nodes.is_empty() {
        return;
    }
    let mut trace: Trace = assemble::assemble(open.nodes, &open.parents);
    trace.id = Some(id);
    trace.labels.insert("conventions".to_owned(), table::VERSION.into());
    if let Some(conversation) = open.conversation {
        trace.labels.insert("conversation".to_owned(), conversation.into());
    }
    traces.push((open.at, Ok(trace)));
}

/// The spans of an export, of a part of it, or a span itself.
fn collect(mut value: Value, depth: usize, spans: &mut Vec<Value>) {
    const PARTS: &[&str] = &[
        "resourceSpans",
        "resource_spans",
        "batches",
        "scopeSpans",
        "scope_spans",
        "instrumentationLibrarySpans",
        "spans",
    ];
    if span::is_span(&value) {
        spans.push(value);
        return;
    }
    if depth > 4 {
        return;
    }
    if let Some(Value::Array(parts)) = take_any(&mut value, PARTS) {
        for part in parts {
            collect(part, depth + 1, spans);
        }
    }
}

#[cfg(test)]
mod tests;
