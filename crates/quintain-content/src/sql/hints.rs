//! Mistakes that grammars let pass. promptfoo looks for them in the text.

use std::borrow::Cow;

use crate::text::js;

/// Words that may precede the columns of a `SELECT`.
const MODIFIERS: [&str; 2] = ["all", "distinct"];
const OF_MYSQL: [&str; 9] = [
    "distinctrow",
    "high_priority",
    "straight_join",
    "sql_big_result",
    "sql_buffer_result",
    "sql_cache",
    "sql_calc_found_rows",
    "sql_no_cache",
    "sql_small_result",
];

/// Whether a quoted name is not closed.
pub fn lacks_quote(sql: &str) -> bool {
    sql.bytes().filter(|byte| *byte == b'`').count() % 2 == 1
}

/// Whether a table is made by the function of PostgreSQL for it.
pub fn makes_series(sql: &str) -> bool {
    let lower = sql.to_ascii_lowercase();
    lower.match_indices("generate_series").any(|(at, name)| {
        !lower[..at].ends_with(is_word)
            && lower[at + name.len()..].trim_start_matches(js::is_space).starts_with('(')
    })
}

/// `SELECT a b FROM`: an alias without `AS`, but more likely two columns.
pub fn lacks_comma(sql: &str, database: &str) -> bool {
    let mysql = matches!(database, "MySQL" | "MariaDB");
    let brackets = matches!(database, "TransactSQL" | "Sqlite");
    let is_modifier = |word: &str| {
        let is = |known: &&str| word.eq_ignore_ascii_case(known);
        MODIFIERS.iter().any(is) || mysql && OF_MYSQL.iter().any(is)
    };
    let plain = plain(sql, brackets);
    let words: Vec<&str> = js::words(&plain).collect();
    words.iter().enumerate().any(|(at, word)| {
        let rest = &words[at + 1..];
        let skipped = rest.iter().take_while(|word| is_modifier(word)).count();
        ends_with_select(word)
            && matches!(&rest[skipped..], [first, second, from, ..]
                if is_identifier(first) && is_identifier(second) && starts_with_from(from))
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_identifier(word: &str) -> bool {
    !word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(is_word)
}

fn ends_with_select(word: &str) -> bool {
    let start = word.len().checked_sub("select".len());
    start.and_then(|start| word.split_at_checked(start)).is_some_and(|(before, select)| {
        select.eq_ignore_ascii_case("select") && !before.ends_with(is_word)
    })
}

fn starts_with_from(word: &str) -> bool {
    word.split_at_checked("from".len()).is_some_and(|(from, after)| {
        from.eq_ignore_ascii_case("from") && !after.starts_with(is_word)
    })
}

/// The text without comments, and with `?` for everything in quotes.
fn plain(sql: &str, brackets: bool) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = sql;
    while let Some(c) = rest.chars().next() {
        let (end, instead) = match c {
            '\'' | '"' | '`' => (quoted(rest, c), " ? "),
            '[' if brackets => (quoted(rest, ']'), " ? "),
            '#' => (line(rest), " "),
            '-' if rest.starts_with("--") => (line(rest), " "),
            '/' if rest.starts_with("/*") => {
                (rest[2..].find("*/").map_or(rest.len(), |at| at + 4), " ")
            }
            '$' => match dollar_quoted(rest) {
                Some(end) => (end, " ? "),
                None => (1, "$"),
            },
            c => (c.len_utf8(), &rest[..c.len_utf8()]),
        };
        out.push_str(instead);
        rest = &rest[end..];
    }
    Cow::Owned(out)
}

fn line(text: &str) -> usize {
    text.find(['\r', '\n']).unwrap_or(text.len())
}

/// Where a quoted text ends. The quote itself is written twice or, except in brackets, after a
/// backslash.
fn quoted(text: &str, close: char) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && close != ']' {
            chars.next();
        } else if c == close && chars.next_if(|(_, next)| *next == close).is_none() {
            return at + 1;
        }
    }
    text.len()
}

fn dollar_quoted(text: &str) -> Option<usize> {
    let tag = text[1..].find('$').map(|at| &text[..at + 2])?;
    let name = &tag[1..tag.len() - 1];
    if !is_identifier(name) {
        return None;
    }
    Some(text[tag.len()..].find(tag).map_or(text.len(), |at| at + 2 * tag.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_columns_without_a_comma_are_a_mistake() {
        for sql in ["SELECT a b FROM t", "x (select all a b from(t)", "SELECT DISTINCT a b FROM t"]
        {
            assert!(lacks_comma(sql, "MySQL"), "{sql}");
        }
        for sql in [
            "SELECT a AS b FROM t",
            "SELECT a, b FROM t",
            "SELECT DISTINCT a FROM t",
            "SELECT STRAIGHT_JOIN a FROM t",
            "SELECT 'select a b from t' FROM t",
            "SELECT count(*) c FROM t",
            "SELECT 1 -- select a b from t",
            "SELECT $x$ select a b from t $x$",
        ] {
            assert!(!lacks_comma(sql, "MySQL"), "{sql}");
        }
        assert!(lacks_comma("SELECT STRAIGHT_JOIN a FROM t", "PostgreSQL"));
        assert!(!lacks_comma("SELECT [a] b FROM t", "TransactSQL"));
    }

    #[test]
    fn other_mistakes_are_noticed() {
        assert!(lacks_quote("SELECT `a FROM t") && !lacks_quote("SELECT `a` FROM t"));
        assert!(makes_series("SELECT * FROM Generate_Series (1, 3)"));
        assert!(!makes_series("SELECT my_generate_series(1), generate_series"));
    }
}
