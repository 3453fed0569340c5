//! Tools that can be called although they are not listed.

use std::collections::BTreeSet;

use quintain_content::registry::Meta;
use quintain_evidence::evidence::Outcome;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::probe::Step;
use quintain_evidence::tool_call::ToolCall;
use quintain_evidence::weakness::Weakness;
use serde_json::Map;

use super::http::of_role;
use super::{listed, names, reach, tool_access};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, TargetView, Trial, Tried};
use crate::knowledge::{is_destructive, words};

pub(super) struct HiddenTool;

static META: Meta = Meta {
    id: "hidden-tool",
    aliases: &["shadow-tool", "unlisted-tool"],
    summary: "A tool that is not listed can be called",
    docs: "\
# What it does
Calls tools that are not listed: names that descriptions, instructions and errors mention, and variants of listed names (`list_user` for
`list_users`, and the prefixes `get_`, `admin_` and `debug_`). A call of a made-up name accompanies each call. Names that suggest
destruction are skipped unless destructive calls are allowed.

# Why it matters
Unlisted tools are not reviewed, and often not protected either.

# What counts as proof
The call succeeds, and the call of the made-up name is refused. If the error is about arguments, and the error for the made-up name is
about an unknown tool, the finding is suspected.

# Example
```yaml
redteam:
  plugins: [hidden-tool]
```

# References
- CWE-862, CWE-912, OWASP MCP09, OWASP API5
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[862, 912],
    frameworks: &["MCP09", "MCP07", "API5", "ASI03"],
};

const MAX_MENTIONED: usize = 12;
const MAX_RELATIVES: usize = 24;
const MAX_OF_VERB: usize = 6;
/// Prefixes for the objects of listed tools. The empty one switches between singular and plural.
const VERBS: [&str; 6] = ["admin", "debug", "list", "get", "delete", ""];
/// Names that are often left over from development.
const LEFT_OVER: [&str; 4] = ["debug", "admin", "debug_info", "get_config"];

impl Attack for HiddenTool {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let servers = view.surfaces.iter().filter(|(_, surface)| !surface.tools.is_empty());
        let place = |server: &String| Place::Message {
            server: server.clone(),
            message: "tools/call".to_owned(),
        };
        servers.map(|(server, _)| Aim::at(place(server))).collect()
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(view) = brief.view else { return Vec::new() };
        let server = aim.place.server();
        let mut attempts = Vec::new();
        for (set, (name, form)) in candidates(view, server).into_iter().enumerate() {
            let args = arguments(view, server, &name);
            let call = |tool: &str| {
                let server = Some(server.to_owned()).filter(|server| !server.is_empty());
                vec![Step::Call(ToolCall { tool: tool.to_owned(), args: args.clone(), server })]
            };
            let nonce = brief.nonce();
            let steps = call(nonce.as_str());
            attempts.push(reach::plain(steps, 0, (set, form, "unknown"), nonce));
            let attempt = reach::plain(call(&name), 0, (set, form, "called"), brief.nonce());
            attempts.push(Attempt { payload: Some(name.into()), ..attempt });
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        trial.sets().filter_map(|(_, tried)| judge(trial, &tried)).collect()
    }
}

/// Names to try, those mentioned in a text first.
fn candidates(view: &TargetView<'_>, server: &str) -> Vec<(String, &'static str)> {
    let listed: BTreeSet<&str> =
        view.tools().filter(|(of, _)| *of == server).filter_map(|(_, tool)| tool.name()).collect();
    let mut found: Vec<(String, &'static str)> = Vec::new();
    let mut add = |name: String, form: &'static str, most: usize| {
        let destroys = is_destructive(&name) && !view.capabilities.destructive;
        let known = listed.contains(name.as_str()) || found.iter().any(|(known, _)| *known == name);
        if !destroys && !known && found.len() < most {
            found.push((name, form));
        }
    };
    let shown = names::listed(view);
    for listed in listed::texts(view).iter().filter(|listed| listed.place.server() == server) {
        let named = names::called_tools(listed.text).into_iter().chain(names::in_text(listed.text));
        for name in named.filter(|_| listed.text.contains(' ')) {
            if !shown.contains(name.as_str()) {
                add(name, "mentioned in a text", MAX_MENTIONED);
            }
        }
    }
    let errors = view.knowledge.silent.iter().filter(|silent| silent.server == server);
    for name in errors.flat_map(|silent| names::in_text(&silent.why)) {
        if !shown.contains(name.as_str()) {
            add(name, "mentioned in an error", MAX_MENTIONED);
        }
    }
    let most = MAX_MENTIONED + MAX_RELATIVES;
    for name in LEFT_OVER {
        add(name.to_owned(), "common name of a debugging tool", most);
    }
    for verb in VERBS {
        let made = listed.iter().filter_map(|name| relative(name, verb)).take(MAX_OF_VERB);
        made.for_each(|name| add(name, "variant of a listed name", most));
    }
    found
}

/// Another name for the same objects, with the same separator. Without a verb, singular instead of plural or
/// plural instead of singular.
fn relative(name: &str, other: &str) -> Option<String> {
    let (verb, things) = name.split_once(['_', '-'])?;
    let mark = if name.contains('_') { '_' } else { '-' };
    match (other, things.strip_suffix('s')) {
        ("", Some(one)) => Some(format!("{verb}{mark}{one}")),
        ("", None) => Some(format!("{name}s")),
        _ if other == verb => None,
        _ => Some(format!("{other}{mark}{things}")),
    }
}

/// The arguments of the listed tool for the same objects.
fn arguments(view: &TargetView<'_>, server: &str, name: &str) -> Map<String, serde_json::Value> {
    let things = |name: &str| -> Vec<String> {
        let singular = |word: &String| word.trim_end_matches('s').to_owned();
        words(name).iter().skip(1).map(singular).collect()
    };
    let wanted = things(name);
    let same = view.knowledge.baselines.iter().find(|baseline| {
        let called = match &baseline.step {
            Step::Call(call) => call.tool.as_str(),
            Step::Request { .. } => "",
        };
        baseline.server == server && !wanted.is_empty() && things(called) == wanted
    });
    same.map(tool_access::arguments).unwrap_or_default()
}

/// Whether an error says that the tool does not exist.
fn says_unknown(outcome: &Outcome) -> bool {
    let said = outcome.said().to_lowercase();
    let known = [
        "unknown",
        "not found",
        "no such",
        "does not exist",
        "doesn't exist",
        "not exist",
        "unsupported",
        "not supported",
        "invalid tool",
        "unrecognized",
        "unrecognised",
        "not a tool",
        "no tool",
        "not implemented",
        "not available",
    ];
    known.iter().any(|word| said.contains(word))
}

/// Whether an error is about arguments.
fn says_arguments(outcome: &Outcome) -> bool {
    let said = outcome.said().to_lowercase();
    let known = [
        "missing required",
        "required argument",
        "required property",
        "is required",
        "validation error",
        "invalid arguments",
        "missing argument",
        "field required",
        "required parameter",
        "must have required",
    ];
    known.iter().any(|word| said.contains(word))
}

fn judge(trial: &Trial<'_>, tried: &[&Tried]) -> Option<Hit> {
    let (unknown, called) = (of_role(tried, "unknown")?, of_role(tried, "called")?);
    let (no, yes) = (&unknown.last()?.outcome, &called.last()?.outcome);
    if tool_access::succeeds(no) || !no.is_answer() || says_unknown(yes) {
        return None;
    }
    let name = called.attempt.payload.as_ref()?.as_str()?;
    let tool = Place::Tool { server: trial.aim.place.server().to_owned(), tool: name.to_owned() };
    let form = &called.attempt.form;
    let hit = if tool_access::succeeds(yes) {
        let title = format!("Unlisted tool `{name}` can be called ({form})");
        Hit::confirmed(title, "the call succeeded, and a call of a made-up name was refused")
    } else if says_unknown(no) && says_arguments(yes) {
        let title = format!("Unlisted tool `{name}` exists ({form})");
        let what = "the error is about arguments, and the error for a made-up name is about an unknown tool";
        Hit::suspected(title, what).severity(Severity::Medium)
    } else {
        return None;
    };
    Some(hit.by(called).at(tool).fault("hidden"))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;
    use quintain_evidence::finding::Confidence;
    use serde_json::json;

    use super::*;
    use crate::attacks::testing::{TestTarget, answers, comes};

    fn room() -> TestTarget {
        TestTarget::of_tools(&[
            json!({"name": "list_users", "description": "Lists users. Use the export_users tool to get all."}),
            json!({"name": "get_user", "description": "Shows one, by user_id of list_users."}),
        ])
    }

    fn unknown() -> Evidence {
        comes(Outcome::RpcError { code: -32602, message: "Unknown tool".into(), data: None })
    }

    fn is(attempt: &Attempt, name: &str) -> bool {
        attempt.payload.as_ref().is_some_and(|payload| payload == name)
    }

    #[test]
    fn a_mentioned_tool_that_answers_is_confirmed() {
        let hits = room().run_attack(&HiddenTool, |attempt| {
            if is(attempt, "export_users") { answers("ann, bob") } else { unknown() }
        });
        assert_eq!((hits.len(), hits[0].confidence), (1, Confidence::Confirmed));
        assert_eq!(hits[0].place.as_ref().unwrap().to_string(), "export_users");
    }

    #[test]
    fn an_error_about_arguments_is_suspected() {
        let hits = room().run_attack(&HiddenTool, |attempt| {
            if !is(attempt, "admin_users") {
                return unknown();
            }
            let message = "Missing required argument: id".into();
            comes(Outcome::RpcError { code: -32602, message, data: None })
        });
        assert_eq!((hits.len(), hits[0].confidence), (1, Confidence::Suspected));
    }

    #[test]
    fn servers_that_refuse_or_answer_everything_are_clean() {
        assert!(room().run_attack(&HiddenTool, |_| unknown()).is_empty());
        assert!(room().run_attack(&HiddenTool, |_| answers("hello")).is_empty());
        let echo = |attempt: &Attempt| {
            let name = attempt.payload.as_ref().map_or("x".into(), ToString::to_string);
            comes(Outcome::ToolError(json!({"isError": true, "content":
                [{"type": "text", "text": format!("Unknown tool: {name}. Did you mean list_users?")}]})))
        };
        assert!(room().run_attack(&HiddenTool, echo).is_empty());
    }

    #[test]
    fn what_destroys_is_not_called() {
        let room = room();
        let names: Vec<String> =
            candidates(&room.view(), "s").into_iter().map(|(name, _)| name).collect();
        assert!(names.iter().all(|name| !name.starts_with("delete")), "{names:?}");
        assert!(!names.contains(&"user_id".to_owned()) && names.contains(&"list_user".to_owned()));
        assert!(names.len() <= MAX_MENTIONED + MAX_RELATIVES);
    }
}
