//! A trace as checks see it: every call with its position, its turn, and the tool that it names.

use std::borrow::Cow;
use std::cell::OnceCell;

use quintain_evidence::surface::{Prompt, Tool};
use quintain_evidence::trace::{Call, CallKind, Message, Role, Trace, TraceServer, TraceStep};

use crate::effect::{self, Effect};
use crate::failure::{self, Failure, Reaction};
use crate::uri_template::Templates;
use crate::values::known::Known;
use crate::values::uses::Uses;

/// A trace with what several checks derive from it.
pub struct View<'t> {
    pub trace: &'t Trace,
    pub calls: Vec<CallView<'t>>,
    known: OnceCell<Known>,
    /// What is known if calls of other kinds happened before those of one kind, for tools and for prompts.
    reordered: [OnceCell<(Known, Vec<usize>)>; 2],
    uses: OnceCell<Uses>,
    /// What the application did about failed calls, once somebody asked.
    pub(crate) reactions: OnceCell<Vec<Reaction>>,
}

/// One call of a trace.
pub struct CallView<'t> {
    /// Among all calls.
    pub position: usize,
    /// Among all steps.
    pub step: usize,
    /// The number of user messages before it.
    pub turn: usize,
    pub call: &'t Call,
    pub offer: Offer<'t>,
    text: OnceCell<Cow<'t, str>>,
    failure: OnceCell<Option<Failure>>,
    reads_only: OnceCell<bool>,
}

/// Whether a server offered what a call names, at the time of the call.
#[derive(Debug, Clone, Copy)]
pub enum Offer<'t> {
    Tool {
        server: &'t TraceServer,
        tool: &'t Tool,
    },
    Prompt {
        server: &'t TraceServer,
        prompt: &'t Prompt,
    },
    /// A listed resource, or one that a template covers.
    Resource {
        server: &'t TraceServer,
    },
    /// Several servers offer it, and the call names none of them.
    Ambiguous,
    /// The lists of the servers in question are known, and it is in none of them.
    NotOffered,
    /// The lists are not recorded.
    Unknown,
}

impl<'t> View<'t> {
    pub fn new(trace: &'t Trace) -> Self {
        let mut calls = Vec::new();
        let mut turn = 0;
        let mut templates = Templates::default();
        for (step, entry) in trace.steps.iter().enumerate() {
            match entry {
                TraceStep::Message(message) => turn += usize::from(message.role == Role::User),
                TraceStep::Call(call) => calls.push(CallView {
                    position: calls.len(),
                    step,
                    turn,
                    call,
                    offer: offer(trace, call, step, &mut templates),
                    text: OnceCell::new(),
                    failure: OnceCell::new(),
                    reads_only: OnceCell::new(),
                }),
            }
        }
        Self {
            trace,
            calls,
            known: OnceCell::new(),
            reordered: Default::default(),
            uses: OnceCell::new(),
            reactions: OnceCell::new(),
        }
    }

    /// All values of the trace, each with the step at which it was first known.
    pub fn known(&self) -> &Known {
        self.known.get_or_init(|| Known::new(self.trace))
    }

    /// What a call could know, and the place up to which it counts. If the source does not record the order between kinds,
    /// the calls of other kinds in the same turn may have come first.
    pub(crate) fn known_to(&self, call: &CallView<'t>) -> (&Known, usize) {
        if !self.trace.is_listed_by_kind {
            return (self.known(), call.step);
        }
        let cell = &self.reordered[usize::from(call.call.kind == CallKind::Prompt)];
        let (known, places) = cell.get_or_init(|| {
            let order = others_first(self.trace, call.call.kind);
            let mut places = vec![0; order.len()];
            order.iter().enumerate().for_each(|(place, step)| places[*step] = place);
            (Known::in_order(self.trace, order), places)
        });
        (known, places[call.step])
    }

    /// Which results later steps use.
    pub fn uses(&self) -> &Uses {
        self.uses.get_or_init(|| Uses::new(self.trace, self.known()))
    }

    /// Messages with their step and the number of user messages up to and including them.
    pub fn messages(&self) -> impl Iterator<Item = (usize, usize, &'t Message)> {
        let mut turn = 0;
        self.trace.steps.iter().enumerate().filter_map(move |(step, entry)| {
            let message = entry.as_message()?;
            turn += usize::from(message.role == Role::User);
            Some((step, turn, message))
        })
    }
}

impl<'t> CallView<'t> {
    /// The text of the result or of the error.
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| self.call.text())
    }

    /// How the call failed, if it did: by the protocol, by `isError`, or because its result states so.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.get_or_init(|| failure::of_call(self.call, self.tool())).as_ref()
    }

    /// Whether the call is recorded with its result and did not fail.
    pub fn succeeded(&self) -> bool {
        self.call.result().is_some() && self.failure().is_none()
    }

    /// Whether the call certainly changes nothing.
    pub fn reads_only(&self) -> bool {
        *self.reads_only.get_or_init(|| effect::reads_only(self.call, self.tool()))
    }

    /// What the call probably does to the world.
    pub(crate) fn effect(&self) -> Effect {
        effect::effect(self.call, self.tool())
    }

    /// Whether the call succeeded as far as its server says.
    pub(crate) fn is_accepted(&self) -> bool {
        !self.call.is_error()
    }

    pub fn tool(&self) -> Option<&'t Tool> {
        match self.offer {
            Offer::Tool { tool, .. } => Some(tool),
            _ => None,
        }
    }

    /// The name of the server that was called, as far as it is known.
    pub fn server(&self) -> Option<&'t str> {
        let offered = match self.offer {
            Offer::Tool { server, .. }
            | Offer::Prompt { server, .. }
            | Offer::Resource { server } => server.name.as_deref(),
            Offer::Ambiguous | Offer::NotOffered | Offer::Unknown => None,
        };
        self.call.server.as_deref().or(offered)
    }
}

/// The steps of a trace with the calls of other kinds before those of a kind, wherever calls follow each other.
fn others_first(trace: &Trace, kind: CallKind) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::with_capacity(trace.steps.len());
    let mut own: Vec<usize> = Vec::new();
    for (step, entry) in trace.steps.iter().enumerate() {
        match entry.as_call() {
            Some(call) if call.kind == kind => own.push(step),
            Some(_) => order.push(step),
            None => {
                order.append(&mut own);
                order.push(step);
            }
        }
    }
    order.append(&mut own);
    order
}

fn offer<'t>(
    trace: &'t Trace,
    call: &'t Call,
    step: usize,
    compiled: &mut Templates<'t>,
) -> Offer<'t> {
    let servers = candidates(trace, call);
    let mut is_known = !servers.is_empty();
    let mut found = Vec::new();
    for server in servers {
        match offered_by(server, call, step, compiled) {
            Offer::Unknown => is_known = false,
            Offer::NotOffered => {}
            offer => found.push(offer),
        }
    }
    match found.as_slice() {
        [] if is_known => Offer::NotOffered,
        [] => Offer::Unknown,
        [one] => *one,
        _ => Offer::Ambiguous,
    }
}

/// The servers that a call may mean: the named one, or all. A name that no server of the trace has says nothing about
/// which of them is meant.
fn candidates<'t>(trace: &'t Trace, call: &Call) -> Vec<&'t TraceServer> {
    let named = call.server.as_deref().map(|name| {
        trace.servers.iter().filter(move |server| server.name.as_deref() == Some(name)).collect()
    });
    match named {
        Some(servers) if !Vec::is_empty(&servers) => servers,
        _ => trace.servers.iter().collect(),
    }
}

fn offered_by<'t>(
    server: &'t TraceServer,
    call: &Call,
    step: usize,
    compiled: &mut Templates<'t>,
) -> Offer<'t> {
    match call.kind {
        CallKind::Tool => server.tools_at(step).map_or(Offer::Unknown, |tools| {
            let exact = tools.iter().find(|tool| tool.name() == Some(&call.name));
            let tool =
                exact.or_else(|| tools.iter().find(|tool| is_prefixed(server, tool, &call.name)));
            tool.map_or(Offer::NotOffered, |tool| Offer::Tool { server, tool })
        }),
        CallKind::Prompt => server.prompts_at(step).map_or(Offer::Unknown, |prompts| {
            let prompt = prompts.iter().find(|prompt| prompt.name() == Some(&call.name));
            prompt.map_or(Offer::NotOffered, |prompt| Offer::Prompt { server, prompt })
        }),
        CallKind::Resource => {
            let resources = server.resources_at(step);
            let templates = server.templates_at(step);
            let listed = resources.into_iter().flatten().any(|one| one.uri() == Some(&call.name));
            let mut patterns = templates.into_iter().flatten().filter_map(|one| one.uri_template());
            if listed || patterns.any(|pattern| compiled.matches(pattern, &call.name)) {
                Offer::Resource { server }
            } else if resources.is_some() {
                Offer::NotOffered
            } else {
                Offer::Unknown
            }
        }
    }
}

/// Whether a call names a tool with its server in front, as hosts do for models: `mcp__github__get_issue`.
fn is_prefixed(server: &TraceServer, tool: &Tool, called: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let (Some(server), Some(name)) = (server.name.as_deref(), tool.name()) else { return false };
    let prefix = called.strip_suffix(name).filter(|_| !name.is_empty());
    let prefix = prefix.filter(|prefix| prefix.ends_with(['_', '.', '/', ':', '-']));
    prefix.is_some_and(|prefix| {
        let (prefix, server) = (plain(prefix), plain(server));
        !server.is_empty() && (prefix == server || prefix.strip_prefix("mcp") == Some(&server))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use quintain_evidence::trace::Listing;

    #[test]
    fn names_with_their_server_in_front_are_offered() {
        let tools = Some(vec![Tool(json!({"name": "get_issue"}))]);
        let listings = vec![Listing { tools, ..Listing::default() }].into();
        let server =
            TraceServer { name: Some("GitHub".into()), listings, ..TraceServer::default() };
        let mut trace = Trace { servers: vec![server], ..Trace::default() };
        for name in ["get_issue", "mcp__github__get_issue", "github_get_issue", "github.get_issue"]
        {
            trace.call(Call::tool(name, json!({})));
        }
        for name in ["forget_issue", "gitlab_get_issue", "githubget_issue", "get_issues"] {
            trace.call(Call::tool(name, json!({})));
        }
        let view = View::new(&trace);
        let known: Vec<bool> = view.calls.iter().map(|call| call.tool().is_some()).collect();
        assert_eq!(known, [true, true, true, true, false, false, false, false]);
    }
}
