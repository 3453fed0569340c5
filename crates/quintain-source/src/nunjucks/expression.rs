//! Rewrites expressions for the engine: operators have the meaning of JavaScript, into
//! which Nunjucks translates them directly.

mod tree;

use std::fmt::Write as _;

use tree::{Node, Terms};

/// Maximum nesting of brackets.
const MAX_DEPTH: usize = 64;

/// The expression in the syntax of the engine. None if Nunjucks does not know it.
pub(super) fn rewritten(text: &str) -> Option<String> {
    let mut reader = Reader { rest: text, depth: 0 };
    let node = reader.expression()?;
    reader.is_at_end().then(|| node.to_string())
}

/// `left === right`, both of them expressions of the engine.
pub(super) fn identical(left: &str, right: &str) -> String {
    format!("({left})|__calc('===', {right})")
}

const COMPARISONS: [&str; 8] = ["===", "!==", "==", "!=", "<=", ">=", "<", ">"];
const SUMS: [&str; 3] = ["+", "-", "~"];
const KEYWORDS: [&str; 7] = ["and", "or", "not", "if", "else", "in", "is"];

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn is_at_end(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.is_empty()
    }

    fn skip(&mut self, mark: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(mark) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.trim_start().chars().next()
    }

    /// One of these operators. Of `*` and `**`, or `/` and `//`, the longest match.
    fn operator(&mut self, known: &[&'static str]) -> Option<&'static str> {
        let rest = self.rest.trim_start();
        let longer = ["**", "//"].into_iter().find(|longer| rest.starts_with(longer));
        let fits = |operator: &&&str| match longer {
            Some(longer) => **operator == longer,
            None => rest.starts_with(**operator),
        };
        let found = known.iter().find(fits).copied()?;
        self.skip(found).then_some(found)
    }

    fn peek_word(&self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let first = rest.chars().next()?;
        if !first.is_alphabetic() && first != '_' {
            return None;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        Some(&rest[..end])
    }

    fn word(&mut self) -> Option<&'t str> {
        let word = self.peek_word()?;
        self.skip(word);
        Some(word)
    }

    fn keyword(&mut self, wanted: &str) -> bool {
        self.peek_word() == Some(wanted) && self.skip(wanted)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    fn expression(&mut self) -> Option<Node> {
        self.deeper(|reader| {
            let value = reader.logical("or")?;
            if !reader.keyword("if") {
                return Some(value);
            }
            let condition = reader.logical("or")?;
            let other = if reader.keyword("else") {
                reader.logical("or")?
            } else {
                Node::Whole("''".to_owned())
            };
            Some(Node::Whole(format!("({value} if {condition} else {other})")))
        })
    }

    /// `or`, and inside it `and`.
    fn logical(&mut self, word: &str) -> Option<Node> {
        let operand = |reader: &mut Self| match word {
            "or" => reader.logical("and"),
            _ => reader.negation(),
        };
        let first = operand(self)?;
        let mut rest = String::new();
        while self.keyword(word) {
            let next = operand(self)?;
            let _ = write!(rest, " {word} {next}");
        }
        Some(if rest.is_empty() { first } else { Node::Whole(format!("({first}{rest})")) })
    }

    fn negation(&mut self) -> Option<Node> {
        if self.keyword("not") {
            return self.deeper(Self::negation).map(Node::not);
        }
        let mut left = self.tested()?;
        loop {
            let before = self.rest;
            let inverted = self.keyword("not");
            if !self.keyword("in") {
                self.rest = before;
                return Some(left);
            }
            let right = self.tested()?;
            let found = Node::Whole(format!("({left}|__calc('in', {right}))"));
            left = if inverted { found.not() } else { found };
        }
    }

    fn tested(&mut self) -> Option<Node> {
        let left = self.comparison()?;
        if !self.keyword("is") {
            return Some(left);
        }
        let not = if self.keyword("not") { "not " } else { "" };
        let test = self.word()?;
        let arguments = if self.peek() == Some('(') { self.arguments()? } else { String::new() };
        Some(Node::Whole(format!("({left} is {not}{test}{arguments})")))
    }

    fn comparison(&mut self) -> Option<Node> {
        let first = self.sum()?;
        let mut rest = Vec::new();
        while let Some(operator) = self.operator(&COMPARISONS) {
            rest.push((operator, self.sum()?));
        }
        Some(Node::chain(first, rest))
    }

    fn sum(&mut self) -> Option<Node> {
        let first = self.product()?.node();
        let mut rest = Vec::new();
        while let Some(operator) = self.operator(&SUMS) {
            rest.push((operator, self.product()?.node()));
        }
        Some(Node::chain(first, rest))
    }

    fn product(&mut self) -> Option<Terms> {
        let mut terms = self.whole_quotient()?;
        while let Some(operator) = self.operator(&["*", "/"]) {
            terms.append(operator, self.whole_quotient()?);
        }
        Some(terms)
    }

    fn whole_quotient(&mut self) -> Option<Terms> {
        let mut terms = self.remainder()?;
        while self.operator(&["//"]).is_some() {
            terms.append("/", self.remainder()?);
            terms = Terms { first: terms.node().filtered("__floor"), rest: Vec::new() };
        }
        Some(terms)
    }

    fn remainder(&mut self) -> Option<Terms> {
        let mut terms = Terms { first: self.power()?, rest: Vec::new() };
        while let Some(operator) = self.operator(&["%"]) {
            terms.rest.push((operator, self.power()?));
        }
        Some(terms)
    }

    /// A function call in the translation, so that operators cannot split it.
    fn power(&mut self) -> Option<Node> {
        let first = self.signed(true)?;
        let mut rest = Vec::new();
        while let Some(operator) = self.operator(&["**"]) {
            rest.push((operator, self.signed(true)?));
        }
        Some(if rest.is_empty() {
            first
        } else {
            Node::Whole(Node::chain(first, rest).to_string())
        })
    }

    fn signed(&mut self, filters: bool) -> Option<Node> {
        let node = if self.operator(&["-"]).is_some() {
            self.deeper(|reader| reader.signed(false))?.filtered("__negative")
        } else if self.operator(&["+"]).is_some() {
            self.deeper(|reader| reader.signed(false))?.filtered("__number")
        } else {
            let primary = self.primary()?;
            Node::Whole(self.postfix(primary)?)
        };
        if filters { self.filters(node) } else { Some(node) }
    }

    fn filters(&mut self, node: Node) -> Option<Node> {
        let mut text = node.to_string();
        while self.skip("|") {
            let _ = write!(text, "|{}", self.word()?);
            if self.peek() == Some('(') {
                text.push_str(&self.arguments()?);
            }
        }
        Some(Node::Whole(text))
    }

    fn primary(&mut self) -> Option<String> {
        match self.peek()? {
            '"' | '\'' => self.quoted().map(str::to_owned),
            c if c.is_ascii_digit() => self.number().map(str::to_owned),
            '(' => {
                let items = self.items('(', ')', Self::expression)?;
                match &items[..] {
                    [] => None,
                    [one] => Some(format!("({one})")),
                    several => Some(format!("([{}]|last)", several.join(", "))),
                }
            }
            '[' => {
                let items = self.items('[', ']', Self::expression)?;
                Some(format!("([{}]|__list)", items.join(", ")))
            }
            '{' => {
                let items = self.items('{', '}', Self::entry)?;
                Some(format!("({{{}}}|__dict)", items.join(", ")))
            }
            _ => match self.word()? {
                "null" => Some("none".to_owned()),
                // A regular expression, which the engine does not support.
                "r" if self.rest.starts_with('/') => None,
                word if KEYWORDS.contains(&word) => None,
                word => Some(word.to_owned()),
            },
        }
    }

    fn quoted(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let len = quoted(rest);
        let (text, after) = rest.split_at(len);
        self.rest = after;
        // The engine reports a quote that never ends.
        let quote = text.chars().next()?;
        (text.len() > 1 && text.ends_with(quote)).then_some(text)
    }

    fn number(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let mut end = digits(rest);
        if let Some(fraction) = rest[end..].strip_prefix('.') {
            end += match digits(fraction) {
                0 => 0,
                len => len + 1,
            };
        }
        let (number, after) = rest.split_at(end);
        self.rest = after;
        // `1e5` and `1px` are not integers.
        let ends = after.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        ends.then_some(number)
    }

    /// Members, indices and calls after a value.
    fn postfix(&mut self, mut text: String) -> Option<String> {
        loop {
            match self.peek() {
                Some('(') => text.push_str(&self.arguments()?),
                Some('[') => {
                    self.skip("[");
                    let index = self.index()?;
                    let _ = write!(text, "[{index}]");
                }
                Some('.') => {
                    self.skip(".");
                    match self.word()? {
                        "length" if self.peek() != Some('(') => text = format!("({text}|__length)"),
                        name => {
                            let _ = write!(text, ".{name}");
                        }
                    }
                }
                _ => return Some(text),
            }
        }
    }

    /// The content of `[...]`. Nunjucks has no slices, but their meaning is clear.
    fn index(&mut self) -> Option<String> {
        let mut text = String::new();
        while !self.skip("]") {
            if self.skip(":") {
                text.push(':');
            } else {
                let _ = write!(text, "{}", self.expression()?);
                if !matches!(self.peek(), Some(':' | ']')) {
                    return None;
                }
            }
        }
        (!text.is_empty()).then_some(text)
    }

    fn arguments(&mut self) -> Option<String> {
        let items = self.items('(', ')', Self::argument)?;
        Some(format!("({})", items.join(", ")))
    }

    /// `value` or `name=value`
    fn argument(&mut self) -> Option<Node> {
        let value = self.expression()?;
        let rest = self.rest.trim_start();
        if !rest.starts_with('=') || rest.starts_with("==") {
            return Some(value);
        }
        self.skip("=");
        Some(Node::Whole(format!("{value}={}", self.expression()?)))
    }

    /// `name: value`, where the name may be without quotes.
    fn entry(&mut self) -> Option<Node> {
        let key = match self.peek()? {
            '"' | '\'' => self.quoted()?.to_owned(),
            _ => format!("'{}'", self.word()?),
        };
        self.skip(":").then_some(())?;
        Some(Node::Whole(format!("{key}: {}", self.expression()?)))
    }

    /// The items between brackets, separated by commas.
    fn items(
        &mut self,
        open: char,
        close: char,
        read: fn(&mut Self) -> Option<Node>,
    ) -> Option<Vec<String>> {
        let (open, close) = (open.to_string(), close.to_string());
        self.skip(&open).then_some(())?;
        let mut items = Vec::new();
        while !self.skip(&close) {
            if !items.is_empty() {
                self.skip(",").then_some(())?;
                // `[1, 2, ]`
                if self.skip(&close) {
                    break;
                }
            }
            items.push(read(self)?.to_string());
        }
        Some(items)
    }
}

/// The length of a text in quotes at the start; the rest if it never ends.
pub(super) fn quoted(text: &str) -> usize {
    let mut chars = text.char_indices();
    let open = chars.next().map(|(_, c)| c);
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if Some(c) == open {
            return at + c.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_no_rewriting_stays() {
        for text in [
            "name",
            "user.name",
            "list[0]",
            "list[1:]",
            "word.slice(1, 3)",
            "list|join(', ')|upper",
            "f(1, b='x')",
            "'it\\'s'",
            "\"a\"",
            "1.5",
            "loop.index",
        ] {
            assert_eq!(rewritten(text).as_deref(), Some(text));
        }
    }

    #[test]
    fn operators_bind_as_in_the_translation_to_javascript() {
        for (text, expected) in [
            ("a == b", "(a|__calc('==', b))"),
            ("a+b - c ~d", "(a|__calc('+', b, '-', c, '~', d))"),
            ("a + b * c", "(a|__calc('+', (b|__calc('*', c))))"),
            ("a * b % c", "(a|__calc('*', b, '%', c))"),
            ("a * b // c", "(a|__calc('*', ((b|__calc('/', c))|__floor)))"),
            ("a ** b ** c", "(a|__calc('**', b, '**', c))"),
            ("-a|abs", "(a|__negative)|abs"),
            ("not a == b", "((not a)|__calc('==', b))"),
            ("not (a == b)", "(not ((a|__calc('==', b))))"),
            ("not a in b", "(not (a|__calc('in', b)))"),
            ("a not in b", "(not (a|__calc('in', b)))"),
            ("a is not divisibleby(3)", "(a is not divisibleby(3))"),
            ("a if b", "(a if b else '')"),
            ("a and b or not c", "((a and b) or (not c))"),
            ("(1, 2)", "([1, 2]|last)"),
            ("[]", "([]|__list)"),
            ("{a: 1, 'b': null}.a", "({'a': 1, 'b': none}|__dict).a"),
            ("a.length > 2", "((a|__length)|__calc('>', 2))"),
            ("a | length + 1", "(a|length|__calc('+', 1))"),
        ] {
            assert_eq!(rewritten(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_expression_is_left_to_the_engine() {
        let deep = format!("{}1{}", "(".repeat(1000), ")".repeat(1000));
        for text in [
            "",
            "n +",
            "\"a\" \"b\"",
            "'open",
            "r/a/.test(b)",
            "a b",
            "a = b",
            "()",
            "a[",
            "1e5",
            "not",
            "{1: 2}",
            deep.as_str(),
            "-".repeat(10_000).as_str(),
        ] {
            assert_eq!(rewritten(text), None, "{text}");
        }
    }
}
