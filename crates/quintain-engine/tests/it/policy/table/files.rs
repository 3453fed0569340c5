//! Keys that name files.

use quintain_engine::{Access, Policy};
use quintain_evidence::code::Language;
use serde_json::{Value, json};

use super::{List, Row, Sign, echo, mcp, names, test};
use crate::policy::bench::{Bench, CANARY};

pub(super) fn rows(bench: &Bench) -> Vec<Row> {
    let row = |key, suite, name: &str| Row {
        key,
        list: List::Files,
        suite,
        asks: Some(format!("`{}", bench.path(name).display())),
        policy: Policy { files: Access::Only(vec![bench.path("secret")]), ..Policy::nothing() },
        sign: Sign::Says(CANARY),
    };
    let mut rows: Vec<Row> = suites(bench)
        .into_iter()
        .map(|(key, name, suite)| row(key, suite, format!("secret/{name}").trim_end_matches('/')))
        .collect();
    for (key, name) in [
        ("prompts with dots", "open/../secret/prompt.txt"),
        ("prompts by a link", "open/link.txt"),
        ("prompts by a link to a folder", "open/linked/prompt.txt"),
    ] {
        rows.push(row(key, echo(json!({"prompts": [format!("file://{name}")]})), name));
    }
    for (key, name, suite) in [
        (
            "transform",
            "transform.js",
            test(json!({"options": {"transform": file("transform.js")}})),
        ),
        (
            "nunjucksFilters",
            "filter.js",
            echo(
                json!({"nunjucksFilters": {"shout": "secret/filter.js"}, "prompts": ["{{word | shout}}"]}),
            ),
        ),
    ] {
        let mut row = row(key, suite, &format!("secret/{name}"));
        row.policy.interpreters = Access::Only(vec![Language::JavaScript]);
        rows.push(row);
    }
    rows.push(Row {
        sign: Sign::Writes("secret/a.snap"),
        ..row("snapshot", asserts("snapshot", "secret/a.snap"), "secret/a.snap")
    });
    rows.push(Row {
        sign: Sign::Says("said x"),
        ..row(
            "filterFailing",
            echo(
                json!({"commandLineOptions": {"filterFailing": bench.path("secret/report.json")}}),
            ),
            "secret/report.json",
        )
    });
    for (key, server, name) in [
        (
            "server path",
            json!({"path": "secret/server.py", "cwd": bench.path("secret")}),
            "secret/server.py",
        ),
        (
            "server cwd",
            json!({"command": "python3", "args": ["server.py"], "cwd": bench.path("secret")}),
            "secret",
        ),
    ] {
        let mut row = row(key, mcp(&server), name);
        row.policy.commands = names(&["python3", "python"]);
        row.policy.variables = names(&["PATH", "HOME"]);
        row.sign = Sign::Writes("secret/made");
        rows.push(row);
    }
    // What the file contains is sent.
    let http =
        |config: Value| echo(json!({"targets": [{"id": bench.peer.url("/"), "config": config}]}));
    for (key, name, config) in [
        ("http body", "prompt.txt", json!({"method": "POST", "body": {"a": file("prompt.txt")}})),
        ("http request", "request.txt", json!({"request": file("request.txt")})),
    ] {
        let mut row = row(key, http(config), &format!("secret/{name}"));
        row.policy.addresses = Access::Only(vec!["loopback".parse().unwrap()]);
        row.sign = Sign::Hears(CANARY);
        rows.push(row);
    }
    rows.push(key_file(bench));
    rows
}

/// The key of a model is sent to its address.
fn key_file(bench: &Bench) -> Row {
    let path = bench.path("secret/prompt.txt");
    let config = json!({"apiBaseUrl": bench.peer.url("/v1"), "apiKeyFile": path});
    Row {
        key: "apiKeyFile",
        list: List::Files,
        suite: echo(json!({"targets": [{"id": "openai:chat:x", "config": config}]})),
        asks: Some(format!("`{}", path.display())),
        policy: Policy {
            files: Access::Only(vec![bench.path("secret")]),
            addresses: Access::Only(vec!["loopback".parse().unwrap()]),
            ..Policy::nothing()
        },
        sign: Sign::Hears(CANARY),
    }
}

fn file(name: &str) -> String {
    format!("file://secret/{name}")
}

fn asserts(kind: &str, value: &str) -> Value {
    test(json!({"assert": [{"type": kind, "value": value}]}))
}

/// Key, file and suite; each shows what is in the file.
fn suites(bench: &Bench) -> Vec<(&'static str, &'static str, Value)> {
    let absolute = format!("file://{}", bench.path("secret/prompt.txt").display());
    let vars = |vars: Value| echo(json!({"tests": [{"vars": vars}]}));
    vec![
        ("tests", "tests.csv", echo(json!({"tests": file("tests.csv")}))),
        ("tests as lines", "tests.jsonl", echo(json!({"tests": file("tests.jsonl")}))),
        ("tests in a list", "tests.csv", echo(json!({"tests": [file("tests.csv")]}))),
        ("tests by a pattern", "", echo(json!({"tests": file("*.csv")}))),
        ("tests by a pattern of any depth", "", echo(json!({"tests": file("**/*.csv")}))),
        ("prompts", "prompt.txt", echo(json!({"prompts": [file("prompt.txt")]}))),
        ("prompts by a pattern", "", echo(json!({"prompts": [file("prom*.txt")]}))),
        ("prompts without a scheme", "prompt.txt", echo(json!({"prompts": ["secret/prompt.txt"]}))),
        ("prompts by an absolute path", "prompt.txt", echo(json!({"prompts": [absolute]}))),
        ("a variable", "prompt.txt", vars(json!({"word": file("prompt.txt")}))),
        ("a variable by a pattern", "", vars(json!({"word": file("prom*.txt")}))),
        ("variables", "vars.yaml", vars(json!(file("vars.yaml")))),
        ("targets", "target.yaml", echo(json!({"targets": [file("target.yaml")]}))),
        ("providers", "target.yaml", {
            let mut suite = echo(json!({"providers": [file("target.yaml")]}));
            suite.as_object_mut().unwrap().remove("targets");
            suite
        }),
        (
            "defaultTest",
            "default.yaml",
            echo(json!({"defaultTest": file("default.yaml"), "tests": [{"vars": {"other": 1}}]})),
        ),
        ("scenarios", "scenario.yaml", echo(json!({"scenarios": [file("scenario.yaml")]}))),
        (
            "config of a scenario",
            "data.yaml",
            echo(
                json!({"scenarios": [{"config": file("data.yaml"), "tests": [{"vars": {"more": 1}}]}]}),
            ),
        ),
        (
            "tests of a scenario",
            "tests.csv",
            echo(
                json!({"scenarios": [{"config": [{"vars": {"other": 1}}], "tests": file("tests.csv")}]}),
            ),
        ),
        ("assertion", "prompt.txt", asserts("equals", &file("prompt.txt"))),
        ("assertion in a set", "prompt.txt", {
            let one = json!({"type": "equals", "value": file("prompt.txt")});
            test(json!({"assert": [{"type": "assert-set", "assert": [one]}]}))
        }),
    ]
}
