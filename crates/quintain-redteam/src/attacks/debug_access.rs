//! Debugging tools, flags and resources that expose the internals of a server.

use std::sync::LazyLock;

use quintain_content::json_value;
use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use quintain_evidence::surface::Tool;
use quintain_evidence::tool_call::ToolCall;
use quintain_evidence::weakness::Weakness;
use regex::Regex;
use serde_json::{Map, Value, json};

use super::tool_actions;
use crate::attack::{Action, Aim, Attack, Attempt, Brief, Hit, TargetView, Trial, Tried};
use crate::knowledge::words;

pub(super) struct DebugAccess;

static META: Meta = Meta {
    id: "debug-access",
    aliases: &["debug"],
    summary: "A tool, flag or resource exposes the server's environment",
    docs: "\
# What it does
Calls tools with names that suggest debugging, sets flags such as `debug` and `verbose` even if the schema does not have them, requests
levels such as `debug`, and reads resources such as `debug://state` and `config://app` even if they are not listed.

# Why it matters
The environment of a server contains its passwords and keys.

# What counts as proof
The response contains a random value that Quintain put into the environment of the server, or a list of environment variables with their
values. The word *debug*, or the name of a variable without its value, proves nothing. If the tool states that it returns the environment,
the severity is medium and the finding has a note.

# Example
```yaml
redteam:
  plugins: [debug-access]
```

# References
- CWE-489, CWE-215, CWE-526
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[489, 215, 526],
    frameworks: &["MCP01", "MCP10", "ASI03", "LLM02"],
};

const SUSPICIOUS: [&str; 27] = [
    "debug",
    "env",
    "environment",
    "environ",
    "printenv",
    "config",
    "configuration",
    "settings",
    "diagnose",
    "diagnostic",
    "diagnostics",
    "trace",
    "dump",
    "inspect",
    "internal",
    "internals",
    "process",
    "system",
    "admin",
    "vars",
    "variables",
    "state",
    "status",
    "health",
    "info",
    "introspect",
    "runtime",
];
/// Words with which a tool states that it returns the environment.
const OPENLY: [&str; 4] = ["environment", "env", "variables", "printenv"];
const FLAGS: [&str; 5] = ["debug", "verbose", "trace", "include_env", "_debug"];
const LEVELS: [&str; 5] = ["level", "mode", "verbosity", "detail", "section"];
const VALUES: [&str; 4] = ["debug", "all", "env", "verbose"];
const URIS: [&str; 10] = [
    "debug://state",
    "debug://env",
    "debug://info",
    "debug://config",
    "config://app",
    "config://env",
    "config://server",
    "env://all",
    "internal://state",
    "system://info",
];

static SEARCH_PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?m)(?:^|["'\s{,])PATH["']?\s*[:=]\s*["']?(?:/[^\s"',;]*:/|[A-Z]:\\[^\s"']*;)"#)
        .ok()
});
static OTHERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = "HOME|PWD|USER|SHELL|HOSTNAME|LANG|TERM|USERPROFILE|TEMP";
    Regex::new(&format!(r#"(?m)(?:^|["'\s{{,])(?:{names})["']?\s*[:=]\s*["']?[\w/~.]"#)).ok()
});

impl Attack for DebugAccess {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let aim = |place, baseline, schema| Aim { baseline, schema, ..Aim::at(place) };
        let mut aims: Vec<Aim> = Vec::new();
        for (server, tool) in view.tools() {
            let Some(name) = tool.name().filter(|_| tool_actions::may_call(view, tool)) else {
                continue;
            };
            let place = Place::Tool { server: server.to_owned(), tool: name.to_owned() };
            let baseline = view.knowledge.baseline(server, name).cloned();
            aims.push(aim(place, baseline, tool.input_schema().cloned().unwrap_or(Value::Null)));
        }
        aims.sort_by_key(|aim| !sounds(aim.place.tool().unwrap_or_default()));
        for (server, surface) in view.surfaces {
            if !surface.resources.is_empty() || surface.declares("resources") {
                aims.push(aim(Place::Uri { server: server.clone() }, None, Value::Null));
            }
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let steps = match &aim.place {
            Place::Tool { server, tool } => calls(aim, server, tool),
            Place::Uri { server } => resources(brief, server),
            _ => Vec::new(),
        };
        let attempt = |(set, (form, payload, step)): (usize, (String, Value, Step))| Attempt {
            form,
            set,
            role: String::new(),
            action: Action::Steps { steps: vec![step], identity: 0 },
            nonce: brief.nonce(),
            payload: Some(payload),
        };
        steps.into_iter().enumerate().map(attempt).collect()
    }

    fn expects(&self, set: &[Attempt], view: &TargetView<'_>) -> Option<(usize, Indicator)> {
        let text = view.capabilities.env_canary.clone().filter(|text| !text.is_empty())?;
        (set.len() == 1).then_some((0, Indicator::Environment { text }))
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let canary = trial.view.capabilities.env_canary.as_deref();
        let normally = trial.baseline().map(|exchange| exchange.outcome.said()).unwrap_or_default();
        let shows_anyway = inside(&normally, canary).is_some();
        let tool = tool_actions::tool_of(trial.view, trial.aim);
        let hits = trial.tried.iter().filter_map(|tried| {
            let what = inside(&tried.said(), canary)?;
            let plain = tried.attempt.form == "call";
            // The response contains it without the flag, too.
            if !plain && shows_anyway {
                return None;
            }
            Some(hit(trial, tried, tool, what))
        });
        hits.collect()
    }
}

fn sounds(name: &str) -> bool {
    words(name).iter().any(|word| SUSPICIOUS.contains(&word.as_str()))
}

/// The unchanged call, calls with flags, and calls with levels.
fn calls(aim: &Aim, server: &str, tool: &str) -> Vec<(String, Value, Step)> {
    let args = match aim.baseline.as_ref().map(|known| &known.step) {
        Some(Step::Call(call)) => call.args.clone(),
        _ => Map::new(),
    };
    let step = |args: Map<String, Value>| {
        let server = Some(server.to_owned()).filter(|server| !server.is_empty());
        Step::Call(ToolCall { tool: tool.to_owned(), args, server })
    };
    let mut found = Vec::new();
    let shown =
        aim.baseline.as_ref().map(|known| known.exchange.outcome.said()).unwrap_or_default();
    if sounds(tool) || inside(&shown, None).is_some() {
        found.push(("call".to_owned(), Value::Null, step(args.clone())));
    }
    let empty = Map::new();
    let properties = aim.schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    for (name, schema) in properties {
        let is = |known: &[&str]| words(name).iter().any(|word| known.contains(&word.as_str()));
        let kind = schema.get("type").and_then(Value::as_str);
        let values: Vec<Value> = if kind == Some("boolean") && (is(&FLAGS) || is(&SUSPICIOUS)) {
            vec![json!(true)]
        } else if let Some(listed) = schema.get("enum").and_then(Value::as_array) {
            let of_list = listed.iter().filter(|value| {
                value.as_str().is_some_and(|text| sounds(text) || VALUES.contains(&text))
            });
            of_list.take(3).cloned().collect()
        } else if kind == Some("string") && is(&LEVELS) {
            VALUES.map(|value| json!(value)).to_vec()
        } else {
            Vec::new()
        };
        for value in values {
            let mut args = args.clone();
            args.insert(name.clone(), value.clone());
            found.push((format!("{name} {value}"), value, step(args)));
        }
    }
    // Servers often enforce a schema that forbids other properties.
    if aim.schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        let hidden = FLAGS.iter().filter(|flag| !properties.contains_key(**flag));
        let hidden: Map<String, Value> =
            hidden.map(|flag| ((*flag).to_owned(), json!(true))).collect();
        let mut args = args;
        args.extend(hidden.clone());
        found.push(("hidden flags".to_owned(), Value::Object(hidden), step(args)));
    }
    found.truncate(10);
    found
}

/// Resources with names that suggest debugging, listed or not.
fn resources(brief: &Brief<'_>, server: &str) -> Vec<(String, Value, Step)> {
    let surfaces = brief.view.into_iter().flat_map(|view| view.surfaces);
    let listed =
        surfaces.filter(|(of, _)| of == server).flat_map(|(_, surface)| &surface.resources);
    let listed = listed.filter_map(|resource| resource.uri()).filter(|uri| sounds(uri)).take(6);
    let mut uris: Vec<&str> = listed.collect();
    uris.extend(URIS.iter().filter(|uri| !uris.contains(*uri)).collect::<Vec<_>>());
    let step = |uri: &str| Step::Request {
        method: "resources/read".to_owned(),
        params: Map::from_iter([("uri".to_owned(), json!(uri))]),
        server: Some(server.to_owned()).filter(|server| !server.is_empty()),
    };
    uris.iter().map(|uri| ("resource".to_owned(), json!(uri), step(uri))).collect()
}

/// The evidence that a response exposes the environment.
fn inside(said: &str, canary: Option<&str>) -> Option<String> {
    if let Some(canary) = canary.filter(|canary| !canary.is_empty() && said.contains(canary)) {
        return Some(format!(
            "the response contains {canary}, a random value from the environment of the server"
        ));
    }
    let matches = |regex: &Option<Regex>| regex.as_ref().is_some_and(|regex| regex.is_match(said));
    (matches(&SEARCH_PATH) && matches(&OTHERS))
        .then(|| "the response lists environment variables with their values".to_owned())
}

fn hit(trial: &Trial<'_>, tried: &Tried, tool: Option<&Tool>, what: String) -> Hit {
    let hit = placed(trial, tried, tool, what);
    match &trial.view.capabilities.env_canary {
        Some(text) if !text.is_empty() && tried.said().contains(text.as_str()) => {
            hit.sign(Indicator::Environment { text: text.clone() })
        }
        _ => hit,
    }
}

fn placed(trial: &Trial<'_>, tried: &Tried, tool: Option<&Tool>, what: String) -> Hit {
    let form = &tried.attempt.form;
    let payload = tried.attempt.payload.as_ref().and_then(Value::as_str);
    if let (Place::Uri { server }, Some(uri)) = (&trial.aim.place, payload) {
        let place = Place::Resource { server: server.clone(), uri: uri.to_owned() };
        let title = format!("`{place}` exposes the server's environment variables");
        return Hit::confirmed(title, what).by(tried).fault("resource").at(place);
    }
    let place = &trial.aim.place;
    if form != "call" {
        let title = format!("`{place}` exposes the server's environment variables ({form})");
        let hit = Hit::confirmed(title, what).by(tried).fault("flag");
        let name = form.split(' ').next().unwrap_or_default();
        let of_schema = tool.and_then(Tool::properties).is_some_and(|all| all.contains_key(name));
        return match place {
            Place::Tool { server, tool } if of_schema => hit.at(Place::Argument {
                server: server.clone(),
                tool: tool.clone(),
                pointer: format!("/{}", json_value::pointer_token(name)),
            }),
            _ => hit,
        };
    }
    let title = format!("`{place}` exposes the server's environment variables");
    let hit = Hit::confirmed(title, what).by(tried).fault("tool");
    let openly = tool
        .and_then(Tool::description)
        .is_some_and(|text| words(text).iter().any(|word| OPENLY.contains(&word.as_str())));
    if openly {
        let note = "the tool states that it returns the environment; remove it outside development";
        return hit.severity(Severity::Medium).note(note);
    }
    hit
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;
    use quintain_evidence::surface::Resource;

    use super::*;
    use crate::attacks::testing::{TestTarget, answers, args};

    const CANARY: &str = "quintain-env-abcdef";

    fn room(tool: Value) -> TestTarget {
        let mut room = TestTarget::of_tools(&[tool]);
        room.capabilities.env_canary = Some(CANARY.into());
        room
    }

    #[test]
    fn the_canary_of_the_environment_is_proof() {
        let room = room(json!({"name": "inspect_process"}));
        let hits = room.run_attack(&DebugAccess, |_| answers(&format!("{{\"X\": \"{CANARY}\"}}")));
        assert_eq!(hits[0].fault, "tool");
        assert!(hits[0].note.is_none());
    }

    #[test]
    fn variables_with_values_are_proof_and_names_are_none() {
        let room = room(json!({"name": "debug_env", "description": "The environment."}));
        let dump = "PATH=/usr/bin:/bin\nHOME=/root\n";
        let hits = room.run_attack(&DebugAccess, |_| answers(dump));
        assert_eq!(hits[0].severity, Some(Severity::Medium));
        let tips = "Look at the environment first: PATH, HOME and LANG.";
        assert!(room.run_attack(&DebugAccess, |_| answers(tips)).is_empty());
        assert!(room.run_attack(&DebugAccess, |_| answers("debug: on")).is_empty());
        assert!(room.run_attack(&DebugAccess, |_| Evidence::default()).is_empty());
    }

    #[test]
    fn a_level_that_shows_more_is_named() {
        let schema = json!({"type": "object", "additionalProperties": false, "properties": {
            "level": {"type": "string", "enum": ["short", "debug"]}}});
        let mut room = room(json!({"name": "diagnose", "inputSchema": schema}));
        room.works("diagnose", Map::new(), &answers("good"));
        let hits = room.run_attack(&DebugAccess, |attempt| {
            let is_debug = args(attempt).get("level").is_some_and(|level| level == "debug");
            answers(if is_debug { CANARY } else { "good" })
        });
        assert_eq!(hits.len(), 1);
        assert_eq!(hits[0].place.as_ref().unwrap().to_string(), "diagnose.level");
    }

    #[test]
    fn hidden_flags_count_only_if_they_change_something() {
        let mut room = room(json!({"name": "get_time", "inputSchema": {"type": "object"}}));
        room.works("get_time", Map::new(), &answers("noon"));
        let hits = room.run_attack(&DebugAccess, |attempt| {
            answers(if args(attempt).contains_key("debug") { CANARY } else { "noon" })
        });
        assert_eq!(hits.iter().map(|hit| hit.fault).collect::<Vec<_>>(), ["flag"]);
    }

    #[test]
    fn resources_are_read_whether_listed_or_not() {
        let mut room = room(json!({"name": "x"}));
        room.surfaces[0].1.resources.push(Resource(json!({"uri": "docs://a"})));
        let hits = room.run_attack(&DebugAccess, |attempt| {
            let uri = attempt.payload.as_ref().and_then(Value::as_str).unwrap_or_default();
            answers(if uri == "debug://state" { CANARY } else { "no" })
        });
        assert_eq!(hits[0].place.as_ref().unwrap().to_string(), "resource debug://state");
    }
}
