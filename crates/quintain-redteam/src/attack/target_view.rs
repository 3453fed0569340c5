//! What an attack may know of a target.

use quintain_evidence::finding::Place;
use quintain_evidence::surface::{Surface, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::token::Given;
use crate::knowledge::{Aim, Kind, Knowledge};

/// Everything known of a target.
pub struct TargetView<'a> {
    /// What each server lists, by its name.
    pub surfaces: &'a [(String, Surface)],
    pub knowledge: &'a Knowledge,
    pub powers: &'a Capabilities,
    /// What the user says the target is for.
    pub purpose: Option<&'a str>,
}

/// What the tester can do with a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Capabilities {
    /// It runs on this machine.
    pub same_host: bool,
    /// It is spoken to over HTTP.
    pub http: bool,
    /// It is spoken to over HTTP+SSE, whose sessions stand in the query.
    #[serde(default)]
    pub sse: bool,
    /// Its HTTP address is a loopback address.
    pub loopback: bool,
    /// It is reached with credentials.
    pub credentials: bool,
    /// Who it can be spoken to as; the first is who surveys.
    pub identities: Vec<Identity>,
    /// Tools that destroy may be called.
    pub destructive: bool,
    /// A random text that stands in the environment of the target and nowhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_canary: Option<String>,
    /// Tokens that the user gave to be refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Given>,
}

/// Somebody with credentials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    pub name: String,
    /// `admin`, `user`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The tools that are listed for it.
    pub tools: Vec<String>,
    /// Laid under the arguments of every call.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub default_args: Map<String, Value>,
}

impl TargetView<'_> {
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

    /// Every text inside the arguments of every tool that may be called, variables of resource
    /// templates and arguments of prompts; those of one of `kinds` first. Only `kinds` if `strict`.
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

    /// The same, and behind them those of tools while they do something else than in the call that was
    /// learned first.
    pub fn texts_in_modes(&self, kinds: &[Kind], strict: bool) -> Vec<Aim> {
        let mut aims = self.texts(kinds, strict);
        let others = self.knowledge.aims_in_modes.iter().filter(|aim| is_text(aim));
        let wanted = others.filter(|aim| !strict || kinds.iter().any(|kind| aim.is(*kind)));
        aims.extend(wanted.cloned());
        aims
    }

    /// Every number inside the arguments of every tool. What a server does not check takes text too.
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
