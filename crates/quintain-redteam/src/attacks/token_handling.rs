//! Invalid tokens that a server accepts.

use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::probe::Step;
use quintain_evidence::weakness::Weakness;

use super::http::{self, of_role, served};
use super::tool_access;
use crate::attack::{
    Aim, Attack, Attempt, Brief, Given, Hit, HttpRequest, Need, TargetView, Token, Trial, Tried,
};

pub(super) struct TokenHandling;

static META: Meta = Meta {
    id: "token-handling",
    aliases: &["token-passthrough", "jwt"],
    summary: "The server accepts forged, expired or wrong-audience tokens, or tokens in the query",
    docs: "\
# What it does
Sends the same harmless request with the valid token and with invalid ones made from it: random letters, half of the token and, for a JSON
Web Token, the algorithm `none` in several spellings, no signature, and changed claims with the old signature. It also sends the valid
token in the query. Tokens that only the owner of the target can create are sent if `redteam.tokens` provides them: an expired one, one
for another audience, and a read-only one, which is tried on tools that change data.

# Why it matters
An unchecked token is no better than none, and a token in the query ends up in every log.

# What counts as proof
A 2xx status with a result where the server must answer 401 or 403, while the valid token works and a token of random letters is refused
or gets less. If the server accepts random letters as well, that is the finding.

# Example
```yaml
redteam:
  plugins: [token-handling]
  tokens:
    expired: '{{env.EXPIRED_TOKEN}}'
    otherAudience: '{{env.TOKEN_FOR_ANOTHER_SERVER}}'
    readOnly: '{{env.TOKEN_THAT_MAY_READ}}'
```

# References
- CWE-287, CWE-347, CWE-613, CWE-598, OWASP MCP01, OWASP MCP07, OWASP API2
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[287, 347, 613, 598],
    frameworks: &["MCP01", "MCP07", "API2", "ASI03"],
};

/// The invalid tokens: token, form, fault, severity.
fn forgeries() -> [(Token, &'static str, &'static str, Severity); 9] {
    let unsigned = |algorithm: &str| Token::Unsigned(algorithm.to_owned());
    let critical = Severity::Critical;
    [
        (Token::Garbage, "a token of random letters", "garbage", Severity::High),
        (Token::Truncated, "a truncated token", "garbage", Severity::High),
        (unsigned("none"), "a token with algorithm none", "unsigned", critical),
        (unsigned("None"), "a token with algorithm None", "unsigned", critical),
        (unsigned("NONE"), "a token with algorithm NONE", "unsigned", critical),
        (Token::Stripped, "a token without its signature", "unsigned", critical),
        (
            Token::Tampered,
            "a token with changed claims and the old signature",
            "unsigned",
            critical,
        ),
        (Token::Given(Given::Expired), "an expired token", "expired", Severity::High),
        (
            Token::Given(Given::OtherAudience),
            "a token for another audience",
            "audience",
            Severity::High,
        ),
    ]
}

/// Names of query parameters for tokens.
const QUERY: [&str; 2] = ["access_token", "token"];
/// The maximum number of tools to call with a read-only token.
const MAX_WRITERS: usize = 4;

impl Attack for TokenHandling {
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
        let mut aims = Vec::new();
        for (server, _) in view.surfaces {
            let header = "Authorization".to_owned();
            aims.push(Aim::at(Place::Header { server: server.clone(), header }));
        }
        if view.capabilities.given.contains(&Given::ReadOnly) {
            let writers = view.knowledge.baselines.iter().filter_map(|baseline| {
                let tool = tool_access::tool_of(view, baseline)?;
                let writes = tool_access::is_writer(tool) && tool_access::may_be_called(view, tool);
                let tool = tool.name()?.to_owned();
                let place = Place::Tool { server: baseline.server.clone(), tool };
                writes.then(|| tool_access::aim(place, Some(baseline)))
            });
            aims.extend(writers.take(MAX_WRITERS));
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(view) = brief.view else { return Vec::new() };
        if let Some(baseline) = &aim.baseline {
            let Step::Call(call) = &baseline.step else { return Vec::new() };
            let request = HttpRequest {
                fresh: true,
                identity: Some(0),
                ..http::call(&call.tool, &call.args)
            };
            let token = Some(Token::Given(Given::ReadOnly));
            let forged = HttpRequest { token, ..request.clone() };
            let form = "a read-only token";
            return vec![
                http::attempt(brief, (0, form, "control"), request),
                http::attempt(brief, (0, form, "forged"), forged),
            ];
        }
        let good = http::harmless(view, aim.place.server());
        let good = HttpRequest { identity: Some(0), fresh: true, ..good };
        let garbage = HttpRequest { token: Some(Token::Garbage), ..good.clone() };
        let mut attempts = Vec::new();
        let mut set = 0;
        let mut add = |form: &str, forged: HttpRequest, worse: &HttpRequest| {
            for (role, request) in [("control", &good), ("worse", worse), ("forged", &forged)] {
                attempts.push(http::attempt(brief, (set, form, role), request.clone()));
            }
            set += 1;
        };
        for (token, form, _, _) in forgeries() {
            if matches!(token, Token::Given(given) if !view.capabilities.given.contains(&given)) {
                continue;
            }
            add(form, HttpRequest { token: Some(token), ..good.clone() }, &garbage);
        }
        let none = HttpRequest { identity: None, ..good.clone() };
        for name in QUERY {
            let token_in_query = Some(name.to_owned());
            let form = format!("a token in the query parameter `{name}`");
            add(&form, HttpRequest { token_in_query, ..good.clone() }, &none);
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        trial.sets().filter_map(|(_, tried)| judge(trial, &tried)).collect()
    }
}

fn judge(trial: &Trial<'_>, tried: &[&Tried]) -> Option<Hit> {
    let forged = of_role(tried, "forged")?;
    let (good, got) = (of_role(tried, "control").and_then(served)?, served(forged)?);
    let form = &forged.attempt.form;
    if trial.aim.baseline.is_some() {
        let tool = trial.view.tool(trial.aim.place.server(), trial.aim.place.tool()?)?;
        let title = format!("`{}` accepts {form} (missing scope check)", trial.aim.place);
        let what = "the server served the call instead of answering 403";
        // Without the hint, only the name suggests that the tool writes.
        let sure = tool.hint("readOnlyHint") == Some(false);
        let hit = if sure { Hit::confirmed(title, what) } else { Hit::suspected(title, what) };
        return Some(hit.by(forged).fault("scope"));
    }
    let known = forgeries().into_iter().find(|(_, known, _, _)| known == form);
    let (fault, severity) =
        known.map_or(("query", Severity::Medium), |(_, _, fault, severity)| (fault, severity));
    let worse = of_role(tried, "worse")?;
    let is_garbage = form == "a token of random letters";
    // If the server answers a worse token as well, this one counts only if it gets the response of the valid token.
    let counts = is_garbage
        || match served(worse) {
            None => http::HttpReply::of(worse).is_some(),
            Some(worse) => got == good && worse != good,
        };
    if !counts {
        return None;
    }
    let title = format!("Improper authentication: the server accepts {form}");
    let what = "the server served the request instead of answering 401";
    Some(Hit::confirmed(title, what).by(forged).severity(severity).fault(fault))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;
    use quintain_evidence::finding::Confidence;
    use serde_json::{Map, json};

    use super::*;
    use crate::attacks::http::testing::{lists, replies, request, unauthorized};
    use crate::attacks::testing::{TestTarget, answers};

    fn room() -> TestTarget {
        let mut room =
            TestTarget::of_tools(&[json!({"name": "whoami"}), json!({"name": "book_room"})]);
        room.works("whoami", Map::new(), &answers("ada"));
        room.works("book_room", Map::new(), &answers("ok"));
        (room.capabilities.http, room.capabilities.credentials) = (true, true);
        room.capabilities.given = vec![Given::Expired, Given::OtherAudience, Given::ReadOnly];
        room
    }

    fn says(text: &str) -> Evidence {
        replies(200, &json!({"result": {"content": [{"type": "text", "text": text}]}}))
    }

    fn is_good(request: &HttpRequest) -> bool {
        request.identity.is_some() && request.token.is_none() && request.token_in_query.is_none()
    }

    #[test]
    fn every_bad_token_has_its_fault() {
        for (bad, fault) in [
            (Token::Unsigned("None".into()), "unsigned"),
            (Token::Tampered, "unsigned"),
            (Token::Truncated, "garbage"),
            (Token::Given(Given::Expired), "expired"),
            (Token::Given(Given::OtherAudience), "audience"),
            (Token::Given(Given::ReadOnly), "scope"),
        ] {
            let hits = room().run_attack(&TokenHandling, |attempt| {
                let request = request(attempt);
                let taken = request.token.as_ref() == Some(&bad) || is_good(&request);
                if taken { lists() } else { unauthorized() }
            });
            assert_eq!(hits.iter().map(|hit| hit.fault).collect::<Vec<_>>(), [fault], "{bad:?}");
        }
    }

    #[test]
    fn a_token_in_the_query_must_not_be_read() {
        let hits = room().run_attack(&TokenHandling, |attempt| {
            let request = request(attempt);
            let query = request.token_in_query.as_deref() == Some("access_token");
            if query || is_good(&request) { lists() } else { unauthorized() }
        });
        assert_eq!((hits.len(), hits[0].fault), (1, "query"));
    }

    #[test]
    fn guests_are_told_from_their_betters() {
        let hits = room().run_attack(&TokenHandling, |attempt| {
            let request = request(attempt);
            if request.body.contains("book_room") && !is_good(&request) {
                return unauthorized();
            }
            let unsigned = request.token == Some(Token::Unsigned("None".into()));
            says(if is_good(&request) || unsigned { "ada" } else { "guest" })
        });
        let faults: Vec<&str> = hits.iter().map(|hit| hit.fault).collect();
        assert_eq!(faults, ["garbage", "unsigned"]);
        assert!(hits.iter().all(|hit| hit.confidence == Confidence::Confirmed));
    }

    #[test]
    fn a_strict_server_and_an_absent_control_are_clean() {
        let strict = |attempt: &Attempt| {
            if is_good(&request(attempt)) { lists() } else { unauthorized() }
        };
        assert!(room().run_attack(&TokenHandling, strict).is_empty());
        assert!(room().run_attack(&TokenHandling, |_| unauthorized()).is_empty());
        assert!(room().run_attack(&TokenHandling, |_| Evidence::default()).is_empty());
    }

    #[test]
    fn tokens_that_were_not_given_are_not_sent() {
        let mut room = room();
        room.capabilities.given.clear();
        let view = room.view();
        let aims = TokenHandling.aims(&view);
        assert_eq!(aims.len(), 1);
        let attempts = TokenHandling.attempts(&aims[0], &room.brief().on(&view));
        let given = |attempt: &&Attempt| matches!(request(attempt).token, Some(Token::Given(_)));
        assert_eq!(attempts.iter().filter(given).count(), 0);
    }
}
