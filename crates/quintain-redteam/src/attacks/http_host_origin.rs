//! Local servers that answer web pages of any site (DNS rebinding).

use quintain_content::registry::Meta;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::weakness::Weakness;

use super::http::{self, HttpReply, of_role, served};
use crate::attack::{
    Aim, Attack, Attempt, Brief, Hit, HttpRequest, Need, TargetView, Trial, Tried,
};

pub(super) struct HttpHostOrigin;

static META: Meta = Meta {
    id: "http-host-origin",
    aliases: &["dns-rebinding", "origin-validation"],
    summary: "A local server accepts requests with a foreign Host or Origin header",
    docs: "\
# What it does
Sends a valid request to a server on a loopback address, then the same request with a foreign `Host`, with a foreign `Origin`, and with
both, as a browser sends them for a page with a name that resolves to this machine. It also tries names that begin or end like local
names, and checks whether pages of other sites may send requests (a preflight, and a request that needs none). `Host` and `Origin` are
separate findings, since they need separate checks.

# Why it matters
A web page that the user happens to open can make its own name resolve to 127.0.0.1 and then use every tool of the server from the
browser.

# What counts as proof
The server accepts a forged `Host` or `Origin` header: the status stays the same and it returns the result, for the header alone and for
both headers together. Checking one of the two headers is enough to stop such pages. If the server checks only the other header, the
finding for the unchecked one is suspected, unless the server allows pages of other sites. A check that accepts a similar name is
confirmed in any case. Servers that other machines can reach are not tested.

# Example
```yaml
redteam:
  plugins: [http-host-origin]
```

# References
- CWE-346, CWE-350, OWASP MCP07
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[346, 350],
    frameworks: &["MCP07", "MCP09", "ASI03"],
};

/// Values of `Host`, with their forms.
const HOSTS: [(&str, &str); 3] = [
    ("name of another site", "rebind.example"),
    ("name that begins with localhost", "localhost.rebind.example"),
    ("name that begins with 127.0.0.1", "127.0.0.1.rebind.example"),
];

const ORIGINS: [(&str, &str); 4] = [
    ("name of another site", "http://rebind.example"),
    ("name that begins with localhost", "http://localhost.rebind.example"),
    ("name that begins with 127.0.0.1", "http://127.0.0.1.rebind.example"),
    ("name that ends with localhost", "http://rebindlocalhost"),
];

impl Attack for HttpHostOrigin {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn needs(&self) -> &[Need] {
        &[Need::Http, Need::SameHost]
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        if !view.capabilities.http || !view.capabilities.loopback {
            return Vec::new();
        }
        let places = view.surfaces.iter().flat_map(|(server, _)| {
            ["Host", "Origin"]
                .map(|header| Place::Header { server: server.clone(), header: header.to_owned() })
        });
        places.map(Aim::at).collect()
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Place::Header { header, .. } = &aim.place else { return Vec::new() };
        let is_host = header == "Host";
        let values: &[(&str, &str)] = if is_host { &HOSTS } else { &ORIGINS };
        // With the HTTP+SSE transport, the page requests the stream as well.
        let fresh = brief.view.is_some_and(|view| view.capabilities.sse);
        let good = HttpRequest { identity: Some(0), fresh, ..http::initialize() };
        let with = |added: &[(&str, &str)]| {
            let mut request = good.clone();
            let added = added.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            request.headers.extend(added);
            request
        };
        let mut attempts = Vec::new();
        for (set, (form, value)) in values.iter().enumerate() {
            let bare = value.trim_start_matches("http://");
            let origin = format!("http://{bare}");
            let mut requests = vec![
                ("good", good.clone()),
                ("bad", with(&[(header, value)])),
                ("both", with(&[("Host", bare), ("Origin", &origin)])),
            ];
            if !is_host {
                requests.push(("preflight", preflight(&origin)));
                let mut simple = with(&[("Origin", &origin)]);
                simple.headers.retain(|(name, _)| name != "Content-Type");
                simple.headers.push(("Content-Type".to_owned(), "text/plain".to_owned()));
                requests.push(("simple", simple));
            }
            attempts.extend(requests.into_iter().map(|(role, request)| {
                let made = http::attempt(brief, (set, form, role), request);
                Attempt { payload: (role != "good").then(|| (*value).into()), ..made }
            }));
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let sets: Vec<(usize, Vec<&Tried>)> = trial.sets().collect();
        // The first name resembles no local name: a server that refuses it checks the header.
        let looks = sets.first().is_some_and(|(_, tried)| {
            let bad = of_role(tried, "bad").and_then(HttpReply::of);
            bad.is_some_and(|answer| answer.served().is_none())
        });
        sets.iter().filter_map(|(_, tried)| judge(trial, tried, looks)).collect()
    }
}

/// The request of a browser before it sends JSON to another site.
fn preflight(origin: &str) -> HttpRequest {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    HttpRequest {
        method: "OPTIONS".to_owned(),
        headers: vec![
            header("Origin", origin),
            header("Access-Control-Request-Method", "POST"),
            header("Access-Control-Request-Headers", "content-type"),
        ],
        ..HttpRequest::default()
    }
}

fn judge(trial: &Trial<'_>, tried: &[&Tried], looks: bool) -> Option<Hit> {
    let Place::Header { header, .. } = &trial.aim.place else { return None };
    let (good, bad) = (of_role(tried, "good")?, of_role(tried, "bad")?);
    let (right, wrong) = (HttpReply::of(good)?, HttpReply::of(bad)?);
    right.served()?;
    wrong.served()?;
    if right.status != wrong.status {
        return None;
    }
    let form = &bad.attempt.form;
    let value = bad.attempt.payload.as_ref()?.as_str()?;
    let title = format!("DNS rebinding: the server accepts a foreign `{header}` header ({form})");
    let what =
        format!("`{header}: {value}` got status {} and a result, as without it", wrong.status);
    let rebinds = of_role(tried, "both").and_then(served).is_some();
    if rebinds || looks || lets_in(tried, value) {
        let hit = Hit::confirmed(title, what).by(bad).fault("rebinding");
        // A web page does not have the credentials.
        let weaker = trial.view.capabilities.credentials;
        return Some(if weaker { hit.severity(Severity::Medium) } else { hit });
    }
    let other = if header == "Host" { "Origin" } else { "Host" };
    let note =
        format!("the server refuses a foreign `{other}` header, which stops pages of other sites");
    Some(Hit::suspected(title, what).by(bad).fault("rebinding").severity(Severity::Low).note(note))
}

/// Whether a browser lets a page of another site send the request, with or without a preflight.
fn lets_in(tried: &[&Tried], origin: &str) -> bool {
    let allows = of_role(tried, "preflight").and_then(HttpReply::of).is_some_and(|answer| {
        let allows = |name: &str, wanted: &str| {
            let given = answer.header(name).unwrap_or_default();
            given
                .split(',')
                .map(str::trim)
                .any(|one| one == "*" || one.eq_ignore_ascii_case(wanted))
        };
        (200..300).contains(&answer.status)
            && allows("Access-Control-Allow-Origin", origin)
            && allows("Access-Control-Allow-Headers", "content-type")
    });
    allows || of_role(tried, "simple").and_then(served).is_some()
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::{Evidence, Outcome};
    use quintain_evidence::finding::Confidence;
    use serde_json::json;

    use super::*;
    use crate::attacks::http::testing::{lists, replies, request};
    use crate::attacks::testing::TestTarget;

    fn room() -> TestTarget {
        let mut room = TestTarget::of_tools(&[json!({"name": "a"})]);
        (room.capabilities.http, room.capabilities.loopback) = (true, true);
        room
    }

    fn forbidden() -> Evidence {
        replies(403, &json!({"error": "invalid host"}))
    }

    fn sent(attempt: &Attempt, header: &str) -> Option<String> {
        let headers = request(attempt).headers;
        headers.into_iter().find(|(name, _)| name == header).map(|(_, value)| value)
    }

    #[test]
    fn host_and_origin_are_two_findings() {
        let hits = room().run_attack(&HttpHostOrigin, |_| lists());
        assert_eq!(hits.len(), HOSTS.len() + ORIGINS.len());
    }

    /// The hits for a server that checks this header.
    fn refusing(header: &str, preflight: &Evidence, simple: bool) -> Vec<Hit> {
        room().run_attack(&HttpHostOrigin, |attempt| match attempt.role.as_str() {
            "preflight" => preflight.clone(),
            "simple" if !simple => replies(415, &json!({})),
            _ if sent(attempt, header).is_some() => forbidden(),
            _ => lists(),
        })
    }

    #[test]
    fn one_check_stops_pages_unless_they_are_let_in() {
        let shut = replies(404, &json!({}));
        for header in ["Host", "Origin"] {
            let hits = refusing(header, &shut, false);
            assert!(!hits.is_empty());
            assert!(hits.iter().all(|hit| hit.confidence == Confidence::Suspected), "{header}");
        }
        let confirmed = |hits: &[Hit]| {
            hits.iter().filter(|hit| hit.confidence == Confidence::Confirmed).count()
        };
        let mut open = replies(204, &json!({}));
        let headers = json!({"access-control-allow-origin": "*",
            "access-control-allow-headers": "Content-Type, Mcp-Session-Id"});
        open.exchanges[0].outcome =
            Outcome::Reply(json!({"status": 204, "headers": headers, "body": ""}));
        assert_eq!(confirmed(&refusing("Host", &open, false)), ORIGINS.len());
        assert_eq!(confirmed(&refusing("Host", &shut, true)), ORIGINS.len());
        assert_eq!(confirmed(&refusing("Origin", &open, true)), 0);
    }

    #[test]
    fn names_that_begin_alike_are_told_apart() {
        let prefix = |attempt: &Attempt| match sent(attempt, "Origin") {
            Some(origin) if !origin.starts_with("http://localhost") => forbidden(),
            _ if sent(attempt, "Host").is_some() => forbidden(),
            _ => lists(),
        };
        let hits = room().run_attack(&HttpHostOrigin, prefix);
        assert_eq!(hits.len(), 1);
        assert!(hits[0].title.contains("begins with localhost"), "{}", hits[0].title);
        assert_eq!(hits[0].confidence, Confidence::Confirmed);
    }

    #[test]
    fn refusals_in_any_form_are_fine() {
        for answer in [
            forbidden(),
            replies(421, &json!({})),
            replies(200, &json!({"error": {"message": "bad host"}})),
        ] {
            let hits = room().run_attack(&HttpHostOrigin, |attempt| {
                if attempt.role == "good" { lists() } else { answer.clone() }
            });
            assert!(hits.is_empty());
        }
    }

    #[test]
    fn without_a_good_request_or_elsewhere_nothing_is_proved() {
        assert!(room().run_attack(&HttpHostOrigin, |_| forbidden()).is_empty());
        let mut remote = room();
        remote.capabilities.loopback = false;
        assert!(HttpHostOrigin.aims(&remote.view()).is_empty());
    }
}
