//! Keys that hold code.

use quintain_engine::{Access, Policy};
use quintain_evidence::code::Language;
use serde_json::{Value, json};

use super::{List, Row, Sign, echo, names, test};
use crate::policy::bench::Bench;

pub(super) fn rows(bench: &Bench) -> Vec<Row> {
    let row = |language, sign, (key, suite)| Row {
        key,
        list: List::Interpreters,
        suite,
        asks: Some(format!("`{}`", format!("{language:?}").to_lowercase())),
        policy: Policy {
            interpreters: Access::Only(vec![language]),
            files: Access::Only(vec![bench.path("open")]),
            // Many installations of Python are scripts, which need them.
            variables: names(&["PATH", "HOME"]),
            addresses: Access::Only(vec!["loopback".parse().unwrap()]),
            ..Policy::nothing()
        },
        sign: Sign::Says(sign),
    };
    let mut rows: Vec<Row> = Vec::new();
    rows.extend(javascript(bench).into_iter().map(|one| row(Language::JavaScript, "js ran", one)));
    rows.push(row(
        Language::JavaScript,
        "77213",
        (
            "derivedMetrics",
            echo(json!({"derivedMetrics": [{"name": "all", "value": "file://open/metric.js"}]})),
        ),
    ));
    rows.extend(python().into_iter().map(|one| row(Language::Python, "python ran", one)));
    rows.extend(ruby().into_iter().map(|one| row(Language::Ruby, "ruby ran", one)));
    rows
}

fn asserts(kind: &str, value: &str) -> Value {
    test(json!({"assert": [{"type": kind, "value": value}]}))
}

fn options(name: &str, value: &str) -> Value {
    test(json!({"options": {name: value}}))
}

fn javascript(bench: &Bench) -> Vec<(&'static str, Value)> {
    let graded = "({pass: true, score: 1, reason: 'js ' + 'ran'})";
    let http = |more: Value| {
        let mut config = json!({"method": "POST", "body": {"a": "{{prompt}}"}});
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        echo(json!({"targets": [{"id": bench.peer.url("/"), "config": config}]}))
    };
    vec![
        ("javascript transform", options("transform", "'js ' + 'ran'")),
        ("postprocess", options("postprocess", "'js ' + 'ran'")),
        ("transformVars", options("transformVars", "({word: 'js ' + 'ran'})")),
        ("transform of defaultTest", {
            echo(json!({"defaultTest": {"options": {"transform": "'js ' + 'ran'"}}}))
        }),
        ("transform of a target", {
            echo(json!({"targets": [{"id": "echo", "transform": "'js ' + 'ran'"}]}))
        }),
        ("transform of an assertion", {
            let one = json!({"type": "equals", "value": "x", "transform": "'js ' + 'ran'"});
            test(json!({"assert": [one]}))
        }),
        ("transform in a file", options("transform", "file://open/text.js")),
        ("javascript assertion", asserts("javascript", graded)),
        ("javascript assertion in a file", asserts("javascript", "file://open/check.js")),
        ("value of an assertion", asserts("equals", "file://open/text.js")),
        ("expected value of a table", echo(json!({"tests": "file://open/expected.csv"}))),
        ("assertScoringFunction", {
            let check = json!([{"type": "contains", "value": "x"}]);
            test(json!({"assert": check, "assertScoringFunction": "file://open/check.js"}))
        }),
        ("javascript target", echo(json!({"targets": ["file://open/provider.js"]}))),
        ("javascript prompts", echo(json!({"prompts": ["file://open/prompt.js"]}))),
        ("javascript tests", echo(json!({"tests": "file://open/tests.js"}))),
        ("javascript tests by path", {
            echo(json!({"tests": [{"path": "file://open/tests.js", "config": {"a": 1}}]}))
        }),
        ("javascript variable", echo(json!({"tests": [{"vars": {"word": "file://open/var.js"}}]}))),
        ("filter of templates", {
            let filters = json!({"shout": "open/text.js"});
            echo(json!({"nunjucksFilters": filters, "prompts": ["{{word | shout}}"]}))
        }),
        ("transformRequest", http(json!({"transformRequest": "({prompt: 'js ' + 'ran'})"}))),
        ("transformResponse", http(json!({"transformResponse": "'js ' + 'ran'"}))),
        ("responseParser", http(json!({"responseParser": "'js ' + 'ran'"}))),
        ("validateStatus", {
            let thrown = "(() => { throw new Error('js ' + 'ran') })()";
            http(json!({"validateStatus": thrown}))
        }),
        ("javascript in config", {
            let config =
                json!({"method": "POST", "body": {"a": "x"}, "tools": "file://open/config.js"});
            let one = json!({"id": bench.peer.url("/"), "config": config});
            let check = json!([{"type": "javascript", "value": graded}]);
            echo(json!({"targets": [one], "tests": [{"vars": {"word": "x"}, "assert": check}]}))
        }),
    ]
}

fn python() -> Vec<(&'static str, Value)> {
    let graded = "{'pass': True, 'score': 1, 'reason': 'python ' + 'ran'}";
    vec![
        ("python assertion", asserts("python", graded)),
        ("python assertion in a file", asserts("python", "file://open/check.py")),
        ("python target", echo(json!({"targets": ["file://open/provider.py"]}))),
        ("python target by its language", echo(json!({"targets": ["python:open/provider.py"]}))),
        ("python tests", echo(json!({"tests": "file://open/tests.py:generate_tests"}))),
        ("python prompts", echo(json!({"prompts": ["file://open/prompt.py:main"]}))),
        ("python variable", echo(json!({"tests": [{"vars": {"word": "file://open/var.py"}}]}))),
        ("python transform", options("transform", "file://open/text.py")),
        ("python scoring", {
            let check = json!([{"type": "contains", "value": "x"}]);
            test(
                json!({"assert": check, "assertScoringFunction": "file://open/check.py:get_assert"}),
            )
        }),
    ]
}

fn ruby() -> Vec<(&'static str, Value)> {
    let graded = "{'pass' => true, 'score' => 1, 'reason' => 'ruby ' + 'ran'}";
    vec![
        ("ruby assertion", asserts("ruby", graded)),
        ("ruby assertion in a file", asserts("ruby", "file://open/check.rb")),
        ("ruby target", echo(json!({"targets": ["file://open/provider.rb"]}))),
        ("ruby target by its language", echo(json!({"targets": ["ruby:open/provider.rb"]}))),
        ("ruby tests", echo(json!({"tests": "file://open/tests.rb:generate_tests"}))),
        ("ruby variable", echo(json!({"tests": [{"vars": {"word": "file://open/var.rb"}}]}))),
        ("ruby transform", options("transform", "file://open/text.rb")),
    ]
}
