//! Finds personal data and secrets in responses.

use std::collections::BTreeSet;

use quintain_content::detect::{self, Confidence, Detector, Family};
use quintain_content::json_value;
use quintain_evidence::evidence::Outcome;
use quintain_evidence::finding::Place;
use quintain_evidence::probe::Step;
use serde_json::Value;

use super::reach;
use super::tool_access;
use crate::attack::{Action, Aim, Attempt, Brief, TargetView, Tried};

/// Longer texts are scanned without their key.
const WITH_KEY: usize = 4_096;
/// The maximum number of leaks per response.
const MAX_FOUND: usize = 64;
/// The maximum number of places per run.
const MAX_PLACES: usize = 48;

/// Leaked data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leak {
    pub(super) kind: &'static str,
    pub(super) masked: String,
    pub(super) confidence: Confidence,
    /// JSON pointer into the outcome.
    pub(super) pointer: String,
}

/// Detectors of a family.
pub(super) fn detectors(family: Family) -> Vec<&'static dyn Detector> {
    detect::all().iter().copied().filter(|detector| detector.family() == family).collect()
}

/// The leaks in a response, without data from the request and data of the caller.
pub(super) fn in_outcome(
    outcome: &Outcome,
    detectors: &[&'static dyn Detector],
    known: &Known,
) -> Vec<Leak> {
    let mut search = Search { detectors, known, seen: BTreeSet::new(), found: Vec::new() };
    match outcome {
        Outcome::Reply(result) | Outcome::ToolError(result) => search.value(result, "", None),
        Outcome::RpcError { message, data, .. } => {
            search.text(message, "/message", None);
            if let Some(data) = data {
                search.value(data, "/data", None);
            }
        }
        _ => {}
    }
    search.found
}

/// The leaks in a single text.
pub(super) fn in_text(text: &str, detectors: &[&'static dyn Detector]) -> Vec<Leak> {
    let known = Known::default();
    let mut search = Search { detectors, known: &known, seen: BTreeSet::new(), found: Vec::new() };
    search.text(text, "", None);
    search.found
}

/// Texts that the caller already knows.
#[derive(Default)]
pub(super) struct Known(String);

impl Known {
    /// The request, the identity that sent it, and what the server returns about the caller.
    pub(super) fn of(view: &TargetView<'_>, tried: &Tried) -> Self {
        let mut known = String::new();
        let mut add = |text: &str| {
            known.push_str(text);
            known.push('\n');
        };
        if let Action::Steps { steps, .. } | Action::Alone { steps, .. } = &tried.attempt.action {
            steps.iter().for_each(|step| add(&serde_json::to_string(step).unwrap_or_default()));
        }
        if let Some(identity) = view.capabilities.identities.first() {
            add(&identity.name);
            identity.default_args.values().for_each(|value| add(&value.to_string()));
        }
        for baseline in &view.knowledge.baselines {
            // Quintain chose these values.
            tool_access::arguments(baseline).values().for_each(|value| add(&value.to_string()));
            let own = tool_access::tool_of(view, baseline).is_some_and(is_about_caller);
            if own {
                add(&baseline.exchange.outcome.said());
            }
        }
        Self(known)
    }

    fn holds(&self, text: &str) -> bool {
        let digits = |text: &str| -> String { text.chars().filter(char::is_ascii_digit).collect() };
        // Compare the digits only: a number may be grouped differently.
        let bare = digits(text);
        self.0.contains(text)
            || (bare.len() >= 8 && bare.len() * 2 > text.len() && digits(&self.0).contains(&bare))
    }
}

/// Whether a tool returns data about the caller. Stricter than `is_personal_tool`.
fn is_about_caller(tool: &quintain_evidence::surface::Tool) -> bool {
    let found = crate::knowledge::words(tool.name().unwrap_or_default());
    let is = |word: &str| found.iter().any(|known| known == word);
    tool.required_args().is_empty()
        && (is("whoami")
            || is("me")
            || is("my")
            || is("self")
            || is("own")
            || (is("current") && is("user")))
}

struct Search<'s> {
    detectors: &'s [&'static dyn Detector],
    known: &'s Known,
    seen: BTreeSet<(&'static str, String)>,
    found: Vec<Leak>,
}

impl Search<'_> {
    /// JSON from the wire has a limited depth.
    fn value(&mut self, value: &Value, pointer: &str, key: Option<&str>) {
        match value {
            Value::String(text) => match serde_json::from_str::<Value>(text) {
                // JSON in a text has keys as well.
                Ok(inner @ (Value::Object(_) | Value::Array(_))) => {
                    self.inside(&inner, pointer, key);
                }
                _ => self.text(text, pointer, key),
            },
            Value::Number(number) => self.text(&number.to_string(), pointer, key),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.value(item, &format!("{pointer}/{at}"), key);
                }
            }
            Value::Object(entries) => {
                for (name, item) in entries {
                    let token = json_value::pointer_token(name);
                    self.value(item, &format!("{pointer}/{token}"), Some(name));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Scans the leaves of JSON in a text; all have the pointer of the text.
    fn inside(&mut self, value: &Value, pointer: &str, key: Option<&str>) {
        match value {
            Value::String(text) => self.text(text, pointer, key),
            Value::Number(number) => self.text(&number.to_string(), pointer, key),
            Value::Array(items) => items.iter().for_each(|item| self.inside(item, pointer, key)),
            Value::Object(entries) => {
                entries.iter().for_each(|(name, item)| self.inside(item, pointer, Some(name)));
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn text(&mut self, text: &str, pointer: &str, key: Option<&str>) {
        let prefix = match key.filter(|_| text.len() <= WITH_KEY) {
            Some(key) if !matches!(key, "text" | "type" | "uri" | "mimeType") => format!("{key}: "),
            _ => String::new(),
        };
        let whole = format!("{prefix}{text}");
        for hit in detect::scan(&whole, self.detectors) {
            let found = hit.text(&whole);
            let sure = hit.confidence >= Confidence::Medium
                || key.is_some_and(|key| is_field_of(hit.kind, key));
            let counts = hit.start >= prefix.len()
                && sure
                && self.found.len() < MAX_FOUND
                && !self.known.holds(found);
            if counts && self.seen.insert((hit.kind, found.to_owned())) {
                self.found.push(Leak {
                    kind: hit.kind,
                    masked: hit.masked(&whole),
                    confidence: hit.confidence,
                    pointer: pointer.to_owned(),
                });
            }
        }
    }
}

/// Whether the key of a record names personal data of this kind. Then published example values count as well:
/// test systems contain them, and real data leaks in the same way.
fn is_field_of(kind: &str, key: &str) -> bool {
    let names: &[&str] = match kind {
        "payment-card" => &["card", "cc", "pan", "credit", "creditcard", "cardnumber"],
        "us-ssn" => &["ssn", "social"],
        "iban" => &["iban"],
        "email" => &["email", "mail"],
        "phone" => &["phone", "telephone", "tel", "mobile", "cell"],
        _ => return false,
    };
    crate::knowledge::words(key).iter().any(|word| names.contains(&word.as_str()))
}

/// Every place with a harmless request: calls that work, resources, prompts without required arguments.
pub(crate) fn aims(view: &TargetView<'_>) -> Vec<Aim> {
    let mut aims = Vec::new();
    for baseline in &view.knowledge.baselines {
        let Some(tool) = tool_access::tool_of(view, baseline) else { continue };
        let writes = tool_access::is_writer(tool) && !tool_access::may_be_a_noun(tool);
        if tool_access::may_be_called(view, tool) && !writes {
            let tool = tool.name().unwrap_or_default().to_owned();
            let place = Place::Tool { server: baseline.server.clone(), tool };
            aims.push(tool_access::aim(place, Some(baseline)));
        }
    }
    for (server, surface) in view.surfaces {
        for resource in &surface.resources {
            let Some(uri) = resource.uri().map(str::to_owned) else { continue };
            aims.push(Aim::at(Place::Resource { server: server.clone(), uri }));
        }
        for prompt in &surface.prompts {
            let Some(name) = prompt.name().map(str::to_owned) else { continue };
            if prompt.arguments().iter().all(|(_, required)| !required) {
                let place = Place::Prompt { server: server.clone(), prompt: name };
                aims.push(Aim::at(place));
            }
        }
    }
    aims.truncate(MAX_PLACES);
    aims
}

/// The request for a place.
pub(super) fn step(aim: &Aim) -> Option<Step> {
    let request = |method: &str, server: &str, params: Value| Step::Request {
        method: method.to_owned(),
        params: params.as_object().cloned().unwrap_or_default(),
        server: Some(server.to_owned()).filter(|server| !server.is_empty()),
    };
    match &aim.place {
        Place::Resource { server, uri } => {
            Some(request("resources/read", server, serde_json::json!({"uri": uri})))
        }
        Place::Prompt { server, prompt } => {
            Some(request("prompts/get", server, serde_json::json!({"name": prompt})))
        }
        _ => aim.baseline.as_ref().map(|baseline| baseline.step.clone()),
    }
}

/// Repeats the innocent request of a place.
pub(crate) fn again(aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
    let Some(step) = step(aim) else { return Vec::new() };
    vec![reach::plain(vec![step], 0, (0, "in the response", ""), brief.nonce())]
}

/// A description of the leaks, masked.
pub(super) fn describe(leaks: &[&Leak]) -> String {
    let shown: Vec<String> = leaks
        .iter()
        .take(4)
        .map(|leak| format!("{} `{}` at {}", leak.kind, leak.masked, leak.pointer))
        .collect();
    let more = leaks.len().saturating_sub(shown.len());
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{tail}", shown.join(", "))
}
