//! Tools that one identity is not meant to use, used by it.

use super::http::of_role;
use super::{nature, reach};
use crate::attack::{
    Aim, Attack, Attempt, Bout, Brief, Facts, Field, Hit, Identity, Need, Sign, Tried,
};
use crate::finding::{Place, Severity};
use crate::probe::Step;
use crate::registry::Meta;
use crate::surface::Tool;
use crate::tool_call::ToolCall;

pub(super) struct Bfla;

static META: Meta = Meta {
    id: "bfla",
    aliases: &["broken-function-level-authorization"],
    summary: "An identity can call a tool that is not listed for it, or is for administrators",
    docs: "\
# What it does
Calls as a lesser identity what a greater one may: tools that are listed for the first identity and not for the other one, and tools
that are for administrators by their description or name. The calls are those that work for the first identity.

# Why it matters
A list that leaves a tool out protects nothing, if the tool answers whoever knows its name.

# What counts as proof
The tool answers with success, while a tool that does not exist is refused. For tools that are not listed for the caller, and for those
whose description names administrators, that is confirmed; a name that sounds so is suspected only.

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

static FACTS: Facts = Facts {
    severity: Severity::High,
    cwe: &[862],
    frameworks: &["API5", "MCP07", "MCP02", "ASI03"],
    needs: &[Need::TwoIdentities],
};

impl Attack for Bfla {
    fn meta(&self) -> Meta {
        META
    }

    fn facts(&self) -> Facts<'static> {
        FACTS
    }

    fn aims(&self, field: &Field<'_>) -> Vec<Aim> {
        let mut aims = Vec::new();
        for baseline in &field.knowledge.baselines {
            let Some(tool) = nature::tool_of(field, baseline) else { continue };
            if nature::may_be_called(field, tool) && lesser(field, tool).next().is_some() {
                let name = tool.name().unwrap_or_default().to_owned();
                let place = Place::Tool { server: baseline.server.clone(), tool: name };
                aims.push(nature::aim(place, Some(baseline)));
            }
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let (Some(field), Some(baseline)) = (brief.field, &aim.baseline) else {
            return Vec::new();
        };
        let Some(tool) = nature::tool_of(field, baseline) else { return Vec::new() };
        let Step::Call(call) = &baseline.step else { return Vec::new() };
        let mut attempts = Vec::new();
        for (set, (who, why)) in lesser(field, tool).enumerate() {
            let nonce = brief.nonce();
            let unknown = ToolCall { tool: nonce.to_string(), ..call.clone() };
            let steps = vec![Step::Call(unknown)];
            attempts.push(reach::plain(steps, who, (set, why.form(), "unknown"), nonce));
            let steps = vec![baseline.step.clone()];
            attempts.push(reach::plain(steps, who, (set, why.form(), "called"), brief.nonce()));
        }
        attempts
    }

    fn detect(&self, bout: &Bout<'_>) -> Vec<Hit> {
        bout.sets().filter_map(|(_, tried)| judge(bout, &tried)).collect()
    }
}

/// Why a tool is not meant for somebody.
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
            Self::Said => "for administrators by its description",
            Self::Named => "for administrators by its name",
        }
    }
}

/// Who is not meant to use a tool, and why. An identity of which nothing is listed was not asked.
fn lesser<'f>(field: &'f Field<'_>, tool: &'f Tool) -> impl Iterator<Item = (usize, Why)> + 'f {
    let identities = field.powers.identities.iter().enumerate().skip(1);
    identities.filter_map(move |(at, identity)| {
        let name = tool.name()?;
        let is_listed = |identity: &Identity| identity.tools.iter().any(|tool| tool == name);
        let role = nature::role_of(field, at);
        let first_lists = field.powers.identities.first().is_some_and(is_listed);
        let why = if !identity.tools.is_empty() && !is_listed(identity) && first_lists {
            Why::NotListed
        } else if nature::is_admin_role(role) {
            return None;
        } else if nature::says_for_admins(tool) {
            Why::Said
        } else if nature::is_for_admins(tool) {
            Why::Named
        } else {
            return None;
        };
        Some((at, why))
    })
}

fn judge(bout: &Bout<'_>, tried: &[&Tried]) -> Option<Hit> {
    let (unknown, called) = (of_role(tried, "unknown")?, of_role(tried, "called")?);
    let (no, yes) = (&unknown.last()?.outcome, &called.last()?.outcome);
    if nature::succeeds(no) || !no.is_answer() || !nature::succeeds(yes) {
        return None;
    }
    let who = match &called.attempt.action {
        crate::attack::Action::Steps { identity, .. } => *identity,
        _ => return None,
    };
    let who = bout.field.powers.identities.get(who).map_or("", |identity| identity.name.as_str());
    let title = format!("{} can be called by {who} ({})", bout.aim.place, called.attempt.form);
    let what = format!("the call of {who} succeeded, while a tool that does not exist was refused");
    let sure = called.attempt.form != Why::Named.form();
    let hit = if sure {
        Hit::confirmed(title, what)
    } else {
        Hit::suspected(title, what).severity(Severity::Medium)
    };
    let listed = called.attempt.form == Why::NotListed.form();
    let hit = hit.by(called);
    // What is not listed for an identity cannot be called by a suite.
    Some(if listed {
        hit.fault("not-listed")
    } else {
        hit.fault("for-admins").sign(Sign::Succeeds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::testing::{Room, answers, comes};
    use crate::evidence::{Evidence, Outcome};
    use crate::finding::Confidence;
    use serde_json::{Map, json};

    fn room(tool: &str, description: &str, listed: bool) -> Room {
        let mut room = Room::of_tools(&[json!({"name": tool, "description": description})]);
        room.works(tool, Map::new(), &answers("ok"));
        let identity = |name: &str, tools: &[&str]| Identity {
            name: name.into(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            ..Identity::default()
        };
        let of_bob: &[&str] = if listed { &[tool] } else { &["other"] };
        room.powers.identities = vec![identity("root", &[tool]), identity("bob", of_bob)];
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
        let hits = room("export_users", "Exports.", false).fight(&Bfla, weak);
        assert_eq!((hits.len(), hits[0].confidence), (1, Confidence::Confirmed));
        let hits = room("export_users", "Exports.", false).fight(&Bfla, |_| unknown());
        assert!(hits.is_empty());
    }

    #[test]
    fn tools_for_administrators_must_refuse() {
        let hits = room("set_role", "Changes a role. For administrators.", true).fight(&Bfla, weak);
        assert_eq!((hits[0].confidence, hits[0].fault), (Confidence::Confirmed, "for-admins"));
        let hits = room("admin_stats", "Shows numbers.", true).fight(&Bfla, weak);
        assert_eq!(hits[0].confidence, Confidence::Suspected);
        let refuses = |attempt: &Attempt| {
            if attempt.role == "unknown" {
                unknown()
            } else {
                answers("Forbidden: needs the role admin")
            }
        };
        assert!(room("set_role", "For administrators.", true).fight(&Bfla, refuses).is_empty());
    }

    #[test]
    fn ordinary_tools_are_for_all() {
        assert!(Bfla.aims(&room("list_tickets", "Lists.", true).field()).is_empty());
    }

    #[test]
    fn a_server_that_answers_everything_proves_nothing() {
        assert!(room("export_users", "", false).fight(&Bfla, |_| answers("hello")).is_empty());
    }
}
