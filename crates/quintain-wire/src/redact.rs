//! Keeps secrets out of everything that is printed, recorded or reported.
//!
//! Whoever learns a secret tells the [`Redactor`]; whoever writes text asks it first. A secret is
//! matched in the encodings it travels in: as it is, JSON-escaped, percent-encoded and base64.

use std::borrow::Cow;
use std::sync::{Arc, RwLock};

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use secrecy::{ExposeSecret, SecretString};

/// What stands where a secret stood.
pub const MASK: &str = "***";

/// Shorter secrets would mask ordinary words and digits all over an artefact.
const SHORTEST: usize = 4;

#[derive(Default)]
struct Known {
    needles: Vec<String>,
    search: Option<AhoCorasick>,
}

/// The one place that knows every secret of a run; clones share what they know.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Known>>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// Masks `secret` from now on, in every encoding it is likely to appear in.
    pub fn learn(&self, secret: &SecretString) {
        let secret = secret.expose_secret();
        if secret.len() < SHORTEST {
            return;
        }
        let mut known = self.known.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut grown = false;
        for form in forms(secret) {
            if !known.needles.contains(&form) {
                known.needles.push(form);
                grown = true;
            }
        }
        if grown {
            // Leftmost-longest, so that a secret which contains another is masked whole.
            known.search = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&known.needles)
                .ok();
        }
    }

    /// Whether it knows no secret at all.
    pub fn is_empty(&self) -> bool {
        self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner).search.is_none()
    }

    /// `text` with every known secret replaced by [`MASK`].
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(search) = known.search.as_ref().filter(|search| search.is_match(text)) else {
            return Cow::Borrowed(text);
        };
        Cow::Owned(search.replace_all(text, &vec![MASK; known.needles.len()]))
    }

    /// `bytes` with every known secret replaced by [`MASK`]; shares the buffer if there is none.
    pub fn bytes(&self, bytes: &Bytes) -> Bytes {
        let known = self.known.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(search) = known.search.as_ref().filter(|search| search.is_match(bytes)) else {
            return bytes.clone();
        };
        search.replace_all_bytes(bytes, &vec![MASK.as_bytes(); known.needles.len()]).into()
    }
}

fn forms(secret: &str) -> Vec<String> {
    let json = serde_json::to_string(secret).unwrap_or_default();
    let json = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or_default();
    let percent = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect::<String>();
    let mut forms = vec![
        secret.to_owned(),
        json.to_owned(),
        percent.replace('+', "%20"),
        percent,
        STANDARD.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
    ];
    forms.dedup();
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor(secret: &str) -> Redactor {
        let redactor = Redactor::default();
        redactor.learn(&SecretString::from(secret));
        redactor
    }

    #[test]
    fn masks_a_secret_in_every_encoding_it_travels_in() {
        let redactor = redactor("p@ss \"word\"");
        for form in ["p@ss \"word\"", r#"p@ss \"word\""#, "p%40ss+%22word%22", "cEBzcyAid29yZCI="] {
            assert_eq!(redactor.text(&format!("<{form}>")), "<***>", "{form}");
        }
    }

    #[test]
    fn leaves_text_without_secrets_untouched_and_unallocated() {
        let redactor = redactor("tok_canary");
        assert!(matches!(redactor.text("nothing here"), Cow::Borrowed(_)));
    }

    #[test]
    fn ignores_secrets_too_short_to_be_told_from_ordinary_text() {
        assert_eq!(redactor("abc").text("abcdef"), "abcdef");
    }

    #[test]
    fn masks_the_longer_of_two_nested_secrets_whole() {
        let redactor = redactor("token");
        redactor.learn(&SecretString::from("token-and-more"));
        assert_eq!(redactor.text("x token-and-more y token z"), "x *** y *** z");
    }
}
