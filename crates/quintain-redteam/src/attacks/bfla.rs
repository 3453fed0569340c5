//! Tools that an identity can call without being authorized to (broken function level authorization).

use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use quintain_evidence::surface::Tool;
use quintain_evidence::tool_call::ToolCall;
use quintain_evidence::weakness::Weakness;
use serde_json::Value;

use super::http::of_role;
use super::{reach, tool_access};
use crate::attack::{
    Action, Aim, Attack, Attempt, Brief, Hit, Identity, Kind, Nonce, TargetView, Trial, Tried,
};
use crate::knowledge::{Baseline, claims_to_destroy, is_destructive, put};

pub(super) struct Bfla;

static META: Meta = Meta {
    id: "bfla",
    aliases: &["broken-function-level-authorization"],
    summary: "An identity can call a tool that is not listed for it or is reserved for administrators",
    docs: "\
# What it does
Calls tools as an identity with fewer rights: tools that are listed for the first identity but not for this one, and tools whose
description or name reserves them for administrators. The calls are the ones that work for the first identity. A tool that works only once
on an object is also called with another object. Both identities request an object that does not exist. A single identity calls the tools
whose description names administrators, unless it has an administrator role.

# Why it matters
Leaving a tool out of a list protects nothing if the tool answers anyone who knows its name.

# What counts as proof
The call succeeds, and a call of a tool that does not exist is refused.
- Confirmed if the tool is not listed for the caller, or if its description names administrators. Suspected if only its name suggests it.
- Suspected if both identities get the same response for an object that does not exist: the server did not refuse the one with fewer
  rights.
- With a single identity, confirmed if the suite states its role, else suspected.

# Example
```yaml
redteam:
  plugins: [bfla]
  identities:
    - {name: root, role: admin, headers: {Authorization: Bearer token-of-root}}
    - {name: bob, role: user, headers: {Authorization: Bearer token-of-bob}}
```

# References
- CWE-862, OWASP API5, OWASP MCP07
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[862],
    frameworks: &["API5", "MCP07", "MCP02", "ASI03"],
};

/// The maximum number of other objects to try.
const MAX_OTHERS: usize = 2;

impl Attack for Bfla {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn falls_back(&self, view: &TargetView<'_>) -> Option<&'static str> {
        (view.capabilities.identities.len() < 2).then_some(
            "needs two identities (`redteam.identities`); with one, only tools whose description restricts \
             them to administrators are called",
        )
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = Vec::new();
        for baseline in &view.knowledge.baselines {
            let Some(tool) = tool_access::tool_of(view, baseline) else { continue };
            if tool_access::may_be_called(view, tool) && lesser(view, tool).next().is_some() {
                let name = tool.name().unwrap_or_default().to_owned();
                let place = Place::Tool { server: baseline.server.clone(), tool: name };
                aims.push(tool_access::aim(place, Some(baseline)));
            }
        }
        // Tools that delete come last: a deleted object cannot be changed.
        aims.sort_by_key(|aim| is_destructive(aim.place.tool().unwrap_or_default()));
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let (Some(view), Some(baseline)) = (brief.view, &aim.baseline) else {
            return Vec::new();
        };
        let Some(tool) = tool_access::tool_of(view, baseline) else { return Vec::new() };
        let Step::Call(call) = &baseline.step else { return Vec::new() };
        let mut attempts = Vec::new();
        for (set, (who, why)) in lesser(view, tool).enumerate() {
            let nonce = brief.nonce();
            let unknown = ToolCall { tool: nonce.to_string(), ..call.clone() };
            let steps = vec![Step::Call(unknown)];
            attempts.push(reach::plain(steps, who, (set, why.form(), "unknown"), nonce));
            let mut call_as = |who: usize, role: &str, step: Step, nonce: Nonce| {
                attempts.push(reach::plain(vec![step], who, (set, why.form(), role), nonce));
            };
            call_as(who, "called", baseline.step.clone(), brief.nonce());
            // The id carries the mark of the attempt, so the evidence shows that Quintain made it up.
            let nobody = brief.nonce();
            let absent = with_object(view, baseline, &Value::from(nobody.as_str()));
            if let Some(absent) = absent.filter(|_| who > 0) {
                call_as(0, "absent to the greater", absent.clone(), nobody.clone());
                call_as(who, "absent", absent, nobody);
            }
            if destroys(tool) {
                for other in others(view, baseline) {
                    with_object(view, baseline, &other)
                        .into_iter()
                        .for_each(|step| call_as(who, "called", step, brief.nonce()));
                }
            }
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        trial.sets().filter_map(|(_, tried)| judge(trial, &tried)).collect()
    }
}

/// Why an identity is not authorized to call a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    NotListed,
    Said,
    Named,
}

impl Why {
    fn form(self) -> &'static str {
        match self {
            Self::NotListed => "not listed for the caller",
            Self::Said => "its description restricts it to administrators",
            Self::Named => "its name suggests administrators only",
        }
    }
}

/// The identities that are not authorized to call a tool, and why. An identity without a list of tools was
/// never asked for one.
fn lesser<'f>(view: &'f TargetView<'_>, tool: &'f Tool) -> impl Iterator<Item = (usize, Why)> + 'f {
    // If there are several identities, the first one has more rights than the others.
    let is_single = view.capabilities.identities.len() == 1;
    let identities = view.capabilities.identities.iter().enumerate().skip(usize::from(!is_single));
    identities.filter_map(move |(at, identity)| {
        let name = tool.name()?;
        let is_listed = |identity: &Identity| identity.tools.iter().any(|tool| tool == name);
        let role = tool_access::role_of(view, at);
        let first_lists = view.capabilities.identities.first().is_some_and(is_listed);
        let why = if !identity.tools.is_empty() && !is_listed(identity) && first_lists {
            Why::NotListed
        } else if tool_access::is_admin_role(role) {
            return None;
        } else if tool_access::says_for_admins(tool) {
            Why::Said
        } else if tool_access::is_for_admins(tool) && !is_single {
            Why::Named
        } else {
            return None;
        };
        Some((at, why))
    })
}

/// Whether a tool works only once on the same object.
fn destroys(tool: &Tool) -> bool {
    claims_to_destroy(tool)
}

/// The argument of a call that names its object, and the value.
fn object(view: &TargetView<'_>, baseline: &Baseline) -> Option<(String, Value)> {
    let Step::Call(call) = &baseline.step else { return None };
    let args = Value::Object(call.args.clone());
    view.knowledge.aims.iter().find_map(|aim| match &aim.place {
        Place::Argument { server, tool, pointer }
            if *server == baseline.server && *tool == call.tool && aim.is(Kind::Id) =>
        {
            let named = args.pointer(pointer).filter(|value| value.is_string())?;
            Some((pointer.clone(), named.clone()))
        }
        _ => None,
    })
}

/// The same call with another object.
fn with_object(view: &TargetView<'_>, baseline: &Baseline, id: &Value) -> Option<Step> {
    let (pointer, _) = object(view, baseline)?;
    let Step::Call(mut call) = baseline.step.clone() else { return None };
    put(&mut call.args, &pointer, id.clone());
    Some(Step::Call(call))
}

/// Other objects with ids of the same format, as returned by other tools.
fn others(view: &TargetView<'_>, baseline: &Baseline) -> Vec<Value> {
    let Some((_, named)) = object(view, baseline) else { return Vec::new() };
    let shape = |value: &Value| -> Option<String> {
        let letter = |c: char| if c.is_ascii_digit() { '0' } else { c };
        value.as_str().map(|text| text.chars().map(letter).collect())
    };
    let wanted = shape(&named);
    let mut found: Vec<Value> = Vec::new();
    for learned in view.knowledge.values.iter().rev() {
        let tool = view.tool(&baseline.server, &learned.tool);
        let fits = learned.value != named && shape(&learned.value) == wanted;
        // An object that such a tool returned no longer exists.
        if fits && !tool.is_some_and(destroys) && !found.contains(&learned.value) {
            found.push(learned.value.clone());
        }
    }
    found.truncate(MAX_OTHERS);
    found
}

fn judge(trial: &Trial<'_>, tried: &[&Tried]) -> Option<Hit> {
    let no = &of_role(tried, "unknown")?.last()?.outcome;
    if tool_access::succeeds(no) || !no.is_answer() {
        return None;
    }
    let works = |one: &&&Tried| {
        one.attempt.role == "called"
            && one.last().is_some_and(|last| tool_access::succeeds(&last.outcome))
    };
    let Some(called) = tried.iter().find(works).copied() else { return let_in(trial, tried) };
    let Action::Steps { identity, .. } = called.attempt.action else { return None };
    let identities = &trial.view.capabilities.identities;
    let caller = identities.get(identity)?;
    let who = &caller.name;
    let title = format!(
        "`{}` can be called by identity `{who}` (BFLA: {})",
        trial.aim.place, called.attempt.form
    );
    let what = format!(
        "the call as `{who}` succeeded, and a call of a tool that does not exist was refused"
    );
    // A single identity may be an administrator, unless the suite states its role.
    let is_known = identities.len() > 1 || caller.role.is_some();
    let sure = is_known && called.attempt.form != Why::Named.form();
    let hit = if sure {
        Hit::confirmed(title, what)
    } else {
        Hit::suspected(title, what).severity(Severity::Medium)
    };
    let listed = called.attempt.form == Why::NotListed.form();
    let hit = hit.by(called);
    // A regression suite cannot call a tool that is not listed for the identity.
    Some(if listed {
        hit.fault("not-listed")
    } else {
        hit.fault("for-admins").sign(Indicator::Succeeds)
    })
}

/// Whether an identity that must be refused gets the same response as the authorized one for an object that
/// does not exist. The server may look up the object before it checks the caller, so this proves nothing.
fn let_in(trial: &Trial<'_>, tried: &[&Tried]) -> Option<Hit> {
    let (greater, lesser) = (of_role(tried, "absent to the greater")?, of_role(tried, "absent")?);
    let (theirs, ours) = (&greater.last()?.outcome, &lesser.last()?.outcome);
    let alike = theirs.is_answer() && ours.is_answer() && theirs.said() == ours.said();
    let unknown = of_role(tried, "unknown")?.last()?.outcome.said();
    if !alike || tool_access::refuses(ours) || ours.said().is_empty() || ours.said() == unknown {
        return None;
    }
    let form = &lesser.attempt.form;
    let title = format!("`{}` does not check who calls it (BFLA: {form})", trial.aim.place);
    let what = "for an object that does not exist, both identities get the same response and neither is refused";
    let listed = *form == Why::NotListed.form();
    let hit = Hit::suspected(title, what).severity(Severity::Medium).by(lesser);
    Some(hit.fault(if listed { "not-listed" } else { "for-admins" }))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::{Evidence, Outcome};
    use quintain_evidence::finding::Confidence;
    use serde_json::{Map, json};

    use super::*;
    use crate::attacks::testing::{TestTarget, answers, comes};

    fn room(tool: &str, description: &str, listed: bool) -> TestTarget {
        let mut room = TestTarget::of_tools(&[json!({"name": tool, "description": description})]);
        room.works(tool, Map::new(), &answers("ok"));
        let identity = |name: &str, tools: &[&str]| Identity {
            name: name.into(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            ..Identity::default()
        };
        let of_bob: &[&str] = if listed { &[tool] } else { &["other"] };
        room.capabilities.identities = vec![identity("root", &[tool]), identity("bob", of_bob)];
        room
    }

    fn unknown() -> Evidence {
        comes(Outcome::RpcError { code: -32602, message: "Unknown tool".into(), data: None })
    }

    fn weak(attempt: &Attempt) -> Evidence {
        if attempt.role == "unknown" { unknown() } else { answers("3 users: ann, bob, eve") }
    }

    #[test]
    fn tools_that_are_not_listed_must_not_answer() {
        let hits = room("export_users", "Exports.", false).run_attack(&Bfla, weak);
        assert_eq!((hits.len(), hits[0].confidence), (1, Confidence::Confirmed));
        let hits = room("export_users", "Exports.", false).run_attack(&Bfla, |_| unknown());
        assert!(hits.is_empty());
    }

    #[test]
    fn tools_for_administrators_must_refuse() {
        let hits =
            room("set_role", "Changes a role. For administrators.", true).run_attack(&Bfla, weak);
        assert_eq!((hits[0].confidence, hits[0].fault), (Confidence::Confirmed, "for-admins"));
        let hits = room("admin_stats", "Shows numbers.", true).run_attack(&Bfla, weak);
        assert_eq!(hits[0].confidence, Confidence::Suspected);
        let refuses = |attempt: &Attempt| {
            if attempt.role == "unknown" {
                unknown()
            } else {
                answers("Forbidden: needs the role admin")
            }
        };
        assert!(
            room("set_role", "For administrators.", true).run_attack(&Bfla, refuses).is_empty()
        );
    }

    #[test]
    fn what_works_once_is_told_by_what_does_not_exist() {
        let schema = json!({"type": "object", "required": ["user_id"],
            "properties": {"user_id": {"type": "string"}}});
        let mut room = TestTarget::of_tools(&[json!({"name": "suspend_user",
            "description": "Administrators only.", "inputSchema": schema})]);
        let args = Map::from_iter([("user_id".into(), json!("u-17"))]);
        room.works("suspend_user", args, &answers("ok"));
        for name in ["root", "bob"] {
            let tools = vec!["suspend_user".to_owned()];
            let identity = Identity { name: name.into(), tools, ..Identity::default() };
            room.capabilities.identities.push(identity);
        }
        room.capabilities.destructive = true;
        let fails = |text: &str| {
            let content = json!([{"type": "text", "text": text}]);
            comes(Outcome::ToolError(json!({"isError": true, "content": content})))
        };
        let open = |attempt: &Attempt| {
            if attempt.role == "unknown" { unknown() } else { fails("no such user") }
        };
        let hits = room.run_attack(&Bfla, open);
        assert_eq!((hits.len(), hits[0].confidence), (1, Confidence::Suspected), "{hits:?}");
        let guarded = |attempt: &Attempt| match attempt.role.as_str() {
            "unknown" => unknown(),
            "absent to the greater" => fails("no such user"),
            _ => fails("access denied"),
        };
        assert!(room.run_attack(&Bfla, guarded).is_empty());
    }

    #[test]
    fn a_single_identity_proves_it_if_its_role_is_known() {
        let mut room = room("set_role", "Changes a role. For administrators.", true);
        room.capabilities.identities.truncate(1);
        room.capabilities.identities[0].name = "target".into();
        assert!(Bfla.falls_back(&room.view()).is_some());
        let hits = room.run_attack(&Bfla, weak);
        assert_eq!((hits.len(), hits[0].confidence), (1, Confidence::Suspected));
        room.capabilities.identities[0].role = Some("user".into());
        assert_eq!(room.run_attack(&Bfla, weak)[0].confidence, Confidence::Confirmed);
        room.capabilities.identities[0].role = Some("admin".into());
        assert!(Bfla.aims(&room.view()).is_empty());
    }

    #[test]
    fn ordinary_tools_are_for_all() {
        assert!(Bfla.aims(&room("list_tickets", "Lists.", true).view()).is_empty());
    }

    #[test]
    fn a_server_that_answers_everything_proves_nothing() {
        assert!(room("export_users", "", false).run_attack(&Bfla, |_| answers("hello")).is_empty());
    }
}
