//! Names of unlisted tools that a server reveals.

use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::probe::Step;
use quintain_evidence::tool_call::ToolCall;
use quintain_evidence::weakness::Weakness;
use serde_json::{Value, json};

use super::{listed, names, reach};
use crate::attack::{Action, Aim, Attack, Attempt, Brief, Hit, TargetView, Trial, Tried};

pub(super) struct ToolDiscovery;

static META: Meta = Meta {
    id: "tool-discovery",
    aliases: &["tool-enumeration"],
    summary: "Errors, descriptions or completions name tools that are not listed",
    docs: "\
# What it does
Requests tools, prompts, resources and completions that cannot exist, as every identity, and reads the names in the errors. Reads
descriptions for tools that no server lists.

# Why it matters
An identity that may not see a tool must not learn that it exists: knowing its name is half of an attack on it.

# What counts as proof
A response to one identity names a tool that is listed only for another: confirmed. Other names that look like tools and are not listed
are suspected.

# Example
```yaml
redteam:
  plugins: [tool-discovery]
```

# References
- CWE-200, CWE-209, OWASP MCP10
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::Low,
    cwe: &[200, 209],
    frameworks: &["MCP10", "MCP07", "LLM02"],
};

/// The maximum number of identities.
const MAX_IDENTITIES: usize = 3;

impl Attack for ToolDiscovery {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn inspects(&self) -> bool {
        true
    }

    fn inspect(&self, view: &TargetView<'_>) -> Vec<Hit> {
        let shown = names::listed(view);
        let mut hits = Vec::new();
        for listed in listed::texts(view) {
            let unlisted = names::called_tools(listed.text)
                .into_iter()
                .find(|name| !shown.contains(name.as_str()));
            let Some(name) = unlisted else { continue };
            let title =
                format!("{} of `{}` names the unlisted tool `{name}`", listed.field, listed.place);
            let what = format!("the text calls `{name}` a tool, and no server lists it");
            let hit = Hit::suspected(title, what).at(listed.place.clone());
            hits.push(hit.severity(Severity::Info).fault("description"));
        }
        hits
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = Vec::new();
        for (server, surface) in view.surfaces {
            let mut add = |message: &str| {
                let place = Place::Message { server: server.clone(), message: message.to_owned() };
                aims.push(Aim::at(place));
            };
            if !surface.tools.is_empty() {
                add("tools/call");
            }
            if !surface.prompts.is_empty() {
                add("prompts/get");
            }
            if surface.declares("completions") {
                add("completion/complete");
            }
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Place::Message { server, message } = &aim.place else { return Vec::new() };
        let server = Some(server.clone()).filter(|server| !server.is_empty());
        let mut attempts = Vec::new();
        for who in 0..brief.identities.clamp(1, MAX_IDENTITIES) {
            let nonce = brief.nonce();
            let name = nonce.as_str();
            let request = |params: Value| Step::Request {
                method: message.clone(),
                params: params.as_object().cloned().unwrap_or_default(),
                server: server.clone(),
            };
            let step = match message.as_str() {
                "prompts/get" => request(json!({"name": name})),
                "completion/complete" => request(json!({
                    "ref": {"type": "ref/prompt", "name": name},
                    "argument": {"name": name, "value": ""}})),
                _ => Step::Call(ToolCall {
                    tool: name.to_owned(),
                    args: serde_json::Map::new(),
                    server: server.clone(),
                }),
            };
            attempts.push(reach::plain(
                vec![step],
                who,
                (who, "error for an unknown name", ""),
                nonce,
            ));
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        trial.tried.iter().filter_map(|tried| judge(trial, tried)).collect()
    }
}

fn judge(trial: &Trial<'_>, tried: &Tried) -> Option<Hit> {
    let Action::Steps { identity, .. } = &tried.attempt.action else { return None };
    let said = tried.said();
    let identities = &trial.view.capabilities.identities;
    let own = identities.get(*identity).map(|one| &one.tools).filter(|tools| !tools.is_empty());
    let place = &trial.aim.place;
    let whole = |name: &str| {
        let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_-".contains(c));
        said.match_indices(name).any(|(at, _)| {
            !part(said[..at].chars().next_back()) && !part(said[at + name.len()..].chars().next())
        })
    };
    if let Some(own) = own {
        let others = identities.iter().flat_map(|one| &one.tools);
        // Short names are also ordinary words.
        let secret = others.filter(|name| name.len() > 3 && !own.contains(name));
        let told: Vec<&str> = secret.map(String::as_str).filter(|name| whole(name)).collect();
        if let Some(name) = told.first() {
            let who = &identities[*identity].name;
            let title = format!(
                "Error response to {place} reveals the tool `{name}`, which is hidden from `{who}`"
            );
            let what =
                format!("the error names {}, listed only for other identities", told.join(", "));
            let hit = Hit::confirmed(title, what).by(tried).severity(Severity::Medium);
            return Some(hit.fault("error").said(tried, name));
        }
    }
    let shown = names::listed(trial.view);
    let unlisted: Vec<String> = names::in_text(&said)
        .into_iter()
        .filter(|name| {
            !shown.contains(name.as_str()) && !name.contains(tried.attempt.nonce.as_str())
        })
        .collect();
    // A list of tools also contains listed ones: a single unknown word proves little.
    let listed =
        trial.view.tools().filter_map(|(_, tool)| tool.name()).filter(|name| whole(name)).count();
    if unlisted.is_empty() || listed == 0 {
        return None;
    }
    let title = format!("Error response to {place} reveals the unlisted tool `{}`", unlisted[0]);
    let what = format!("the error lists tools, including {}", unlisted.join(", "));
    Some(Hit::suspected(title, what).by(tried).fault("error").said(tried, &unlisted[0]))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::{Evidence, Outcome};
    use quintain_evidence::finding::Confidence;

    use super::*;
    use crate::attack::Identity;
    use crate::attacks::testing::{TestTarget, comes};

    fn room() -> TestTarget {
        let mut room =
            TestTarget::of_tools(&[json!({"name": "list_users"}), json!({"name": "export_users"})]);
        let identity = |name: &str, tools: &[&str]| Identity {
            name: name.into(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            ..Identity::default()
        };
        room.capabilities.identities = vec![
            identity("root", &["list_users", "export_users"]),
            identity("bob", &["list_users"]),
        ];
        room
    }

    fn error(message: &str) -> Evidence {
        comes(Outcome::RpcError { code: -32602, message: message.into(), data: None })
    }

    #[test]
    fn names_that_are_listed_for_others_only_are_confirmed() {
        let hits = room()
            .run_attack(&ToolDiscovery, |_| error("Unknown tool. Tools: list_users, export_users"));
        assert_eq!((hits.len(), hits[0].confidence), (1, Confidence::Confirmed));
        assert_eq!(hits[0].set, Some(1));
    }

    #[test]
    fn names_that_are_listed_for_nobody_are_suspected() {
        let hits =
            room().run_attack(&ToolDiscovery, |_| error("Tools: list_users, reset_everything"));
        assert!(hits.iter().all(|hit| hit.confidence == Confidence::Suspected) && hits.len() == 2);
    }

    #[test]
    fn errors_that_name_what_is_listed_are_fine() {
        for text in
            ["Unknown tool", "Unknown tool. Did you mean list_users?", "call_failed in get_handler"]
        {
            assert!(room().run_attack(&ToolDiscovery, |_| error(text)).is_empty(), "{text}");
        }
    }

    #[test]
    fn descriptions_are_read() {
        let tool =
            |text: &str| TestTarget::of_tools(&[json!({"name": "a_b", "description": text})]);
        let hits = ToolDiscovery.inspect(&tool("Use the purge_all tool first.").view());
        assert_eq!((hits.len(), hits[0].severity), (1, Some(Severity::Info)));
        assert!(ToolDiscovery.inspect(&tool("Use the a_b tool with user_id.").view()).is_empty());
    }
}
