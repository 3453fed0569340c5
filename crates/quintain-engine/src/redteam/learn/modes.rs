//! Learns the further modes of a tool that selects its action by an argument.

use std::collections::HashMap;
use std::time::Instant;

use quintain_evidence::probe::Step;
use quintain_evidence::surface::{Surface, Tool};
use quintain_redteam::knowledge::{Hints, Knowledge, Mode, Switch, is_destructive, switch};
use serde_json::Value;

use super::call_search::{CallSearch, Missed};
use super::{ENOUGH, LITTLE_TIME, LearnContext, SHARE};
use crate::redteam::identity_sessions::IdentitySessions;

/// Maximum number of calls for one mode of a tool.
const MAX_CALLS: usize = 6;
/// Maximum number of modes.
const MAX_MODES: usize = 32;

/// Searches for a valid call of each mode.
pub(super) struct ModeSearch<'a> {
    pub(super) identity_sessions: &'a IdentitySessions,
    pub(super) hints: &'a Hints,
    pub(super) learn_context: LearnContext<'a>,
    pub(super) started: Instant,
}

impl ModeSearch<'_> {
    pub(super) async fn search(
        &self,
        surfaces: &[(String, Surface)],
        schemas: &HashMap<(String, String), Value>,
        knowledge: &mut Knowledge,
    ) {
        for (server, surface) in surfaces {
            for tool in &surface.tools {
                let name = tool.name().unwrap_or_default();
                let key = (server.clone(), name.to_owned());
                let Some(schema) = schemas.get(&key) else { continue };
                let silent_tools = knowledge
                    .silent
                    .iter()
                    .any(|one| one.tool == name && one.why == super::NO_ANSWER);
                if silent_tools || self.learn_context.gate.never_calls(tool) {
                    continue;
                }
                if let Some(switch) = switch(schema) {
                    self.of_tool(server, tool, (schema, &switch), knowledge).await;
                }
            }
        }
    }

    async fn of_tool(
        &self,
        server: &str,
        tool: &Tool,
        (schema, switch): (&Value, &Switch),
        knowledge: &mut Knowledge,
    ) {
        let name = tool.name().unwrap_or_default();
        let done = knowledge.baseline(server, name).and_then(|baseline| match &baseline.step {
            Step::Call(call) => call.args.get(&switch.argument).cloned(),
            Step::Request { .. } => None,
        });
        for choice in &switch.choices {
            let late =
                self.started.elapsed() > ENOUGH || self.learn_context.budget.is_part_spent(SHARE);
            if late || self.learn_context.budget.is_spent() || knowledge.modes.len() >= MAX_MODES {
                return;
            }
            let harmful = !self.learn_context.gate.allows_destructive() && is_destructive(choice);
            if harmful || done.as_ref().is_some_and(|done| *done == **choice) {
                continue;
            }
            let call_search = CallSearch {
                identity_sessions: self.identity_sessions,
                identity: 0,
                server,
                tool,
                name,
                known: None,
                hints: self.hints,
                gate: self.learn_context.gate,
                budget: self.learn_context.budget,
                observer: self.learn_context.observer,
                time_limit: LITTLE_TIME,
            };
            let mut schema = switch.set(schema, choice);
            let (args, works) = match call_search.search(&mut schema, MAX_CALLS, knowledge).await {
                Ok(found) => match &found.step {
                    Step::Call(call) => (call.args.clone(), Some(found)),
                    Step::Request { .. } => continue,
                },
                Err(Missed::Refused { args: Some(args), .. }) => (args, None),
                Err(_) => continue,
            };
            knowledge.modes.push(Mode {
                server: server.to_owned(),
                tool: name.to_owned(),
                argument: switch.argument.clone(),
                value: choice.clone(),
                args,
                works,
            });
        }
    }
}
