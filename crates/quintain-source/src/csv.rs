//! A CSV reader that keeps the position of every cell. Stray quotes are kept as they are, for the sake of
//! spreadsheets and hand-written files.

use std::borrow::Cow;
use std::ops::Range;

/// One cell: its unquoted text and its position in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell<'t> {
    pub text: Cow<'t, str>,
    pub range: Range<usize>,
}

/// The records of a text, without empty lines.
pub struct Records<'t> {
    text: &'t str,
    delimiter: char,
    at: usize,
}

impl<'t> Records<'t> {
    pub fn new(text: &'t str, delimiter: char) -> Self {
        Self { text, delimiter, at: 0 }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn cell(&mut self) -> Cell<'t> {
        let start = self.at;
        let quoted = self.rest().starts_with('"').then(|| self.quoted()).flatten();
        let text = quoted.unwrap_or_else(|| {
            let ends = |c: char| c == self.delimiter || matches!(c, '\n' | '\r');
            let cell = self.rest().split(ends).next().unwrap_or_default();
            self.at += cell.len();
            Cow::Borrowed(cell)
        });
        Cell { text, range: start..self.at }
    }

    /// A quoted cell; none if the closing quote is not at the end of the cell.
    fn quoted(&mut self) -> Option<Cow<'t, str>> {
        let body = &self.rest()[1..];
        let mut from = 0;
        let mut escaped = false;
        loop {
            let quote = from + body[from..].find('"')?;
            let after = &body[quote + 1..];
            if after.starts_with('"') {
                escaped = true;
                from = quote + 2;
                continue;
            }
            if !(after.is_empty() || after.starts_with([self.delimiter, '\n', '\r'])) {
                return None;
            }
            self.at += quote + 2;
            let text = &body[..quote];
            let undone = || Cow::Owned(text.replace("\"\"", "\""));
            return Some(if escaped { undone() } else { Cow::Borrowed(text) });
        }
    }
}

impl<'t> Iterator for Records<'t> {
    type Item = Vec<Cell<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(['\n', '\r']).len();
        if self.rest().is_empty() {
            return None;
        }
        let mut cells = Vec::new();
        loop {
            cells.push(self.cell());
            if !self.rest().starts_with(self.delimiter) {
                return Some(cells);
            }
            self.at += self.delimiter.len_utf8();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(csv: &str) -> Vec<Vec<String>> {
        let records = Records::new(csv, ',');
        records
            .map(|cells| cells.into_iter().map(|cell| cell.text.into_owned()).collect())
            .collect()
    }

    #[test]
    fn quotes_commas_and_line_breaks_are_undone() {
        assert_eq!(texts("a,b\r\n1,\"x, \"\"y\"\"\nz\"\r\n"), [["a", "b"], ["1", "x, \"y\"\nz"]]);
        assert_eq!(texts("a,\n,b\n"), [["a", ""], ["", "b"]]);
        assert_eq!(texts("\n\na\n\n\nb"), [["a"], ["b"]]);
        assert!(texts("").is_empty());
    }

    #[test]
    fn stray_quotes_stay() {
        assert_eq!(texts("a\"b,\"c\"d,e"), [["a\"b", "\"c\"d", "e"]]);
        assert_eq!(texts("\"never closed,x"), [["\"never closed", "x"]]);
    }

    #[test]
    fn cells_know_their_place() {
        let csv = "é,\"b\"\nc,d";
        let places: Vec<_> =
            Records::new(csv, ',').flatten().map(|cell| &csv[cell.range]).collect();
        assert_eq!(places, ["é", "\"b\"", "c", "d"]);
    }

    #[test]
    fn many_unclosed_quotes_cost_linear_time() {
        let csv = "\"a,".repeat(200_000);
        assert_eq!(texts(&csv).len(), 1);
    }
}
