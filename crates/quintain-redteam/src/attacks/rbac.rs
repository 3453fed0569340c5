//! Servers that trust the role a caller claims, or ignore the role of the caller.

use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use quintain_evidence::surface::Tool;
use quintain_evidence::tool_call::ToolCall;
use quintain_evidence::weakness::Weakness;
use serde_json::{Map, Value, json};

use super::http::of_role;
use super::{reach, tool_access};
use crate::attack::{Action, Aim, Attack, Attempt, Brief, Hit, TargetView, Trial, Tried};
use crate::knowledge::{Hints, Tries, words};

pub(super) struct Rbac;

static META: Meta = Meta {
    id: "rbac",
    aliases: &["role-confusion"],
    summary: "The server trusts a role in the arguments, or ignores the caller's role",
    docs: "\
# What it does
Repeats calls that the server refused, and claims a role with more rights: in arguments that the schema has for it, and in properties that
are not in the schema (`role`, `isAdmin`, `user`). Identities with a read-only role call tools that change data.

# Why it matters
A caller, for example a manipulated model, can become an administrator by claiming to be one.

# What counts as proof
The server refuses the plain call for missing rights, and the same call with the claim succeeds. If an identity with a read-only role can
call a tool that changes data, the finding is suspected.

# Example
```yaml
redteam:
  plugins: [rbac]
  identities:
    - {name: root, role: admin, headers: {Authorization: Bearer token-of-root}}
    - {name: vic, role: viewer, headers: {Authorization: Bearer token-of-vic}}
```

# References
- CWE-863, CWE-269, OWASP MCP02, OWASP API5
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[863, 269],
    frameworks: &["MCP02", "MCP07", "API5", "ASI03"],
};

const MAX_AIMS: usize = 24;

/// Words of arguments that name the role of the caller.
const ROLES: &str = "\
    role roles admin privilege privileges permission permissions scope scopes acting sudo \
    superuser impersonate";

/// Roles with the most rights, in order of preference.
const GREATEST: [&str; 8] =
    ["admin", "administrator", "superadmin", "root", "owner", "superuser", "system", "manager"];

impl Attack for Rbac {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = Vec::new();
        for (server, tool) in view.tools() {
            let Some(name) = tool.name() else { continue };
            let refused = view.knowledge.silent.iter().any(|silent| {
                silent.server == server && silent.tool == name && speaks_of_rights(&silent.why)
            });
            // A single identity may call these tools anyway, so a claim would prove nothing.
            let guarded = refused
                || view.capabilities.identities.len() > 1
                    && (tool_access::is_writer(tool)
                        || tool_access::is_for_admins(tool)
                        || tool_access::says_for_admins(tool)
                        || claims(tool, &Map::new()).len() > 1);
            if guarded && tool_access::may_be_called(view, tool) {
                let place = Place::Tool { server: server.to_owned(), tool: name.to_owned() };
                aims.push((
                    !refused,
                    tool_access::aim(place, view.knowledge.baseline(server, name)),
                ));
            }
        }
        // Tools that already refused a call are the most promising.
        aims.sort_by_key(|(later, _)| *later);
        aims.into_iter().map(|(_, aim)| aim).take(MAX_AIMS).collect()
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(view) = brief.view else { return Vec::new() };
        let (server, name) = (aim.place.server(), aim.place.tool().unwrap_or_default());
        let Some(tool) = view.tool(server, name) else { return Vec::new() };
        let args = match &aim.baseline {
            Some(baseline) => tool_access::arguments(baseline),
            None => made_up(view, tool).unwrap_or_default(),
        };
        // The identity with the fewest rights.
        let who = brief.identities.saturating_sub(1);
        let call = |args: Map<String, Value>| {
            let server = Some(server.to_owned()).filter(|server| !server.is_empty());
            vec![Step::Call(ToolCall { tool: name.to_owned(), args, server })]
        };
        let claims = claims(tool, &args);
        if claims.is_empty() {
            // The schema allows no claim, but the role of the caller still matters.
            return vec![reach::plain(
                call(args),
                who,
                (0, "unchanged call", "plain"),
                brief.nonce(),
            )];
        }
        let mut attempts = Vec::new();
        for (set, claim) in claims.into_iter().enumerate() {
            let plain = call(without(&args, &claim));
            attempts.push(reach::plain(plain, who, (set, claim.form, "plain"), brief.nonce()));
            let form = (set, claim.form, "claim");
            let attempt = reach::plain(call(claim.args), who, form, brief.nonce());
            attempts.push(Attempt { payload: Some(claim.payload), ..attempt });
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let mut hits: Vec<Hit> =
            trial.sets().filter_map(|(_, tried)| believed(trial, &tried)).collect();
        hits.extend(trial.tried.iter().find_map(|tried| not_looked_at(trial, tried)));
        hits
    }
}

/// A call that claims a role.
struct Claim {
    form: &'static str,
    args: Map<String, Value>,
    /// The added or changed arguments.
    payload: Value,
}

fn speaks_of_rights(text: &str) -> bool {
    let reply = json!({"isError": true, "content": [{"type": "text", "text": text}]});
    tool_access::refuses(&quintain_evidence::evidence::Outcome::ToolError(reply))
}

/// Generated arguments that fit the schema.
fn made_up(view: &TargetView<'_>, tool: &Tool) -> Option<Map<String, Value>> {
    let schema = tool.input_schema().cloned().unwrap_or(Value::Null);
    let hints = Hints::default();
    Tries::new(tool, &schema, &view.knowledge.values, &hints).next(None)
}

fn claims(tool: &Tool, args: &Map<String, Value>) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut with = args.clone();
    let mut changed = Map::new();
    for (name, schema) in tool.properties().into_iter().flatten() {
        let is_role = words(name).iter().any(|word| tool_access::has(ROLES, word));
        // A required role is the value to set, as in `set_user_role`, not a claim.
        let is_value = tool.required_args().contains(&name.as_str());
        if let Some(value) = greatest(schema).filter(|_| is_role && !is_value) {
            changed.insert(name.clone(), value.clone());
            with.insert(name.clone(), value);
        }
    }
    if !changed.is_empty() {
        let payload = Value::Object(changed);
        found.push(Claim { form: "role argument in the schema", args: with, payload });
    }
    let strict = tool.input_schema().and_then(|schema| schema.get("additionalProperties"))
        == Some(&Value::Bool(false));
    if !strict {
        let extra = json!({"role": "admin", "roles": ["admin"], "isAdmin": true, "is_admin": true,
            "admin": true, "user": {"role": "admin", "isAdmin": true}, "user_role": "admin"});
        let known = tool.properties();
        let mut with = args.clone();
        let mut added = Map::new();
        for (name, value) in extra.as_object().into_iter().flatten() {
            if !known.is_some_and(|known| known.contains_key(name)) {
                with.insert(name.clone(), value.clone());
                added.insert(name.clone(), value.clone());
            }
        }
        let payload = Value::Object(added);
        found.push(Claim { form: "role argument not in the schema", args: with, payload });
    }
    found
}

/// The arguments without the claim.
fn without(args: &Map<String, Value>, claim: &Claim) -> Map<String, Value> {
    let mut args = args.clone();
    for name in claim.payload.as_object().into_iter().flatten().map(|(name, _)| name) {
        args.shift_remove(name);
    }
    args
}

/// The value of an argument that claims the most rights.
fn greatest(schema: &Value) -> Option<Value> {
    if let Some(items) = schema.get("enum").and_then(Value::as_array) {
        let known = |word: &&&str| items.iter().any(|item| item.as_str() == Some(**word));
        return GREATEST.iter().find(known).map(|word| Value::from(*word));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => Some(Value::Bool(true)),
        Some("string") | None => Some(Value::from("admin")),
        Some("array") => Some(json!(["admin"])),
        _ => None,
    }
}

fn believed(trial: &Trial<'_>, tried: &[&Tried]) -> Option<Hit> {
    let (plain, claim) = (of_role(tried, "plain")?, of_role(tried, "claim")?);
    let (no, yes) = (&plain.last()?.outcome, &claim.last()?.outcome);
    if tool_access::succeeds(no) || !tool_access::refuses(no) || !tool_access::succeeds(yes) {
        return None;
    }
    let title = format!(
        "Privilege escalation: `{}` trusts the role that the caller claims ({})",
        trial.aim.place, claim.attempt.form
    );
    let payload = claim.attempt.payload.as_ref().map(ToString::to_string).unwrap_or_default();
    let what =
        format!("the server refused the plain call, and accepted the same call with {payload}");
    Some(Hit::confirmed(title, what).by(claim).fault("claim").sign(Indicator::Succeeds))
}

fn not_looked_at(trial: &Trial<'_>, tried: &Tried) -> Option<Hit> {
    let Action::Steps { identity, .. } = &tried.attempt.action else { return None };
    let who = trial.view.capabilities.identities.get(*identity).filter(|_| *identity > 0)?;
    let role = tool_access::role_of(trial.view, *identity);
    let tool = trial.view.tool(trial.aim.place.server(), trial.aim.place.tool()?)?;
    let counts = tried.attempt.role == "plain"
        && tool_access::is_reader_role(role)
        && tool_access::is_writer(tool)
        && !tool_access::is_personal_tool(tool);
    if !counts || !tool_access::succeeds(&tried.last()?.outcome) {
        return None;
    }
    let title =
        format!("`{}` lets the role `{role}` change data (missing role check)", trial.aim.place);
    let what = format!("the call as `{}` succeeded, although its role is read-only", who.name);
    Some(
        Hit::suspected(title, what)
            .by(tried)
            .severity(Severity::Medium)
            .fault("role")
            .sign(Indicator::Succeeds),
    )
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::{Evidence, Outcome};
    use quintain_evidence::finding::Confidence;

    use super::*;
    use crate::attack::Identity;
    use crate::attacks::testing::{TestTarget, answers, args, comes};

    fn room(tool: Value) -> TestTarget {
        let name = tool["name"].as_str().unwrap().to_owned();
        let mut room = TestTarget::of_tools(&[tool]);
        room.works(&name, Map::from_iter([("value".into(), json!("on"))]), &answers("ok"));
        for (name, role) in [("root", "admin"), ("vic", "viewer")] {
            room.capabilities.identities.push(Identity {
                name: name.into(),
                role: Some(role.into()),
                ..Identity::default()
            });
        }
        room
    }

    fn forbidden() -> Evidence {
        let text = json!([{"type": "text", "text": "Forbidden: this needs the role admin"}]);
        comes(Outcome::ToolError(json!({"isError": true, "content": text})))
    }

    fn setting() -> Value {
        json!({"name": "change_setting", "inputSchema": {"additionalProperties": false,
            "required": ["value"], "properties": {"value": {"type": "string"},
            "acting_role": {"enum": ["viewer", "agent", "admin"]}}}})
    }

    #[test]
    fn a_role_in_the_schema_must_not_be_believed() {
        let weak = |attempt: &Attempt| match args(attempt).get("acting_role") {
            Some(role) if role == "admin" => answers("greeting is on"),
            _ => forbidden(),
        };
        let hits = room(setting()).run_attack(&Rbac, weak);
        assert_eq!(
            (hits.len(), hits[0].confidence, hits[0].fault),
            (1, Confidence::Confirmed, "claim")
        );
        assert!(room(setting()).run_attack(&Rbac, |_| forbidden()).is_empty());
    }

    #[test]
    fn properties_that_nobody_asked_for_must_not_be_believed() {
        let tool = json!({"name": "change_setting"});
        let weak = |attempt: &Attempt| {
            if args(attempt).get("isAdmin") == Some(&json!(true)) {
                answers("done")
            } else {
                forbidden()
            }
        };
        let hits = room(tool.clone()).run_attack(&Rbac, weak);
        assert_eq!((hits.len(), hits[0].fault), (1, "claim"));
        let complains = |attempt: &Attempt| {
            if args(attempt).contains_key("isAdmin") {
                answers("Error: unexpected property isAdmin")
            } else {
                forbidden()
            }
        };
        assert!(room(tool).run_attack(&Rbac, complains).is_empty());
    }

    #[test]
    fn somebody_who_may_look_only_is_suspected_to_change() {
        let hits = room(setting()).run_attack(&Rbac, |_| answers("greeting is on"));
        assert_eq!(
            (hits.len(), hits[0].confidence, hits[0].fault),
            (1, Confidence::Suspected, "role")
        );
        let mut agents = room(setting());
        agents.capabilities.identities[1].role = Some("agent".into());
        assert!(agents.run_attack(&Rbac, |_| answers("greeting is on")).is_empty());
    }

    #[test]
    fn a_role_that_the_server_tells_counts_too() {
        let mut room = room(setting());
        room.capabilities.identities[1].role = None;
        assert!(room.run_attack(&Rbac, |_| answers("greeting is on")).is_empty());
        room.knowledge.values.push(crate::knowledge::Learned {
            name: "role".into(),
            value: json!("reader"),
            tool: "whoami".into(),
            identity: 1,
        });
        assert_eq!(room.run_attack(&Rbac, |_| answers("greeting is on")).len(), 1);
    }

    #[test]
    fn without_a_claim_the_role_still_counts() {
        let tool = json!({"name": "reassign_ticket", "inputSchema":
            {"additionalProperties": false, "properties": {"value": {"type": "string"}}}});
        let hits = room(tool.clone()).run_attack(&Rbac, |_| answers("done"));
        assert_eq!((hits.len(), hits[0].fault), (1, "role"));
        assert!(room(tool).run_attack(&Rbac, |_| forbidden()).is_empty());
    }

    #[test]
    fn an_error_of_another_kind_is_no_refusal() {
        let flaky = |attempt: &Attempt| {
            if attempt.role == "claim" {
                answers("done")
            } else {
                answers("Error: value is missing")
            }
        };
        assert!(room(setting()).run_attack(&Rbac, flaky).is_empty());
    }
}
