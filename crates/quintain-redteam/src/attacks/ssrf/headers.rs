//! Request headers that control where a server connects to.

use std::collections::BTreeMap;

use quintain_evidence::evidence::Observation;
use quintain_evidence::finding::Place;
use quintain_evidence::probe::Step;
use quintain_evidence::surface::Surface;
use serde_json::{Map, Value, json};

use super::super::tool_actions;
use crate::attack::{Action, Attempt, Brief, Hit, HttpRequest, Listener, TargetView, Trial, Tried};
use crate::knowledge::{Sense, words};

/// Headers from which servers build addresses.
pub(super) const COMMON: [&str; 5] =
    ["X-Forwarded-Host", "X-Forwarded-Server", "X-Original-Host", "X-Base-Url", "Referer"];
/// The maximum number of headers, including those that the server mentions.
const MAX_TOLD: usize = 12;
/// The maximum number of calls with these headers.
const MAX_CALLS: usize = 12;
/// The maximum number of service names to build headers from.
const MAX_PRODUCTS: usize = 4;
/// The suffixes of such headers.
const ADDRESSES: [&str; 4] = ["Url", "Base-Url", "Host", "Endpoint"];
/// Servers that take an address from a header often require credentials from other headers.
const CREDENTIALS: [&str; 5] = ["Key", "Api-Key", "Token", "Api-Token", "Personal-Token"];
/// Calls each tool with all headers at once. The path of each address names its header.
pub(super) fn attempts(server: &str, brief: &Brief<'_>, listener: &Listener) -> Vec<Attempt> {
    let Some(view) = brief.view else { return Vec::new() };
    let Some((_, surface)) = view.surfaces.iter().find(|(of, _)| of == server) else {
        return Vec::new();
    };
    let (names, credentials) = names(surface);
    let mut attempts = Vec::new();
    for (set, (tool, arguments)) in calls(view, server).into_iter().enumerate() {
        let nonce = brief.nonce();
        let addresses = names.iter().map(|name| {
            let place =
                format!("{}:{}/{nonce}/{}", listener.host, listener.port, name.to_lowercase());
            let is_url = ["url", "uri", "referer", "endpoint"];
            let whole = words(name).iter().any(|word| is_url.contains(&word.as_str()));
            (name.clone(), if whole { format!("http://{place}") } else { place })
        });
        let secrets = credentials.iter().map(|name| (name.clone(), format!("quintain-{nonce}")));
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}});
        let request = HttpRequest {
            method: "POST".to_owned(),
            headers: addresses.chain(secrets).collect(),
            body: body.to_string(),
            identity: Some(0),
            // Some servers read the headers only when a session starts.
            fresh: true,
            ..HttpRequest::default()
        };
        attempts.push(Attempt {
            form: format!("header, call of {tool}"),
            set,
            role: names.join("\n"),
            action: Action::Http(request),
            payload: None,
            nonce,
        });
    }
    attempts
}

/// Calls that work, then calls that may work if the tool can reach its service.
fn calls<'f>(view: &'f TargetView<'_>, server: &str) -> Vec<(&'f str, &'f Map<String, Value>)> {
    let known = &view.knowledge;
    let working = known.baselines.iter().filter(|one| one.server == server);
    let working = working.filter_map(|one| match &one.step {
        Step::Call(call) => Some((call.tool.as_str(), &call.args)),
        Step::Request { .. } => None,
    });
    let drafts = known.drafts.iter().filter(|one| one.server == server);
    let drafts = drafts.map(|one| (one.tool.as_str(), &one.args));
    let may =
        |tool: &str| view.tool(server, tool).is_some_and(|it| tool_actions::may_call(view, it));
    working.chain(drafts).filter(|(tool, _)| may(tool)).take(MAX_CALLS).collect()
}

/// Headers for addresses, and headers for the matching credentials.
fn names(surface: &Surface) -> (Vec<String>, Vec<String>) {
    let mut names: Vec<String> = COMMON.map(str::to_owned).to_vec();
    let told = surface.tools.iter().filter_map(|tool| tool.description());
    for text in told.chain(surface.instructions.as_deref()) {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        for word in text.split(|c| !plain(c)) {
            let known = names.iter().any(|name| name.eq_ignore_ascii_case(word));
            let is_header = word.len() < 64 && word.to_lowercase().starts_with("x-");
            if is_header && !known && names.len() < MAX_TOLD {
                names.push(word.to_owned());
            }
        }
    }
    let mut credentials = Vec::new();
    for product in products(surface) {
        names.extend(ADDRESSES.map(|end| format!("X-{product}-{end}")));
        credentials.extend(CREDENTIALS.map(|end| format!("X-{product}-{end}")));
    }
    (names, credentials)
}

/// Services that a server may connect to, from its name and from the first words of its tools: `Shop`,
/// `Billing`, `Shop-Billing`.
fn products(surface: &Surface) -> Vec<String> {
    let plain = |word: &String| Sense::Common.is(word);
    let own = words(surface.server_name().unwrap_or_default());
    let own: Vec<String> = own.into_iter().filter(|word| !plain(word)).take(1).collect();
    let mut begins: BTreeMap<String, usize> = BTreeMap::new();
    for tool in &surface.tools {
        let first = words(tool.name().unwrap_or_default()).into_iter().next();
        if let Some(word) = first.filter(|word| !plain(word)) {
            *begins.entry(word).or_default() += 1;
        }
    }
    let mut begins: Vec<(String, usize)> = begins.into_iter().filter(|one| one.1 > 1).collect();
    begins.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let begins: Vec<String> =
        begins.into_iter().map(|(word, _)| word).filter(|word| !own.contains(word)).collect();
    let pairs = own.iter().flat_map(|one| begins.iter().map(move |two| format!("{one}-{two}")));
    let pairs: Vec<String> = pairs.take(MAX_PRODUCTS).collect();
    let single = own.iter().chain(&begins).take(MAX_PRODUCTS).cloned();
    single.chain(pairs).map(|name| capital(&name)).collect()
}

/// `shop-billing` with the capital letters of a header: `Shop-Billing`.
fn capital(name: &str) -> String {
    let parts = name.split('-').map(|part| {
        let mut letters = part.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    parts.collect::<Vec<_>>().join("-")
}

pub(super) fn hits(trial: &Trial<'_>, tried: &Tried) -> Vec<Hit> {
    let nonce = tried.attempt.nonce.as_str();
    let mut hits: Vec<Hit> = Vec::new();
    for observation in &tried.evidence.observations {
        let Observation::Connection { request, .. } = observation else { continue };
        let Some((_, rest)) = request.split_once(nonce) else { continue };
        let rest = rest.trim_start_matches('/');
        let name = tried.attempt.role.lines().find(|name| {
            let name = name.to_lowercase();
            rest.strip_prefix(name.as_str()).is_some_and(|rest| {
                !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
            })
        });
        let Some(name) = name else { continue };
        let server = trial.aim.place.server().to_owned();
        let place = Place::Header { server, header: name.to_owned() };
        let title = format!("Server-side request forgery (SSRF) through `{place}`");
        let what = format!("the listener received the request: {request}");
        hits.push(Hit::confirmed(title, what).by(tried).fault("header").at(place));
    }
    hits
}

#[cfg(test)]
mod tests {
    use quintain_evidence::surface::Tool;

    use super::*;

    #[test]
    fn headers_carry_the_names_of_what_a_server_connects_to() {
        let tool = |name: &str| Tool(json!({"name": name}));
        let surface = Surface {
            server_info: json!({"name": "mcp-shop-server"}),
            tools: ["billing_list", "billing_pay", "stock_get", "stock_set", "get_me", "get_you"]
                .map(tool)
                .to_vec(),
            ..Surface::default()
        };
        let (names, credentials) = names(&surface);
        for name in ["X-Shop-Url", "X-Billing-Base-Url", "X-Shop-Stock-Url"] {
            assert!(names.iter().any(|one| one == name), "{name}: {names:?}");
        }
        assert!(
            !names.iter().any(|name| name.contains("Get") || name.contains("Mcp")),
            "{names:?}"
        );
        assert!(credentials.iter().any(|name| name == "X-Shop-Key"));
    }
}
