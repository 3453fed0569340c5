//! Bytes and characters as numbers.

use quintain_content::registry::Meta;

use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static HEX: Converter = Converter {
    meta: &Meta {
        id: "hex",
        aliases: &["base16"],
        summary: "Hexadecimal bytes",
        docs: docs! {
            what: "Writes each byte as two hexadecimal digits, separated by `separator` (default a \
                   space).",
            why: "Filters look for words; models read hexadecimal, and servers decode it.",
            example: "strategies:\n  - hex\n  - id: hex\n    config: {separator: ''}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let separator = options.text("separator", " ");
        Rewrite::one(move |text| joined(text.bytes().map(|byte| format!("{byte:02X}")), &separator))
    },
};

pub(in crate::strategies) static BINARY: Converter = Converter {
    meta: &Meta {
        id: "binary",
        aliases: &[],
        summary: "Binary digits",
        docs: docs! {
            what: "Writes characters as binary numbers, separated by spaces. `bits` is 8 (each \
                   byte), 16 (each UTF-16 unit) or 32 (each character).",
            why: "Filters find no words in it, but a model can still read it.",
            example: "strategies:\n  - id: binary\n    config: {bits: 16}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let bits = options.word("bits", &[("8", 8), ("16", 16), ("32", 32)]);
        Rewrite::one(move |text| match bits {
            8 => joined(text.bytes().map(|byte| format!("{byte:08b}")), " "),
            16 => joined(text.encode_utf16().map(|unit| format!("{unit:016b}")), " "),
            _ => joined(text.chars().map(|c| format!("{:032b}", u32::from(c))), " "),
        })
    },
};

pub(in crate::strategies) static OCTAL: Converter = Converter {
    meta: &Meta {
        id: "octal",
        aliases: &[],
        summary: "Octal bytes",
        docs: docs! {
            what: "Writes each byte as three octal digits, separated by spaces.",
            why: "Filters know it less often than hexadecimal.",
            example: "strategies:\n  - octal",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| Rewrite::one(|text| joined(text.bytes().map(|byte| format!("{byte:03o}")), " ")),
};

pub(in crate::strategies) static DECIMAL: Converter = Converter {
    meta: &Meta {
        id: "decimal",
        aliases: &["char-codes"],
        summary: "Decimal code points",
        docs: docs! {
            what: "Writes each character as the decimal number of its code point, separated by \
                   spaces.",
            why: "Models know character codes by heart; word filters do not decode them.",
            example: "strategies:\n  - decimal",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| Rewrite::one(|text| joined(text.chars().map(|c| u32::from(c).to_string()), " ")),
};

fn joined(parts: impl Iterator<Item = String>, separator: &str) -> String {
    parts.collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::{SAMPLES, first};

    #[test]
    fn known_values() {
        assert_eq!(first("hex", "Hi é"), "48 69 20 C3 A9");
        assert_eq!(first("{id: hex, config: {separator: ''}}", "Hi"), "4869");
        assert_eq!(first("binary", "Hi"), "01001000 01101001");
        assert_eq!(first("{id: binary, config: {bits: 16}}", "é"), "0000000011101001");
        assert_eq!(first("octal", "Hi"), "110 151");
        assert_eq!(first("decimal", "Hi😊"), "72 105 128522");
    }

    #[test]
    fn numbers_can_be_undone() {
        let bytes = |encoded: &str, radix| -> Vec<u8> {
            encoded
                .split(' ')
                .filter(|part| !part.is_empty())
                .map(|part| u8::from_str_radix(part, radix).unwrap())
                .collect()
        };
        for text in SAMPLES {
            for (name, radix) in [("hex", 16), ("binary", 2), ("octal", 8)] {
                assert_eq!(bytes(&first(name, text), radix), text.as_bytes(), "{name}");
            }
            let chars = first("decimal", text);
            let codes = chars.split(' ').filter(|part| !part.is_empty());
            let plain: String =
                codes.map(|code| char::from_u32(code.parse().unwrap()).unwrap()).collect();
            assert_eq!(plain, text);
        }
    }
}
