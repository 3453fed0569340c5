//! SQL in what a target wrote: whether a dialect has such statements, and what they touch.

mod fences;
mod footprint;
mod hints;

pub use fences::blocks;
pub use footprint::Footprint;
pub use hints::{lacks_comma, lacks_quote, makes_series};

use std::thread;

use sqlparser::dialect::{
    BigQueryDialect, Dialect as Grammar, GenericDialect, HiveDialect, MsSqlDialect, MySqlDialect,
    PostgreSqlDialect, RedshiftSqlDialect, SQLiteDialect, SnowflakeDialect,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Tokenizer;

/// Longer texts are not read: chains of operators make deep trees.
const MAX_TOKENS: usize = 50_000;
/// The parser needs more of a stack than callers have. It is taken only as far as it is used.
const STACK: usize = 256 << 20;
/// Parentheses within parentheses.
const MAX_DEPTH: usize = 40;

/// A kind of database, under the names that promptfoo gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    MySql,
    PostgreSql,
    Sqlite,
    TransactSql,
    BigQuery,
    Snowflake,
    Redshift,
    Hive,
    /// One that has no grammar of its own here.
    Generic,
}

impl Dialect {
    pub const NAMES: [&'static str; 14] = [
        "MySQL",
        "MariaDB",
        "PostgreSQL",
        "Sqlite",
        "TransactSQL",
        "BigQuery",
        "Snowflake",
        "Redshift",
        "Hive",
        "Athena",
        "DB2",
        "FlinkSQL",
        "NoQL",
        "Trino",
    ];

    /// Case does not matter.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.to_lowercase().as_str() {
            "mysql" | "mariadb" => Self::MySql,
            "postgresql" => Self::PostgreSql,
            "sqlite" => Self::Sqlite,
            "transactsql" => Self::TransactSql,
            "bigquery" => Self::BigQuery,
            "snowflake" => Self::Snowflake,
            "redshift" => Self::Redshift,
            "hive" => Self::Hive,
            "athena" | "db2" | "flinksql" | "noql" | "trino" => Self::Generic,
            _ => return None,
        })
    }

    fn grammar(self) -> &'static dyn Grammar {
        match self {
            Self::MySql => &MySqlDialect {},
            Self::PostgreSql => &PostgreSqlDialect {},
            Self::Sqlite => &SQLiteDialect {},
            Self::TransactSql => &MsSqlDialect {},
            Self::BigQuery => &BigQueryDialect {},
            Self::Snowflake => &SnowflakeDialect,
            Self::Redshift => &RedshiftSqlDialect {},
            Self::Hive => &HiveDialect {},
            Self::Generic => &GenericDialect {},
        }
    }
}

/// Why there are no statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Syntax(String),
    TooLong,
}

/// Reads statements, separated by semicolons.
///
/// # Errors
/// If they are none of this dialect.
pub fn read(text: &str, dialect: Dialect) -> Result<Footprint, Fault> {
    let tokens = Tokenizer::new(dialect.grammar(), text)
        .tokenize_with_location()
        .map_err(|error| Fault::Syntax(error.to_string()))?;
    if tokens.len() > MAX_TOKENS {
        return Err(Fault::TooLong);
    }
    let parse = move || {
        let mut parser = Parser::new(dialect.grammar())
            .with_recursion_limit(MAX_DEPTH)
            .with_tokens_with_locations(tokens);
        let statements =
            parser.parse_statements().map_err(|error| Fault::Syntax(error.to_string()))?;
        let footprint = Footprint::of(&statements);
        if dialect == Dialect::MySql && footprint.calls_tables {
            return Err(Fault::Syntax("MySQL has no table functions".to_owned()));
        }
        Ok(footprint)
    };
    let worker = thread::Builder::new().stack_size(STACK).spawn(parse);
    worker.ok().and_then(|worker| worker.join().ok()).unwrap_or(Err(Fault::TooLong))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_sql(text: &str, dialect: Dialect) -> bool {
        read(text, dialect).is_ok()
    }

    #[test]
    fn dialects_differ() {
        let top = "SELECT TOP 5 [a] FROM [dbo].[t]";
        assert!(is_sql(top, Dialect::TransactSql) && !is_sql(top, Dialect::MySql));
        let series = "SELECT * FROM generate_series(1, 3)";
        assert!(is_sql(series, Dialect::PostgreSql) && !is_sql(series, Dialect::MySql));
        for name in Dialect::NAMES {
            let dialect = Dialect::named(name).unwrap();
            assert!(is_sql("SELECT a FROM t WHERE b = 1; SELECT 1;", dialect), "{name}");
            assert!(!is_sql("SELEC a", dialect) && !is_sql("Tell me a story", dialect), "{name}");
        }
        assert_eq!(Dialect::named("Nonsense"), None);
    }

    #[test]
    fn hostile_statements_take_bearable_time() {
        let long = format!("SELECT 1{}", " + 1".repeat(12_000));
        assert!(is_sql(&long, Dialect::MySql));
        assert_eq!(read(&"1 + ".repeat(60_000), Dialect::MySql), Err(Fault::TooLong));
        for open in ["SELECT (", "SELECT * FROM (", "SELECT f(", "SELECT CASE WHEN ", "SELECT NOT "]
        {
            let (first, again) = open.split_at(open.rfind(' ').unwrap_or(0) + 1);
            let again =
                if again.is_empty() { first.split(' ').next_back().unwrap_or("") } else { again };
            for tail in ["", "1", "t", "SELECT 1"] {
                let text = format!("{open}{}{tail}", again.repeat(200));
                let _ = read(&text, Dialect::MySql);
                let closed = format!("{open}{}{tail}{}", again.repeat(30), ")".repeat(31));
                let _ = read(&closed, Dialect::PostgreSql);
                let _ = read(&closed, Dialect::Snowflake);
            }
        }
    }
}
