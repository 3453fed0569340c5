//! Encodings of email.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quintain_content::registry::Meta;

use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static QUOTED_PRINTABLE: Converter = Converter {
    meta: &Meta {
        id: "quoted-printable",
        aliases: &["qp"],
        summary: "Quoted-printable",
        docs: docs! {
            what: "Encodes the text as in email (RFC 2045), with soft line breaks. `all: true` \
                   also encodes plain letters.",
            why: "Tools that read email decode it; filters in front of them may not.",
            example: "strategies:\n  - id: quoted-printable\n    config: {all: true}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let all = options.flag("all", false);
        Rewrite::one(move |text| quoted_printable(text, all))
    },
};

pub(in crate::strategies) static UUENCODE: Converter = Converter {
    meta: &Meta {
        id: "uuencode",
        aliases: &["uu"],
        summary: "Uuencode",
        docs: docs! {
            what: "Encodes the bytes as uuencode lines, without the lines that begin and end a \
                   file.",
            why: "Models know this old encoding; few filters do.",
            example: "strategies:\n  - uuencode",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| Rewrite::one(uuencode),
};

pub(in crate::strategies) static MIME_WORD: Converter = Converter {
    meta: &Meta {
        id: "mime-word",
        aliases: &["mime"],
        summary: "Encoded words of email headers",
        docs: docs! {
            what: "Writes the text as encoded words (RFC 2047) in Base64, each short enough for a \
                   header.",
            why: "Tools that show email decode subjects and names after they were checked.",
            example: "strategies:\n  - mime-word",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |_| Rewrite::one(mime_words),
};

fn quoted_printable(text: &str, all: bool) -> String {
    let mut out = String::new();
    let mut column = 0;
    for byte in text.bytes() {
        let plain = !all && (b' '..=b'~').contains(&byte) && byte != b'=';
        let width = if plain { 1 } else { 3 };
        if column + width > 75 {
            out.push_str("=\r\n");
            column = 0;
        }
        if plain {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "={byte:02X}");
        }
        column += width;
    }
    // Trailing whitespace would be lost.
    if out.ends_with(' ') {
        out.pop();
        out.push_str("=20");
    }
    out
}

fn uuencode(text: &str) -> String {
    let letter = |bits: u32| match (bits & 63) as u8 {
        0 => '`',
        six => char::from(six + b' '),
    };
    let lines = text.as_bytes().chunks(45).map(|line| {
        let mut out = String::from(letter(line.len() as u32));
        for block in line.chunks(3) {
            let bits =
                (0..3).fold(0, |bits, at| bits << 8 | u32::from(*block.get(at).unwrap_or(&0)));
            out.extend([18, 12, 6, 0].map(|shift| letter(bits >> shift)));
        }
        out
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn mime_words(text: &str) -> String {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        // 45 bytes become 60 letters; with the delimiters that is within the allowed 75.
        let (word, after) = rest.split_at(rest.floor_char_boundary(45));
        words.push(format!("=?UTF-8?B?{}?=", STANDARD.encode(word)));
        rest = after;
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::testing::{SAMPLES, first};

    #[test]
    fn known_values() {
        assert_eq!(first("quoted-printable", "a=é "), "a=3D=C3=A9=20");
        assert_eq!(first("{id: quoted-printable, config: {all: true}}", "ab"), "=61=62");
        assert_eq!(first("uuencode", "Cat"), "#0V%T");
        assert_eq!(first("mime-word", "é"), "=?UTF-8?B?w6k=?=");
    }

    #[test]
    fn they_can_be_undone() {
        for text in SAMPLES.iter().map(|text| text.repeat(20)) {
            let plain = unquoted(&first("quoted-printable", &text));
            assert_eq!(String::from_utf8(plain).unwrap(), text);
            let bytes: Vec<u8> = first("uuencode", &text).lines().flat_map(unlined).collect();
            assert_eq!(String::from_utf8(bytes).unwrap(), text);
            let words = first("mime-word", &text);
            let plain: String = words
                .split(' ')
                .filter(|word| !word.is_empty())
                .map(|word| {
                    assert!(word.len() <= 75);
                    let inner = word.strip_prefix("=?UTF-8?B?").unwrap();
                    let bytes = STANDARD.decode(inner.strip_suffix("?=").unwrap()).unwrap();
                    String::from_utf8(bytes).unwrap()
                })
                .collect();
            assert_eq!(plain, text);
        }
    }

    fn unquoted(text: &str) -> Vec<u8> {
        assert!(text.lines().all(|line| line.len() <= 76));
        let joined = text.replace("=\r\n", "");
        let mut parts = joined.split('=');
        let mut out = parts.next().unwrap().as_bytes().to_vec();
        for part in parts {
            out.push(u8::from_str_radix(&part[..2], 16).unwrap());
            out.extend(&part.as_bytes()[2..]);
        }
        out
    }

    fn unlined(line: &str) -> Vec<u8> {
        let six = |byte: u8| u32::from(byte - b' ') & 63;
        let length = six(line.as_bytes()[0]) as usize;
        let blocks = line.as_bytes()[1..].chunks(4);
        let bytes = blocks.flat_map(|block| {
            let bits = block.iter().fold(0, |bits, byte| bits << 6 | six(*byte));
            [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]
        });
        bytes.take(length).collect()
    }
}
