//! Keys that start programs.

use quintain_engine::{Access, Policy};
use quintain_evidence::code::Language;
use serde_json::{Value, json};

use super::{List, Row, Sign, echo, mcp, names};
use crate::policy::bench::Bench;

pub(super) fn rows(bench: &Bench) -> Vec<Row> {
    let row = |key, suite, command: &str| Row {
        key,
        list: List::Commands,
        suite,
        asks: Some(format!("`{command}`")),
        policy: Policy {
            commands: names(&[command]),
            interpreters: Access::Only(vec![Language::Python, Language::Ruby]),
            files: Access::Only(vec![bench.path("open")]),
            variables: names(&["PATH", "HOME"]),
            ..Policy::nothing()
        },
        sign: Sign::Writes("made"),
    };
    let made = bench.path("made").display().to_string();
    let chosen = |key, program: &str, provider: &str, more: Value, config: Value| {
        let program = bench.path(program).display().to_string();
        let fill = |value: Value| -> Value {
            serde_json::from_str(&value.to_string().replace("PROGRAM", &program)).unwrap()
        };
        let mut suite = echo(fill(more));
        suite["targets"] = json!([{"id": provider, "config": fill(config)}]);
        row(key, suite, &program)
    };
    let (evil, evil_ruby) = ("open/evil", "open/evil-ruby");
    let (python, ruby) = ("file://open/provider.py", "file://open/provider.rb");
    // Variables that make a program load or start another.
    let redirecting = |key, name: &str| Row {
        list: List::Variables,
        asks: Some(format!("variable `{name}`")),
        policy: Policy {
            variables: names(&["PATH", "HOME", name]),
            ..row(key, Value::Null, "true").policy
        },
        sign: Sign::NotDenied,
        ..row(
            key,
            echo(json!({"env": {name: bench.path("open")}, "targets": ["exec: true"]})),
            "true",
        )
    };
    vec![
        row("exec target", echo(json!({"targets": [format!("exec: touch {made}")]})), "touch"),
        row("server command", mcp(&json!({"command": "touch", "args": [made]})), "touch"),
        chosen("pythonExecutable", evil, python, json!({}), json!({"pythonExecutable": "PROGRAM"})),
        chosen(
            "PROMPTFOO_PYTHON",
            evil,
            python,
            json!({"env": {"PROMPTFOO_PYTHON": "PROGRAM"}}),
            json!({}),
        ),
        chosen("rubyExecutable", evil_ruby, ruby, json!({}), json!({"rubyExecutable": "PROGRAM"})),
        chosen(
            "PROMPTFOO_RUBY",
            evil_ruby,
            ruby,
            json!({"env": {"PROMPTFOO_RUBY": "PROGRAM"}}),
            json!({}),
        ),
        redirecting("search path", "PATH"),
        redirecting("modules of Python", "PYTHONPATH"),
        redirecting("settings of npm", "npm_config_prefix"),
        redirecting("settings of git", "GIT_SSH_COMMAND"),
    ]
}
