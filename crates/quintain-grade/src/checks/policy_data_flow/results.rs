//! The secrets and personal data in the results of a trace.

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use quintain_content::detect::{self, Confidence, Family, Hit};
use quintain_content::secret;
use quintain_evidence::trace::Role;
use serde_json::Value;

use super::{MAX_TEXT, MAX_VALUES, Sensitive, text_of};
use crate::fast_hash::{FastMap, FastSet, caseless};
use crate::occurrences::Occurrences;
use crate::values::embedded_json::embedded;
use crate::values::leaves::leaves;
use crate::values::pieces::{is_ideograph, pieces};
use crate::values::word_list::WordList;
use crate::view::View;

/// Values that are compared with what the user wrote.
const MAX_CANDIDATES: usize = 10 * MAX_VALUES;

/// The secrets and personal data of all results that the user did not write.
pub(super) fn sensitive(view: &View<'_>) -> Vec<Sensitive> {
    let mut found: Vec<Sensitive> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let users = view.trace.messages().filter(|message| message.role != Role::Assistant);
    let users: Vec<String> = users.map(|message| message.text.to_lowercase()).collect();
    let sent = Sent::new(view, &users);
    for call in &view.calls {
        let (Some(server), Some(result)) = (call.server(), call.call.result()) else { continue };
        let is_sent = |text: &str| sent.has(text, server, call.position);
        for (text, kind, shown, is_secret) in values(result, is_sent) {
            let key = text.to_lowercase();
            if let Some(place) = places.get(&key) {
                let sources = &mut found[*place].sources;
                if !sources.iter().any(|(source, _)| source == server) {
                    sources.push((server.to_owned(), call.position));
                }
            } else if found.len() < MAX_CANDIDATES {
                places.insert(key, found.len());
                found.push(Sensitive {
                    text,
                    kind,
                    shown,
                    is_secret,
                    sources: vec![(server.to_owned(), call.position)],
                });
            }
        }
    }
    let written =
        Occurrences::find(places.into_keys(), users.iter().map(|text| (0, text.as_str())));
    found.retain(|value| written.first(&value.text.to_lowercase()).is_none());
    found.truncate(MAX_VALUES);
    found
}

/// The marks of all arguments, also of what is encoded in them, with the last call to each server that has them.
struct Sent<'v>(FastMap<u64, Vec<(&'v str, usize)>>);

impl<'v> Sent<'v> {
    /// What the user wrote is left out: it does not come from a server.
    fn new(view: &'v View<'_>, users: &[String]) -> Self {
        let parts = |text: &str| marked_parts(text).map(caseless).collect::<Vec<_>>();
        let given: FastSet<u64> = users.iter().flat_map(|text| parts(text)).collect();
        let mut sent = Self(FastMap::default());
        for call in &view.calls {
            let (Some(server), Some(args)) = (call.server(), call.call.args.json()) else {
                continue;
            };
            for leaf in leaves(args) {
                let Some(text) = text_of(leaf.value) else { continue };
                sent.add(&text, server, call.position, &given);
                let encoded =
                    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '+' && c != '/');
                for word in encoded.filter(|word| word.len() >= 8) {
                    let decoded = STANDARD_NO_PAD.decode(word).ok();
                    if let Some(text) = decoded.and_then(|bytes| String::from_utf8(bytes).ok()) {
                        sent.add(&text, server, call.position, &given);
                    }
                }
            }
        }
        sent
    }

    fn add(&mut self, text: &str, server: &'v str, position: usize, given: &FastSet<u64>) {
        let parts = marked_parts(text).filter(|part| !given.contains(&caseless(part)));
        for mark in addresses(text).into_iter().chain(parts.map(mark)) {
            let servers = self.0.entry(mark).or_default();
            match servers.iter_mut().find(|(name, _)| *name == server) {
                Some((_, last)) => *last = position,
                None => servers.push((server, position)),
            }
        }
    }

    /// Whether a later call to another server has a mark of a text.
    fn has(&self, text: &str, server: &str, position: usize) -> bool {
        let is_sent = |mark: u64| {
            self.0.get(&mark).is_some_and(|servers| {
                servers.iter().any(|(name, last)| *name != server && *last > position)
            })
        };
        marked_parts(text).any(|part| is_sent(mark(part)))
            || addresses(text).into_iter().any(is_sent)
    }
}

/// Parts of a text by which a sensitive value would be recognised: long digits, and mixtures of letters and digits.
/// Detectors are slow; a result that shares none of them with an argument need not be searched.
fn marked_parts(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_alphanumeric() || is_ideograph(c));
    parts.filter(|part| is_mark(part))
}

/// The end of a part. It stays the same, however the digits of a number are grouped.
fn mark(part: &str) -> u64 {
    caseless(&part[part.ceil_char_boundary(part.len() - 4)..])
}

/// The e-mail addresses of a text.
fn addresses(text: &str) -> Vec<u64> {
    if !text.contains('@') {
        return Vec::new();
    }
    let pieces = pieces(text).into_iter().map(|piece| piece.of(text));
    pieces.filter(|piece| piece.contains('@')).map(caseless).collect()
}

fn is_mark(part: &str) -> bool {
    if part.len() < 4 {
        return false;
    }
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let is_year = part.len() == 4 && (part.starts_with("19") || part.starts_with("20"));
    digits >= 4 && !is_year || part.len() >= 6 && digits > 0 || part.len() >= 20
}

/// The secrets and personal data of a result: by their form, and by the names of their fields.
fn values(result: &Value, is_sent: impl Fn(&str) -> bool) -> Vec<Found> {
    let mut found = Vec::new();
    let mut rest = MAX_TEXT;
    // Documents that are embedded in other texts.
    let mut documents = vec![(String::new(), Cow::Borrowed(result))];
    while let Some((name, document)) = documents.pop() {
        let mut open = vec![(name.as_str(), document.as_ref())];
        while let Some((key, value)) = open.pop() {
            match value {
                Value::String(text) => {
                    rest = rest.saturating_sub(text.len());
                    if rest == 0 {
                        return found;
                    }
                    if let Some(inner) = embedded(text) {
                        documents.push((key.to_owned(), Cow::Owned(inner)));
                    } else {
                        add_text(key, text, &is_sent, &mut found);
                    }
                }
                Value::Array(items) => open.extend(items.iter().map(|item| (key, item))),
                Value::Object(fields) => {
                    open.extend(fields.iter().map(|(name, value)| (name.as_str(), value)));
                }
                _ => {}
            }
        }
    }
    found
}

/// A value, its kind, how it is shown, and whether it is a secret.
type Found = (String, &'static str, String, bool);

fn add_text(key: &str, text: &str, is_sent: &impl Fn(&str) -> bool, found: &mut Vec<Found>) {
    if secret::is_credential(key) && text.len() >= 8 && secret::is_secret(key, text) {
        found.push((text.to_owned(), "credential", masked(text), true));
    }
    if !is_sent(text) {
        return;
    }
    let mut add = |hit: &Hit, text: &str| {
        let is_secret = is_secret(hit.kind);
        found.push((hit.text(text).to_owned(), hit.kind, hit.masked(text), is_secret));
    };
    // Detectors look at the words before a value.
    if !key.is_empty() {
        let line = format!("{key}: {text}");
        let hits = detect::scan(&line, detect::all());
        let named = hits.iter().filter(|hit| is_followed(hit, &line) && hit.start > key.len());
        named.for_each(|hit| add(hit, &line));
    }
    let hits = detect::scan(text, detect::all());
    hits.iter().filter(|hit| is_followed(hit, text)).for_each(|hit| add(hit, text));
}

fn masked(text: &str) -> String {
    let shown: String = text.chars().take(text.chars().count().min(16) / 4).collect();
    format!("{shown}… ({} characters)", text.chars().count())
}

/// Whether an e-mail address belongs to an office, not to a person.
fn is_role(address: &str) -> bool {
    static ROLES: WordList = WordList::new(
        "noreply no-reply support info admin contact hello sales help abuse postmaster webmaster \
         hostmaster privacy legal press jobs service office team billing security registrar",
    );
    let local = address.split('@').next().unwrap_or_default().to_lowercase();
    ROLES.iter().any(|role| local.starts_with(role))
}

/// Whether a hit is worth following: addresses of machines and uncertain secrets are not.
fn is_followed(hit: &Hit, text: &str) -> bool {
    match hit.kind {
        "ip-address" => false,
        "email" => !is_role(hit.text(text)),
        "assigned-secret" | "date-of-birth" | "postal-address" => {
            hit.confidence >= Confidence::Medium
        }
        _ => hit.text(text).len() >= 6,
    }
}

/// Whether a kind of data harms its owner wherever it goes.
fn is_secret(kind: &str) -> bool {
    let secret = detect::find(kind).is_some_and(|detector| detector.family() == Family::Secret);
    secret
        || matches!(
            kind,
            "payment-card"
                | "us-ssn"
                | "passport"
                | "driver-licence"
                | "uk-nino"
                | "de-tax-id"
                | "es-dni"
                | "nl-bsn"
                | "in-aadhaar"
        )
}
