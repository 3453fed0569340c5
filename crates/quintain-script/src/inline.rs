//! The meaning of inline code. As in promptfoo, one line is an expression (`return` is inserted before it,
//! or before its last statement if it starts with a declaration), several lines are a function's body.
//! Code that promptfoo rejects or loses also works: a line that is not an expression is a body, lines that
//! are one expression are an expression. A value that is a function is called with the arguments.

/// One way to read the code, as the text of a function's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reading {
    prefix: &'static str,
    code: String,
    suffix: &'static str,
    /// Lines and, in its first line, columns of the user's text that are not in `code`.
    skipped: (u32, u32),
    /// Position of a `return ` in `code` that the user did not write.
    inserted: Option<u32>,
}

const RETURN: &str = "return ";

impl Reading {
    /// A function expression with these parameters.
    pub(crate) fn function(&self, parameters: &[&str]) -> String {
        let Self { prefix, code, suffix, .. } = self;
        format!("{}{prefix}{code}{suffix}\n}})", head(parameters))
    }

    /// Maps a place in [`Self::function`] to the place in the user's text.
    pub(crate) fn locate(&self, parameters: &[&str], (line, column): (u32, u32)) -> (u32, u32) {
        let mut column = column;
        if line <= 1 {
            let before = head(parameters).chars().count() + self.prefix.len();
            column = column.saturating_sub(before as u32).max(1);
            if self.inserted.is_some_and(|at| column > at) {
                column = column.saturating_sub(RETURN.len() as u32);
            }
            column += self.skipped.1;
        }
        (line.max(1) + self.skipped.0, column.max(1))
    }
}

fn head(parameters: &[&str]) -> String {
    format!("(function({}){{", parameters.join(","))
}

/// The ways to read `code`, best first. The first that is valid JavaScript is used.
pub(crate) fn readings(code: &str) -> Vec<Reading> {
    let code = code.trim_end();
    let line = code.trim_start();
    let whole = |prefix, code: &str, suffix| Reading {
        prefix,
        code: code.to_owned(),
        suffix,
        skipped: (0, 0),
        inserted: None,
    };
    if line.contains('\n') {
        // Code that is one expression cannot also return something as a body, so this does not
        // change the meaning of bodies.
        let expression = without_semicolons(code);
        return vec![whole("return (", expression, "\n)"), whole("", code, "")];
    }
    let skipped = skipped(&code[..code.len() - line.len()]);
    let line = without_semicolons(line);
    let body = Reading { skipped, ..whole("", line, "") };
    if !declares(line) {
        return vec![Reading { skipped, ..whole(RETURN, line, "") }, body];
    }
    let last = last_semicolon(line).map(|at| line.split_at(at + 1));
    match last.map(|(before, after)| (before, after.trim_start())) {
        Some((before, after)) if !after.is_empty() => {
            let code = format!("{before} {RETURN}{after}");
            let inserted = Some(before.chars().count() as u32 + 1);
            vec![Reading { code, inserted, ..body.clone() }, body]
        }
        _ => vec![body],
    }
}

fn skipped(blank: &str) -> (u32, u32) {
    let lines = blank.matches('\n').count() as u32;
    let columns = blank.rsplit('\n').next().map_or(0, |rest| rest.chars().count() as u32);
    (lines, columns)
}

fn without_semicolons(code: &str) -> &str {
    code.trim_end_matches(|c: char| c == ';' || c.is_whitespace())
}

fn declares(line: &str) -> bool {
    ["const", "let", "var"]
        .iter()
        .filter_map(|word| line.strip_prefix(word))
        .any(|rest| rest.starts_with(char::is_whitespace))
}

/// The last semicolon outside quotes.
fn last_semicolon(line: &str) -> Option<usize> {
    let (mut quote, mut last) = (None, None);
    let mut bytes = line.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (_, b'\\') => {
                bytes.next();
            }
            (Some(open), _) if open == byte => quote = None,
            (None, b'"' | b'\'' | b'`') => quote = Some(byte),
            (None, b';') => last = Some(at),
            _ => {}
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(code: &str) -> Vec<String> {
        readings(code).iter().map(|r| format!("{}{}{}", r.prefix, r.code, r.suffix)).collect()
    }

    #[test]
    fn one_line_is_an_expression_first_and_a_body_second() {
        assert_eq!(texts(" output > 3; \n"), ["return output > 3", "output > 3"]);
    }

    #[test]
    fn a_line_that_declares_returns_its_last_statement() {
        let code = "const s = ';'; s === \"a;b\";";
        assert_eq!(texts(code)[0], "const s = ';'; return s === \"a;b\"");
        assert_eq!(texts("let x = 1"), ["let x = 1"]);
    }

    #[test]
    fn several_lines_are_an_expression_or_a_body() {
        assert_eq!(texts("a\n  .b;"), ["return (a\n  .b\n)", "a\n  .b;"]);
    }

    #[test]
    fn places_are_those_of_the_users_text() {
        let parameters = ["output", "context"];
        let reading = &readings("\n  output +* 3")[0];
        let source = reading.function(&parameters);
        let column = source.find('*').unwrap_or_default() as u32 + 1;
        assert_eq!(reading.locate(&parameters, (1, column)), (2, 11));

        let reading = &readings("const a = 1; a +* 2")[0];
        let source = reading.function(&parameters);
        let column = source.find('*').unwrap_or_default() as u32 + 1;
        assert_eq!(reading.locate(&parameters, (1, column)), (1, 17));
    }
}
