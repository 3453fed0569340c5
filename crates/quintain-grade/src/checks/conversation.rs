//! Small traces for the tests of checks.

use quintain_evidence::surface::Tool;
use quintain_evidence::trace::{Call, CallOutcome, Listing, Role, Trace, TraceServer};
use serde_json::{Value, json};

use super::{Fault, TraceCheck};

/// A trace in the making.
pub(crate) struct TraceBuilder(pub(crate) Trace);

/// A trace that begins with what the user says.
pub(crate) fn trace(user: &str) -> TraceBuilder {
    let mut trace = Trace::default();
    trace.say(Role::User, user);
    TraceBuilder(trace)
}

impl TraceBuilder {
    /// A tool of the only server.
    pub(crate) fn tool(self, name: &str, schema: Value) -> Self {
        self.offer("server", json!({"name": name, "inputSchema": schema}))
    }

    pub(crate) fn offer(mut self, server: &str, tool: Value) -> Self {
        let servers = &mut self.0.servers;
        if !servers.iter().any(|one| one.name.as_deref() == Some(server)) {
            let listing = Listing { tools: Some(Vec::new()), ..Listing::default() };
            servers.push(TraceServer {
                name: Some(server.to_owned()),
                listings: vec![listing].into(),
                ..TraceServer::default()
            });
        }
        let found = servers.iter_mut().find(|one| one.name.as_deref() == Some(server));
        found.unwrap().listings[0].tools.as_mut().unwrap().push(Tool(tool));
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

    /// A call with a structured result.
    pub(crate) fn call(self, name: &str, args: Value, result: Value) -> Self {
        self.ended(None, name, args, CallOutcome::Result(json!({"structuredContent": result})))
    }

    pub(crate) fn call_on(self, server: &str, name: &str, args: Value, text: &str) -> Self {
        let result = json!({"content": [{"type": "text", "text": text}]});
        self.ended(Some(server), name, args, CallOutcome::Result(result))
    }

    pub(crate) fn failed(self, name: &str, args: Value, text: &str) -> Self {
        let result = json!({"content": [{"type": "text", "text": text}], "isError": true});
        self.ended(None, name, args, CallOutcome::Result(result))
    }

    fn ended(
        mut self,
        server: Option<&str>,
        name: &str,
        args: Value,
        outcome: CallOutcome,
    ) -> Self {
        let server = server.map(str::to_owned);
        self.0.call(Call { outcome, server, ..Call::tool(name, args) });
        self
    }
}

/// The findings of one check; none if it does not apply.
pub(crate) fn found(check: &dyn TraceCheck, built: &TraceBuilder) -> Vec<Fault> {
    super::testing::faults(check, &built.0)
}
