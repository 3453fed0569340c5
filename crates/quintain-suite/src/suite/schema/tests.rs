use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quintain_source::{Diagnostics, Renderer, SourceFile, Sources, read};
use serde_json::{Map, Value, json};

use super::*;
use crate::assertions;
use crate::suite::{BUILT_IN, Needed, NoFiles, Purpose, SuiteFile, declared, load};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&schema(quintain_redteam::orders::schema(), BUILT_IN))
        .expect("a schema")
}

fn tree(name: &str, text: &str) -> Value {
    let mut sources = Sources::new();
    let mut dx = Diagnostics::new();
    let id = sources.add(SourceFile::new(name, text));
    let node = read(&sources, id, &mut dx);
    assert!(!dx.has_errors(), "{}", Renderer::plain().render_all(&sources, &dx));
    node.expect("a tree").to_json()
}

/// The suite files in a folder, by their usual names.
fn suites(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(suites(&path));
        } else if path.file_stem().is_some_and(|stem| {
            ["quintain", "promptfooconfig", "suite"].iter().any(|name| stem == *name)
        }) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn is_type(kind: &str) -> bool {
    let base = kind.strip_prefix("not-").unwrap_or(kind);
    kind == "assert-set" || assertions::find(kind).or(assertions::find(base)).is_some()
}

/// Changes assertions of types that are not built in, so that only their common keys are checked: suites may use
/// types that the schema does not know.
fn without_unknown_types(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_unknown_types),
        Value::Object(entries) => {
            if let Some(asserts) = entries.get_mut("assert").and_then(Value::as_array_mut) {
                for assert in asserts.iter_mut().filter_map(Value::as_object_mut) {
                    if !assert.get("type").and_then(Value::as_str).is_none_or(is_type) {
                        assert.remove("type");
                        assert.insert("$ref".into(), "#/elsewhere".into());
                    }
                }
            }
            entries.values_mut().for_each(without_unknown_types);
        }
        _ => {}
    }
}

fn complaints(validator: &jsonschema::Validator, suite: &Value) -> Vec<String> {
    let leaves = |error: jsonschema::ValidationError<'_>| {
        format!(
            "{}: {}",
            error.instance_path(),
            error.to_string().chars().take(600).collect::<String>()
        )
    };
    validator.iter_errors(suite).map(leaves).collect()
}

#[test]
fn it_is_a_schema() {
    let schema = schema(quintain_redteam::orders::schema(), BUILT_IN);
    jsonschema::meta::validate(&schema).expect("valid");
}

#[test]
fn the_keys_of_a_suite_are_those_of_the_loader() {
    let schema = schema(quintain_redteam::orders::schema(), BUILT_IN);
    let listed: BTreeSet<&str> =
        schema["properties"].as_object().expect("keys").keys().map(String::as_str).collect();
    let read = ["description", "targets", "providers", "$ref"];
    let read = read.into_iter().chain(load::OTHER_KEYS).chain(declared::KEYS);
    assert_eq!(listed, read.collect());
}

#[test]
fn the_loader_knows_every_key_of_the_schema() {
    let schema = schema(quintain_redteam::orders::schema(), BUILT_IN);
    let mcp = |config: Value| json!({"targets": [{"id": "mcp", "config": config}]});
    let with = |base: Value, key: &str| {
        let mut base = base.as_object().cloned().expect("a map");
        base.entry(key).or_insert(Value::Null);
        Value::Object(base)
    };
    let suite = |place: &str, key: &str| match place {
        "/properties" => with(json!({}), key),
        "/$defs/part/properties" => json!({"defaultTest": with(json!({}), key)}),
        "/$defs/options/properties" => json!({"defaultTest": {"options": with(json!({}), key)}}),
        "/$defs/scenario/properties" => json!({"scenarios": [with(json!({"config": [{}]}), key)]}),
        "/$defs/mcp/properties" => mcp(with(json!({"server": {"command": "x"}}), key)),
        "/$defs/server/properties" => mcp(json!({"server": with(json!({"command": "x"}), key)})),
        "/$defs/respond/properties" => {
            mcp(json!({"server": {"command": "x"}, "respond": with(json!({}), key)}))
        }
        "/$defs/prompt/anyOf/2/properties" => json!({"prompts": [with(json!({"raw": "x"}), key)]}),
        "/properties/evaluateOptions/properties" => {
            json!({"evaluateOptions": with(json!({}), key)})
        }
        "/properties/commandLineOptions/properties" => {
            json!({"commandLineOptions": with(json!({}), key)})
        }
        "/properties/derivedMetrics/items/properties" => {
            json!({"derivedMetrics": [with(json!({"name": "n", "value": "1"}), key)]})
        }
        _ => unreachable!("{place}"),
    };
    for place in [
        "/properties",
        "/$defs/part/properties",
        "/$defs/options/properties",
        "/$defs/scenario/properties",
        "/$defs/mcp/properties",
        "/$defs/server/properties",
        "/$defs/respond/properties",
        "/$defs/prompt/anyOf/2/properties",
        "/properties/evaluateOptions/properties",
        "/properties/commandLineOptions/properties",
        "/properties/derivedMetrics/items/properties",
    ] {
        let keys = schema.pointer(place).and_then(Value::as_object).expect(place);
        for key in keys.keys().filter(|key| *key != "$ref") {
            let text = suite(place, key).to_string().into();
            let file = SuiteFile { name: "suite.json".into(), text, base_dir: PathBuf::new() };
            let loaded = load(
                vec![file],
                &BTreeMap::new(),
                Arc::new(NoFiles),
                Purpose::Read(Needed::Nothing),
                BUILT_IN,
            );
            let errors: Vec<_> = loaded.diagnostics.iter().map(|found| &found.title).collect();
            assert!(
                errors.iter().all(|title| !title.contains("unknown key")),
                "{place}: {errors:?}"
            );
        }
    }
}

#[test]
fn examples_and_suites_of_promptfoo_validate() {
    let validator = validator();
    let root = repository();
    let mut found = suites(&root.join("examples"));
    found.extend(suites(&root.join("crates/quintain/tests/corpus")));
    found.extend(suites(&root.join("crates/quintain/tests/it/cases/seed")));
    found.retain(|path| !path.iter().any(|part| part.to_string_lossy().starts_with("refused-")));
    assert!(found.len() > 80, "{}", found.len());
    let mut wrong = Vec::new();
    for path in found {
        let text = fs::read_to_string(&path).expect("a suite");
        // Placeholders of the golden cases.
        let text = text.replace("$URL", "http://127.0.0.1/mcp").replace("$ORIGIN", "http://x");
        let mut suite = tree(&path.display().to_string(), &text);
        without_unknown_types(&mut suite);
        for complaint in complaints(&validator, &suite) {
            wrong.push(format!("{}\n  {complaint}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_examples_of_all_assertions_validate() {
    let validator = validator();
    for assertion in assertions::all() {
        let docs = assertion.meta().docs;
        for block in docs.split("```yaml\n").skip(1) {
            let list = tree("docs.yaml", block.split("```").next().expect("a block"));
            let suite = json!({"tests": [{"assert": list}]});
            assert_eq!(complaints(&validator, &suite), [""; 0], "{}", assertion.meta().id);
        }
    }
}

#[test]
fn all_shapes_validate() {
    let validator = validator();
    for text in [
        "",
        "tests:\nprompts:\ntargets: echo\n",
        "targets: [echo, 'https://example.org', {id: 'exec:cat'}, {'openai:gpt-5': {config: {a: 1}}}]",
        "targets: [{mcp: {server: {command: x}}}, {'mcp:b': {config: {server: {url: 'https://x.example.org'}}}}]",
        "targets: {id: mcp, config: {enabled: false}}",
        "prompts: {tool: a, args: {b: 1}}",
        "prompts: [{raw: {tool: a}, label: x}, {id: 'file://a.txt', label: b}, 7, {steps: [{tool: a, capture: {b: $.c}}]}]",
        "prompts: {'file://a.txt': first, 'file://b.txt': second}",
        "tests: file://tests.csv",
        "tests: ['file://*.yaml', {vars: file://vars.yaml, assert: [{$ref: '#/assertionTemplates/a', weight: 2}]}, {$ref: '#/x'}]",
        "defaultTest: file://default.yaml",
        "scenarios: [file://s.yaml, {config: file://data.yaml}, {config: [{vars: {a: 1}}], tests: file://t.yaml}]",
        "tests: [{assert: [{type: assert-set, threshold: 0.5, assert: [{type: not-contains, value: x}]}]}]",
        "outputPath: [a.json, b.html]\nenv: {A: 1, B: }\ntags: {a: b}\nredteam: {plugins: [pii], numTests: 5}",
        "redteam: {plugins: [pii, {id: policy, config: {policy: x, forbid: {tools: [a]}}}, {id: bola, numTests: 3, severity: low}], attacks: [file://a.yaml]}",
        "redteam: {attacks: [{id: a, payloads: ['{{nonce}}', {form: b, text: c}], proof: [exit, {answer: d}], aim: {kinds: [path], tools: '*'}}]}",
        "redteam: {plugins: [{id: a, probes: [{tool: b}], proof: accepted}], tokens: {expired: x}, budget: {calls: 5}, failOn: high}",
        "evaluateOptions: {maxConcurrency: 2, delay: 0, rate: 0.5, cache: false}\ncommandLineOptions: {output: a.json, verbose: true}",
    ] {
        let suite = tree("quintain.yaml", text);
        let suite = if suite.is_null() { Value::Object(Map::new()) } else { suite };
        assert_eq!(complaints(&validator, &suite), [""; 0], "{text}");
    }
}

#[test]
fn what_is_wrong_does_not_validate() {
    let validator = validator();
    for text in [
        "[]",
        "descripton: x",
        "targets: echo\nproviders: echo",
        "targets: mcp",
        "targets: [{id: mcp}]",
        "targets: [{id: mcp, confg: {}, config: {server: {command: x}}}]",
        "targets: [{id: mcp, config: {}}]",
        "targets: [{id: mcp, config: {server: {comand: x}}}]",
        "targets: [{id: mcp, config: {server: {name: x}}}]",
        "targets: [{id: mcp, config: {server: {url: localhost}}}]",
        "targets: [{id: mcp, config: {server: {command: [x]}}}]",
        "targets: [{id: mcp, config: {server: {command: x}, timeout: soon}}]",
        "targets: [{id: mcp, config: {server: {command: x}, protocolVersion: old}}]",
        "targets: [{mcp: {server: {comand: x}}}]",
        "targets: [{id: mcp, config: {server: {url: 'https://x', auth: {type: beaer, token: x}}}}]",
        "targets: [{id: mcp, config: {server: {url: 'https://x', auth: {type: bearer}}}}]",
        "targets: [{id: mcp, config: {server: {url: 'https://x', auth: {type: bearer, token: x, user: y}}}}]",
        "targets: [{id: mcp, config: {server: {url: 'https://x', auth: {type: basic, username: x}}}}]",
        "targets: [{id: mcp, config: {server: {url: 'https://x', auth: {type: api_key, value: x, placement: body}}}}]",
        "targets: [{id: mcp, config: {server: {url: 'https://x', auth: {type: oauth, clientId: x}}}}]",
        "targets: [{id: mcp, config: {server: {url: 'https://x', auth: {type: oauth, grantType: password, clientId: x, clientSecret: y}}}}]",
        "targets: [{label: x, config: {}}]",
        "prompts: [{label: x}]",
        "prompts: [[x]]",
        "tests: {vars: {a: 1}}",
        "tests: [{description: nothing}]",
        "tests: [{vars: {a: 1}, asert: []}]",
        "tests: [{assert: {type: contains}}]",
        "tests: [{assert: [{value: x}]}]",
        "tests: [{assert: [{type: contians, value: x}]}]",
        "tests: [{assert: [{type: contains, valeu: x}]}]",
        "tests: [{assert: [{type: contains, value: x, weight: heavy}]}]",
        "tests: [{assert: [{type: assert-set}]}]",
        "tests: [{assert: [{type: assert-set, assert: [{type: nothing}]}]}]",
        "tests: [{vars: {a: 1}, threshold: high}]",
        "tests: [{vars: {a: 1}, options: {transfrom: x}}]",
        "tests: [{vars: {a: 1}, targets: a, providers: b}]",
        "scenarios: [{tests: []}]",
        "derivedMetrics: [{name: x}]",
        "evaluateOptions: {maxConcurrency: 0}",
        "evaluateOptions: {delay: -1}",
        "commandLineOptions: {outptu: x}",
        "env: [A]",
        "redteam: {plugin: [pii]}",
        "redteam: {attacks: [{id: a, payloads: [b]}]}",
        "redteam: {attacks: [{id: A B, payloads: [b], proof: exit}]}",
        "redteam: {attacks: [{id: a, payloads: [b], proof: noise}]}",
        "redteam: {attacks: [{id: a, payloads: [b], proof: exit, aim: {tool: x}}]}",
        "redteam: {failOn: awful}",
        "redteam: {tokens: {old: x}}",
        "redteam: {identities: [{role: x}]}",
    ] {
        assert!(!validator.is_valid(&tree("quintain.yaml", text)), "{text}");
    }
}
