//! Sessions that another client can use.

use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::weakness::Weakness;

use super::http::{self, HttpReply, SESSION, of_role, served};
use crate::attack::{
    Aim, Attack, Attempt, Brief, Hit, HttpRequest, Need, TargetView, Trial, Tried,
};

pub(super) struct SessionHijack;

static META: Meta = Meta {
    id: "session-hijack",
    aliases: &["session-fixation", "mcp:session-hijack"],
    summary: "A session id works for a client other than its owner, or can be guessed",
    docs: "\
# What it does
Uses the session of one identity without credentials and with the credentials of another identity. Starts several sessions and compares
their ids.

# Why it matters
Session ids are in logs and headers. A server that accepts one as proof of identity gives the session to anyone who finds or guesses it.

# What counts as proof
The server serves the request, and refuses a made-up session id with the same credentials, so servers without sessions are not reported.
Several sessions show ids that are sequential or identical.

# Example
```yaml
redteam:
  plugins: [session-hijack]
  identities:
    - {name: alice, headers: {Authorization: Bearer token-of-alice}}
    - {name: bob, headers: {Authorization: Bearer token-of-bob}}
```

# References
- CWE-384, CWE-340, OWASP MCP07
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[384, 340],
    frameworks: &["MCP07", "MCP01", "ASI03", "API2"],
};

/// The number of sessions to compare the ids of.
const SESSIONS: usize = 5;
/// The set of attempts that collects session ids.
const IDS: usize = 2;

impl Attack for SessionHijack {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn needs(&self) -> &[Need] {
        &[Need::Http]
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        if !view.capabilities.http {
            return Vec::new();
        }
        let place = |server: &String| {
            let server = server.clone();
            if view.capabilities.sse {
                Place::Http { server, aspect: "sessionId".to_owned() }
            } else {
                Place::Header { server, header: SESSION.to_owned() }
            }
        };
        view.surfaces.iter().map(|(server, _)| Aim::at(place(server))).collect()
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(view) = brief.view else { return Vec::new() };
        let good = http::harmless(view, aim.place.server());
        let mut attempts = Vec::new();
        let mut steal = |set: usize, form: &str, thief: Option<usize>| {
            let made_up = (SESSION.to_owned(), brief.nonce().to_string());
            let mut invented = HttpRequest { identity: thief, ..good.clone() };
            invented.headers.push(made_up);
            let owner = HttpRequest { identity: Some(0), ..good.clone() };
            let own = HttpRequest { identity: thief, fresh: true, ..good.clone() };
            let thief = HttpRequest { identity: thief, session_of: Some(0), ..good.clone() };
            let requests =
                [("control", owner), ("made-up", invented), ("own", own), ("stolen", thief)];
            for (role, request) in requests {
                attempts.push(http::attempt(brief, (set, form, role), request));
            }
        };
        if view.capabilities.credentials {
            steal(0, "without credentials", None);
            if brief.identities > 1 {
                steal(1, "with another user's credentials", Some(1));
            }
        }
        for _ in 0..SESSIONS {
            let request = HttpRequest { identity: Some(0), ..http::initialize() };
            attempts.push(http::attempt(brief, (IDS, "ids of several sessions", "id"), request));
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        trial
            .sets()
            .filter_map(|(set, tried)| if set == IDS { guessed(&tried) } else { stolen(&tried) })
            .collect()
    }
}

fn stolen(tried: &[&Tried]) -> Option<Hit> {
    let thief = of_role(tried, "stolen")?;
    let with_none = thief.attempt.form == "without credentials";
    let owner = of_role(tried, "control").and_then(served)?;
    let refused = |role: &str| {
        let answer = of_role(tried, role).and_then(HttpReply::of);
        answer.is_some_and(|answer| answer.served().is_none())
    };
    // A server that accepts any id, or none, has no sessions to steal.
    if !refused("made-up") || (with_none && !refused("own")) {
        return None;
    }
    let got = served(thief)?;
    // The data is certainly the owner's if the thief gets other data in its own session.
    let own = of_role(tried, "own").and_then(served);
    let data = with_none || (got == owner && own.is_some_and(|own| own != got));
    let title = format!("Session hijacking: a session id works {}", thief.attempt.form);
    let what = if data {
        "the server returned the data of the owner for the session id, and refused a made-up session id"
    } else {
        "the server accepted the session id of another user, and refused a made-up session id"
    };
    let severity = if data { Severity::High } else { Severity::Medium };
    let fault = if with_none { "session-is-login" } else { "not-bound" };
    Some(Hit::confirmed(title, what).by(thief).severity(severity).fault(fault))
}

fn guessed(tried: &[&Tried]) -> Option<Hit> {
    let ids: Vec<&str> = tried
        .iter()
        .filter_map(|one| {
            HttpReply::of(one).filter(|answer| answer.result().is_some())?.header(SESSION)
        })
        .collect();
    let last = *tried.last()?;
    if ids.len() < SESSIONS {
        return None;
    }
    let habit = if ids.iter().all(|id| *id == ids[0]) {
        "identical for all sessions"
    } else if counts(&ids) {
        "sequential"
    } else {
        return None;
    };
    let shown = ids.iter().take(3).copied().collect::<Vec<_>>().join(", ");
    let title = format!("Predictable session ids ({habit})");
    let hit = Hit::confirmed(title, format!("consecutive sessions have the ids {shown}"));
    Some(hit.by(last).fault("guessable"))
}

/// Whether ids differ only in a number that grows a little each time.
fn counts(ids: &[&str]) -> bool {
    let first = ids[0].as_bytes();
    let common = |of: &dyn Fn(&[u8], usize) -> Option<u8>| {
        let all = |at: &usize| {
            let wanted = of(first, *at);
            wanted.is_some() && ids.iter().all(|id| of(id.as_bytes(), *at) == wanted)
        };
        (0..first.len()).take_while(all).count()
    };
    let mut head = common(&|id, at| id.get(at).copied());
    // The common part must not cut off the first digits of the number.
    while head > 0 && first[head - 1].is_ascii_hexdigit() {
        head -= 1;
    }
    let middle = |id: &str, end: usize| -> Option<String> {
        let text = id.get(head..id.len().checked_sub(end)?)?;
        (!text.is_empty() && text.len() <= 15).then(|| text.to_owned())
    };
    let tail = {
        let mut tail = common(&|id, at| id.len().checked_sub(at + 1).map(|at| id[at]));
        while tail > 0 && first[first.len() - tail].is_ascii_hexdigit() {
            tail -= 1;
        }
        tail
    };
    let grows = |radix: u32| {
        let number = |id: &&str| u64::from_str_radix(&middle(id, tail)?, radix).ok();
        let numbers: Vec<u64> = ids.iter().filter_map(number).collect();
        numbers.len() == ids.len()
            && numbers.windows(2).all(|pair| pair[1] > pair[0] && pair[1] - pair[0] <= 10_000)
    };
    grows(10) || grows(16)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use quintain_evidence::evidence::{Evidence, Outcome};
    use serde_json::json;

    use super::*;
    use crate::attack::Identity;
    use crate::attacks::http::testing::{lists, replies, request, unauthorized};
    use crate::attacks::testing::{TestTarget, comes};

    fn room() -> TestTarget {
        let mut room = TestTarget::of_tools(&[json!({"name": "list_rooms"})]);
        (room.capabilities.http, room.capabilities.credentials) = (true, true);
        room.capabilities.identities = vec![Identity::default(), Identity::default()];
        room
    }

    fn no_session() -> Evidence {
        replies(404, &json!({"error": {"code": -32001, "message": "Session not found"}}))
    }

    fn has_made_up(request: &HttpRequest) -> bool {
        request.headers.iter().any(|(name, value)| name == SESSION && !value.is_empty())
    }

    #[test]
    fn a_session_that_serves_anybody_is_proof() {
        let hits = room().run_attack(&SessionHijack, |attempt| {
            let request = request(attempt);
            match () {
                () if request.body.contains("initialize") => lists(),
                () if has_made_up(&request) => no_session(),
                () if request.session_of.is_some() || request.identity.is_some() => lists(),
                () => unauthorized(),
            }
        });
        let faults: Vec<&str> = hits.iter().map(|hit| hit.fault).collect();
        assert_eq!(faults, ["session-is-login", "not-bound"]);
    }

    #[test]
    fn servers_without_sessions_and_guarded_ones_are_clean() {
        let stateless = |attempt: &Attempt| {
            if request(attempt).identity.is_some() { lists() } else { unauthorized() }
        };
        assert!(room().run_attack(&SessionHijack, stateless).is_empty());
        let bound = |attempt: &Attempt| {
            let request = request(attempt);
            let stolen = request.session_of.is_some();
            if has_made_up(&request) || stolen || request.identity.is_none() {
                no_session()
            } else {
                lists()
            }
        };
        assert!(room().run_attack(&SessionHijack, bound).is_empty());
        assert!(room().run_attack(&SessionHijack, |_| lists()).is_empty(), "open to all");
    }

    fn with_ids(ids: [&'static str; SESSIONS]) -> usize {
        let next = Cell::new(0);
        let hits = room().run_attack(&SessionHijack, |attempt| {
            if attempt.role != "id" {
                return unauthorized();
            }
            let id = ids[next.get() % SESSIONS];
            next.set(next.get() + 1);
            let body = json!({"result": {"protocolVersion": "x"}}).to_string();
            comes(Outcome::Reply(
                json!({"status": 200, "headers": {"mcp-session-id": id}, "body": body}),
            ))
        });
        hits.len()
    }

    #[test]
    fn ids_that_count_are_guessable() {
        assert_eq!(with_ids(["1", "2", "3", "4", "5"]), 1);
        assert_eq!(
            with_ids(["sess-98-x", "sess-99-x", "sess-100-x", "sess-101-x", "sess-104-x"]),
            1
        );
        assert_eq!(with_ids(["00fe", "00ff", "0100", "0101", "0102"]), 1);
        assert_eq!(
            with_ids([
                "1763260000123",
                "1763260000190",
                "1763260000255",
                "1763260000301",
                "1763260000377"
            ]),
            1
        );
        assert_eq!(with_ids(["same"; 5]), 1);
    }

    #[test]
    fn random_ids_are_not() {
        assert_eq!(
            with_ids([
                "6f2c1c5e-3b52-4d39-9b47-0a3a9a6e1c11",
                "0b7f7d0c-52f5-4c06-8a51-5a7b1ab3f4a2",
                "d1d53b5e-6d6c-4f35-9d3f-0f4f0c9d3f10",
                "9e107d9d-372b-4b68-8d6a-1f7c7f4e2a4b",
                "a3c65c29-74c1-4b54-9d4e-9f1a6f5d7e8c",
            ]),
            0
        );
        assert_eq!(with_ids(["zq81kd", "a9x2pw", "m3n7ty", "k4v8rb", "c6h1js"]), 0);
    }
}
