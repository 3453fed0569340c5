//! Clean traces: conversations as a careful application has them, in several domains, with results in the forms that servers
//! use. No check may warn about any of them; mutations of them are what checks must find.

mod calendar;
mod commerce;
mod data;
mod files;
mod notations;
mod support;
mod travel;

use quintain_evidence::surface::Tool;
use quintain_evidence::trace::{Call, CallOutcome, Listing, Role, Trace, TraceServer};
use serde_json::{Value, json};

/// A trace in the making.
pub(crate) struct Conversation(Trace);

pub(crate) fn conversation(name: &str) -> Conversation {
    Conversation(Trace { name: Some(name.to_owned()), ..Trace::default() })
}

impl Conversation {
    pub(crate) fn system(mut self, text: &str) -> Self {
        self.0.say(Role::System, text);
        self
    }

    pub(crate) fn user(mut self, text: &str) -> Self {
        self.0.say(Role::User, text);
        self
    }

    pub(crate) fn answer(mut self, text: &str) -> Self {
        self.0.say(Role::Assistant, text);
        self
    }

    /// Declares a tool with these properties.
    pub(crate) fn tool(mut self, server: &str, name: &str, properties: Value) -> Self {
        let schema = json!({"type": "object", "properties": properties.clone()});
        let tool = Tool(json!({"name": name, "inputSchema": schema}));
        let servers = &mut self.0.servers;
        if !servers.iter().any(|one| one.name.as_deref() == Some(server)) {
            let listings = vec![Listing { tools: Some(Vec::new()), ..Listing::default() }].into();
            servers.push(TraceServer {
                name: Some(server.to_owned()),
                listings,
                ..TraceServer::default()
            });
        }
        let found = servers.iter_mut().find(|one| one.name.as_deref() == Some(server)).unwrap();
        let tools = found.listings[0].tools.as_mut().unwrap();
        match tools.iter_mut().find(|one| one.name() == Some(name)) {
            None => tools.push(tool),
            // A later call may have further arguments.
            Some(known) => {
                let declared = known.0["inputSchema"]["properties"].as_object_mut().unwrap();
                for (key, schema) in properties.as_object().unwrap() {
                    declared.entry(key).or_insert_with(|| schema.clone());
                }
            }
        }
        self
    }

    /// A call with structured content and the same as text.
    pub(crate) fn call(self, place: &str, args: Value, result: Value) -> Self {
        let text = result.to_string();
        self.ended(
            place,
            args,
            json!({"content": [{"type": "text", "text": text}], "structuredContent": result}),
        )
    }

    /// A call whose result is JSON in a text block.
    pub(crate) fn call_json(self, place: &str, args: Value, result: Value) -> Self {
        let text = serde_json::to_string_pretty(&result).unwrap();
        self.ended(place, args, json!({"content": [{"type": "text", "text": text}]}))
    }

    /// A call that returns prose.
    pub(crate) fn call_text(self, place: &str, args: Value, text: &str) -> Self {
        self.ended(place, args, json!({"content": [{"type": "text", "text": text}]}))
    }

    /// A call that returns one text block for each item.
    pub(crate) fn call_blocks(self, place: &str, args: Value, items: &[Value]) -> Self {
        let blocks: Vec<Value> =
            items.iter().map(|item| json!({"type": "text", "text": item.to_string()})).collect();
        self.ended(place, args, json!({"content": blocks}))
    }

    pub(crate) fn call_failed(self, place: &str, args: Value, text: &str) -> Self {
        self.ended(
            place,
            args,
            json!({"content": [{"type": "text", "text": text}], "isError": true}),
        )
    }

    /// `place` is `server/tool`. A tool that is not declared gets a schema that allows what is sent.
    fn ended(self, place: &str, args: Value, result: Value) -> Self {
        let (server, name) = place.split_once('/').unwrap();
        let properties: serde_json::Map<String, Value> =
            args.as_object().unwrap().keys().map(|key| (key.clone(), json!({}))).collect();
        let mut trace = self.tool(server, name, Value::Object(properties));
        let outcome = CallOutcome::Result(result);
        trace.0.call(Call { outcome, server: Some(server.to_owned()), ..Call::tool(name, args) });
        trace
    }

    pub(crate) fn done(self) -> Trace {
        self.0
    }
}

/// All clean traces.
pub(crate) fn clean() -> Vec<Trace> {
    let all = [
        commerce::all(),
        calendar::all(),
        files::all(),
        data::all(),
        travel::all(),
        support::all(),
        notations::all(),
    ];
    all.into_iter().flatten().collect()
}
