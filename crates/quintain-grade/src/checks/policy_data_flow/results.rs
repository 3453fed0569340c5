//! The secrets and personal data in the results of a trace.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use quintain_content::detect::{self, Confidence, Family, Hit};
use quintain_content::secret;
use quintain_evidence::trace::Role;
use serde_json::Value;

use super::{MAX_TEXT, MAX_VALUES, Sensitive, text_of};
use crate::occurrences::Occurrences;
use crate::values::embedded_json::embedded;
use crate::values::leaves::leaves;
use crate::values::pieces::pieces;
use crate::values::word_list::WordList;
use crate::view::View;

/// Values that are compared with what the user wrote.
const MAX_CANDIDATES: usize = 10 * MAX_VALUES;

/// The secrets and personal data of all results that the user did not write.
pub(super) fn sensitive(view: &View<'_>) -> Vec<Sensitive> {
    let mut found: Vec<Sensitive> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let sent = sent(view);
    for call in &view.calls {
        let (Some(server), Some(result)) = (call.server(), call.call.result()) else { continue };
        for (text, kind, shown, is_secret) in values(result, &sent) {
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
    let users = view.trace.messages().filter(|message| message.role != Role::Assistant);
    let users: Vec<String> = users.map(|message| message.text.to_lowercase()).collect();
    let written =
        Occurrences::find(places.into_keys(), users.iter().map(|text| (0, text.as_str())));
    found.retain(|value| written.first(&value.text.to_lowercase()).is_none());
    found.truncate(MAX_VALUES);
    found
}

/// Parts of texts by which a sensitive value would be recognised: addresses, long digits and mixtures of letters and digits.
/// Detectors are slow; a result that shares none of them with any argument need not be searched.
fn marks(text: &str) -> impl Iterator<Item = String> {
    pieces(text).into_iter().map(|piece| piece.of(text)).flat_map(|piece| {
        let address = piece.contains('@').then(|| piece.to_lowercase());
        let parts = piece.split(|c: char| !c.is_alphanumeric()).filter(|part| is_mark(part));
        // The end of a number stays the same, however its digits are grouped.
        let ends = parts.map(|part| part[part.ceil_char_boundary(part.len() - 4)..].to_lowercase());
        address.into_iter().chain(ends).collect::<Vec<_>>()
    })
}

fn is_mark(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let is_year = part.len() == 4 && (part.starts_with("19") || part.starts_with("20"));
    digits >= 4 && !is_year || part.len() >= 6 && digits > 0 || part.len() >= 20
}

/// The marks of all arguments, also of what is encoded in them.
fn sent(view: &View<'_>) -> HashSet<String> {
    let mut found = HashSet::new();
    for args in view.calls.iter().filter_map(|call| call.call.args.json()) {
        for leaf in leaves(args) {
            let Some(text) = text_of(leaf.value) else { continue };
            found.extend(marks(&text));
            let encoded = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '+' && c != '/');
            for word in encoded.filter(|word| word.len() >= 8) {
                let decoded = STANDARD_NO_PAD
                    .decode(word)
                    .ok()
                    .and_then(|bytes| String::from_utf8(bytes).ok());
                found.extend(decoded.iter().flat_map(|text| marks(text)));
            }
        }
    }
    found
}

/// The secrets and personal data of a result: by their form, and by the names of their fields.
fn values(result: &Value, sent: &HashSet<String>) -> Vec<(String, &'static str, String, bool)> {
    let mut found = Vec::new();
    let mut rest = MAX_TEXT;
    let mut open = vec![(String::new(), result.clone())];
    while let Some((key, value)) = open.pop() {
        match value {
            Value::String(text) => {
                rest = rest.saturating_sub(text.len());
                if rest == 0 {
                    break;
                }
                if let Some(inner) = embedded(&text) {
                    open.push((key, inner));
                    continue;
                }
                if secret::is_credential(&key) && text.len() >= 8 && secret::is_secret(&key, &text)
                {
                    found.push((text.clone(), "credential", masked(&text), true));
                }
                if !marks(&text).any(|mark| sent.contains(&mark)) {
                    continue;
                }
                let hits = detect::scan(&text, detect::all());
                found.extend(hits.iter().filter(|hit| is_followed(hit, &text)).map(|hit| {
                    let is_secret = is_secret(hit.kind);
                    (hit.text(&text).to_owned(), hit.kind, hit.masked(&text), is_secret)
                }));
            }
            Value::Array(items) => open.extend(items.into_iter().map(|item| (key.clone(), item))),
            Value::Object(fields) => {
                for (name, value) in fields {
                    // Detectors look at the words before a value.
                    let text =
                        value.as_str().filter(|text| marks(text).any(|mark| sent.contains(&mark)));
                    if let Some(text) = text {
                        let line = format!("{name}: {text}");
                        let hits = detect::scan(&line, detect::all());
                        let named = hits
                            .iter()
                            .filter(|hit| is_followed(hit, &line) && hit.start > name.len());
                        found.extend(named.map(|hit| {
                            (
                                hit.text(&line).to_owned(),
                                hit.kind,
                                hit.masked(&line),
                                is_secret(hit.kind),
                            )
                        }));
                    }
                    open.push((name, value));
                }
            }
            _ => {}
        }
    }
    found
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
