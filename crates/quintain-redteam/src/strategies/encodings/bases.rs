//! Bytes in alphabets of 32, 58, 64 and 85 letters.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use flate2::Compression;
use flate2::write::GzEncoder;
use quintain_content::registry::Meta;

use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static BASE64: Converter = Converter {
    meta: &Meta {
        id: "base64",
        aliases: &[],
        summary: "Base64",
        docs: docs! {
            what: "Encodes the UTF-8 bytes in Base64. `variant` is `standard`, `url`, \
                   `standard-no-pad` or `url-no-pad`.",
            why: "Filters look for words; a model, and many servers, decode the text before they \
                  act on it.",
            example: "strategies:\n  - base64\n  - id: base64\n    config: {variant: url}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let engine = options.word(
            "variant",
            &[
                ("standard", &STANDARD),
                ("url", &URL_SAFE),
                ("standard-no-pad", &STANDARD_NO_PAD),
                ("url-no-pad", &URL_SAFE_NO_PAD),
            ],
        );
        Rewrite::one(move |text| engine.encode(text))
    },
};

pub(in crate::strategies) static GZIP_BASE64: Converter = Converter {
    meta: &Meta {
        id: "gzip-base64",
        aliases: &["gzip"],
        summary: "Gzip, then Base64",
        docs: docs! {
            what: "Compresses the text with gzip and encodes the result in Base64.",
            why: "Servers that accept compressed input often check it before they decompress it, \
                  or not at all.",
            example: "strategies:\n  - gzip-base64",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |_| Rewrite::one(|text| STANDARD.encode(gzip(text.as_bytes()))),
};

pub(in crate::strategies) static BASE32: Converter = Converter {
    meta: &Meta {
        id: "base32",
        aliases: &[],
        summary: "Base32",
        docs: docs! {
            what: "Encodes the UTF-8 bytes in Base32 (RFC 4648) with padding.",
            why: "Filters know it less often than Base64, and models decode it as easily.",
            example: "strategies:\n  - base32",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |_| Rewrite::one(|text| base32(text.as_bytes())),
};

pub(in crate::strategies) static BASE58: Converter = Converter {
    meta: &Meta {
        id: "base58",
        aliases: &[],
        summary: "Base58",
        docs: docs! {
            what: "Encodes the UTF-8 bytes in Base58 with the Bitcoin alphabet, in blocks of 64 \
                   bytes separated by spaces.",
            why: "It has neither padding nor punctuation, so it looks like an identifier.",
            example: "strategies:\n  - base58",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| {
        // The cost of Base58 grows with the square of the length.
        Rewrite::one(|text| text.as_bytes().chunks(64).map(base58).collect::<Vec<_>>().join(" "))
    },
};

pub(in crate::strategies) static BASE85: Converter = Converter {
    meta: &Meta {
        id: "base85",
        aliases: &["ascii85"],
        summary: "Ascii85",
        docs: docs! {
            what: "Encodes the UTF-8 bytes in Ascii85. `framed: true` adds `<~` and `~>`.",
            why: "It is the densest common encoding, and filters seldom look for it.",
            example: "strategies:\n  - id: base85\n    config: {framed: true}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let framed = options.flag("framed", false);
        Rewrite::one(move |text| {
            let encoded = ascii85(text.as_bytes());
            if framed { format!("<~{encoded}~>") } else { encoded }
        })
    },
};

pub(in crate::strategies) fn base64(text: &str) -> String {
    STANDARD.encode(text)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn base32(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut out = String::new();
    for block in bytes.chunks(5) {
        let bits =
            (0..5).fold(0_u64, |bits, at| bits << 8 | u64::from(*block.get(at).unwrap_or(&0)));
        let used = (block.len() * 8).div_ceil(5);
        for at in 0..8 {
            let letter = LETTERS[(bits >> (35 - 5 * at)) as usize & 31];
            out.push(if at < used { char::from(letter) } else { '=' });
        }
    }
    out
}

fn base58(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut digits: Vec<u8> = Vec::new();
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            carry += u32::from(*digit) << 8;
            *digit = (carry % 58) as u8;
            carry /= 58;
        }
        while carry > 0 {
            digits.push((carry % 58) as u8);
            carry /= 58;
        }
    }
    let zeros = bytes.iter().take_while(|byte| **byte == 0).map(|_| '1');
    zeros.chain(digits.iter().rev().map(|digit| char::from(LETTERS[usize::from(*digit)]))).collect()
}

fn ascii85(bytes: &[u8]) -> String {
    let mut out = String::new();
    for block in bytes.chunks(4) {
        let word =
            (0..4).fold(0_u32, |word, at| word << 8 | u32::from(*block.get(at).unwrap_or(&0)));
        if word == 0 && block.len() == 4 {
            out.push('z');
            continue;
        }
        let digits = [85_u32.pow(4), 85_u32.pow(3), 85_u32.pow(2), 85, 1];
        let letters = digits.map(|power| char::from((word / power % 85) as u8 + b'!'));
        out.extend(&letters[..=block.len()]);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::strategies::testing::{SAMPLES, first};

    #[test]
    fn known_values() {
        assert_eq!(first("base64", "hello?>"), "aGVsbG8/Pg==");
        assert_eq!(first("{id: base64, config: {variant: url-no-pad}}", "hello?>"), "aGVsbG8_Pg");
        for (plain, encoded) in
            [("f", "MY======"), ("foo", "MZXW6==="), ("foobar", "MZXW6YTBOI======")]
        {
            assert_eq!(first("base32", plain), encoded);
        }
        assert_eq!(first("base58", "Hello World!"), "2NEpo7TZRRrLZSi2U");
        assert_eq!(base58(&[0, 0, 0x28, 0x7f, 0xb4, 0xcd]), "11233QC4");
        assert_eq!(first("base85", "Man sure."), "9jqo^F*2M7/c");
        assert_eq!(first("{id: base85, config: {framed: true}}", "\0\0\0\0"), "<~z~>");
    }

    #[test]
    fn gzip_can_be_undone() {
        for text in SAMPLES {
            let packed = STANDARD.decode(first("gzip-base64", text)).unwrap();
            let mut plain = String::new();
            flate2::read::GzDecoder::new(&*packed).read_to_string(&mut plain).unwrap();
            assert_eq!(plain, text);
        }
    }

    #[test]
    fn alphabets_can_be_undone() {
        for text in SAMPLES {
            assert_eq!(STANDARD.decode(first("base64", text)).unwrap(), text.as_bytes());
            assert_eq!(unbase32(&first("base32", text)), text.as_bytes());
            assert_eq!(unascii85(&first("base85", text)), text.as_bytes());
        }
    }

    fn unbase32(text: &str) -> Vec<u8> {
        let digit = |c: u8| if c.is_ascii_digit() { c - b'2' + 26 } else { c - b'A' };
        let mut out = Vec::new();
        let (mut bits, mut count) = (0_u32, 0);
        for c in text.bytes().take_while(|c| *c != b'=') {
            bits = bits << 5 | u32::from(digit(c));
            count += 5;
            if count >= 8 {
                count -= 8;
                out.push((bits >> count) as u8);
                bits &= (1 << count) - 1;
            }
        }
        out
    }

    fn unascii85(text: &str) -> Vec<u8> {
        let text = text.replace('z', "!!!!!");
        let mut out = Vec::new();
        for block in text.as_bytes().chunks(5) {
            let word = (0..5).fold(0_u64, |word, at| {
                word * 85 + u64::from(*block.get(at).unwrap_or(&b'u') - b'!')
            });
            out.extend(&(word as u32).to_be_bytes()[..block.len() - 1]);
        }
        out
    }
}
