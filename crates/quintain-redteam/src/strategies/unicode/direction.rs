//! Text with control characters for its direction.

use quintain_content::registry::Meta;

use crate::strategies::ciphers::transposition::reversed;
use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static BIDI: Converter = Converter {
    meta: &Meta {
        id: "bidi",
        aliases: &["bidi-override"],
        summary: "Reverses the text and displays it in the original order",
        docs: docs! {
            what: "Reverses the text and puts it between control characters that display it in the \
                   original order. `scheme` is `override` (RLO and PDF), `isolate` (RLI with RLO, \
                   PDF and PDI) or `marks` (the unchanged text between right-to-left marks).",
            why: "A person and a program read different texts.",
            example: "strategies:\n  - id: bidi\n    config: {scheme: isolate}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        Rewrite::one(options.word(
            "scheme",
            &[
                ("override", overridden as fn(&str) -> String),
                ("isolate", |text| format!("\u{2067}{}\u{2069}", overridden(text))),
                ("marks", |text| format!("\u{200f}{text}\u{200f}")),
            ],
        ))
    },
};

fn overridden(text: &str) -> String {
    format!("\u{202e}{}\u{202c}", reversed(text))
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::first;

    #[test]
    fn known_values() {
        assert_eq!(first("bidi", "abc"), "\u{202e}cba\u{202c}");
        assert_eq!(
            first("{id: bidi, config: {scheme: isolate}}", "ab"),
            "\u{2067}\u{202e}ba\u{202c}\u{2069}"
        );
        assert_eq!(first("{id: bidi, config: {scheme: marks}}", "ab"), "\u{200f}ab\u{200f}");
    }
}
