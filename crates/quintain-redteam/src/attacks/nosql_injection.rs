//! Argument values that become operators or parts of non-SQL queries.

use std::sync::LazyLock;

use quintain_content::registry::Meta;
use quintain_evidence::finding::Severity;
use quintain_evidence::indicator::Indicator;
use quintain_evidence::weakness::Weakness;
use regex::Regex;
use serde_json::{Value, json};

use super::pairs::{self, Ordered};
use super::{reach, tool_contract};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, Kind, TargetView, Trial, Tried};

pub(super) struct NosqlInjection;

static META: Meta = Meta {
    id: "nosql-injection",
    aliases: &["query-injection", "cypher-injection", "kql-injection", "graphql-injection"],
    summary: "An argument value becomes an operator or part of a database query",
    docs: "\
# What it does
Sends objects with operators of document stores (`$gt`, `$lt`, `$where`) instead of a text, and texts that close a string in a JavaScript,
JSON, Cypher, KQL or GraphQL query. Each payload is sent with a true and with a false condition. Tools with names that suggest changing
data, and arguments that are supposed to contain a query, are skipped.

# Why it matters
A password \"greater than nothing\" matches every account. A query that the caller can extend reads data that it should not.

# What counts as proof
All true conditions get the same response and the false one gets another, with the same operators, letters and length. A parser error
after a quote, but not after an escaped quote, is suspected.

# Example
```yaml
redteam:
  plugins: [nosql-injection]
```

# References
- CWE-943, OWASP MCP05
",
    since: "0.1.0",
};

static WEAKNESS: Weakness =
    Weakness { severity: Severity::High, cwe: &[943], frameworks: &["MCP05", "ASI02", "LLM05"] };

const KINDS: [Kind; 5] = [Kind::Filter, Kind::Id, Kind::Name, Kind::Other, Kind::Text];

/// Texts that close a string in a query: form, and the text with `LOW` and `HIGH`. Each uses syntax that only its
/// language has. All but the first are only for places that look like a query.
const TEXTS: [(&str, &str); 4] = [
    ("JavaScript after a closing single quote", "zq' || 'LOW'.concat('')<'HIGH"),
    ("Cypher after a closing single quote", "zq' OR 'LOW' STARTS WITH 'ab"),
    ("KQL after a closing single quote", "zq' or 'LOW' startswith 'ab"),
    ("KQL after a closing double quote", "zq\" or \"LOW\" startswith \"ab"),
];

/// Parser errors of these languages.
static ERRORS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)Statement\.SyntaxError|Syntax Error: Unterminated string|Syntax Error: Expected |",
        r"Syntax Error: Unexpected |Query could not be parsed|SYN000\d|SEM\d{4}:|",
        r"MongoServerError: .{0,60}Syntax|Unterminated string in JSON|failed to parse query"
    ))
    .ok()
});

impl Attack for NosqlInjection {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = view.texts(&KINDS, true);
        aims.extend(view.numbers());
        let first = |aim: &Aim| aim.kinds.first().copied().unwrap_or(Kind::Other);
        aims.retain(|aim| KINDS.contains(&first(aim)) || first(aim) == Kind::Number);
        aims.retain(|aim| {
            let takes_operators = aim.place.argument().is_some_and(|name| name.contains('$'));
            !takes_operators
                && !tool_contract::is_query(view, aim)
                && !tool_contract::changes_data(aim)
        });
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let mut builder = AttemptBuilder { aim, brief, set: 0, made: Vec::new() };
        let innocent = reach::plausible(aim);
        let number = innocent.parse::<f64>().is_ok();
        builder.operators(number);
        if aim.is(Kind::Number) {
            return builder.made;
        }
        let likely = !matches!(aim.kinds.first(), Some(Kind::Other | Kind::Text));
        for (form, text) in TEXTS.into_iter().take(if likely { TEXTS.len() } else { 1 }) {
            builder.pair(form, Ordered::words, |pair| {
                text.replace("LOW", &pair.low).replace("HIGH", &pair.high)
            });
        }
        builder.javascript();
        if likely {
            builder.json();
            builder.quotes(&innocent);
        }
        builder.made
    }

    fn expects(&self, set: &[Attempt], _: &TargetView<'_>) -> Option<(usize, Indicator)> {
        (set.len() > 1).then_some((0, Indicator::Differs))
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (_, set) in trial.sets() {
            let Some(first) = set.first() else { continue };
            let place = &trial.aim.place;
            let title = format!("NoSQL injection in `{place}` ({})", first.attempt.form);
            if let Some(what) = pairs::differ(&set) {
                let hit = Hit::confirmed(title, what).by(first).fault("query");
                hits.push(hit.sign(Indicator::Differs));
            } else if let Some(what) = error_pair(trial, &set) {
                let hit =
                    Hit::suspected(title, what).by(first).fault("query").sign(Indicator::Differs);
                hits.push(hit.severity(Severity::Medium));
            }
        }
        hits
    }
}

struct AttemptBuilder<'a> {
    aim: &'a Aim,
    brief: &'a Brief<'a>,
    set: usize,
    made: Vec<Attempt>,
}

impl AttemptBuilder<'_> {
    fn pair<P: Into<Value>>(
        &mut self,
        form: &str,
        draw: impl Fn(&Brief<'_>) -> Ordered,
        payload: impl Fn(&Ordered) -> P,
    ) {
        self.made.extend(pairs::set(self.aim, self.brief, (self.set, form), draw, payload));
        self.set += 1;
    }

    /// A range that includes every text or every number, and none with its ends swapped. A server that refuses
    /// operators by name refuses both.
    fn operators(&mut self, number: bool) {
        let texts = |brief: &Brief<'_>| {
            let nonce = brief.nonce();
            Ordered { low: format!("!{nonce}"), high: format!("~{nonce}") }
        };
        self.pair(
            "operators instead of a text",
            texts,
            |pair| json!({"$gt": pair.low, "$lt": pair.high}),
        );
        if number {
            let numbers = |brief: &Brief<'_>| {
                let number = brief.number();
                Ordered { low: format!("-1{number}000"), high: format!("11{number}000") }
            };
            self.pair("operators instead of a number", numbers, |pair| {
                let number = |text: &str| text.parse::<i64>().unwrap_or_default();
                json!({"$gt": number(&pair.low), "$lt": number(&pair.high)})
            });
        }
    }

    /// A JavaScript condition as an additional entry of a filter.
    fn javascript(&mut self) {
        if !reach::in_free_map(self.aim) {
            return;
        }
        let Some((map, _)) = reach::parent(self.aim) else { return };
        let aim = reach::at(self.aim, format!("{map}/$where"));
        let form = (self.set, "additional entry `$where`");
        let made = pairs::set(&aim, self.brief, form, Ordered::words, |pair| {
            format!("'{}'<'{}'", pair.low, pair.high)
        });
        self.made.extend(made);
        self.set += 1;
    }

    /// Repeats a field in a query that the server builds as JSON text. The last one counts.
    fn json(&mut self) {
        let name = self.aim.place.argument().unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        self.pair("additional field in JSON", Ordered::words, |pair| {
            let range = json!({"$gt": format!("!{}", pair.low), "$lt": format!("~{}", pair.high)});
            let none = json!({"$gt": format!("~{}", pair.low), "$lt": format!("!{}", pair.high)});
            let range = if pair.low < pair.high { range } else { none };
            format!("zq\",\"{name}\":{range},\"$comment\":\"q")
        });
    }

    fn quotes(&mut self, innocent: &str) {
        for quote in ['\'', '"'] {
            let form = format!("quote and escaped quote: `{quote}`");
            for (role, text) in [("quote", format!("{quote}")), ("escaped", format!("\\{quote}"))] {
                let payload = format!("{innocent}{text}");
                let nonce = self.brief.nonce();
                let attempt = reach::attempt(self.aim, (self.set, &form), nonce, payload);
                self.made.extend(attempt.map(|a| Attempt { role: role.to_owned(), ..a }));
            }
            self.set += 1;
        }
    }
}

/// A parser error after a quote, and none after an escaped quote or without a quote.
fn error_pair(trial: &Trial<'_>, set: &[&Tried]) -> Option<String> {
    let of = |role: &str| set.iter().find(|tried| tried.attempt.role == role);
    let error = |text: &str| ERRORS.as_ref()?.find(text).map(|found| found.as_str().to_owned());
    let found = error(&of("quote")?.said())?;
    let escaped = of("escaped")?;
    let fine = escaped.last()?.outcome.is_answer() && error(&escaped.said()).is_none();
    let innocent = error(&trial.baseline()?.outcome.said()).is_none();
    (fine && innocent).then(|| {
        format!("the response contains {found:?} after a quote, but not after an escaped quote")
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::finding::Confidence;

    use super::*;
    use crate::attacks::testing::{TestTarget, answers, args};

    fn room() -> TestTarget {
        TestTarget::with_argument("login", "filter", "ann")
    }

    fn text(attempt: &Attempt) -> String {
        match attempt.payload.as_ref().unwrap() {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    #[test]
    fn conditions_that_are_believed_are_proof() {
        let hits = room().run_attack(&NosqlInjection, |attempt| {
            answers(if attempt.role == "false" { "wrong" } else { "welcome" })
        });
        assert!(hits.len() >= TEXTS.len());
        assert!(hits.iter().all(|hit| hit.confidence == Confidence::Confirmed));
    }

    #[test]
    fn refusals_and_echoes_are_none() {
        let judge = |answer: &dyn Fn(&Attempt) -> String| {
            let hits = room().run_attack(&NosqlInjection, |attempt| answers(&answer(attempt)));
            hits.iter().map(|hit| hit.title.clone()).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(judge(&|attempt| format!("expected string, got {}", text(attempt))), "");
        assert_eq!(judge(&|attempt| format!("looking for {:?}", attempt.payload)), "");
        assert_eq!(judge(&|_| "operator $gt is not allowed".into()), "");
        assert_eq!(judge(&|_| "Syntax Error: Expected Name".into()), "", "whatever is sent");
    }

    #[test]
    fn an_error_after_an_odd_quote_is_suspected() {
        let hits = room().run_attack(&NosqlInjection, |attempt| {
            let odd = attempt.role == "quote" && text(attempt).ends_with('"');
            answers(if odd { "Syntax Error: Unterminated string." } else { "nobody" })
        });
        assert_eq!(hits.len(), 1);
        assert_eq!(hits[0].confidence, Confidence::Suspected);
    }

    #[test]
    fn filters_that_take_any_field_get_a_where() {
        let schema = json!({"type": "object", "properties": {"filter": {"type": "object"}}});
        let room = TestTarget::of_tools(&[json!({"name": "count", "inputSchema": schema})]);
        let aims = NosqlInjection.aims(&room.view());
        let attempts = NosqlInjection.attempts(&aims[0], &room.brief());
        assert!(attempts.iter().any(|attempt| json!(args(attempt)).to_string().contains("$where")));
    }

    #[test]
    fn queries_by_contract_and_tools_that_change_data_are_left_alone() {
        let schema = json!({"type": "object", "properties": {"cypher": {"type": "string"}}});
        let room = TestTarget::of_tools(&[json!({"name": "ask", "inputSchema": schema})]);
        assert!(NosqlInjection.aims(&room.view()).is_empty());
        let room = TestTarget::with_argument("update_user", "name", "ann");
        assert!(NosqlInjection.aims(&room.view()).is_empty());
    }
}
