//! Keys that name something which no job opens, whatever its policy: they belong to the command line, to promptfoo, or to
//! whoever understands JSON Schema.

use quintain_engine::Policy;
use serde_json::{Value, json};

use super::bench::{Bench, CANARY};

fn suites(bench: &Bench) -> Vec<(&'static str, Value)> {
    let url = bench.peer.url("/schema.json");
    let secret = bench.path("secret/schema.json").display().to_string();
    let file = format!("file://{secret}");
    let suite = |more: Value| {
        let mut suite = json!({"targets": ["echo"], "prompts": ["{\"a\": 1}"], "tests": [{"vars": {"word": "x"}}]});
        suite.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        suite
    };
    let asserts = |kind: &str, value: Value| {
        suite(json!({"tests": [{"assert": [{"type": kind, "value": value}]}]}))
    };
    let mut all = vec![
        // The command line opens reports, in the folder of the suite and after it has read everything.
        ("outputPath", suite(json!({"outputPath": "made"}))),
        ("outputPath in a list", suite(json!({"outputPath": ["made", "made.json"]}))),
        (
            "output of commandLineOptions",
            suite(json!({"commandLineOptions": {"output": ["made"]}})),
        ),
        // Only `--env-file` names files with variables, and the command line reads them.
        (
            "envPath",
            suite(
                json!({"commandLineOptions": {"envPath": "secret/variables.env"}, "prompts": ["{{env.FROM_FILE}}"]}),
            ),
        ),
        ("env in a file", suite(json!({"env": "file://secret/variables.env"}))),
        ("config", suite(json!({"commandLineOptions": {"config": ["secret/default.yaml"]}}))),
        (
            "tests of commandLineOptions",
            suite(json!({"commandLineOptions": {"tests": "secret/tests.csv"}})),
        ),
        ("extensions", suite(json!({"extensions": ["file://open/check.py:get_assert"]}))),
        ("sharing", suite(json!({"sharing": {"apiBaseUrl": url, "appBaseUrl": url}}))),
        (
            "tracing",
            suite(json!({"tracing": {"enabled": true, "otlp": {"http": {"enabled": true}}}})),
        ),
        ("tests over the web", suite(json!({"tests": url}))),
        ("prompts over the web", suite(json!({"prompts": [format!("{url}.txt")]}))),
        ("prompts of a command", suite(json!({"prompts": ["exec:open/evil"]}))),
        ("a variable over the web", suite(json!({"tests": [{"vars": {"word": url}}]}))),
        (
            "templates that include",
            suite(json!({"prompts": ["{% include 'secret/prompt.txt' %}"]})),
        ),
        (
            "templates that import",
            suite(json!({"prompts": ["{% import 'secret/prompt.txt' as a %}{{a}}"]})),
        ),
        ("templates that extend", suite(json!({"prompts": ["{% extends 'secret/prompt.txt' %}"]}))),
        (
            "scripts that require",
            suite(json!({"tests": [{"options": {
            "transform": format!("require('fs').readFileSync('{secret}', 'utf8')")}}]})),
        ),
        (
            "scripts that import",
            suite(json!({"tests": [{"options": {
            "transform": format!("import('{secret}').then(String)")}}]})),
        ),
        (
            "scripts that fetch",
            suite(json!({"tests": [{"options": {
            "transform": format!("fetch('{url}').then(String)")}}]})),
        ),
        (
            "scripts that start",
            suite(json!({"tests": [{"options": {
            "transform": format!("require('child_process').execSync('{}')", bench.path("open/evil").display())}}]})),
        ),
        ("XML that includes", {
            let xml = format!(
                "<!DOCTYPE a [<!ENTITY b SYSTEM \"{file}\"><!ENTITY c SYSTEM \"{url}\">]><a>&b;&c;</a>"
            );
            suite(json!({"prompts": [xml], "tests": [{"assert": [{"type": "is-xml"}]}]}))
        }),
        ("references of a suite", suite(json!({"defaultTest": {"$ref": "secret/default.yaml"}}))),
        (
            "references of a suite to a file",
            suite(json!({"defaultTest": {"$ref": "file://secret/default.yaml"}})),
        ),
        ("references of a suite over the web", suite(json!({"defaultTest": {"$ref": url}}))),
    ];
    let schemas = [
        json!({"$ref": url}),
        json!({"$ref": file}),
        json!({"$ref": "schema.json", "$id": format!("file://{}/", bench.path("secret").display())}),
        json!({"$schema": url, "type": "object"}),
        json!({"allOf": [{"$dynamicRef": url}]}),
    ];
    for schema in schemas {
        all.push(("is-json", asserts("is-json", schema.clone())));
        all.push(("contains-json", asserts("contains-json", schema)));
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn no_job_opens_what_these_keys_name() {
    for (at, (key, _)) in suites(&Bench::new().await).into_iter().enumerate() {
        let bench = Bench::new().await;
        let suite = suites(&bench).swap_remove(at).1;
        let told = bench.run(&suite, &Policy::everything()).await;
        let told_of_it = told.contains(CANARY);
        assert!(!told_of_it && bench.peer.connections() == 0, "{key}\n{told}");
        for name in ["made", "made.json"] {
            assert_eq!(bench.written(name), None, "{key}\n{told}");
        }
    }
}
