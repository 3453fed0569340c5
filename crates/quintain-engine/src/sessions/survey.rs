//! What a server lists: its tools at connection, everything else on request.

use std::collections::HashMap;

use quintain_evidence::surface::{Prompt, Resource, ResourceTemplate, Surface, Tool};
use quintain_wire::rpc::CallError;
use quintain_wire::session::{Listable, Listing, Session};
use serde_json::Value;

/// The tools of a server in list order, and problems with the list.
#[derive(Default)]
pub(super) struct ToolList {
    tools: Vec<Tool>,
    by_name: HashMap<String, usize>,
    problems: Vec<String>,
    /// The error response to `tools/list`, if there is no list.
    refused: Option<String>,
}

impl ToolList {
    /// Lists the tools. A server without tools may not support the method.
    pub(super) async fn of(session: &Session) -> Result<Self, CallError> {
        match session.list(Listable::Tools).await {
            Ok(listing) => Ok(Self::new(listing)),
            Err(CallError::Rpc { error, .. }) => {
                let refused =
                    (error.code != METHOD_NOT_FOUND).then(|| format!("tools/list: {error}"));
                Ok(Self { problems: refused.iter().cloned().collect(), refused, ..Self::default() })
            }
            Err(error) => Err(error),
        }
    }

    fn new(listing: Listing) -> Self {
        let refused = listing
            .refused
            .iter()
            .map(|(tool, why)| format!("tool `{tool}` must not be used over HTTP: {why}"));
        let problems = listing.problem(Listable::Tools).into_iter().chain(refused).collect();
        let tools: Vec<Tool> = listing.items.into_iter().map(Tool).collect();
        let named = tools.iter().enumerate();
        let by_name = named.filter_map(|(at, tool)| Some((tool.name()?.to_owned(), at))).collect();
        Self { tools, by_name, problems, refused: None }
    }

    pub(super) fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    pub(super) fn tools(&self) -> &[Tool] {
        &self.tools
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).map(|at| &self.tools[*at])
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.tools.iter().filter_map(Tool::name).collect()
    }
}

const METHOD_NOT_FOUND: i64 = -32601;

/// Lists everything except the tools, which are known, and returns messages about what could not be listed.
pub(super) async fn survey(session: &Session, catalogue: &ToolList) -> (Surface, Vec<String>) {
    let agreement = session.agreement();
    let has = |name: &str| agreement.capabilities.get(name).is_some();
    let mut problems = catalogue.problems.clone();
    let mut list = async |what: Listable, declared: bool| -> Vec<Value> {
        if !declared {
            return Vec::new();
        }
        match session.list(what).await {
            Ok(listing) => {
                problems.extend(listing.problem(what));
                listing.items
            }
            // "Method not found" means that the server has none of these.
            Err(CallError::Rpc { error, .. }) if error.code == METHOD_NOT_FOUND => Vec::new(),
            Err(error) => {
                problems.push(format!("{}: {error}", what.wire().0));
                Vec::new()
            }
        }
    };
    let resources = list(Listable::Resources, has("resources")).await;
    let templates = list(Listable::Templates, has("resources")).await;
    let prompts = list(Listable::Prompts, has("prompts")).await;
    let surface = Surface {
        server_info: agreement.server.clone(),
        instructions: agreement.instructions.clone(),
        protocol_version: Some(agreement.version.to_string()),
        capabilities: agreement.capabilities.clone(),
        tools: catalogue.tools.clone(),
        resources: resources.into_iter().map(Resource).collect(),
        templates: templates.into_iter().map(ResourceTemplate).collect(),
        prompts: prompts.into_iter().map(Prompt).collect(),
        problems: Vec::new(),
    };
    (surface, problems)
}
