//! Expressions that evaluate to the text.

use quintain_content::registry::Meta;

use crate::strategies::rewrite::Rewrite;
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static SQL_CHAR: Converter = Converter {
    meta: &Meta {
        id: "sql-char",
        aliases: &["sql-escape"],
        summary: "Writes the text as a SQL CHAR(...) expression",
        docs: docs! {
            what: "Writes the text as a SQL expression without quotes. `dialect` is `sqlite` \
                   (`char(97,98)`), `mysql` (`CHAR(97,98 USING utf8mb4)`), `mssql` \
                   (`NCHAR(97)+NCHAR(98)`) or `postgresql` (`CHR(97)||CHR(98)`).",
            why: "If a filter removes quotes, numbers can still produce a string.",
            example: "strategies:\n  - id: sql-char\n    config: {dialect: postgresql}",
        },
        since: "0.1.0",
    },
    suits: Suits::ARGUMENTS,
    compile: |options| {
        let dialect = options.word(
            "dialect",
            &[("sqlite", 's'), ("mysql", 'm'), ("mssql", 'n'), ("postgresql", 'p')],
        );
        Rewrite::one(move |text| match dialect {
            's' => format!("char({})", codes(text)),
            'm' => format!("CHAR({} USING utf8mb4)", bytes(text)),
            'n' => calls(text, "NCHAR", "+"),
            _ => calls(text, "CHR", "||"),
        })
    },
};

pub(in crate::strategies) static JS_CHAR_CODES: Converter = Converter {
    meta: &Meta {
        id: "js-char-codes",
        aliases: &["js-escape"],
        summary: "Writes the text as String.fromCodePoint(...)",
        docs: docs! {
            what: "Writes the text as a JavaScript expression that builds it from numbers.",
            why: "Evaluated code can contain a string without quotes.",
            example: "strategies:\n  - js-char-codes",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |_| Rewrite::one(|text| format!("String.fromCodePoint({})", codes(text))),
};

pub(in crate::strategies) static SHELL_OCTAL: Converter = Converter {
    meta: &Meta {
        id: "shell-octal",
        aliases: &["shell-escape"],
        summary: "Writes the text as a shell string $'...'",
        docs: docs! {
            what: "Writes every byte as an octal escape in `$'...'`.",
            why: "bash, zsh and ksh decode it after the filter looked for words.",
            example: "strategies:\n  - shell-octal",
        },
        since: "0.1.0",
    },
    suits: Suits::ARGUMENTS,
    compile: |_| {
        Rewrite::one(|text| {
            let octal = text.bytes().map(|byte| format!("\\{byte:03o}")).collect::<Vec<_>>();
            format!("$'{}'", octal.concat())
        })
    },
};

pub(in crate::strategies) static STRING_CONCAT: Converter = Converter {
    meta: &Meta {
        id: "string-concat",
        aliases: &["payload-splitting"],
        summary: "Writes the text as joined short strings",
        docs: docs! {
            what: "Splits the text into pieces of `size` characters (default 3), and writes them \
                   as quoted strings joined by `operator` (default ` + `).",
            why: "No piece is a word that a filter knows; the reader joins them.",
            example: "strategies:\n  - id: string-concat\n    config: {size: 2, operator: ' || '}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let size = options.whole("size", 1..=64, 3);
        let operator = options.text("operator", " + ");
        Rewrite::one(move |text| {
            let chars: Vec<char> = text.chars().collect();
            let pieces = chars
                .chunks(size)
                .map(|piece| serde_json::Value::from(piece.iter().collect::<String>()).to_string());
            pieces.collect::<Vec<_>>().join(&operator)
        })
    },
};

fn codes(text: &str) -> String {
    let codes = text.chars().map(|c| u32::from(c).to_string());
    codes.collect::<Vec<_>>().join(",")
}

fn bytes(text: &str) -> String {
    text.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(",")
}

fn calls(text: &str, function: &str, between: &str) -> String {
    let calls = text.chars().map(|c| format!("{function}({})", u32::from(c)));
    calls.collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::first;

    #[test]
    fn known_values() {
        assert_eq!(first("sql-char", "ab"), "char(97,98)");
        let sql = |dialect: &str| {
            first(&format!("{{id: sql-char, config: {{dialect: {dialect}}}}}"), "ab")
        };
        assert_eq!(sql("mysql"), "CHAR(97,98 USING utf8mb4)");
        assert_eq!(sql("mssql"), "NCHAR(97)+NCHAR(98)");
        assert_eq!(sql("postgresql"), "CHR(97)||CHR(98)");
        assert_eq!(first("js-char-codes", "a😊"), "String.fromCodePoint(97,128522)");
        assert_eq!(first("shell-octal", "a'"), "$'\\141\\047'");
        assert_eq!(first("string-concat", "abcd"), "\"abc\" + \"d\"");
    }
}
