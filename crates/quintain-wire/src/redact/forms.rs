//! The encodings of a secret: plain, escaped for JSON, HTML and URLs, in base64 and in hex. A secret that is split over
//! several lines or fields is not covered.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::MASK;

/// Minimum length for encoded forms: those of shorter secrets also occur in other text.
const ENCODED: usize = 6;

/// Each form with its replacement: `shown` with the same escapes, or a plain mask.
pub(super) fn forms(secret: &str, shown: &str) -> Vec<(String, String)> {
    let mut forms: Vec<(String, String)> = Vec::new();
    let mut add = |text: String, shown: String| {
        if !forms.iter().any(|(known, _)| *known == text) {
            forms.push((text, shown));
        }
    };
    for escape in ESCAPES {
        add(escape(secret), escape(shown));
    }
    for quoted in [json(&json(secret)), json(&ascii_json(secret))] {
        add(quoted, shown.to_owned());
    }
    if secret.len() >= ENCODED {
        let percent = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect::<String>();
        let spaced = percent.replace('+', "%20");
        // `encodeURIComponent` escapes fewer characters than forms do.
        let readable = ["!", "'", "(", ")", "~"].iter().fold(spaced.clone(), |text, character| {
            text.replace(&format!("%{:02X}", character.as_bytes()[0]), character)
        });
        let lower = lower_case_escapes(&spaced);
        for form in [percent, spaced, readable, lower] {
            add(form, MASK.to_owned());
        }
        for form in base64(secret.as_bytes()) {
            add(form, MASK.to_owned());
        }
        let hex = secret.bytes().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        add(hex.to_ascii_uppercase(), MASK.to_owned());
        add(hex, MASK.to_owned());
        for form in character_by_character(secret) {
            add(form, MASK.to_owned());
        }
    }
    forms
}

/// The secret with every character escaped, needed or not.
fn character_by_character(secret: &str) -> [String; 6] {
    let bytes = |form: &dyn Fn(u8) -> String| secret.bytes().map(form).collect::<String>();
    let characters = |form: &dyn Fn(u32) -> String| {
        secret.chars().map(|character| form(character.into())).collect::<String>()
    };
    [
        bytes(&|byte| format!("%{byte:02X}")),
        bytes(&|byte| format!("%{byte:02x}")),
        characters(&|code| format!("&#{code};")),
        characters(&|code| format!("&#x{code:x};")),
        characters(&|code| format!("\\u{code:04x}")),
        characters(&|code| format!("\\u{code:04X}")),
    ]
}

/// Escapes that keep a text readable.
const ESCAPES: [fn(&str) -> String; 6] =
    [str::to_owned, json, ascii_json, slashed_json, html, html_decimal];

fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.unwrap_or_default().to_owned()
}

/// Some libraries escape all characters outside ASCII.
fn ascii_json(text: &str) -> String {
    let mut ascii = String::new();
    for character in json(text).chars() {
        if character.is_ascii() {
            ascii.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(ascii, "\\u{unit:04x}");
        }
    }
    ascii
}

fn slashed_json(text: &str) -> String {
    json(text).replace('/', "\\/")
}

fn html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#x27;")
}

fn html_decimal(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&#34;").replace('\'', "&#39;")
}

fn lower_case_escapes(percent: &str) -> String {
    let mut lower = String::with_capacity(percent.len());
    let mut escaped = 0;
    for character in percent.chars() {
        if character == '%' {
            escaped = 3;
        }
        lower.push(if escaped > 0 { character.to_ascii_lowercase() } else { character });
        escaped -= i32::from(escaped > 0);
    }
    lower
}

/// The secret in base64, alone and inside a longer text (`user:password`, a JSON document): three bytes become four
/// letters, so there are three possible offsets. Letters that depend on adjacent bytes are left out.
fn base64(secret: &[u8]) -> Vec<String> {
    let mut forms = vec![STANDARD.encode(secret), STANDARD_NO_PAD.encode(secret)];
    forms.push(URL_SAFE_NO_PAD.encode(secret));
    for shift in 0..3 {
        let mut shifted = vec![0; shift];
        shifted.extend_from_slice(secret);
        for encoded in [STANDARD_NO_PAD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)] {
            let own = (shift * 8).div_ceil(6)..shifted.len() * 8 / 6;
            forms.extend(encoded.get(own).map(str::to_owned));
        }
    }
    forms
}
