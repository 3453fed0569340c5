//! Builds a trace from a log of messages, in which calls and their results are separate entries.

use std::collections::{HashMap, HashSet, VecDeque};

use quintain_evidence::surface::Tool;
use quintain_evidence::trace::{
    Args, Call, CallKind, CallOutcome, Listing, Message, Role, Trace, TraceServer, TraceStep,
};
use serde_json::Value;

use crate::offers;

/// A trace that grows message by message.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) trace: Trace,
    /// Calls without a result, by id and by name; an entry may be stale.
    by_id: HashMap<String, VecDeque<usize>>,
    by_name: HashMap<String, VecDeque<usize>>,
    answered: HashSet<usize>,
    unmatched: usize,
    /// Names of tools that were given to the model.
    offered: HashSet<String>,
    /// Servers of the trace by name.
    servers: HashMap<Option<String>, usize>,
}

/// A call as it appears in a log.
#[derive(Debug)]
pub(super) struct LoggedCall {
    pub(super) name: String,
    pub(super) args: Args,
    pub(super) id: Option<String>,
    pub(super) server: Option<String>,
    pub(super) at: Option<f64>,
}

impl Conversation {
    pub(super) fn is_empty(&self) -> bool {
        self.trace.steps.is_empty() && self.trace.servers.is_empty()
    }

    /// Adds a message. An assistant without text said nothing.
    pub(super) fn say(&mut self, role: Role, text: String, at: Option<f64>) {
        if text.is_empty() && role == Role::Assistant {
            return;
        }
        self.trace.steps.push(TraceStep::Message(Message { role, text, at }));
    }

    /// Adds a call of a tool, and returns its step.
    pub(super) fn call(&mut self, logged: LoggedCall) -> usize {
        let step = self.trace.steps.len();
        let (server, name) = match (logged.server, prefixed(&logged.name)) {
            (None, Some((server, tool))) => (Some(server.to_owned()), tool.to_owned()),
            (server, _) => (server, logged.name.clone()),
        };
        if let Some(id) = &logged.id {
            self.by_id.entry(id.clone()).or_default().push_back(step);
        }
        self.by_name.entry(logged.name).or_default().push_back(step);
        let (id, at) = (logged.id, logged.at);
        self.trace.call(Call { server, id, at, ..Call::new(CallKind::Tool, name, logged.args) });
        step
    }

    /// Adds the result of a call that has none yet: by its id, else by its name.
    pub(super) fn answer(
        &mut self,
        id: Option<&str>,
        name: Option<&str>,
        outcome: CallOutcome,
        at: Option<f64>,
    ) {
        let by_id = id.and_then(|id| self.by_id.get_mut(id));
        let mut step = by_id.and_then(|open| next_open(open, &self.answered));
        if step.is_none() {
            let by_name = name.and_then(|name| self.by_name.get_mut(name));
            step = by_name.and_then(|open| next_open(open, &self.answered));
        }
        match step {
            Some(step) => self.answer_step(step, outcome, at),
            None => self.unmatched += 1,
        }
    }

    pub(super) fn answer_step(&mut self, step: usize, outcome: CallOutcome, at: Option<f64>) {
        self.answered.insert(step);
        if let Some(TraceStep::Call(call)) = self.trace.steps.get_mut(step) {
            call.outcome = outcome;
            let span = at.zip(call.at).map(|(end, start)| (end - start) * 1e3);
            call.took_ms = span.filter(|took| *took >= 0.0);
        }
    }

    /// Adds definitions of tools that the application gave to its model. They hold for the whole conversation.
    pub(super) fn offer(&mut self, tools: Vec<Value>) {
        for mut tool in offers::tools(tools) {
            let name = tool.name().unwrap_or_default().to_owned();
            if self.offered.contains(&name) {
                continue;
            }
            let server = prefixed(&name).map(|(server, short)| {
                tool.0["name"] = short.into();
                server.to_owned()
            });
            self.offered.insert(name);
            let listings = &mut self.server(server).listings;
            if listings.is_empty() {
                listings.push(Listing { tools: Some(Vec::new()), ..Listing::default() });
            }
            listings[0].tools.get_or_insert_default().push(tool);
        }
    }

    /// Adds a list of tools that a server gave, from the current step on.
    pub(super) fn list(&mut self, server: Option<String>, tools: Vec<Tool>) {
        let from = self.trace.steps.len();
        let listings = &mut self.server(server).listings;
        let last = listings.last().and_then(|listing| listing.tools.as_ref());
        if last != Some(&tools) {
            listings.push(Listing { from, tools: Some(tools), ..Listing::default() });
        }
    }

    fn server(&mut self, name: Option<String>) -> &mut TraceServer {
        let servers = &mut self.trace.servers;
        let at = *self.servers.entry(name.clone()).or_insert_with(|| {
            servers.push(TraceServer { name, ..TraceServer::default() });
            servers.len() - 1
        });
        &mut servers[at]
    }

    /// The trace. Servers that calls name and that listed nothing are added, so that it is known that their tools are
    /// not.
    pub(super) fn finish(mut self) -> Trace {
        let calls = self.trace.calls().filter_map(|call| call.server.clone());
        let named: HashSet<String> = calls.collect();
        let mut named: Vec<String> = named.into_iter().collect();
        named.sort();
        for name in named {
            self.server(Some(name));
        }
        if self.unmatched > 0 {
            self.trace.labels.insert("unmatchedResults".to_owned(), self.unmatched.into());
        }
        self.trace
    }
}

fn next_open(open: &mut VecDeque<usize>, answered: &HashSet<usize>) -> Option<usize> {
    loop {
        let step = open.pop_front()?;
        if !answered.contains(&step) {
            return Some(step);
        }
    }
}

/// Hosts name tools `mcp__SERVER__TOOL`.
fn prefixed(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn logged(name: &str, id: Option<&str>) -> LoggedCall {
        let id = id.map(str::to_owned);
        LoggedCall { name: name.into(), args: Args::default(), id, server: None, at: None }
    }

    fn result(n: i64) -> CallOutcome {
        CallOutcome::Result(json!(n))
    }

    #[test]
    fn results_find_their_calls_by_id_then_by_name() {
        let mut talk = Conversation::default();
        talk.call(logged("a", Some("1")));
        talk.call(logged("a", Some("1")));
        talk.call(logged("b", None));
        talk.answer(Some("1"), None, result(1), None);
        talk.answer(Some("1"), None, result(2), None);
        talk.answer(None, Some("b"), result(3), None);
        talk.answer(Some("9"), None, result(4), None);
        let trace = talk.finish();
        let results: Vec<Option<&Value>> = trace.calls().map(Call::result).collect();
        assert_eq!(results, [Some(&json!(1)), Some(&json!(2)), Some(&json!(3))]);
        assert_eq!(trace.labels["unmatchedResults"], 1);
    }

    #[test]
    fn names_of_hosts_are_split_into_server_and_tool() {
        let mut talk = Conversation::default();
        talk.offer(vec![
            json!({"name": "mcp__git__log", "input_schema": {}}),
            json!({"name": "Bash"}),
        ]);
        talk.call(logged("mcp__git__log", None));
        talk.answer(None, Some("mcp__git__log"), result(1), None);
        let trace = talk.finish();
        let call = trace.calls().next().unwrap();
        assert_eq!((call.server.as_deref(), call.name.as_str()), (Some("git"), "log"));
        assert!(call.result().is_some());
        let tools = trace.server("git").unwrap().tools_at(0).unwrap();
        assert_eq!(tools[0].name(), Some("log"));
        assert_eq!(trace.servers.len(), 2);
    }
}
