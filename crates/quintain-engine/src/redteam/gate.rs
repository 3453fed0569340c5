//! Decides which calls go out. Everything that is sent to a target passes here, whoever wrote it: what a call
//! does and what it names are all that counts.

use std::collections::BTreeMap;
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

use super::own::Own;

/// Why a destructive tool is not called at all.
pub(super) const LEFT_ALONE: &str = "it may destroy something or change settings; --include-destructive calls it with objects of this run";
/// A process of ours outlives a run without a limit by no more than this.
const LIFE: Duration = Duration::from_hours(1);

pub(super) struct Gate {
    policy: Destructive,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Everything that is listed for anybody, with its server.
    tools: Vec<(String, Tool)>,
    own: Own,
    /// How many calls were held back, by tool and reason.
    held: BTreeMap<(String, String), usize>,
}

impl Gate {
    /// `starts` is whether a process of ours may be started.
    pub(super) fn new(policy: Destructive, time: Option<Duration>, starts: bool) -> Self {
        let life = time.map_or(LIFE, |time| time + Duration::from_mins(1));
        let own = Own::new(Some(life).filter(|_| starts));
        Self { policy, state: Mutex::new(State { own, ..State::default() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what is listed.
    pub(super) fn knows(&self, surfaces: &[(String, Surface)]) {
        let mut state = self.state();
        for (server, surface) in surfaces {
            for tool in &surface.tools {
                if !state.tools.iter().any(|(of, known)| of == server && known == tool) {
                    state.tools.push((server.clone(), tool.clone()));
                }
            }
        }
    }

    /// Notes what was planted.
    pub(super) fn plants(&self, hints: &Hints, ground: Option<PathBuf>) {
        self.state().own.plants(hints, ground);
    }

    /// Notes the mark of an attempt: what carries it is nobody else's.
    pub(super) fn marks(&self, attempt: &Attempt) {
        if self.policy == Destructive::Own {
            self.state().own.mark(attempt.nonce.as_str());
        }
    }

    /// Keeps what a call made for us.
    pub(super) fn adopt(
        &self,
        server: &str,
        tool: &str,
        said: &[Learned],
        is_known: impl Fn(&Value) -> bool,
    ) {
        if self.policy == Destructive::Own {
            self.state().own.adopt(server, tool, said, is_known);
        }
    }

    /// Whether a tool is not called at all.
    pub(super) fn leaves_alone(&self, tool: &Tool) -> bool {
        !self.policy.is_allowed() && destroys(tool)
    }

    /// Whether a thing that a tool can be told to do is not asked for.
    pub(super) fn is_open(&self) -> bool {
        self.policy.is_allowed()
    }

    /// Arguments that may be sent, made from those that a tool should accept.
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
        // Objects of ours first, then the other ways to name them, then what cannot exist.
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

    /// Whether a step may be sent, with these arguments below its own; why not.
    ///
    /// # Errors
    /// When it may do harm.
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
            // Several of one name: the worst of them may be meant.
            listed.sort_by_key(|tool| !destroys(tool));
            let tool = listed.first().copied();
            let Some(harm) = harm_of_call(tool, name, args) else { return Ok(()) };
            if self.policy == Destructive::Never {
                Some(LEFT_ALONE.to_owned())
            } else {
                let owns = |leaf: &Leaf<'_>, value: &Value| state.own.owns(server, leaf, value);
                objection(tool, name, harm, args, &owns)
            }
        };
        let Some(why) = why else { return Ok(()) };
        *state.held.entry((name.to_owned(), why.clone())).or_default() += 1;
        Err(why)
    }

    /// Whether a message of any bytes may be sent.
    ///
    /// # Errors
    /// When it calls, or seems to call, what may do harm.
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
        // What cannot be read may be read otherwise by the target.
        let text = String::from_utf8_lossy(bytes);
        let mut state = self.state();
        let hidden = state.tools.iter().find_map(|(_, tool)| {
            let name =
                tool.name().filter(|name| destroys(tool) && !named.iter().any(|n| n == name))?;
            text.contains(&format!("\"{name}\"")).then(|| name.to_owned())
        });
        let Some(name) = hidden else { return Ok(()) };
        let why = "a malformed message names it".to_owned();
        *state.held.entry((name, why.clone())).or_default() += 1;
        Err(why)
    }

    /// Whether an attempt may be made as a whole.
    pub(super) fn lets_pass(&self, attempt: &Attempt, below: &Map<String, Value>) -> bool {
        self.marks(attempt);
        let checked = match &attempt.action {
            Action::Frame { bytes } => self.check_raw(bytes),
            Action::Http(request) => self.check_raw(request.body.as_bytes()),
            action => action.steps().iter().try_for_each(|step| self.check(step, below)),
        };
        checked.is_ok()
    }

    /// What was held back, a line for each tool, but for tools that are listed as left alone.
    pub(super) fn held(&self, left_alone: &[&str]) -> Vec<NotRun> {
        let state = self.state();
        let mut by_tool: BTreeMap<&str, (usize, usize, &str)> = BTreeMap::new();
        for ((tool, why), count) in &state.held {
            let is_listed = state.tools.iter().any(|(_, known)| known.name() == Some(tool));
            let tool = if is_listed { tool.as_str() } else { "" };
            let (all, most, usual) = by_tool.entry(tool).or_default();
            *all += count;
            if *count > *most {
                (*most, *usual) = (*count, why);
            }
        }
        by_tool.retain(|tool, _| !left_alone.contains(tool));
        let told = by_tool.into_iter().map(|(tool, (count, _, why))| {
            let calls = if count == 1 { "call" } else { "calls" };
            let what = match tool {
                "" => format!("{count} {calls} of tools that are not listed"),
                tool => format!("{count} {calls} of `{tool}`"),
            };
            let why = match self.policy {
                Destructive::Never => LEFT_ALONE.to_owned(),
                _ => format!("destructive, and {why}; --include-destructive=all sends such calls"),
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
        let gate = Gate::new(policy, Some(Duration::from_secs(1)), true);
        let kill = json!({"name": "kill_process", "annotations": {"readOnlyHint": true},
            "inputSchema": {"properties": {"pid": {"type": "integer", "default": 1}}}});
        let tools =
            vec![Tool(kill), Tool(json!({"name": "read"})), Tool(json!({"name": "manage"}))];
        gate.knows(&[("s".to_owned(), Surface { tools, ..Surface::default() })]);
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
                "though it is not listed"
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
            assert!(!gate.held(&[]).is_empty());
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
        assert!(fitted.len() > 1, "a process of ours, and one that cannot exist");
        for args in fitted {
            assert!(passes(&gate, &call("kill_process", Value::Object(args.clone()))), "{args:?}");
        }
    }
}
