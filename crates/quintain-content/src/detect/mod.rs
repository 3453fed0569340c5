//! Finds personal data and secrets in text. To add a detector: write it, and its line in `ALL`.
//!
//! Text is hostile and may be large: every detector needs time in proportion to the text, and those
//! without a cue in the text do not run.

mod assigned_secret;
mod check_digits;
mod cue;
mod date_of_birth;
mod documents;
mod email;
mod entropy;
mod iban;
mod ip_address;
mod jwt;
mod national_ids;
mod pattern;
mod payment_card;
mod phone;
mod placeholder;
mod postal_address;
mod private_key;
mod url_credentials;
mod us_ssn;
mod vendor_keys;

use crate::registry::Meta;

pub use cue::Cue;

/// What a detector looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Data that belongs to a person.
    Pii,
    /// Credentials: keys, tokens, passwords.
    Secret,
}

/// How sure a detector is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// The format matches, but it is common; also examples from documentation.
    Low,
    /// The format matches, and nothing contradicts it.
    Medium,
    /// A check digit, a nearby word or the format makes it almost certain.
    High,
}

impl Confidence {
    pub const WORDS: [(&'static str, Self); 3] =
        [("low", Self::Low), ("medium", Self::Medium), ("high", Self::High)];
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// In bytes.
    pub start: usize,
    pub end: usize,
    /// The id of the detector.
    pub kind: &'static str,
    pub confidence: Confidence,
}

impl Hit {
    /// The match, for comparisons; do not print it.
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// The match in a form that can be shown: its first characters and its
    /// length.
    pub fn masked(&self, text: &str) -> String {
        let found = self.text(text);
        let length = found.chars().count();
        let shown: String = found.chars().take((length / 4).min(4)).collect();
        format!("{shown}… ({length} characters)")
    }
}

/// Finds one kind of data.
pub trait Detector: Sync {
    fn meta(&self) -> &'static Meta;

    fn family(&self) -> Family;

    /// What a text must contain for the detector to run.
    fn cue(&self) -> Cue;

    /// All matches in the text, in their order; at most [`MAX_HITS`].
    fn find(&self, text: &str) -> Vec<Hit>;
}

/// Maximum number of hits of a kind.
pub const MAX_HITS: usize = 1_000;

/// All detectors, in the order of the reference.
static ALL: &[&dyn Detector] = &[
    &email::EMAIL,
    &phone::PHONE,
    &postal_address::POSTAL_ADDRESS,
    &date_of_birth::DATE_OF_BIRTH,
    &ip_address::IP_ADDRESS,
    &payment_card::PAYMENT_CARD,
    &iban::IBAN,
    &documents::PASSPORT,
    &documents::DRIVER_LICENCE,
    &us_ssn::US_SSN,
    &national_ids::UK_NINO,
    &national_ids::DE_TAX_ID,
    &national_ids::ES_DNI,
    &national_ids::NL_BSN,
    &national_ids::IN_AADHAAR,
    &private_key::PRIVATE_KEY,
    &jwt::JWT,
    &url_credentials::URL_CREDENTIALS,
    &vendor_keys::AWS_KEY,
    &vendor_keys::GITHUB_TOKEN,
    &vendor_keys::GITLAB_TOKEN,
    &vendor_keys::SLACK_TOKEN,
    &vendor_keys::STRIPE_KEY,
    &vendor_keys::GOOGLE_KEY,
    &vendor_keys::MODEL_KEY,
    &vendor_keys::NPM_TOKEN,
    &vendor_keys::PYPI_TOKEN,
    &assigned_secret::ASSIGNED_SECRET,
];

pub fn all() -> &'static [&'static dyn Detector] {
    ALL
}

/// The detector of a name.
pub fn find(id: &str) -> Option<&'static dyn Detector> {
    ALL.iter().copied().find(|detector| detector.meta().answers_to(id))
}

/// Runs these detectors on a text. Of overlapping hits, keeps the one with the highest confidence.
pub fn scan(text: &str, detectors: &[&'static dyn Detector]) -> Vec<Hit> {
    let cued = cue::cued(text);
    let mut hits: Vec<Hit> = detectors
        .iter()
        .filter(|detector| cued.contains(detector.meta().id))
        .flat_map(|detector| detector.find(text))
        .collect();
    hits.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.confidence), hit.end));
    let mut kept: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match kept.last_mut() {
            Some(last) if hit.start < last.end => {
                if hit.confidence > last.confidence {
                    *last = hit;
                }
            }
            _ => kept.push(hit),
        }
    }
    kept
}

#[cfg(test)]
mod tests;
