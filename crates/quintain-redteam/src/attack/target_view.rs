//! What an attack may know about a target.

use quintain_evidence::finding::Place;
use quintain_evidence::surface::{Surface, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::input::Input;
use super::token::Given;
use crate::knowledge::{Aim, Kind, Knowledge};
use crate::opinion::Judge;

/// Everything known about a target.
pub struct TargetView<'a> {
    /// What each server lists, by server name.
    pub surfaces: &'a [(String, Surface)],
    pub knowledge: &'a Knowledge,
    pub capabilities: &'a Capabilities,
}

/// What Quintain can do with a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Capabilities {
    /// It runs on this machine.
    pub same_host: bool,
    /// It uses HTTP.
    pub http: bool,
    /// It uses HTTP+SSE, which has the session in the query.
    #[serde(default)]
    pub sse: bool,
    /// Its HTTP address is a loopback address.
    pub loopback: bool,
    /// It is reached with credentials.
    pub credentials: bool,
    /// The available identities; the first is the one that surveys.
    pub identities: Vec<Identity>,
    /// Destructive tools may be called.
    pub destructive: bool,
    /// A random text that is only in the target's environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_canary: Option<String>,
    /// The prompts, if the target takes text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// The model that judges, if one is named.
    #[serde(skip)]
    pub judge: Option<Judge>,
    /// Tokens from the user that the server must refuse.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Given>,
}

/// A user with credentials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    pub name: String,
    /// `admin`, `user`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The tools listed for it.
    pub tools: Vec<String>,
    /// Merged into the arguments of every call; arguments of the call take precedence.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub default_args: Map<String, Value>,
}

impl TargetView<'_> {
    /// The prompts of a target that takes text.
    pub fn input(&self) -> Option<&Input> {
        self.capabilities.input.as_ref()
    }

    /// All tools with their servers.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &Tool)> {
        self.surfaces.iter().flat_map(|(server, surface)| {
            surface.tools.iter().map(move |tool| (server.as_str(), tool))
        })
    }

    /// A tool by its name.
    pub fn tool(&self, server: &str, name: &str) -> Option<&Tool> {
        let mut tools = self.tools();
        let found = tools.find(|(of, tool)| *of == server && tool.name() == Some(name));
        found.map(|(_, tool)| tool)
    }

    /// Whether a server lists its tools, and this one is not among them.
    pub fn lacks_tool(&self, server: &str, name: &str) -> bool {
        let is_whole = |surface: &Surface| {
            !surface.tools.is_empty() && !surface.problems.iter().any(|one| one.contains("/list: "))
        };
        let mut surfaces = self.surfaces.iter();
        surfaces.any(|(of, surface)| of == server && is_whole(surface))
            && self.tool(server, name).is_none()
    }

    /// Every text in the arguments of every tool that may be called, variables of resource templates and arguments of
    /// prompts. Those of one of `kinds` come first; if `strict`, only those.
    pub fn texts(&self, kinds: &[Kind], strict: bool) -> Vec<Aim> {
        let mut aims: Vec<Aim> =
            self.knowledge.aims.iter().filter(|aim| is_text(aim)).cloned().collect();
        if strict {
            aims.retain(|aim| kinds.iter().any(|kind| aim.is(*kind)));
        }
        let rank = |aim: &Aim| {
            let place = |kind: &Kind| kinds.iter().position(|wanted| wanted == kind);
            aim.kinds.iter().filter_map(place).min().unwrap_or(usize::MAX)
        };
        aims.sort_by_key(rank);
        aims
    }

    /// The same, followed by those of tools in other modes than that of the first learned call.
    pub fn texts_in_modes(&self, kinds: &[Kind], strict: bool) -> Vec<Aim> {
        let mut aims = self.texts(kinds, strict);
        let others = self.knowledge.aims_in_modes.iter().filter(|aim| is_text(aim));
        let wanted = others.filter(|aim| !strict || kinds.iter().any(|kind| aim.is(*kind)));
        aims.extend(wanted.cloned());
        aims
    }

    /// Every number in the arguments of every tool. Servers that do not validate accept text there too.
    pub fn numbers(&self) -> Vec<Aim> {
        let is_number = |kind: &Value| matches!(kind.as_str(), Some("number" | "integer"));
        let numbers = self.knowledge.aims.iter().filter(|aim| {
            matches!(aim.place, Place::Argument { .. })
                && !is_text(aim)
                && aim.schema.get("type").is_some_and(is_number)
        });
        numbers.cloned().collect()
    }

    /// The tool that an aim belongs to.
    pub fn tool_of(&self, aim: &Aim) -> Option<&Tool> {
        self.tool(aim.place.server(), aim.place.tool()?)
    }
}

fn is_text(aim: &Aim) -> bool {
    match &aim.place {
        Place::Argument { .. } => match aim.schema.get("type") {
            Some(Value::String(kind)) => kind == "string",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
            _ => aim.schema.get("enum").is_none() && !aim.is(Kind::Number),
        },
        Place::Variable { .. } | Place::PromptArgument { .. } => true,
        _ => false,
    }
}
