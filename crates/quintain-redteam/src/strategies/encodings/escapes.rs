//! Escapes of URLs, markup, JSON and programming languages.

use std::fmt::Write;

use quintain_content::registry::Meta;

use crate::strategies::rewrite::{Rewrite, each_char};
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static URL: Converter = Converter {
    meta: &Meta {
        id: "url",
        aliases: &["url-encode", "percent"],
        summary: "Percent encoding",
        docs: docs! {
            what: "Writes bytes as `%XX`: all except letters, digits and `-._~`, or every byte \
                   with `all: true`. `times` (default 1) encodes the result repeatedly.",
            why: "A server that validates before it decodes, or decodes twice, accepts what it \
                  means to reject.",
            example: "strategies:\n  - url\n  - id: url\n    config: {all: true, times: 2}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let all = options.flag("all", false);
        let times = options.whole("times", 1..=4, 1);
        Rewrite::one(move |text| (0..times).fold(text.to_owned(), |text, _| percent(&text, all)))
    },
};

pub(in crate::strategies) static HTML_ENTITIES: Converter = Converter {
    meta: &Meta {
        id: "html-entities",
        aliases: &["html"],
        summary: "HTML character references",
        docs: docs! {
            what: "Writes every character as a character reference. `form` is `decimal` (`&#97;`), \
                   `hex` (`&#x61;`) or `named` (only `&`, `<`, `>` and quotes).",
            why: "Text that is harmless for one parser may be markup for the next.",
            example: "strategies:\n  - id: html-entities\n    config: {form: hex}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let entity: fn(char) -> Option<String> = options.word(
            "form",
            &[
                (
                    "decimal",
                    (|c| Some(format!("&#{};", u32::from(c)))) as fn(char) -> Option<String>,
                ),
                ("hex", |c| Some(format!("&#x{:x};", u32::from(c)))),
                ("named", named),
            ],
        );
        Rewrite::chars(entity)
    },
};

pub(in crate::strategies) static UNICODE_ESCAPE: Converter = Converter {
    meta: &Meta {
        id: "unicode-escape",
        aliases: &["unicode-replacement"],
        summary: "Escapes such as \\u0041",
        docs: docs! {
            what: "Writes every UTF-16 unit as `\\uXXXX`, or with `form: braces` every character \
                   as `\\u{X}`.",
            why: "Parsers of JSON and of many languages decode it; filters in front of them do \
                  not.",
            example: "strategies:\n  - id: unicode-escape\n    config: {form: braces}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let braces = options.word("form", &[("units", false), ("braces", true)]);
        Rewrite::one(move |text| {
            if braces {
                each_char(text, |c| Some(format!("\\u{{{:x}}}", u32::from(c))))
            } else {
                text.encode_utf16().fold(String::new(), |mut out, unit| {
                    let _ = write!(out, "\\u{unit:04x}");
                    out
                })
            }
        })
    },
};

pub(in crate::strategies) static HEX_ESCAPE: Converter = Converter {
    meta: &Meta {
        id: "hex-escape",
        aliases: &[],
        summary: "Escapes such as \\x41",
        docs: docs! {
            what: "Writes every byte as `\\xXX`.",
            why: "Shells, C and Python decode it after the filter.",
            example: "strategies:\n  - hex-escape",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |_| {
        Rewrite::one(|text| {
            text.bytes().fold(String::new(), |mut out, byte| {
                let _ = write!(out, "\\x{byte:02x}");
                out
            })
        })
    },
};

pub(in crate::strategies) static JSON_STRING: Converter = Converter {
    meta: &Meta {
        id: "json-string",
        aliases: &["json-escape"],
        summary: "Content of a JSON string",
        docs: docs! {
            what: "Escapes quotes, backslashes and control characters as in JSON, without the \
                   surrounding quotes. `quotes: true` adds them.",
            why: "A server that builds JSON by hand may parse the escaped form differently from \
                  how it was written.",
            example: "strategies:\n  - json-string",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let quotes = options.flag("quotes", false);
        Rewrite::one(move |text| {
            let quoted = serde_json::Value::from(text).to_string();
            if quotes { quoted } else { quoted[1..quoted.len() - 1].to_owned() }
        })
    },
};

pub(in crate::strategies) static CSS_ESCAPE: Converter = Converter {
    meta: &Meta {
        id: "css-escape",
        aliases: &[],
        summary: "CSS escapes",
        docs: docs! {
            what: "Writes every character as `\\` and six hexadecimal digits.",
            why: "Style sheets decode it; filters for scripts in styles seldom do.",
            example: "strategies:\n  - css-escape",
        },
        since: "0.1.0",
    },
    suits: Suits::ARGUMENTS,
    compile: |_| Rewrite::chars(|c| Some(format!("\\{:06x}", u32::from(c)))),
};

pub(in crate::strategies) fn percent(text: &str, all: bool) -> String {
    let mut out = String::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if plain && !all {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn named(c: char) -> Option<String> {
    let name = match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        _ => return None,
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::{SAMPLES, first};

    #[test]
    fn known_values() {
        assert_eq!(first("url", "../a b~é"), "..%2Fa%20b~%C3%A9");
        assert_eq!(first("{id: url, config: {all: true}}", "a."), "%61%2E");
        assert_eq!(first("{id: url, config: {times: 2}}", "/"), "%252F");
        assert_eq!(first("html-entities", "a<"), "&#97;&#60;");
        assert_eq!(first("{id: html-entities, config: {form: hex}}", "a<"), "&#x61;&#x3c;");
        assert_eq!(
            first("{id: html-entities, config: {form: named}}", "a<'b'>"),
            "a&lt;&#39;b&#39;&gt;"
        );
        assert_eq!(first("unicode-escape", "a😊"), "\\u0061\\ud83d\\ude0a");
        assert_eq!(first("{id: unicode-escape, config: {form: braces}}", "😊"), "\\u{1f60a}");
        assert_eq!(first("hex-escape", "aé"), "\\x61\\xc3\\xa9");
        assert_eq!(first("json-string", "a\"\\\n"), "a\\\"\\\\\\n");
        assert_eq!(first("css-escape", "a"), "\\000061");
    }

    #[test]
    fn json_undoes_its_escapes() {
        for text in SAMPLES {
            for name in ["json-string", "unicode-escape"] {
                let quoted = format!("\"{}\"", first(name, text));
                assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text, "{name}");
            }
        }
    }
}
