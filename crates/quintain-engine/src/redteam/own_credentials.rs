//! Finds credentials that were given to the target in what it lists and answers. Only the redactor knows them.

use std::borrow::Cow;

use quintain_evidence::finding::Place;
use quintain_evidence::surface::Surface;
use quintain_redteam::attack::{Hit, Trial};
use quintain_wire::redact::Redactor;
use serde_json::Value;

/// The attack that reports them.
pub(super) const ATTACK: &str = "secrets";
const FAULT: &str = "own-credential";
const PROOF: &str = "it contains a credential that was given to the target, masked in this report";

/// Credentials in lists.
pub(super) fn in_surfaces(surfaces: &[(String, Surface)], redactor: &Redactor) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (server, surface) in surfaces {
        let of = || server.clone();
        let mut add = |place: Place, raw: &Value| {
            if contains(&raw.to_string(), redactor) {
                let title = format!("Exposed credential of the target in the listing of `{place}`");
                hits.push(Hit::suspected(title, PROOF).at(place).fault(FAULT));
            }
        };
        let instructions = surface.instructions.clone().unwrap_or_default();
        let about = serde_json::json!([surface.server_info, instructions]);
        add(Place::Server { server: of() }, &about);
        for tool in &surface.tools {
            let name = tool.name().unwrap_or_default().to_owned();
            add(Place::Tool { server: of(), tool: name }, tool.raw());
        }
        for prompt in &surface.prompts {
            let name = prompt.name().unwrap_or_default().to_owned();
            add(Place::Prompt { server: of(), prompt: name }, prompt.raw());
        }
        for resource in &surface.resources {
            let uri = resource.uri().unwrap_or_default().to_owned();
            add(Place::Resource { server: of(), uri }, resource.raw());
        }
    }
    hits
}

/// Credentials in the answers of a trial, unless the request contains them.
pub(super) fn in_trial(trial: &Trial<'_>, redactor: &Redactor) -> Option<Hit> {
    let place = &trial.aim.place;
    trial.tried.iter().find_map(|tried| {
        let last = tried.last()?;
        let is_shown =
            contains(&last.outcome.said(), redactor) && !contains(&last.sent.to_string(), redactor);
        let title = format!("`{place}` exposes a credential of the target");
        is_shown.then(|| Hit::suspected(title, PROOF).by(tried).fault(FAULT))
    })
}

fn contains(text: &str, redactor: &Redactor) -> bool {
    matches!(redactor.text(text), Cow::Owned(_))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::surface::Tool;
    use secrecy::SecretString;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_listed_credential_is_found_and_ordinary_text_is_not() {
        let redactor = Redactor::default();
        redactor.learn(&SecretString::from("kX9vQ2mL7pR4"));
        let tools = vec![
            Tool(json!({"name": "a", "description": "uses kX9vQ2mL7pR4"})),
            Tool(json!({"name": "b", "description": "uses nothing"})),
        ];
        let surface = Surface { tools, ..Surface::default() };
        let hits = in_surfaces(&[("s".to_owned(), surface)], &redactor);
        let places: Vec<_> = hits.iter().filter_map(|hit| hit.place.as_ref()).collect();
        assert_eq!(places, [&Place::Tool { server: "s".into(), tool: "a".into() }]);
    }
}
