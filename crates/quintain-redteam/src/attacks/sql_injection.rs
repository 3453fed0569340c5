//! Argument text that becomes part of an SQL statement.

mod attempt_builder;

use std::sync::LazyLock;
use std::time::Duration;

use quintain_content::registry::Meta;
use quintain_evidence::finding::Severity;
use quintain_evidence::indicator::Indicator;
use quintain_evidence::weakness::Weakness;
use regex::Regex;

use self::attempt_builder::AttemptBuilder;
use super::{pairs, tool_contract, traces};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, Kind, TargetView, Trial, Tried};

pub(super) struct SqlInjection;

static META: Meta = Meta {
    id: "sql-injection",
    aliases: &["sqli"],
    summary: "Argument text becomes part of an SQL statement",
    docs: "\
# What it does
Sends values that have a meaning for SQLite, PostgreSQL, MySQL and SQL Server only if they reach a statement unquoted: a quote and a
doubled quote; true and false conditions inside quotes, as numbers and as a sort order; comments after names; `UNION` with one to eight
columns; additional statements that create a marker file in a temporary folder; and waits. Tools with names that suggest changing data get
no payload that could change more of it. Arguments that are supposed to contain a query are skipped.

# Why it matters
An attacker can read and modify the whole database.

# What counts as proof
- A database error after one quote, but not after two.
- The same response for all true conditions and another for a false one, although the texts have the same letters.
- The product of two random numbers that is in no row.
- The marker file appears.
- A response that takes as long as the statement waits, while others do not.

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

static WEAKNESS: Weakness =
    Weakness { severity: Severity::High, cwe: &[89], frameworks: &["MCP05", "ASI02", "LLM05"] };

const KINDS: [Kind; 6] =
    [Kind::Filter, Kind::Id, Kind::Name, Kind::Text, Kind::Number, Kind::Other];

const WAIT: Duration = Duration::from_secs(2);
/// The role of attempts that wait.
const WAITS: &str = "waits";

/// Database errors for a statement that does not parse. Full-text queries have separate errors.
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

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = view.texts_in_modes(&KINDS, false);
        aims.extend(view.numbers());
        aims.retain(|aim| !tool_contract::is_query(view, aim));
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let careful = tool_contract::changes_data(aim);
        let mut attempt_builder = AttemptBuilder::new(aim, brief, careful);
        if aim.is(Kind::Number) {
            attempt_builder.numeric();
            attempt_builder.comment();
            return attempt_builder.made;
        }
        attempt_builder.quotes();
        if attempt_builder.innocent.parse::<f64>().is_ok() {
            attempt_builder.numeric();
        }
        attempt_builder.conditions();
        if attempt_builder.is_name() {
            attempt_builder.names();
        }
        let first = aim.kinds.first().copied().unwrap_or(Kind::Other);
        if matches!(first, Kind::Filter | Kind::Id | Kind::Name | Kind::Text | Kind::Other) {
            attempt_builder.comment();
            attempt_builder.conditions_of_innocent();
            attempt_builder.failures();
        }
        if matches!(first, Kind::Filter | Kind::Id | Kind::Name | Kind::Text) {
            attempt_builder.statements();
        }
        if matches!(first, Kind::Filter | Kind::Id) {
            attempt_builder.double_quotes();
            attempt_builder.union();
            attempt_builder.waits();
        }
        attempt_builder.made
    }

    fn expects(&self, set: &[Attempt], _: &TargetView<'_>) -> Option<(usize, Indicator)> {
        match set {
            [only] if only.role == WAITS => None,
            [only] => only.foretells().map(|sign| (0, sign)),
            _ => Some((0, Indicator::Differs)),
        }
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (_, set) in trial.sets() {
            let Some(first) = set.first() else { continue };
            let what = match set.as_slice() {
                [only] => {
                    traces::seen(only).or_else(|| computed(only)).or_else(|| waited(trial, only))
                }
                [_, _] => error_pair(trial, &set),
                _ => pairs::differ(&set),
            };
            hits.extend(what.map(|what| {
                let form = &first.attempt.form;
                let title = format!("SQL injection in `{}` ({form})", trial.aim.place);
                let hit = Hit::confirmed(title, what).by(first).fault("statement");
                match set.as_slice() {
                    [only] if only.attempt.role != WAITS => hit.said(only, &only.attempt.role),
                    [_] => hit,
                    _ => hit.sign(Indicator::Differs),
                }
            }));
        }
        hits
    }
}

fn computed(tried: &Tried) -> Option<String> {
    let shown = &tried.attempt.role;
    (!shown.is_empty() && shown != WAITS && tried.said().contains(shown.as_str()))
        .then(|| {
            format!(
                "the response contains {shown}, the product of two random numbers that only the database could have multiplied"
            )
        })
}

/// A database error after one quote, and none after two quotes or without a quote.
fn error_pair(trial: &Trial<'_>, set: &[&Tried]) -> Option<String> {
    let of = |role: &str| set.iter().find(|tried| tried.attempt.role == role);
    let error = |text: &str| {
        let found = ERRORS.as_ref()?.find(text).map(|found| found.as_str().to_owned());
        found.filter(|_| !text.contains("fts5") && !text.contains("tsquery"))
    };
    let quote = of("quote")?;
    let found = error(&quote.said())?;
    let innocent =
        trial.baseline().is_some_and(|exchange| error(&exchange.outcome.said()).is_none());
    let doubled = of("doubled")?;
    let fine = doubled.last()?.outcome.is_answer() && error(&doubled.said()).is_none();
    (innocent && fine).then(|| {
        format!(
            "the response contains the database error {found:?} after one quote, but not after two"
        )
    })
}

/// A response that takes as long as the statement waits, while the innocent call and the statements for other
/// databases are fast.
fn waited(trial: &Trial<'_>, tried: &Tried) -> Option<String> {
    let took = |tried: &Tried| tried.last().map_or(Duration::MAX, |exchange| exchange.took);
    let is_wait = |tried: &&Tried| tried.attempt.role == WAITS;
    let mut others = trial.tried.iter().filter(is_wait);
    let set = tried.attempt.set;
    let alone = others.all(|other| other.attempt.set == set || took(other) < WAIT / 3);
    let (slow, usual) = (took(tried), trial.baseline()?.took);
    let waits = is_wait(&tried) && alone && usual < WAIT / 3 && slow >= WAIT && slow < WAIT * 3;
    waits.then(|| {
        let (slow, usual) = (slow.as_millis(), usual.as_millis());
        format!("the response took {slow} ms with a wait in the statement, and {usual} ms without")
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::{Evidence, Observation};
    use serde_json::json;

    use super::attempt_builder::tame;
    use super::*;
    use crate::attacks::testing::{TestTarget, answers};

    fn room() -> TestTarget {
        TestTarget::with_argument("find_user", "query", "ann")
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
        assert!(titles(&room().run_attack(&SqlInjection, errors)).contains("doubled quote"));
        let rows =
            |attempt: &Attempt| answers(if attempt.role == "false" { "[]" } else { "[1, 2]" });
        assert!(titles(&room().run_attack(&SqlInjection, rows)).contains("condition with OR"));
        let union = |attempt: &Attempt| {
            answers(if attempt.form.starts_with("UNION, 3") { &attempt.role } else { "" })
        };
        assert!(titles(&room().run_attack(&SqlInjection, union)).contains("UNION, 3 columns"));
        let fails = |attempt: &Attempt| {
            let fails = attempt.form.contains("inside a text") && attempt.role == "false";
            answers(if fails { "failed" } else { "" })
        };
        assert_eq!(room().run_attack(&SqlInjection, fails).len(), 1);
        let file = |attempt: &Attempt| {
            let path = format!("/canaries/drop/{}", attempt.nonce).into();
            let seen = Observation::File { path, content: String::new() };
            Evidence { observations: vec![seen], ..answers("ok") }
        };
        assert_eq!(room().run_attack(&SqlInjection, file).len(), 3);
        let slow = |attempt: &Attempt| {
            let mut evidence = answers("ok");
            let wait = if attempt.form.contains("PostgreSQL") { WAIT } else { Duration::ZERO };
            evidence.exchanges[0].took = wait + Duration::from_millis(5);
            evidence
        };
        assert_eq!(room().run_attack(&SqlInjection, slow).len(), 1);
    }

    #[test]
    fn refusals_echoes_and_constant_answers_are_none() {
        let judge = |answer: &dyn Fn(&Attempt) -> String| {
            titles(&room().run_attack(&SqlInjection, |attempt| answers(&answer(attempt))))
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
        let hits = room().run_attack(&SqlInjection, |_| {
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
        let room = TestTarget::of_tools(&[json!({"name": "read_query", "inputSchema": schema})]);
        assert!(SqlInjection.aims(&room.view()).is_empty());
    }

    #[test]
    fn tools_that_change_data_get_nothing_that_holds_for_every_row() {
        let room = TestTarget::with_argument("update_user", "name", "ann");
        for attempt in SqlInjection.attempts(&room.knowledge.aims[0], &room.brief()) {
            let text = text(&attempt);
            assert!(!text.contains(" OR ") && !text.starts_with("ann';"), "{text}");
        }
    }

    #[test]
    fn quotes_of_the_innocent_value_do_not_spoil_ours() {
        assert_eq!(tame("'users'}]".into()), "users");
        assert_eq!(tame("Ann-Marie 2".into()), "Ann-Marie 2");
        let room = TestTarget::with_argument("describe", "table_name", "[{'name': 'users'}]");
        let attempts = SqlInjection.attempts(&room.knowledge.aims[0], &room.brief());
        assert!(attempts.iter().any(|attempt| text(attempt).starts_with("users/*")));
    }

    #[test]
    fn numbers_and_names_get_their_own_forms() {
        let forms = |room: &TestTarget| {
            let aims = SqlInjection.aims(&room.view());
            let attempts = SqlInjection.attempts(&aims[0], &room.brief());
            attempts.into_iter().map(|attempt| attempt.form).collect::<Vec<_>>().join("; ")
        };
        let schema = json!({"type": "object", "properties": {"year": {"type": "integer"}}});
        let number = TestTarget::of_tools(&[json!({"name": "since", "inputSchema": schema})]);
        assert!(forms(&number).contains("after a number") && !forms(&number).contains("quote"));
        assert!(forms(&number).contains("comment after"));
        assert!(
            forms(&TestTarget::with_argument("list", "sort_by", "price")).contains("sort order")
        );
    }
}
