//! Servers that answer requests without credentials.

use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::probe::Step;
use quintain_evidence::weakness::Weakness;

use super::http::{self, of_role, served};
use super::tool_access;
use crate::attack::{
    Aim, Attack, Attempt, Brief, Hit, HttpRequest, Need, TargetView, Trial, Tried,
};

pub(super) struct AuthMissing;

static META: Meta = Meta {
    id: "auth-missing",
    aliases: &["missing-authentication", "unauthenticated-access"],
    summary: "The server accepts requests without credentials",
    docs: "\
# What it does
Starts a session without credentials, lists the tools and calls a harmless one. The same requests must have worked with the credentials of
the target.

# Why it matters
Anyone who can reach the server can use every tool with the rights of the server.

# What counts as proof
A 2xx status with a result where the server must answer 401 or 403. If the server only lists its tools and refuses calls, the finding is
suspected and of low severity.

# Example
```yaml
redteam:
  plugins: [auth-missing]
```

# References
- CWE-306, OWASP MCP07, OWASP API2
",
    since: "0.1.0",
};

static WEAKNESS: Weakness =
    Weakness { severity: Severity::High, cwe: &[306], frameworks: &["MCP07", "API2", "ASI03"] };

impl Attack for AuthMissing {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn needs(&self) -> &[Need] {
        &[Need::Http, Need::Credentials]
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        if !view.capabilities.http || !view.capabilities.credentials {
            return Vec::new();
        }
        let place = |server: &String| Place::Header {
            server: server.clone(),
            header: "Authorization".to_owned(),
        };
        view.surfaces.iter().map(|(server, _)| Aim::at(place(server))).collect()
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let mut attempts = Vec::new();
        let mut set = |at: usize, form: &str, request: HttpRequest| {
            for (role, identity) in [("control", Some(0)), ("absent", None)] {
                let request = HttpRequest { identity, fresh: true, ..request.clone() };
                attempts.push(http::attempt(brief, (at, form, role), request));
            }
        };
        set(0, "no credentials, tools/list", http::list());
        let reader = brief.view.and_then(|view| {
            let server = aim.place.server();
            tool_access::readers(view, server).map(|baseline| baseline.step.clone()).next()
        });
        if let Some(Step::Call(call)) = reader {
            set(1, "no credentials, tools/call", http::call(&call.tool, &call.args));
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let sets: Vec<(usize, Vec<&Tried>)> = trial.sets().collect();
        let served_to_all = |tried: &[&Tried]| {
            let control = of_role(tried, "control").and_then(served).is_some();
            control && of_role(tried, "absent").and_then(served).is_some()
        };
        let refused_calls = sets.iter().any(|(at, tried)| {
            *at == 1
                && of_role(tried, "control").and_then(served).is_some()
                && of_role(tried, "absent").is_some_and(|one| {
                    http::HttpReply::of(one).is_some_and(|answer| answer.served().is_none())
                })
        });
        let mut hits = Vec::new();
        for (at, tried) in sets.iter().filter(|(_, tried)| served_to_all(tried)) {
            let Some(absent) = of_role(tried, "absent") else { continue };
            let what = if *at == 0 { "tools/list" } else { "tools/call" };
            let title = format!("Missing authentication: `{what}` works without credentials");
            let told = "the server answered the same request with and without credentials";
            let hit = match at {
                0 if refused_calls => Hit::suspected(title, told)
                    .severity(Severity::Low)
                    .note("the server refuses tool calls without credentials"),
                0 => Hit::confirmed(title, told).severity(Severity::Medium),
                _ => Hit::confirmed(title, told),
            };
            hits.push(hit.by(absent).fault("absent"));
        }
        // The most severe finding comes first.
        hits.reverse();
        hits
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;
    use quintain_evidence::finding::Confidence;
    use serde_json::{Map, json};

    use super::*;
    use crate::attacks::http::testing::{lists, request, unauthorized};
    use crate::attacks::testing::{TestTarget, answers};

    fn room() -> TestTarget {
        let mut room = TestTarget::of_tools(&[json!({"name": "list_rooms"})]);
        room.works("list_rooms", Map::new(), &answers("ok"));
        (room.capabilities.http, room.capabilities.credentials) = (true, true);
        room
    }

    #[test]
    fn what_is_served_without_credentials_is_proof() {
        let hits = room().run_attack(&AuthMissing, |_| lists());
        assert_eq!(hits.len(), 2);
        assert!(hits.iter().all(|hit| hit.confidence == Confidence::Confirmed));
    }

    #[test]
    fn a_guarded_server_is_clean() {
        let guarded = |attempt: &Attempt| {
            if request(attempt).identity.is_some() { lists() } else { unauthorized() }
        };
        assert!(room().run_attack(&AuthMissing, guarded).is_empty());
    }

    #[test]
    fn a_public_list_with_guarded_calls_is_a_small_thing() {
        let hits = room().run_attack(&AuthMissing, |attempt| {
            let request = request(attempt);
            if request.identity.is_some() || request.body.contains("tools/list") {
                lists()
            } else {
                unauthorized()
            }
        });
        assert_eq!((hits.len(), hits[0].confidence), (1, Confidence::Suspected));
    }

    #[test]
    fn without_a_control_nothing_is_proved() {
        let hits = room().run_attack(&AuthMissing, |attempt| {
            if attempt.role == "control" { unauthorized() } else { lists() }
        });
        assert!(hits.is_empty());
        assert!(room().run_attack(&AuthMissing, |_| Evidence::default()).is_empty());
        let mut open = room();
        open.capabilities.credentials = false;
        assert!(AuthMissing.aims(&open.view()).is_empty());
    }
}
