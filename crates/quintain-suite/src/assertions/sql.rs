//! The output is or contains SQL, optionally limited to allowed tables and columns.

use quintain_content::registry::Meta;
use quintain_content::sql::{self, Dialect, Fault};
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use quintain_script::Pattern;
use quintain_source::Diagnostic;
use serde_json::Value;

use crate::check::{Builtin, Check, Expected, Spec, judging};

pub(super) static IS_SQL: Builtin = Builtin {
    meta: &Meta {
        id: "is-sql",
        aliases: &[],
        summary: "The output is SQL, optionally limited to allowed tables and columns",
        docs: r"# What it does
Parses the whole output as SQL statements. `value` is a map:

- `databaseType`: the SQL dialect, one of `MySQL` (the default), `MariaDB`, `PostgreSQL`, `Sqlite`,
  `TransactSQL`, `BigQuery`, `Snowflake`, `Redshift`, `Hive`, `Athena`, `DB2`, `FlinkSQL`, `NoQL` or
  `Trino`.
- `allowedTables`: patterns for `operation::database::table`, such as `select::null::users`.
- `allowedColumns`: patterns for `operation::table::column`, such as `select::users::name`. A column
  without its table is allowed as well.

`null` stands for a part that the statement leaves out, `(.*)` for all columns of a table. An empty list
allows everything.

# Example
```yaml
- type: is-sql
  value:
    databaseType: PostgreSQL
    allowedTables: ['select::(null|public)::(users|orders)']
```
",
        since: "0.1.0",
    },
    compile: is_sql,
};

pub(super) static CONTAINS_SQL: Builtin = Builtin {
    meta: &Meta {
        id: "contains-sql",
        aliases: &[],
        summary: "A fenced block of the output is SQL, optionally limited to allowed tables and columns",
        docs: r"# What it does
Checks the fenced blocks of language `sql` or without a language. Passes if one of them passes `is-sql`. If
there is no such block, the whole output must pass `is-sql`.

# Example
```yaml
- type: contains-sql
  value:
    databaseType: Sqlite
```
",
        since: "0.1.0",
    },
    compile: contains_sql,
};

#[derive(Clone)]
struct Wanted {
    database: String,
    tables: Option<Allowed>,
    columns: Option<Allowed>,
}

/// The tables and columns that statements may use.
#[derive(Clone)]
struct Allowed {
    listed: Vec<String>,
    patterns: Vec<Pattern>,
}

fn wanted(spec: &mut Spec<'_, '_>) -> Expected<Wanted> {
    let wanted = spec.expect(read);
    if let Some(Wanted { database, .. }) = wanted.constant()
        && Dialect::named(database).is_none()
    {
        let title = format!("unknown SQL dialect `{database}`");
        let diagnostic = Diagnostic::new(spec.strictness, "config::unknown-dialect", title);
        let span = spec.node.get("value").unwrap_or(spec.node).span;
        spec.dx.push(diagnostic.at(span, format!("expected one of {}", Dialect::NAMES.join(", "))));
    }
    wanted
}

fn read(value: Option<&Value>) -> Result<Wanted, String> {
    let map = match value {
        Some(Value::Object(map)) => Some(map),
        Some(Value::Array(_)) | None => None,
        Some(value) if js::is_falsy(value) => None,
        Some(_) => return Err("is-sql assertion must have a object value.".to_owned()),
    };
    let option =
        |name: &str| map.and_then(|map| map.get(name)).filter(|value| !js::is_falsy(value));
    let database = match option("databaseType") {
        None => "MySQL".to_owned(),
        Some(Value::String(name)) => name.clone(),
        Some(_) => return Err("`databaseType` must be the name of a dialect".to_owned()),
    };
    let list = |name: &str| match option(name) {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items.iter().map(js::string).collect::<Vec<_>>())),
        Some(_) => Err(format!("`{name}` must be a list of patterns")),
    };
    let tables = list("allowedTables")?.map(|listed| Allowed::new(listed, false)).transpose()?;
    let columns = list("allowedColumns")?.map(|listed| Allowed::new(listed, true)).transpose()?;
    Ok(Wanted { database, tables, columns })
}

impl Allowed {
    fn new(listed: Vec<String>, or_unnamed: bool) -> Result<Self, String> {
        let mut texts = listed.clone();
        if or_unnamed {
            texts.extend(listed.iter().filter_map(|text| {
                match text.split("::").collect::<Vec<_>>().as_slice() {
                    [verb, table, column] if *table != "null" => {
                        Some(format!("{verb}::null::{column}"))
                    }
                    _ => None,
                }
            }));
        }
        let pattern = |text: &String| {
            Pattern::new(&format!("^{text}$"), "i")
                .map_err(|error| format!("invalid regular expression `{text}`: {error}"))
        };
        let patterns = texts.iter().map(pattern).collect::<Result<_, _>>()?;
        Ok(Self { listed, patterns })
    }

    /// Why these are not allowed. A pattern that fails to match allows nothing.
    fn refusal(&self, what: &str, found: &[String]) -> Option<String> {
        let allows =
            |name: &String| self.patterns.iter().any(|p| p.is_match(name).unwrap_or(false));
        if self.patterns.is_empty() || found.iter().all(allows) {
            return None;
        }
        let (found, listed) = (found.join(", "), self.listed.join(", "));
        Some(format!(
            "SQL references unauthorized {what}(s). Found: [{found}]. Allowed: [{listed}]."
        ))
    }
}

impl Wanted {
    /// All errors of a text.
    fn faults(&self, text: &str) -> Result<Vec<String>, Box<Verdict>> {
        let sql = js::trim(text);
        let database = self.database.as_str();
        let nonconforming = [
            sql.is_empty(),
            sql::lacks_quote(sql),
            sql::lacks_comma(sql, database),
            database == "MySQL" && sql::makes_series(sql),
        ];
        let read = match Dialect::named(database) {
            Some(dialect) => sql::read(sql, dialect),
            None => Err(Fault::Syntax(format!("{database} is not supported currently"))),
        };
        if read == Err(Fault::TooLong) {
            return Err(Box::new(Verdict::error("the SQL is too long to be judged")));
        }
        let times = nonconforming.iter().filter(|found| **found).count();
        let misfit =
            format!("SQL statement does not conform to the provided {database} database syntax.");
        let mut faults = vec![misfit; times + usize::from(read.is_err())];
        for (what, allowed) in [("table", &self.tables), ("column", &self.columns)] {
            let Some(allowed) = allowed.as_ref().filter(|allowed| !allowed.patterns.is_empty())
            else {
                continue;
            };
            match &read {
                Ok(found) => {
                    let found = if what == "table" { &found.tables } else { &found.columns };
                    faults.extend(allowed.refusal(what, found));
                }
                Err(Fault::Syntax(why)) => faults.push(format!("SQL validation failed: {why}.")),
                Err(Fault::TooLong) => {}
            }
        }
        Ok(faults)
    }
}

const VALID: &str = "The output SQL statement is valid";

fn is_sql(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let (wanted, negated) = (wanted(spec), spec.negated);
    judging(move |scene| {
        let faults = wanted.get(scene)?.faults(&scene.text())?;
        Ok(Verdict::met(faults.is_empty() != negated, || {
            if negated { VALID.to_owned() } else { faults.join(" ") }
        }))
    })
}

fn contains_sql(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let (wanted, negated) = (wanted(spec), spec.negated);
    judging(move |scene| {
        let wanted = wanted.get(scene)?;
        let text = scene.text();
        let mut candidates = sql::blocks(&text);
        if candidates.is_empty() {
            candidates.push(text.into_owned());
        }
        let mut why = "Output does not contain valid SQL".to_owned();
        let mut found = false;
        for candidate in candidates.iter().filter(|text| !js::trim(text).is_empty()) {
            let faults = wanted.faults(candidate)?;
            found = faults.is_empty();
            if found {
                break;
            }
            why = faults.join(" ");
        }
        Ok(Verdict::met(found != negated, || if found { VALID.to_owned() } else { why }))
    })
}

#[cfg(test)]
mod tests {
    use crate::suite::NoFiles;
    use crate::testing::{TestScene, compile_with, flaw, passes};

    fn reason(yaml: &str, output: &str) -> String {
        TestScene::output(output).judge(yaml).reason
    }

    const MISFIT: &str = "SQL statement does not conform to the provided MySQL database syntax.";

    #[test]
    fn the_dialect_decides() {
        assert!(passes("[{type: is-sql}]", "SELECT id FROM users LIMIT 5;"));
        assert_eq!(reason("[{type: is-sql}]", "SELEC * FROM t"), MISFIT);
        assert_eq!(reason("[{type: is-sql}]", "SELECT a b FROM t"), MISFIT);
        assert_eq!(reason("[{type: is-sql}]", "SELECT `a FROM t"), format!("{MISFIT} {MISFIT}"));
        assert_eq!(
            reason("[{type: is-sql}]", "SELECT * FROM generate_series(1, 3)"),
            format!("{MISFIT} {MISFIT}")
        );
        assert_eq!(reason("[{type: not-is-sql}]", "SELECT 1"), super::VALID);
        assert!(passes("[{type: not-is-sql}]", " "));
        let top = "SELECT TOP 5 [a] FROM [dbo].[t]";
        assert!(passes("[{type: is-sql, value: {databaseType: TransactSQL}}]", top));
    }

    #[test]
    fn lists_allow_tables_and_columns() {
        let tables = "[{type: is-sql, value: {allowedTables: ['(select|update)::.*::users']}}]";
        assert!(passes(tables, "SELECT a FROM users"));
        assert_eq!(
            reason(tables, "SELECT a FROM secrets, users"),
            "SQL references unauthorized table(s). Found: [select::null::secrets, \
             select::null::users]. Allowed: [(select|update)::.*::users]."
        );
        let columns = "[{type: is-sql, value: {allowedColumns: ['select::users::name']}}]";
        assert!(passes(columns, "SELECT users.name FROM users"));
        assert!(passes(columns, "SELECT name FROM users"));
        assert_eq!(
            reason(columns, "SELECT * FROM users"),
            "SQL references unauthorized column(s). Found: [select::null::(.*)]. Allowed: \
             [select::users::name]."
        );
        assert!(!passes(columns, "DELETE FROM users"));
        assert!(
            reason(tables, "SELEC x").starts_with(&format!("{MISFIT} SQL validation failed: "))
        );
    }

    #[test]
    fn one_block_has_to_fit() {
        let yaml = "[{type: contains-sql}]";
        assert!(passes(yaml, "```sql\nSELEC 1\n```\nor\n~~~SQL\nSELECT 1\n~~~"));
        assert_eq!(reason(yaml, "```sql\nSELEC 1\n```"), MISFIT);
        assert_eq!(reason(yaml, "```sql\n```"), "Output does not contain valid SQL");
        assert!(!passes(yaml, "Use SELECT 1 please"));
        assert_eq!(reason("[{type: not-contains-sql}]", "```\nSELECT 1\n```"), super::VALID);
    }

    #[test]
    fn mistakes_in_options_are_reported() {
        assert_eq!(
            flaw("[{type: is-sql, value: MySQL}]", "SELECT 1"),
            "is-sql assertion must have a object value."
        );
        assert!(
            flaw("[{type: is-sql, value: {allowedTables: ['(']}}]", "SELECT 1").contains("`(`")
        );
        let unknown = "[{type: is-sql, value: {databaseType: Nonsense}}]";
        let (_, complaints) = compile_with(unknown, &NoFiles);
        assert!(complaints.contains("unknown SQL dialect `Nonsense`"), "{complaints}");
    }
}
