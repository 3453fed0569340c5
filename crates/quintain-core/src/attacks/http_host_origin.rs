//! Local servers that answer pages of any site: DNS rebinding.

use super::http::{self, Answer, of_role};
use crate::attack::{
    Aim, Attack, Attempt, Bout, Brief, Facts, Field, Hit, HttpRequest, Need, Tried,
};
use crate::finding::{Place, Severity};
use crate::registry::Meta;

pub(super) struct HttpHostOrigin;

static META: Meta = Meta {
    id: "http-host-origin",
    aliases: &["dns-rebinding", "origin-validation"],
    summary: "A local server takes requests with the Host or Origin of another site",
    docs: "\
# What it does
Sends a good request to a server on a loopback address, and the same one with a foreign `Host`, then with a foreign `Origin`, each alone;
also with names that merely begin like those of this machine. `Host` and `Origin` are two findings, since they need two checks.

# Why it matters
A page that the user happens to open can let its own name point to 127.0.0.1, and then use every tool of the server from the browser.

# What counts as proof
The status does not change, and the result of the request comes back. Servers that other machines reach are not tried.

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

static FACTS: Facts = Facts {
    severity: Severity::High,
    cwe: &[346, 350],
    frameworks: &["MCP07", "MCP09", "ASI03"],
    needs: &[Need::Http, Need::SameHost],
};

/// Names for `Host`: form and value.
const HOSTS: [(&str, &str); 3] = [
    ("the name of another site", "rebind.example"),
    ("a name that begins with localhost", "localhost.rebind.example"),
    ("a name that begins with 127.0.0.1", "127.0.0.1.rebind.example"),
];

const ORIGINS: [(&str, &str); 4] = [
    ("the name of another site", "http://rebind.example"),
    ("a name that begins with localhost", "http://localhost.rebind.example"),
    ("a name that begins with 127.0.0.1", "http://127.0.0.1.rebind.example"),
    ("a name that ends with localhost", "http://rebindlocalhost"),
];

impl Attack for HttpHostOrigin {
    fn meta(&self) -> Meta {
        META
    }

    fn facts(&self) -> Facts<'static> {
        FACTS
    }

    fn aims(&self, field: &Field<'_>) -> Vec<Aim> {
        if !field.powers.http || !field.powers.loopback {
            return Vec::new();
        }
        let places = field.surfaces.iter().flat_map(|(server, _)| {
            ["Host", "Origin"]
                .map(|header| Place::Header { server: server.clone(), header: header.to_owned() })
        });
        places.map(http::aim).collect()
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Place::Header { header, .. } = &aim.place else { return Vec::new() };
        let values: &[(&str, &str)] = if header == "Host" { &HOSTS } else { &ORIGINS };
        let good = HttpRequest { identity: Some(0), ..http::initialize() };
        let mut attempts = Vec::new();
        for (set, (form, value)) in values.iter().enumerate() {
            let mut bad = good.clone();
            bad.headers.push((header.clone(), (*value).to_owned()));
            attempts.push(http::attempt(brief, (set, form, "good"), good.clone()));
            let attempt = http::attempt(brief, (set, form, "bad"), bad);
            attempts.push(Attempt { payload: Some((*value).into()), ..attempt });
        }
        attempts
    }

    fn detect(&self, bout: &Bout<'_>) -> Vec<Hit> {
        bout.sets().filter_map(|(_, tried)| judge(bout, &tried)).collect()
    }
}

fn judge(bout: &Bout<'_>, tried: &[&Tried]) -> Option<Hit> {
    let Place::Header { header, .. } = &bout.aim.place else { return None };
    let (good, bad) = (of_role(tried, "good")?, of_role(tried, "bad")?);
    let (right, wrong) = (Answer::of(good)?, Answer::of(bad)?);
    right.served()?;
    wrong.served()?;
    if right.status != wrong.status {
        return None;
    }
    let form = &bad.attempt.form;
    let value = bad.attempt.payload.as_ref()?.as_str()?;
    let title = format!("a foreign {header} is accepted on a loopback address ({form})");
    let what =
        format!("{header}: {value} was answered with {} and a result, as without it", wrong.status);
    let mut hit = Hit::confirmed(title, what).by(bad).fault("rebinding");
    if bout.field.powers.credentials {
        // A page does not have them.
        hit = hit.severity(Severity::Medium);
    }
    Some(hit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::http::testing::{lists, replies, request};
    use crate::attacks::testing::Room;
    use crate::evidence::Evidence;
    use serde_json::json;

    fn room() -> Room {
        let mut room = Room::of_tools(&[json!({"name": "a"})]);
        (room.powers.http, room.powers.loopback) = (true, true);
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
        let hits = room().fight(&HttpHostOrigin, |_| lists());
        assert_eq!(hits.len(), HOSTS.len() + ORIGINS.len());
        let hits = room().fight(&HttpHostOrigin, |attempt| {
            if sent(attempt, "Host").is_some() { forbidden() } else { lists() }
        });
        assert!(hits.len() == ORIGINS.len() && hits[0].title.contains("Origin"));
    }

    #[test]
    fn names_that_begin_alike_are_told_apart() {
        let prefix = |attempt: &Attempt| match sent(attempt, "Origin") {
            Some(origin) if !origin.starts_with("http://localhost") => forbidden(),
            _ if sent(attempt, "Host").is_some() => forbidden(),
            _ => lists(),
        };
        let hits = room().fight(&HttpHostOrigin, prefix);
        assert_eq!(hits.len(), 1);
        assert!(hits[0].title.contains("begins with localhost"), "{}", hits[0].title);
    }

    #[test]
    fn refusals_in_any_form_are_fine() {
        for answer in [
            forbidden(),
            replies(421, &json!({})),
            replies(200, &json!({"error": {"message": "bad host"}})),
        ] {
            let hits = room().fight(&HttpHostOrigin, |attempt| {
                if attempt.role == "bad" { answer.clone() } else { lists() }
            });
            assert!(hits.is_empty());
        }
    }

    #[test]
    fn without_a_good_request_or_elsewhere_nothing_is_proved() {
        assert!(room().fight(&HttpHostOrigin, |_| forbidden()).is_empty());
        let mut remote = room();
        remote.powers.loopback = false;
        assert!(HttpHostOrigin.aims(&remote.field()).is_empty());
    }
}
