//! Secrets and personal data of one server in a call of another.

mod results;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use quintain_content::registry::Meta;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::lexicon;
use quintain_evidence::trace::Role;
use serde_json::Value;

use super::{Checked, Fault, TraceCheck};
use crate::occurrences::Occurrences;
use crate::policy::CallPolicy;
use crate::values::leaves::{Leaf, leaves};
use crate::view::{CallView, View};

pub(super) struct DataFlow;

static META: Meta = Meta {
    id: "policy.data-flow",
    aliases: &[],
    summary: "a secret or personal data of one server is sent to another",
    docs: "\
# What it does
Detects secrets and personal data in the results of every server, and looks for them in the arguments of calls of other servers, also in
base64. Fine are: data that the user wrote, data that the other server returned itself, an address as the recipient of a message, personal
data for a tool that the user asked for by name, and servers in `trusted` of the policy.

# Why it matters
What one server holds in confidence is in the logs of another after the call.

# What counts as proof
The value is in an earlier result of one server and in the arguments of a call of another.

# Severity
Error, in the layer *trace*.

# When it does not apply
Fewer than two servers are called, or the results have too many values to follow.

# Example
```text
vault/get_secret -> sk_live_...      web/search {\"query\": \"sk_live_...\"}
```
",
    since: "0.2.0",
};

/// More values are not followed.
const MAX_VALUES: usize = 1_000;
/// More of a result is not searched.
const MAX_TEXT: usize = 2 << 20;

impl TraceCheck for DataFlow {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Trace
    }

    fn check(&self, view: &View<'_>, policy: &CallPolicy) -> Checked {
        let servers: HashSet<&str> = view.calls.iter().filter_map(CallView::server).collect();
        if servers.len() < 2 {
            return Checked::NotApplicable("fewer than two servers are called");
        }
        let sensitive = results::sensitive(view);
        if sensitive.is_empty() {
            return Checked::Findings(Vec::new());
        }
        let Some(search) = Search::new(&sensitive) else {
            return Checked::NotApplicable("the results have too many values to follow");
        };
        let asked = Asked::new(view);
        let mut faults = Vec::new();
        for call in &view.calls {
            let (Some(server), Some(args)) = (call.server(), call.call.args.json()) else {
                continue;
            };
            for leaf in leaves(args) {
                let Some(text) = text_of(leaf.value) else { continue };
                let flows = search.find(&text).into_iter().map(|index| &sensitive[index]);
                let flow = flows.filter_map(|value| Some((value, value.source(call, server)?)));
                let mut flow = flow.filter(|(_, source)| {
                    !(is_trusted(policy, source) && is_trusted(policy, server))
                });
                let bad = flow.find(|(value, _)| !value.is_fine(call, server, &leaf, &asked));
                if let Some((value, source)) = bad {
                    faults.push(fault(call, server, source, value, leaf.pointer.clone()));
                }
            }
        }
        Checked::Findings(faults)
    }
}

fn fault(
    call: &CallView<'_>,
    server: &str,
    source: &str,
    value: &Sensitive,
    pointer: String,
) -> Fault {
    let what = if value.is_secret { "a secret" } else { "personal data" };
    Fault {
        severity: Level::Error,
        call: Some(call.position),
        pointer,
        message: format!(
            "`{}` sends {what} ({}) of server `{source}` to server `{server}`",
            call.call.name, value.kind
        ),
        evidence: value.shown.clone(),
        hint: "leave it out, or list both servers as `trusted` in the policy".to_owned(),
    }
}

fn is_trusted(policy: &CallPolicy, server: &str) -> bool {
    policy.trusted.iter().any(|pattern| quintain_content::glob::matches(pattern, server))
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A value that must not pass between servers.
struct Sensitive {
    text: String,
    kind: &'static str,
    shown: String,
    is_secret: bool,
    /// The servers that returned it, with the first call that did.
    sources: Vec<(String, usize)>,
}

impl Sensitive {
    /// The server from which a call has the value, if its own server did not return it before.
    fn source(&self, call: &CallView<'_>, server: &str) -> Option<&str> {
        let mut earlier = self.sources.iter().filter(|(_, first)| *first < call.position);
        let is_own =
            self.sources.iter().any(|(source, first)| source == server && *first < call.position);
        earlier.find(|_| !is_own).map(|(source, _)| source.as_str())
    }

    /// Whether personal data is meant for the call: it addresses somebody, or the user asked for the tool.
    fn is_fine(&self, call: &CallView<'_>, server: &str, leaf: &Leaf<'_>, asked: &Asked) -> bool {
        if self.is_secret {
            return false;
        }
        let words = lexicon::words(leaf.key);
        let addresses = [
            "to",
            "cc",
            "bcc",
            "recipient",
            "recipients",
            "attendee",
            "attendees",
            "email",
            "emails",
            "mail",
            "phone",
            "mobile",
            "guest",
            "guests",
            "invitee",
            "invitees",
            "participant",
            "participants",
            "address",
            "contact",
            "customer",
            "user",
            "username",
            "owner",
            "assignee",
            "member",
            "members",
            "iban",
            "account",
            "beneficiary",
            "payee",
            "reviewer",
            "reviewers",
            "login",
            "author",
        ];
        let whole =
            leaf.value.as_str().is_some_and(|text| text.trim().len() <= self.text.len() + 40);
        let is_address = whole && words.iter().any(|word| addresses.contains(&word.as_str()));
        is_address || asked.names(&call.call.name, server) || asked.names_destination(call)
    }
}

/// Words in names of tools and servers that a request contains without meaning the tool.
fn is_usual(word: &str) -> bool {
    matches!(
        word,
        "server"
            | "tool"
            | "find"
            | "search"
            | "list"
            | "read"
            | "data"
            | "user"
            | "customer"
            | "customers"
            | "order"
            | "orders"
            | "look"
            | "show"
            | "fetch"
            | "query"
            | "open"
            | "check"
            | "info"
            | "file"
            | "page"
            | "account"
            | "ticket"
            | "details"
            | "item"
    )
}

fn is_same_word(said: &str, named: &str) -> bool {
    let stem = |word: &str| word.trim_end_matches('s').to_owned();
    let (said, named) = (stem(said), stem(named));
    said == named
        || named.len() >= 4
            && said.len() >= 4
            && (said.starts_with(&named) || named.ends_with(&said))
}

/// What the user said.
struct Asked {
    words: HashSet<String>,
    /// The places among all arguments that the user named.
    places: Occurrences,
    /// Whether the user asked for a tool of a server by a word of their names.
    tools: RefCell<HashMap<(String, String), bool>>,
}

impl Asked {
    fn new(view: &View<'_>) -> Self {
        let users = view.trace.messages().filter(|message| message.role == Role::User);
        let text = users.map(|message| message.text.to_lowercase()).collect::<Vec<_>>().join("\n");
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
        let words = words.take(20_000).map(str::to_owned).collect();
        let wanted = view.calls.iter().flat_map(places);
        let places = Occurrences::find(wanted, [(0, text.as_str())]);
        Self { words, places, tools: RefCell::default() }
    }

    /// Whether a word of the name of a tool or of its server is in the request.
    fn names(&self, tool: &str, server: &str) -> bool {
        let key = (tool.to_owned(), server.to_owned());
        *self.tools.borrow_mut().entry(key).or_insert_with(|| {
            let named = lexicon::words(tool).into_iter().chain(lexicon::words(server));
            let mut named = named.filter(|word| word.len() > 3 && !is_usual(word));
            named.any(|word| self.words.iter().any(|said| is_same_word(said, &word)))
        })
    }

    /// Whether the user named where a call puts its data: a path, an address, a channel.
    fn names_destination(&self, call: &CallView<'_>) -> bool {
        places(call).iter().any(|place| self.places.first(place).is_some())
    }
}

/// The arguments of a call that may name a place, in lower case.
fn places(call: &CallView<'_>) -> Vec<String> {
    let is_place = |text: &&str| {
        text.len() > 3
            && text.len() < 300
            && text.contains(['/', '.', '@', '#', '_', '-'])
            && !text.contains(' ')
    };
    let args = call.call.args.json().map(leaves).unwrap_or_default();
    let texts = args.iter().filter_map(|leaf| leaf.value.as_str());
    texts.filter(is_place).map(str::to_lowercase).collect()
}

/// Finds sensitive values in texts, also without their separators and in base64.
struct Search {
    automaton: AhoCorasick,
    /// The value of each pattern.
    owners: Vec<usize>,
}

impl Search {
    fn new(values: &[Sensitive]) -> Option<Self> {
        let mut patterns: Vec<String> = Vec::new();
        let mut owners = Vec::new();
        for (index, value) in values.iter().enumerate() {
            let bare = squeezed(&value.text);
            let encoded = STANDARD_NO_PAD.encode(&value.text);
            for pattern in [value.text.to_lowercase(), bare, encoded.to_lowercase()] {
                if pattern.len() >= 6 {
                    patterns.push(pattern);
                    owners.push(index);
                }
            }
        }
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(patterns).ok()?;
        Some(Self { automaton, owners })
    }

    /// The places of the values in a text.
    fn find(&self, text: &str) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for text in [text.to_owned(), squeezed(text)] {
            let hits = self
                .automaton
                .find_overlapping_iter(&text)
                .map(|hit| self.owners[hit.pattern().as_usize()]);
            found.extend(hits.take(1000));
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Without the separators that people put between digits.
fn squeezed(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, ' ' | '-' | '(' | ')' | '/'))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::conversation::{TraceBuilder, found, trace};
    use super::*;

    fn after(result: &str) -> TraceBuilder {
        trace("Summarise ticket 12").call_on("desk", "get_ticket", json!({"id": 12}), result)
    }

    #[test]
    fn secrets_and_personal_data_must_not_leave_their_server() {
        for (result, args) in [
            (
                "key sk_live_9f8Gh2Kq7LmN4pQr8sTuVw3x",
                json!({"query": "sk_live_9f8Gh2Kq7LmN4pQr8sTuVw3x"}),
            ),
            ("from anna.keller@contoso.com", json!({"query": "who is anna.keller@contoso.com"})),
            ("card 4111 1111 1111 1111", json!({"note": "4111-1111-1111-1111"})),
            ("{\"password\": \"hunter2hunter2x\"}", json!({"text": "it is hunter2hunter2x"})),
            (
                "from anna.keller@contoso.com",
                json!({"blob": STANDARD_NO_PAD.encode("anna.keller@contoso.com")}),
            ),
        ] {
            let trace = after(result).call_on("web", "lookup", args.clone(), "ok");
            let faults = found(&DataFlow, &trace);
            assert_eq!((faults.len(), faults[0].call), (1, Some(1)), "{args}");
            assert!(!faults[0].evidence.contains("contoso"));
        }
    }

    #[test]
    fn recipients_requests_and_own_data_are_fine() {
        let mail = json!({"to": "anna.keller@contoso.com", "body": "Hi"});
        let to = after("from anna.keller@contoso.com").call_on("mail", "send_email", mail, "ok");
        assert_eq!(found(&DataFlow, &to), []);
        let sheet = trace("Copy the leads to the sheet")
            .call_on("crm", "list_leads", json!({}), "anna.keller@contoso.com")
            .call_on("drive", "append_sheet", json!({"row": "anna.keller@contoso.com"}), "ok");
        assert_eq!(found(&DataFlow, &sheet), []);
        let own = after("from anna.keller@contoso.com").call_on(
            "desk",
            "search",
            json!({"q": "anna.keller@contoso.com"}),
            "ok",
        );
        let own = own.call_on("web", "search", json!({"q": "weather"}), "ok");
        assert_eq!(found(&DataFlow, &own), []);
        let given = trace("Who is anna.keller@contoso.com?")
            .call_on("crm", "find", json!({}), "anna.keller@contoso.com")
            .call_on("web", "search", json!({"q": "anna.keller@contoso.com"}), "ok");
        assert_eq!(found(&DataFlow, &given), []);
    }
}
