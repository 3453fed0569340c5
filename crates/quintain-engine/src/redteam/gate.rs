//! Decides which calls may be sent. Everything that is sent to a target must pass here, whatever its source. Only the
//! effect of a call and the objects it names matter.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quintain_evidence::probe::Step;
use quintain_evidence::redteam_report::NotRun;
use quintain_evidence::surface::{Surface, Tool};
use quintain_redteam::attack::{Action, Attempt};
use quintain_redteam::knowledge::{
    Hints, Leaf, Learned, destroys, harm_of_call, harmless, objection,
};
use quintain_redteam::orders::Destructive;
use serde_json::{Map, Value};

use super::own_objects::OwnObjects;

/// Why a destructive tool is never called.
pub(super) const NOT_CALLED: &str = "destructive; \
     use --include-destructive to test it on objects that the run creates";
/// Maximum lifetime of the helper process if the run has no time limit.
const LIFE: Duration = Duration::from_hours(1);

pub(super) struct Gate {
    policy: Destructive,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// All tools that are listed for any identity, with their servers.
    tools: Vec<(String, Tool)>,
    own: OwnObjects,
    /// Number of blocked calls, by tool and reason.
    blocked: BTreeMap<(String, String), usize>,
}

impl Gate {
    /// `sleep` is the program of the helper process, if it may be started.
    pub(super) fn new(
        policy: Destructive,
        time: Option<Duration>,
        sleep: Option<OsString>,
    ) -> Self {
        let life = time.map_or(LIFE, |time| time + Duration::from_mins(1));
        let own = OwnObjects::new(sleep, life);
        Self { policy, state: Mutex::new(State { own, ..State::default() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the listed tools.
    pub(super) fn add_tools(&self, surfaces: &[(String, Surface)]) {
        let mut state = self.state();
        for (server, surface) in surfaces {
            for tool in &surface.tools {
                if !state.tools.iter().any(|(of, known)| of == server && known == tool) {
                    state.tools.push((server.clone(), tool.clone()));
                }
            }
        }
    }

    /// Records the planted files.
    pub(super) fn add_planted(&self, hints: &Hints, canary_folder: Option<PathBuf>) {
        self.state().own.add_planted(hints, canary_folder);
    }

    /// Records the mark of an attempt. Objects with this mark belong to the run.
    pub(super) fn add_mark(&self, attempt: &Attempt) {
        if self.policy == Destructive::Own {
            self.state().own.mark(attempt.nonce.as_str());
        }
    }

    /// Records objects that a call created for the run.
    pub(super) fn add_created(
        &self,
        server: &str,
        tool: &str,
        said: &[Learned],
        is_known: impl Fn(&Value) -> bool,
    ) {
        if self.policy == Destructive::Own {
            self.state().own.add_created(server, tool, said, is_known);
        }
    }

    /// Whether a tool is never called.
    pub(super) fn never_calls(&self, tool: &Tool) -> bool {
        !self.policy.is_allowed() && destroys(tool)
    }

    /// Whether destructive calls are allowed at all.
    pub(super) fn allows_destructive(&self) -> bool {
        self.policy.is_allowed()
    }

    /// Arguments that may be sent, derived from arguments that the tool should accept.
    pub(super) fn fitted(
        &self,
        server: &str,
        tool: &Tool,
        schema: &Value,
        args: Map<String, Value>,
    ) -> Vec<Map<String, Value>> {
        let name = tool.name().unwrap_or_default();
        let harms = harm_of_call(Some(tool), name, &args).is_some();
        if !harms || self.policy != Destructive::Own {
            return vec![args];
        }
        let own = &mut self.state().own;
        let mut all: Vec<Map<String, Value>> = Vec::new();
        // Objects of the run first, then other names for them, then objects that cannot exist.
        for turn in 0..3 {
            let made = harmless(tool, schema, &args, &mut |leaf, was| {
                let values = own.values(server, leaf, was);
                values.get(turn).or(values.last()).cloned().unwrap_or_default()
            });
            if !all.contains(&made) {
                all.push(made);
            }
        }
        all
    }

    /// Whether a step may be sent. `below` contains default arguments for those that it lacks.
    ///
    /// # Errors
    /// When the call may do harm, with the reason.
    pub(super) fn check(&self, step: &Step, below: &Map<String, Value>) -> Result<(), String> {
        let (name, args, server) = match step {
            Step::Call(call) => (call.tool.as_str(), Some(&call.args), call.server.as_deref()),
            Step::Request { method, params, server } if method == "tools/call" => {
                let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
                let args = params.get("arguments").and_then(Value::as_object);
                (name, args, server.as_deref())
            }
            Step::Request { .. } => return Ok(()),
        };
        let mut merged = below.clone();
        merged.extend(args.cloned().unwrap_or_default());
        self.of_call(name, &merged, server)
    }

    fn of_call(
        &self,
        name: &str,
        args: &Map<String, Value>,
        server: Option<&str>,
    ) -> Result<(), String> {
        if self.policy == Destructive::All {
            return Ok(());
        }
        let mut state = self.state();
        let why = {
            let is_it = |(of, tool): &&(String, Tool)| {
                tool.name() == Some(name)
                    && server.is_none_or(|server| server.is_empty() || server == of)
            };
            let mut listed: Vec<&Tool> =
                state.tools.iter().filter(is_it).map(|(_, tool)| tool).collect();
            // If several tools have this name, assume the most destructive one.
            listed.sort_by_key(|tool| !destroys(tool));
            let tool = listed.first().copied();
            let Some(harm) = harm_of_call(tool, name, args) else { return Ok(()) };
            if self.policy == Destructive::Never {
                Some(NOT_CALLED.to_owned())
            } else {
                let owns = |leaf: &Leaf<'_>, value: &Value| state.own.owns(server, leaf, value);
                objection(tool, name, harm, args, &owns)
            }
        };
        let Some(why) = why else { return Ok(()) };
        *state.blocked.entry((name.to_owned(), why.clone())).or_default() += 1;
        Err(why)
    }

    /// Whether a raw message may be sent.
    ///
    /// # Errors
    /// When it calls, or seems to call, a tool that may do harm.
    pub(super) fn check_raw(&self, bytes: &[u8]) -> Result<(), String> {
        if self.policy == Destructive::All {
            return Ok(());
        }
        let mut named = Vec::new();
        let parsed: Option<Value> = serde_json::from_slice(bytes).ok();
        let messages = match &parsed {
            Some(Value::Array(messages)) => messages.iter().collect(),
            Some(message) => vec![message],
            None => Vec::new(),
        };
        for message in messages {
            let called = message.pointer("/params/name").and_then(Value::as_str);
            let Some(name) = called else { continue };
            let args = message.pointer("/params/arguments").and_then(Value::as_object);
            self.of_call(name, &args.cloned().unwrap_or_default(), None)?;
            named.push(name.to_owned());
        }
        // The target may parse a malformed message differently.
        let text = String::from_utf8_lossy(bytes);
        let mut state = self.state();
        let hidden = state.tools.iter().find_map(|(_, tool)| {
            let name =
                tool.name().filter(|name| destroys(tool) && !named.iter().any(|n| n == name))?;
            text.contains(&format!("\"{name}\"")).then(|| name.to_owned())
        });
        let Some(name) = hidden else { return Ok(()) };
        let why = "a malformed message names this tool".to_owned();
        *state.blocked.entry((name, why.clone())).or_default() += 1;
        Err(why)
    }

    /// Whether all steps of an attempt may be sent.
    pub(super) fn allows(&self, attempt: &Attempt, below: &Map<String, Value>) -> bool {
        self.add_mark(attempt);
        let checked = match &attempt.action {
            Action::Frame { bytes } => self.check_raw(bytes),
            Action::Http(request) => self.check_raw(request.body.as_bytes()),
            action => action.steps().iter().try_for_each(|step| self.check(step, below)),
        };
        checked.is_ok()
    }

    /// The blocked calls, one line per tool, except tools in `not_called`.
    pub(super) fn blocked(&self, not_called: &[&str]) -> Vec<NotRun> {
        let state = self.state();
        let mut by_tool: BTreeMap<&str, (usize, usize, &str)> = BTreeMap::new();
        for ((tool, why), count) in &state.blocked {
            let is_listed = state.tools.iter().any(|(_, known)| known.name() == Some(tool));
            let tool = if is_listed { tool.as_str() } else { "" };
            let (all, most, usual) = by_tool.entry(tool).or_default();
            *all += count;
            if *count > *most {
                (*most, *usual) = (*count, why);
            }
        }
        by_tool.retain(|tool, _| !not_called.contains(tool));
        let told = by_tool.into_iter().map(|(tool, (count, _, why))| {
            let calls = if count == 1 { "call" } else { "calls" };
            let what = match tool {
                "" => format!("{count} {calls} to unlisted tools"),
                tool => format!("{count} {calls} to `{tool}`"),
            };
            let why = match self.policy {
                Destructive::Never => NOT_CALLED.to_owned(),
                _ => format!(
                    "destructive, and {why}; use --include-destructive=all to send such calls"
                ),
            };
            NotRun { what, why }
        });
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::tool_call::ToolCall;
    use serde_json::json;

    use super::*;

    fn gate(policy: Destructive) -> Gate {
        let gate = Gate::new(policy, Some(Duration::from_secs(1)), Some("sleep".into()));
        let kill = json!({"name": "kill_process", "annotations": {"readOnlyHint": true},
            "inputSchema": {"properties": {"pid": {"type": "integer", "default": 1}}}});
        let tools =
            vec![Tool(kill), Tool(json!({"name": "read"})), Tool(json!({"name": "manage"}))];
        gate.add_tools(&[("s".to_owned(), Surface { tools, ..Surface::default() })]);
        gate
    }

    fn call(tool: &str, args: Value) -> Step {
        let args = args.as_object().cloned().unwrap_or_default();
        Step::Call(ToolCall { tool: tool.to_owned(), args, server: None })
    }

    fn passes(gate: &Gate, step: &Step) -> bool {
        gate.check(step, &Map::new()).is_ok()
    }

    #[test]
    fn every_way_to_say_a_call_is_seen() {
        let kill = call("kill_process", json!({"pid": 1}));
        let params = json!({"name": "kill_process", "arguments": {"pid": 1}});
        let raw = json!({"method": "tools/call", "params": params});
        let request = Step::Request {
            method: "tools/call".into(),
            params: params.as_object().cloned().unwrap(),
            server: None,
        };
        for policy in [Destructive::Never, Destructive::Own] {
            let gate = gate(policy);
            assert!(!passes(&gate, &kill) && !passes(&gate, &request));
            assert!(!passes(&gate, &call("manage", json!({"action": "kill"}))));
            assert!(
                !passes(&gate, &call("delete_everything", json!({}))),
                "even if it is not listed"
            );
            let below = json!({"action": "delete"});
            assert!(gate.check(&call("manage", json!({})), below.as_object().unwrap()).is_err());
            for message in [
                raw.to_string(),
                json!([raw]).to_string(),
                format!("{raw},"),
                r#"{"method":"tools/call","params":{"name":"kill_process","name":"read"}}"#
                    .to_owned(),
            ] {
                assert!(gate.check_raw(message.as_bytes()).is_err(), "{message}");
            }
            assert!(passes(&gate, &call("read", json!({"path": "/etc"}))));
            assert!(gate.check_raw(br#"{"method":"tools/call","params":{"name":"read"}}"#).is_ok());
            assert!(!gate.blocked(&[]).is_empty());
        }
        let gate = gate(Destructive::All);
        assert!(passes(&gate, &kill) && gate.check_raw(raw.to_string().as_bytes()).is_ok());
    }

    #[test]
    fn what_is_fitted_passes() {
        let gate = gate(Destructive::Own);
        let tool = gate.state().tools[0].1.clone();
        let schema = tool.input_schema().cloned().unwrap();
        let args = json!({"pid": 1}).as_object().cloned().unwrap();
        let fitted = gate.fitted("s", &tool, &schema, args);
        assert!(fitted.len() > 1, "the helper process, and one that cannot exist");
        for args in fitted {
            assert!(passes(&gate, &call("kill_process", Value::Object(args.clone()))), "{args:?}");
        }
    }
}
