//! Messages and arguments that stop or block a server.

use quintain_content::registry::Meta;
use quintain_evidence::evidence::{Observation, Outcome};
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::probe::Step;
use quintain_evidence::tool_call::ToolCall;
use quintain_evidence::weakness::Weakness;
use serde_json::{Map, json};

use super::tool_actions;
use crate::attack::{Action, Aim, Attack, Attempt, Brief, Hit, Kind, TargetView, Trial, Tried};
use crate::knowledge::{put, words};

pub(super) struct DosMalformed;

/// The attack that a crash of the server belongs to, whichever attack caused it.
pub const CRASH_ATTACK: &str = "dos-malformed";
/// The fault of a crash in a fingerprint.
pub const CRASH_FAULT: &str = "ends";

static META: Meta = Meta {
    id: CRASH_ATTACK,
    aliases: &["malformed-frames"],
    summary: "A malformed message or argument stops or blocks the server",
    docs: "\
# What it does
Sends messages that no client should send, each in a separate session: invalid JSON, messages that are not objects, wrong types, deep
nesting, huge numbers, invalid UTF-8, very long lines, unsolicited responses. Then pings the server. Calls tools with values of wrong
types, and with huge numbers where the schema states no maximum.

# Why it matters
One bad message from one client, or from a model that makes a mistake, makes the server unavailable to all.

# What counts as proof
The server process exits, or does not answer a ping after the message, while it answers a ping after an innocent message. An error
response is correct. Over stdio, a message harms only the client that sends it, so the severity is info.

# Example
```yaml
redteam:
  plugins: [dos-malformed]
```

# References
- CWE-20, CWE-248, CWE-674, CWE-400
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::Medium,
    cwe: &[20, 248, 674, 400],
    frameworks: &["LLM10", "ASI08"],
};

/// Deep enough to overflow the stack of a recursive parser, in a message that is still small.
const DEPTH: usize = 50_000;
const LONG: usize = 4 << 20;
/// So large that allocating memory for it fails immediately.
const HUGE: i64 = 1_000_000_000_000_000;
/// The role of the attempt that shows that the server survives an innocent message.
const CONTROL: &str = "control";
const MAX_CALLS: usize = 12;
const MAX_NUMBERS: usize = 4;
/// Words of tools and arguments that wait on purpose.
const WAITS: [&str; 10] =
    ["sleep", "wait", "delay", "timeout", "duration", "seconds", "ms", "timer", "interval", "ttl"];

impl Attack for DosMalformed {
    fn meta(&self) -> Meta {
        META
    }

    fn may_end_target(&self) -> bool {
        true
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = Vec::new();
        for (server, _) in view.surfaces {
            for message in ["frame", "tools/call"] {
                let place = Place::Message { server: server.clone(), message: message.to_owned() };
                aims.push(Aim::at(place));
            }
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Place::Message { server, message } = &aim.place else { return Vec::new() };
        let actions = match (message.as_str(), brief.view) {
            ("frame", view) => frames(view, server),
            (_, Some(view)) => calls(view, server),
            _ => Vec::new(),
        };
        let attempt = |(set, (form, role, action)): (usize, (String, String, Action))| Attempt {
            form,
            set,
            role,
            action,
            nonce: brief.nonce(),
            payload: None,
        };
        actions.into_iter().enumerate().map(attempt).collect()
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let mut controls = trial.tried.iter().filter(|tried| tried.attempt.role == CONTROL);
        // If an innocent message harms the server as well, the malformed ones prove nothing.
        if controls.any(|tried| harm(tried).is_some()) {
            return Vec::new();
        }
        trial.tried.iter().filter_map(|tried| Some(hit(trial, tried, &harm(tried)?))).collect()
    }
}

type Planned = (String, String, Action);

/// Messages that no client should send. The first one is the innocent control.
fn frames(view: Option<&TargetView<'_>>, server: &str) -> Vec<Planned> {
    let text = |text: &str| text.as_bytes().to_vec();
    // A call that reaches a tool exercises more code than a ping.
    let mut tools = view.into_iter().flat_map(TargetView::tools);
    let known = tools.find_map(|(of, tool)| {
        let argument = tool.properties()?.keys().next()?.as_str();
        let may = of == server && view.is_some_and(|view| tool_actions::may_call(view, tool));
        Some((tool.name().filter(|_| may)?, argument))
    });
    let (tool, argument) = known.unwrap_or(("quintain", "a"));
    let (tool, argument) = (json!(tool), json!(argument));
    let given = |value: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":{tool},"arguments":{{{argument}:{value}}}}}}}"#
        )
    };
    let call = |params: &str| {
        text(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#))
    };
    let nested = given(&format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH)));
    let huge = given(&format!("[{},1e999]", "9".repeat(5_000)));
    let long = given(&format!("\"{}\"", "a".repeat(LONG)));
    let mut no_text = text(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":""#);
    no_text.extend([0xff, 0xfe, 0xc3, 0x28]);
    no_text.extend(text(r#""}}"#));
    let frames = [
        ("innocent message", text(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#)),
        ("invalid JSON", text(r#"{"jsonrpc":"2.0","id":7,"method":"#)),
        ("null", text("null")),
        ("array", text(r#"[{"jsonrpc":"2.0","id":7,"method":"ping"},7,null]"#)),
        ("empty object", text("{}")),
        ("method of a wrong type", text(r#"{"jsonrpc":"2.0","id":7,"method":{"a":1}}"#)),
        ("id of a wrong type", text(r#"{"jsonrpc":7,"id":{"a":[1]},"method":"ping"}"#)),
        ("params of a wrong type", call(r#""text""#)),
        ("params without a name", call(r#"{"name":null,"arguments":[1]}"#)),
        ("deep nesting", text(&nested)),
        ("huge number", text(&huge)),
        ("invalid UTF-8", no_text),
        ("very long line", text(&long)),
        (
            "unsolicited messages",
            text(concat!(
                r#"{"jsonrpc":"2.0","id":99999,"result":null}"#,
                "\n",
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}"#
            )),
        ),
        (
            "second initialize of another version",
            text(
                r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":{"a":1},"capabilities":null}}"#,
            ),
        ),
    ];
    let planned = frames.into_iter().enumerate().map(|(at, (form, bytes))| {
        let role = if at == 0 { CONTROL } else { "" };
        (form.to_owned(), role.to_owned(), Action::Frame { bytes })
    });
    planned.collect()
}

/// Calls that may crash a tool. Wrong types share one session, since they rarely have an effect; each huge number
/// gets a separate session.
fn calls(view: &TargetView<'_>, server: &str) -> Vec<Planned> {
    let tools: Vec<_> = view
        .tools()
        .filter(|(of, tool)| *of == server && tool_actions::may_call(view, tool))
        .map(|(_, tool)| tool)
        .collect();
    let call = |tool: &str, args| {
        let server = Some(server.to_owned()).filter(|server| !server.is_empty());
        Step::Call(ToolCall { tool: tool.to_owned(), args, server })
    };
    let ping = || Step::Request {
        method: "ping".to_owned(),
        params: Map::new(),
        server: Some(server.to_owned()).filter(|server| !server.is_empty()),
    };
    let mut planned: Vec<Planned> = Vec::new();
    planned.push((
        "innocent message".to_owned(),
        CONTROL.to_owned(),
        Action::Alone { steps: vec![ping()], identity: 0 },
    ));
    let with_arguments =
        tools.iter().filter(|tool| tool.properties().is_some_and(|all| !all.is_empty()));
    let wrong: Vec<Step> = with_arguments
        .filter_map(|tool| {
            let args = tool.properties()?.keys().take(20);
            let args = args.map(|key| (key.clone(), json!([{"unexpected": [null, -1]}])));
            Some(call(tool.name()?, args.collect()))
        })
        .collect();
    for some in wrong.chunks(MAX_CALLS).take(2) {
        let steps = some.iter().cloned().chain([ping()]).collect();
        planned.push((
            "arguments of wrong types".to_owned(),
            String::new(),
            Action::Alone { steps, identity: 0 },
        ));
    }
    let numbers = view.knowledge.aims.iter().filter_map(|aim| {
        let Place::Argument { server: of, tool, pointer } = &aim.place else { return None };
        let name = tool_actions::last_name(aim);
        let waits = words(&name).iter().chain(&words(tool)).any(|w| WAITS.contains(&w.as_str()));
        let open =
            aim.schema.get("maximum").or_else(|| aim.schema.get("exclusiveMaximum")).is_none();
        let may = of == server && tools.iter().any(|known| known.name() == Some(tool.as_str()));
        (may && aim.is(Kind::Number) && open && !waits).then_some((aim, tool, pointer))
    });
    for (aim, tool, pointer) in numbers.take(MAX_NUMBERS) {
        let mut args = match aim.baseline.as_ref().map(|known| &known.step) {
            Some(Step::Call(call)) => call.args.clone(),
            _ => Map::new(),
        };
        put(&mut args, pointer, json!(HUGE));
        planned.push((
            format!("huge number for {}", aim.place),
            pointer.clone(),
            Action::Alone { steps: vec![call(tool, args), ping()], identity: 0 },
        ));
    }
    planned
}

/// What happened to the server, and the index of the request that caused it.
struct Harm {
    what: String,
    at: usize,
    /// `crashes` or `blocks`.
    verb: &'static str,
}

fn harm(tried: &Tried) -> Option<Harm> {
    let exchanges = &tried.evidence.exchanges;
    let closed = |outcome: &Outcome| matches!(outcome, Outcome::Closed { .. });
    let first = exchanges.iter().position(|exchange| closed(&exchange.outcome));
    let exit = tried.evidence.observations.iter().find_map(|observation| match observation {
        Observation::Exit { why } => Some(why),
        _ => None,
    });
    if let Some(why) = exit {
        let at = first.unwrap_or(exchanges.len().saturating_sub(1));
        let what = format!("the server process exited: {why}");
        return Some(Harm { what, at, verb: "crashes" });
    }
    if let Some(at) = first {
        return Some(Harm {
            what: "the server closed the connection without a response".to_owned(),
            at,
            verb: "crashes",
        });
    }
    // A call may be slow; a ping must not be.
    let last = exchanges.last()?;
    let is_ping = last.method == "ping" || matches!(tried.attempt.action, Action::Frame { .. });
    let silent = matches!(last.outcome, Outcome::TimedOut { .. });
    (is_ping && silent).then(|| {
        let slow = |outcome: &Outcome| matches!(outcome, Outcome::TimedOut { .. });
        let at = exchanges.iter().position(|exchange| slow(&exchange.outcome)).unwrap_or(0);
        let what = "the server did not answer a ping afterwards".to_owned();
        Harm { what, at, verb: "blocks" }
    })
}

fn hit(trial: &Trial<'_>, tried: &Tried, harm: &Harm) -> Hit {
    let (form, verb) = (&tried.attempt.form, harm.verb);
    let server = trial.aim.place.server().to_owned();
    let (place, title) = if let Action::Alone { steps, .. } = &tried.attempt.action {
        let culprit = steps.iter().take(harm.at + 1).rev().find_map(|step| match step {
            Step::Call(call) => Some(call.tool.clone()),
            Step::Request { .. } => None,
        });
        let tool = culprit.unwrap_or_default();
        let pointer = tried.attempt.role.clone();
        let place = if pointer.is_empty() {
            Place::Tool { server, tool }
        } else {
            Place::Argument { server, tool, pointer }
        };
        let title = format!("Denial of service: `{place}` {verb} the server ({form})");
        (place, title)
    } else {
        let place = Place::Message { server, message: form.clone() };
        let title = format!("Denial of service: a malformed message {verb} the server ({form})");
        (place, title)
    };
    let hit = Hit::confirmed(title, harm.what.clone()).by(tried).fault(CRASH_FAULT).at(place);
    if trial.view.capabilities.http {
        // An HTTP server is then unavailable to other clients as well.
        hit.severity(Severity::High)
    } else if matches!(tried.attempt.action, Action::Frame { .. }) {
        // A model, and the texts it read, influence arguments; only the client writes whole messages.
        hit.severity(Severity::Info)
    } else {
        hit
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use quintain_evidence::evidence::{Evidence, Exchange};

    use super::*;
    use crate::attacks::testing::{TestTarget, answers, comes};

    fn room() -> TestTarget {
        let schema = json!({"type": "object", "properties": {
            "columns": {"type": "integer"}, "rows": {"type": "integer", "maximum": 5},
            "seconds": {"type": "number"}}});
        TestTarget::of_tools(&[json!({"name": "make_table", "inputSchema": schema})])
    }

    fn gone() -> Evidence {
        let mut evidence = comes(Outcome::Closed { why: "end of file".into() });
        evidence.observations.push(Observation::Exit { why: "exit code 1".into() });
        evidence
    }

    fn silent(method: &str) -> Evidence {
        let mut evidence = comes(Outcome::TimedOut { after: Duration::from_secs(1) });
        evidence.exchanges[0].method = method.into();
        evidence
    }

    #[test]
    fn a_process_that_ends_is_proof_and_the_message_is_named() {
        let hits = room().run_attack(&DosMalformed, |attempt| match attempt.form.as_str() {
            "deep nesting" => gone(),
            "null" => silent("ping"),
            _ => answers("pong"),
        });
        let places: Vec<String> =
            hits.iter().map(|hit| hit.place.as_ref().unwrap().to_string()).collect();
        assert_eq!(places, ["message null", "message deep nesting"]);
        assert_eq!(hits[0].severity, Some(Severity::Info), "only the client itself is harmed");
    }

    #[test]
    fn errors_as_answers_are_right() {
        let error = |_: &Attempt| {
            comes(Outcome::RpcError { code: -32700, message: "Parse error".into(), data: None })
        };
        assert!(room().run_attack(&DosMalformed, error).is_empty());
        assert!(room().run_attack(&DosMalformed, |_| Evidence::default()).is_empty());
    }

    #[test]
    fn who_does_not_survive_an_innocent_message_proves_nothing() {
        assert!(room().run_attack(&DosMalformed, |_| gone()).is_empty());
    }

    #[test]
    fn a_call_that_takes_long_is_no_proof_while_pings_are_answered() {
        let slow = |attempt: &Attempt| {
            let mut evidence = silent("tools/call");
            if matches!(attempt.action, Action::Frame { .. }) {
                return answers("pong");
            }
            let pong = Exchange { method: "ping".into(), ..answers("pong").exchanges.remove(0) };
            evidence.exchanges.push(pong);
            evidence
        };
        assert!(room().run_attack(&DosMalformed, slow).is_empty());
    }

    #[test]
    fn only_numbers_without_a_bound_are_made_huge() {
        let room = room();
        let planned = calls(&room.view(), "s");
        let forms: Vec<&str> = planned.iter().map(|(form, ..)| form.as_str()).collect();
        assert_eq!(
            forms,
            ["innocent message", "arguments of wrong types", "huge number for make_table.columns"]
        );
        let hits = room.run_attack(&DosMalformed, |attempt| {
            if attempt.form.starts_with("huge") { gone() } else { answers("pong") }
        });
        assert_eq!(hits.len(), 2, "the frame and the argument");
        let place = hits[1].place.as_ref().unwrap().to_string();
        assert_eq!(place, "make_table.columns");
    }
}
