//! Terminal control sequences.

use quintain_content::registry::Meta;

use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static ANSI: Converter = Converter {
    meta: &Meta {
        id: "ansi",
        aliases: &["ansi-attack"],
        summary: "Puts terminal escape sequences around the text",
        docs: docs! {
            what: "Creates versions with harmless control sequences: colour, hidden text, a title, \
                   a link, a cleared line. `form` is `raw` (the escape character) or `escaped` \
                   (`\\x1b`).",
            why: "Logs and agents that print untrusted text let its sender control the terminal.",
            example: "strategies:\n  - id: ansi\n    config: {form: escaped}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let escape = options.word("form", &[("raw", "\u{1b}"), ("escaped", "\\x1b")]);
        Rewrite::many(move |text, _| {
            FRAMES
                .iter()
                .map(|(before, behind)| {
                    let (before, behind) =
                        (before.replace("ESC", escape), behind.replace("ESC", escape));
                    format!("{before}{text}{behind}")
                })
                .collect()
        })
    },
};

const FRAMES: [(&str, &str); 5] = [
    ("ESC[31m", "ESC[0m"),
    ("ESC[8m", "ESC[28m"),
    ("ESC]0;quintainESC\\", ""),
    ("ESC]8;;https://quintain.invalid/ESC\\", "ESC]8;;ESC\\"),
    ("ESC[2KESC[1G", ""),
];

#[cfg(test)]
mod tests {
    use crate::strategies::testing::texts;

    #[test]
    fn the_text_stays_inside() {
        let raw = texts("ansi", "hello", 1);
        assert_eq!(raw.len(), 5);
        assert_eq!(raw[0], "\u{1b}[31mhello\u{1b}[0m");
        assert!(raw.iter().all(|text| text.contains("hello")));
        let escaped = texts("{id: ansi, config: {form: escaped}}", "hello", 1);
        assert_eq!(escaped[1], "\\x1b[8mhello\\x1b[28m");
        assert!(escaped.iter().all(|text| !text.contains('\u{1b}')));
    }
}
