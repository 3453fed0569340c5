//! `prompts`: texts, tool calls in YAML, and files with one or several of them.

use std::io;
use std::path::Path;

use quintain_source::{Diagnostic, Fields, Node, NodeKind, Nunjucks, Span};
use serde_json::Value;

use super::loader::{Loader, SuiteFolder, is_pattern, suffix_of};
use super::{Prompt, PromptBody, call_keys};
use crate::files::{FileValue, language_of, split_function};
use quintain_source::csv::Records;

/// A text with one of these suffixes may be a file path without `file://`.
const SUFFIXES: [&str; 15] = [
    "cjs", "csv", "cts", "j2", "js", "json", "jsonl", "md", "mjs", "mts", "py", "ts", "txt", "yml",
    "yaml",
];
const DELIMITER: &str = "---";

/// The keys of a prompt apart from its text.
struct Head {
    id: Option<String>,
    label: Option<String>,
    config: Option<Value>,
    span: Span,
}

impl Head {
    fn prompt(&self, body: PromptBody, label: impl FnOnce() -> String) -> Prompt {
        let label = self.label.clone().unwrap_or_else(label);
        let (id, config) = (self.id.clone(), self.config.clone());
        Prompt { label, id, body, config, span: self.span }
    }
}

impl Loader<'_> {
    pub(super) fn prompts(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Vec<Prompt> {
        match &node.kind {
            NodeKind::Seq(items) => {
                items.iter().flat_map(|item| self.prompt(item, place)).collect()
            }
            NodeKind::Map(entries) if !is_call(node) && !is_options(node) => {
                // `file://a.txt: label`, the syntax of older suites.
                let mut prompts = Vec::new();
                for (key, label) in entries {
                    let label = label.raw().map(str::to_owned);
                    let head = Head { id: None, label, config: None, span: key.span };
                    prompts.extend(self.prompt_text(&key.text, &head, place));
                }
                prompts
            }
            _ => self.prompt(node, place),
        }
    }

    /// Reports an invalid template. JSON is not checked, since its texts are expanded one by one.
    pub(super) fn check_template(
        &mut self,
        prompt: &Prompt,
        place: &SuiteFolder<'_>,
        templates: &Nunjucks,
    ) {
        let PromptBody::Text(text) = &prompt.body else { return };
        if serde_json::from_str::<Value>(text).is_ok() {
            return;
        }
        if let Err(error) = templates.check(text) {
            let title = "this template cannot be expanded";
            let diagnostic = Diagnostic::new(place.strictness, "config::bad-template", title);
            self.dx.push(diagnostic.at(prompt.span, error.reason));
        }
    }

    fn prompt(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Vec<Prompt> {
        self.variables.used_by(node);
        if let Some(text) = node.raw() {
            let head = Head { id: None, label: None, config: None, span: node.span };
            return self.prompt_text(text, &head, place);
        }
        if is_call(node) {
            super::reader::warn_of_misread_words(node, self.dx);
            call_keys::check(node, place.strictness, self.dx);
            return vec![call(node)];
        }
        let Some(mut fields) = Fields::of(node, "a prompt", self.dx) else { return Vec::new() };
        let id = fields.string("id", self.dx);
        let label = fields.string("label", self.dx);
        let display = fields.string("display", self.dx);
        let config = fields.get("config").map(Node::to_json);
        for name in ["template", "description"] {
            fields.get(name);
        }
        let head = Head { id, label: label.or(display), config, span: node.span };
        let prompts = match fields.get("raw") {
            Some(raw) if raw.raw().is_none() => {
                let mut prompt = call(raw);
                super::reader::warn_of_misread_words(raw, self.dx);
                call_keys::check(raw, place.strictness, self.dx);
                prompt.label = head.label.unwrap_or(prompt.label);
                prompt.id = head.id;
                vec![prompt]
            }
            Some(raw) => self.prompt_text(raw.raw().unwrap_or_default(), &head, place),
            None => {
                if let Some(id) = head.id.clone() {
                    self.prompt_text(&id, &Head { id: None, ..head }, place)
                } else if let Some(misspelt) = call_keys::misspelt_call(node) {
                    self.dx.push(misspelt);
                    return Vec::new();
                } else {
                    fields.missing("raw", self.dx);
                    Vec::new()
                }
            }
        };
        fields.finish(place.strictness, self.dx);
        prompts
    }

    fn prompt_text(&mut self, text: &str, head: &Head, place: &SuiteFolder<'_>) -> Vec<Prompt> {
        let itself = || vec![head.prompt(PromptBody::Text(text.to_owned()), || text.to_owned())];
        let Some(name) = text.strip_prefix("file://") else {
            if let Some(scheme) = ["exec:", "portkey://", "langfuse://", "helicone://"]
                .iter()
                .find(|scheme| text.starts_with(**scheme))
            {
                let title = format!("prompts from `{scheme}` are not supported");
                let diagnostic = Diagnostic::error("config::unsupported-prompt", title);
                self.dx.push(diagnostic.at(head.span, ""));
                return Vec::new();
            }
            let found = self.bare_path(text, head.span, place);
            return if found.is_empty() { itself() } else { self.files_of(&found, head, place) };
        };
        let (path, _) = split_function(name);
        let found = self.matching(path, place, head.span);
        let names: Vec<_> = found.iter().map(|found| with_function(found, name)).collect();
        let prompts = self.files_of(&names, head, place);
        if prompts.is_empty() && !self.dx.has_errors() {
            self.unreadable(head.span, "the file contains no prompt");
        }
        prompts
    }

    /// The files that a text without `file://` refers to, if it is a path.
    fn bare_path(&mut self, text: &str, at: Span, place: &SuiteFolder<'_>) -> Vec<String> {
        let (path, _) = split_function(text);
        let suffix = suffix_of(Path::new(path));
        if text.contains(['\n', ' ']) || !SUFFIXES.contains(&suffix.as_str()) {
            return Vec::new();
        }
        let path = place.path(path);
        let found = if is_pattern(text) {
            self.files.matching(&path)
        } else {
            self.files.read(&path).map(|_| vec![path])
        };
        let found = found.unwrap_or_else(|error| {
            // The path of a file that must not be read is not sent as a prompt.
            if error.kind() == io::ErrorKind::PermissionDenied {
                self.unreadable(at, error.to_string());
            }
            Vec::new()
        });
        found.iter().map(|found| with_function(found, text)).collect()
    }

    fn files_of(&mut self, names: &[String], head: &Head, place: &SuiteFolder<'_>) -> Vec<Prompt> {
        names.iter().flat_map(|name| self.prompt_file(name, head, place)).collect()
    }

    fn prompt_file(&mut self, name: &str, head: &Head, place: &SuiteFolder<'_>) -> Vec<Prompt> {
        let (path, function) = split_function(name);
        let path = Path::new(path);
        let shown = place.shown(path);
        let suffix = suffix_of(path);
        if language_of(&suffix).is_some() {
            return self.prompt_code(name, &shown, function, head, place);
        }
        let Some(text) = self.text(path, place, head.span) else { return Vec::new() };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let whole = |raw: String, cut: usize, dots: &str| {
            let start: String = raw.chars().take(cut).collect();
            head.prompt(PromptBody::Text(raw), || format!("{shown}: {start}{dots}"))
        };
        match suffix.as_str() {
            "txt" => parts(text)
                .map(|raw| {
                    let own = head.label.as_ref().map(|label| format!("{label}: "));
                    let label = format!("{}{shown}: {raw}", own.unwrap_or_default());
                    Prompt { label, ..head.prompt(PromptBody::Text(raw), String::new) }
                })
                .collect(),
            "json" => {
                let compact = serde_json::from_str::<Value>(text).map(|value| value.to_string());
                vec![whole(compact.unwrap_or_else(|_| text.to_owned()), usize::MAX, "")]
            }
            "yaml" | "yml" => {
                let Some(tree) = self.tree(path, place, head.span) else { return Vec::new() };
                vec![whole(tree.to_json().to_string(), 80, "")]
            }
            "jsonl" => {
                let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
                let several = lines.len() > 1;
                let prompt = |line: &&str| {
                    let own = head.label.clone().unwrap_or_else(|| shown.clone());
                    let label = if several { format!("{own}: {line}") } else { own };
                    let body = PromptBody::Text((*line).to_owned());
                    Prompt { label, ..head.prompt(body, String::new) }
                };
                lines.iter().map(prompt).collect()
            }
            "csv" => csv(text, self.delimiter, head),
            // Markdown, Jinja and other text.
            _ => vec![whole(text.to_owned(), 50, "...")],
        }
    }

    fn prompt_code(
        &mut self,
        name: &str,
        shown: &str,
        function: Option<&str>,
        head: &Head,
        place: &SuiteFolder<'_>,
    ) -> Vec<Prompt> {
        match FileValue::read(name, place.base_dir, self.files) {
            Ok(FileValue::Code(code)) => {
                let label = || match function {
                    Some(function) => format!("{shown}:{function}"),
                    None => shown.to_owned(),
                };
                vec![head.prompt(PromptBody::Code(code), label)]
            }
            Ok(FileValue::Data(_)) => Vec::new(),
            Err(why) => {
                self.unreadable(head.span, why);
                Vec::new()
            }
        }
    }
}

/// Whether a map is a tool call, a request or a sequence of requests.
fn is_call(node: &Node) -> bool {
    ["tool", "method", "steps"].iter().any(|name| node.get(name).is_some())
}

fn is_options(node: &Node) -> bool {
    ["raw", "label", "id"].iter().any(|name| node.get(name).is_some())
}

/// Appends the function in `name` to a path.
fn with_function(path: &Path, name: &str) -> String {
    match split_function(name) {
        (_, Some(function)) => format!("{}:{function}", path.display()),
        _ => path.display().to_string(),
    }
}

/// The prompts of a text file.
fn parts(text: &str) -> impl Iterator<Item = String> {
    let mut parts = vec![Vec::new()];
    for line in text.lines() {
        if line.trim() == DELIMITER {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(line);
        }
    }
    parts.into_iter().map(|lines| lines.join("\n").trim().to_owned()).filter(|raw| !raw.is_empty())
}

/// The prompts of a CSV file: one per line, or the columns `prompt` and `label`.
fn csv(text: &str, delimiter: char, head: &Head) -> Vec<Prompt> {
    let prompt = |raw: &str, label: Option<&str>, index: usize, several: bool| {
        let own = head.label.as_ref();
        let own = own.map(|own| if several { format!("{own}: {raw}") } else { own.clone() });
        let label = label.filter(|label| !label.is_empty()).map(str::to_owned);
        let label = label.or(own).unwrap_or_else(|| format!("Prompt {index} - {raw}"));
        Prompt { label, ..head.prompt(PromptBody::Text(raw.to_owned()), String::new) }
    };
    if !text.contains(delimiter) {
        let mut lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        if lines.first().is_some_and(|line| line.trim().eq_ignore_ascii_case("prompt")) {
            lines.remove(0);
        }
        let several = lines.len() > 1;
        return lines.iter().zip(1..).map(|(line, i)| prompt(line, None, i, several)).collect();
    }
    let mut records = Records::new(text, delimiter);
    let header = records.next().unwrap_or_default();
    let column = |name: &str| header.iter().position(|cell| cell.text.trim() == name);
    let (raw, label) = (column("prompt"), column("label"));
    let rows: Vec<_> = records
        .filter_map(|record| {
            let cell = |at: Option<usize>| record.get(at?).map(|cell| cell.text.trim().to_owned());
            Some((cell(raw).filter(|raw| !raw.is_empty())?, cell(label)))
        })
        .collect();
    let several = rows.len() > 1;
    rows.iter()
        .zip(1..)
        .map(|((raw, label), index)| prompt(raw, label.as_deref(), index, several))
        .collect()
}

/// A tool call, a request or a sequence, written as a map.
fn call(node: &Node) -> Prompt {
    let mut call = node.to_json();
    let label = call.as_object_mut().and_then(|call| call.shift_remove("label"));
    let label = label.and_then(|label| label.as_str().map(str::to_owned));
    let head = Head { id: None, label, config: None, span: node.span };
    let text = call.to_string();
    head.prompt(PromptBody::Call(call), || text)
}
