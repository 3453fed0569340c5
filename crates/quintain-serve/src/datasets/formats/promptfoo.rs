//! Tests of promptfoo: YAML, JSON or CSV with variables and assertions.

use quintain_source::Node;
use serde_json::{Map, Value, json};

use super::documents::{Document, has_yaml_key, looks_like_json};
use super::tables::Table;
use crate::datasets::entry::{Entry, Expected};
use crate::datasets::fields;
use crate::datasets::import_error::ImportError;
use crate::datasets::importer::{FormatMeta, Importer};
use crate::datasets::sink::Sink;

pub(super) struct Promptfoo;

impl Importer for Promptfoo {
    fn meta(&self) -> &'static FormatMeta {
        &FormatMeta {
            name: "promptfoo",
            description: "Tests of promptfoo: a config or a list of tests with `vars` and `assert` in YAML or JSON, or CSV with `__expected`.",
        }
    }

    fn recognises(&self, text: &str) -> u8 {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if first.contains("__expected") && !looks_like_json(text) {
            return 92;
        }
        let is_json = looks_like_json(text)
            && text.contains("\"vars\"")
            && (text.contains("\"assert\"") || text.contains("\"tests\""));
        let item = |key: &str| {
            text.lines().any(|line| line.trim_start().trim_start_matches("- ").starts_with(key))
        };
        let is_yaml = !looks_like_json(text)
            && (has_yaml_key(text, "tests") || text.trim_start().starts_with('-'))
            && item("vars:");
        if is_json || is_yaml { 90 } else { 0 }
    }

    fn read(&self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        let format = self.meta().name;
        let is_table = text.lines().next().is_some_and(|line| line.contains("__expected"));
        if is_table && !looks_like_json(text) {
            return table(text, format, sink);
        }
        let document = Document::parse(text, format, looks_like_json(text), sink)?;
        let root = &document.root;
        let tests = root.as_seq().or_else(|| root.get("tests").and_then(Node::as_seq));
        let Some(tests) = tests else {
            let reason = "there is no list of tests; tests in other files are not read".to_owned();
            return Err(ImportError::Syntax { format, line: None, reason });
        };
        let prompts = root.get("prompts").and_then(Node::as_seq).unwrap_or_default();
        let prompts: Vec<&str> =
            prompts.iter().filter_map(Node::as_str).filter(|text| text.contains("{{")).collect();
        let defaults = root.get("defaultTest").map(Node::to_json).unwrap_or_default();
        for test in tests {
            let line = document.line(test);
            if test.as_map().is_none() {
                sink.bad(line, format!("a test is {}, not a map", test.describe()));
                continue;
            }
            add(&test.to_json(), &defaults, &prompts, line, sink);
        }
        Ok(())
    }
}

/// Adds the entries of a test: one for each prompt, or the text among its variables.
fn add(test: &Value, defaults: &Value, prompts: &[&str], line: Option<usize>, sink: &mut Sink<'_>) {
    let mut vars = defaults.get("vars").and_then(Value::as_object).cloned().unwrap_or_default();
    vars.extend(test.get("vars").and_then(Value::as_object).cloned().unwrap_or_default());
    let of =
        |test: &Value| test.get("assert").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut asserts = of(defaults);
    asserts.extend(of(test));
    let texts: Vec<String> = if prompts.is_empty() {
        match sink.text_of(&vars) {
            Some(Value::Array(values)) => values.iter().filter_map(fields::as_text).collect(),
            Some(value) => fields::as_text(value).into_iter().collect(),
            None => Vec::new(),
        }
    } else {
        prompts.iter().map(|prompt| substitute(prompt, &vars)).collect()
    };
    if texts.is_empty() {
        let names: Vec<&str> = vars.keys().map(String::as_str).collect();
        let message = format!(
            "no variable contains the text; map one of them to `value`: {}",
            names.join(", ")
        );
        return sink.bad(line, message);
    }
    for text in texts {
        let mut entry = Entry::new(text);
        apply(&asserts, &mut entry);
        if let Some(metadata) = test.get("metadata").and_then(Value::as_object) {
            entry.metadata.clone_from(metadata);
        }
        if let Some(description) = test.get("description") {
            entry.metadata.insert("description".to_owned(), description.clone());
        }
        entry.metadata.insert("vars".to_owned(), Value::Object(vars.clone()));
        if !asserts.is_empty() {
            entry.metadata.insert("assert".to_owned(), Value::Array(asserts.clone()));
        }
        sink.entry(line, entry);
    }
}

/// Puts variables into a prompt. Filters and statements stay as they are.
fn substitute(prompt: &str, vars: &Map<String, Value>) -> String {
    let mut out = String::with_capacity(prompt.len());
    let mut rest = prompt;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            out.push_str("{{");
            rest = after;
            break;
        };
        match vars.get(name.trim()).and_then(fields::as_text) {
            Some(value) => out.push_str(&value),
            None => out.extend(["{{", name, "}}"]),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// What assertions say about the expected response. All of them are kept as metadata.
fn apply(asserts: &[Value], entry: &mut Entry) {
    let mut wanted: Vec<Vec<String>> = Vec::new();
    for assertion in asserts {
        let kind = assertion.get("type").and_then(Value::as_str).unwrap_or_default();
        let Some(value) = assertion.get("value") else {
            if kind == "is-refusal" {
                entry.expected = Some(Expected::Refuse);
            } else if kind == "not-is-refusal" {
                entry.expected = Some(Expected::Comply);
            }
            continue;
        };
        let values = fields::as_list(value, false).unwrap_or_default();
        match kind {
            "contains" | "icontains" | "equals" | "contains-any" | "icontains-any" => {
                wanted.push(values);
            }
            "not-contains" | "not-icontains" | "not-contains-any" | "not-icontains-any" => {
                entry.success_marks.extend(values);
            }
            "llm-rubric" => entry.expected_behavior = values.join("\n"),
            _ => {}
        }
    }
    // Accepted answers are alternatives, so several requirements cannot be expressed by them.
    if let [answers] = &wanted[..] {
        entry.answers.clone_from(answers);
        entry.expected = entry.expected.or(Some(Expected::Answer));
    }
}

fn table(text: &str, format: &'static str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
    let table = Table::new(text, ',');
    let table = table.ok_or(ImportError::Syntax {
        format,
        line: None,
        reason: "there is no header".into(),
    })?;
    let columns = table.columns.clone();
    for (line, cells) in table {
        if cells.len() != columns.len() {
            let (cells, columns) = (cells.len(), columns.len());
            sink.bad(Some(line), format!("this row has {cells} cells, the header has {columns}"));
            continue;
        }
        let mut test = json!({"vars": {}, "assert": [], "metadata": {}});
        for (name, cell) in columns.iter().zip(cells) {
            if cell.is_empty() {
                continue;
            }
            match name.strip_prefix("__") {
                Some("description") => test["description"] = json!(cell),
                Some(special) if special.starts_with("expected") => {
                    let (kind, value) = match cell.split_once(':') {
                        Some((kind, value)) if is_kind(kind) => (kind, value.trim()),
                        _ if is_kind(&cell) && cell.contains('-') => (cell.as_str(), ""),
                        _ => ("equals", cell.as_str()),
                    };
                    let mut assertion = json!({"type": kind});
                    if !value.is_empty() {
                        assertion["value"] = json!(value);
                    }
                    if let Some(asserts) = test["assert"].as_array_mut() {
                        asserts.push(assertion);
                    }
                }
                Some(special) => {
                    let key = special.strip_prefix("metadata:").unwrap_or(special);
                    test["metadata"][key] = json!(cell);
                }
                None => test["vars"][name.as_str()] = json!(cell),
            }
        }
        add(&test, &Value::Null, &[], Some(line), sink);
    }
    Ok(())
}

/// Whether a word looks like the type of an assertion.
fn is_kind(word: &str) -> bool {
    let words =
        ["contains", "icontains", "equals", "grade", "similar", "javascript", "python", "regex"];
    words.contains(&word)
        || word.contains('-') && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}
