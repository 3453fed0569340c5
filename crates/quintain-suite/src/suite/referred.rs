//! `file://` references in the `config` of a target.

use std::path::Path;

use quintain_evidence::code::{Code, Language};
use quintain_script::Host;
use quintain_source::{Diagnostic, Diagnostics, Node, NodeKind, Scope};
use serde_json::{Map, Value};

use super::loader::suffix_of;
use super::reader::Reader;
use crate::code::RunCode as _;
use crate::files::{FileValue, language_of, split_function};
use crate::purpose::NotCalled;

/// Reads a map and replaces file references at any depth. References inside the files are not replaced.
pub(super) fn map(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Map<String, Value> {
    let entries = node.as_map().unwrap_or_default().iter();
    entries.map(|(key, node)| (key.text.clone(), value(node, reader, dx))).collect()
}

fn value(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Value {
    match &node.kind {
        NodeKind::Seq(items) => items.iter().map(|item| value(item, reader, dx)).collect(),
        NodeKind::Map(_) => Value::Object(map(node, reader, dx)),
        _ => file(node, reader, dx).unwrap_or_else(|| reader.payload(node, dx)),
    }
}

/// The functions that a model is offered: a list, a file, or a list of files. Variables of tests are expanded
/// later.
pub(super) fn offered(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Value {
    let Some(items) = node.as_seq() else {
        return file(node, reader, dx).unwrap_or_else(|| node.to_json());
    };
    let items = items.iter().map(|item| offered(item, reader, dx));
    let items: Vec<Value> = items.collect();
    if !items.is_empty() && items.iter().all(Value::is_array) {
        let lists = items.into_iter().filter_map(|item| match item {
            Value::Array(items) => Some(items),
            _ => None,
        });
        return lists.flatten().collect();
    }
    Value::Array(items)
}

/// The content of the file that a text refers to. Reports errors in the file.
fn file(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<Value> {
    node.as_str()?.strip_prefix("file://")?;
    let filled = reader.templates.fill(node, Scope::Env, dx)?;
    let reference = filled.strip_prefix("file://")?;
    // A path with variables of tests is not known yet.
    if reference.contains("{{") {
        return None;
    }
    Some(contents(reference, reader).unwrap_or_else(|why| {
        let title = "this file cannot be used";
        // The other lines are the stack trace of the interpreter.
        let why = why.lines().next().unwrap_or_default().to_owned();
        dx.push(Diagnostic::error("config::unreadable-file", title).at(node.span, why));
        Value::Null
    }))
}

fn contents(reference: &str, reader: &Reader<'_>) -> Result<Value, String> {
    let path = reader.path(split_function(reference).0);
    let suffix = suffix_of(Path::new(&path));
    if language_of(&suffix).is_none() && !matches!(suffix.as_str(), "json" | "yaml" | "yml") {
        let bytes = reader.files.read(&path).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        return Ok(Value::String(text));
    }
    match FileValue::read(reference, reader.base_dir, reader.files)? {
        FileValue::Data(value) => Ok(value),
        FileValue::Code(code) => made(&code, reader),
    }
}

/// The return value of a script; none if the suite is only read.
fn made(code: &Code, reader: &Reader<'_>) -> Result<Value, String> {
    let Some(consent) = reader.consent else {
        let not_called = NotCalled { makes: "settings", code: code.clone() };
        reader.not_called.borrow_mut().push(not_called);
        return Ok(Value::Null);
    };
    let env = reader.templates.variables();
    if code.language() == Language::JavaScript {
        return code.run_js(&[], &Host { env: env.clone(), ..Host::default() });
    }
    reader.files.run(consent, code, "get_config", &[], env)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io;
    use std::path::PathBuf;

    use quintain_source::Renderer;
    use serde_json::json;

    use super::super::{BUILT_IN, CodeTarget, Consent, Files, Loaded, Purpose, SuiteFile, load};
    use super::*;

    /// Files whose content is their own name.
    struct Named;

    impl Files for Named {
        fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            match name {
                "missing.json" => Err(io::ErrorKind::NotFound.into()),
                _ if suffix_of(path) == "json" => Ok(format!("[\"{name}\"]").into_bytes()),
                _ => Ok(format!("{name}\n").into_bytes()),
            }
        }

        fn matching(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
            Ok(Vec::new())
        }

        fn run(
            &self,
            _: Consent,
            code: &Code,
            function: &str,
            _: &[Value],
            env: &BTreeMap<String, String>,
        ) -> Result<Value, String> {
            Ok(json!([code.text().trim(), function, env.get("LANG")]))
        }
    }

    fn loaded(targets: &str) -> Loaded {
        let text = format!("targets:\n{targets}\n");
        let file = SuiteFile {
            name: "quintain.yaml".into(),
            text: text.into(),
            base_dir: "/suites".into(),
        };
        let env = BTreeMap::from([("LANG".into(), "it".into())]);
        let purpose = Purpose::Run(Consent::of_the_user());
        load(vec![file], &env, std::sync::Arc::new(Named), purpose, BUILT_IN)
    }

    fn tools(written: &str) -> Value {
        let loaded = loaded(&format!("  - {{id: echo, config: {{tools: {written}}}}}"));
        let suite = loaded.suite.expect("a suite");
        suite.targets[0].offered.get("tools").cloned().unwrap_or_default()
    }

    #[test]
    fn tools_stand_in_files_or_lists_of_files() {
        assert_eq!(tools("file://a.json"), json!(["a.json"]));
        assert_eq!(tools("[file://a.json, file://b.json]"), json!(["a.json", "b.json"]));
        assert_eq!(tools("[file://a.json, {b: 1}]"), json!([["a.json"], {"b": 1}]));
        assert_eq!(tools("'file://a.py:get_tools'"), json!(["a.py", "get_config", "it"]));
        assert_eq!(tools("'file://{{env.LANG}}.json'"), json!(["it.json"]));
        assert_eq!(tools("'file://{{of_a_test}}.json'"), json!("file://{{of_a_test}}.json"));
        assert_eq!(tools("[]"), json!([]));
    }

    #[test]
    fn settings_of_a_provider_stand_in_files_at_any_depth() {
        let target = "  - {id: 'file://p.py', config: {a: file://t.txt, b: [{c: file://d.json}]}}";
        let suite = loaded(target).suite.expect("a suite");
        let code: &CodeTarget = suite.targets[0].settings().expect("code");
        assert_eq!(json!(code.config), json!({"a": "t.txt\n", "b": [{"c": ["d.json"]}]}));
    }

    #[test]
    fn a_file_that_is_not_there_is_reported_where_it_is_named() {
        let found = loaded("  - {id: echo, config: {tools: file://missing.json}}");
        assert!(found.suite.is_none());
        let drawn = Renderer::plain().render_all(&found.sources, &found.diagnostics);
        assert!(drawn.contains("quintain.yaml:2:32"), "{drawn}");
        assert!(drawn.contains("entity not found"), "{drawn}");
    }
}
