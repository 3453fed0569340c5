//! The suites of the table. Each uses one key to reach one thing.

mod addresses;
mod commands;
mod files;
mod interpreters;
mod variables;

use quintain_engine::{Access, Policy};
use serde_json::{Value, json};

use super::bench::Bench;

/// The list of a policy that names the thing.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List {
    Files,
    Variables,
    Commands,
    Interpreters,
    Addresses,
    Logins,
}

/// How one sees that the thing was reached.
pub(crate) enum Sign {
    Says(&'static str),
    Connects,
    /// The peer is sent it.
    Hears(&'static str),
    Writes(&'static str),
    WritesText(&'static str, &'static str),
    /// The run goes as far as it can.
    NotDenied,
}

pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) list: List,
    pub(crate) suite: Value,
    /// What the denial names; nothing where the thing is only absent.
    pub(crate) asks: Option<String>,
    /// Names exactly what is needed.
    pub(crate) policy: Policy,
    pub(crate) sign: Sign,
}

/// A suite of one echoed prompt with more keys.
fn echo(more: Value) -> Value {
    let mut suite = json!({
        "targets": ["echo"],
        "prompts": ["said {{word}}"],
        "tests": [{"vars": {"word": "x"}}],
    });
    let (Some(suite_keys), Value::Object(more)) = (suite.as_object_mut(), more) else { panic!() };
    suite_keys.extend(more);
    suite
}

/// The same with one test that has more keys.
fn test(more: Value) -> Value {
    let mut test = json!({"vars": {"word": "x"}});
    let (Some(keys), Value::Object(more)) = (test.as_object_mut(), more) else { panic!() };
    keys.extend(more);
    echo(json!({"tests": [test]}))
}

/// A suite with one call of one MCP server.
fn mcp(server: &Value) -> Value {
    echo(json!({
        "targets": [{"id": "mcp", "config": {"server": server, "timeout": 3000}}],
        "prompts": [r#"{"tool": "x", "args": {}}"#],
    }))
}

fn names(list: &[&str]) -> Access<String> {
    Access::Only(list.iter().map(|name| (*name).to_owned()).collect())
}

/// All rows.
pub(crate) fn rows(bench: &Bench) -> Vec<Row> {
    let mut rows = files::rows(bench);
    rows.extend(variables::rows(bench));
    rows.extend(commands::rows(bench));
    rows.extend(interpreters::rows(bench));
    rows.extend(addresses::rows(bench));
    rows.extend(addresses::logins(bench));
    rows
}
