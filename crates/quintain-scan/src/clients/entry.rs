//! What an entry says of a server. Clients differ in their words, and none of them contradicts another,
//! so all of them are understood everywhere.

use std::collections::BTreeMap;
use std::path::PathBuf;

use quintain_evidence::connection::{Auth, Launch, Transport};
use quintain_source::Node;
use secrecy::SecretString;

use super::{Document, Problem, registry_package};

const ENV: [&str; 4] = ["env", "environment", "envs", "environmentVariables"];
/// Variables that are handed on by name.
const INHERITED: [&str; 2] = ["env_vars", "env_keys"];
const URL: [&str; 4] = ["url", "serverUrl", "httpUrl", "uri"];
const HEADERS: [&str; 2] = ["headers", "http_headers"];
const CWD: [&str; 2] = ["cwd", "workingDirectory"];

pub(super) struct Fields<'d> {
    pub(super) node: &'d Node,
    pub(super) document: &'d Document,
    pub(super) problems: Vec<Problem>,
}

impl<'d> Fields<'d> {
    fn complain(&mut self, node: &Node, what: impl Into<String>) {
        self.problems.push(self.document.problem(node.span, what));
    }

    /// The first of these keys that is there and not null.
    fn any(&self, keys: &[&str]) -> Option<&'d Node> {
        keys.iter().find_map(|key| self.node.get(key).filter(|node| !node.is_null()))
    }

    pub(super) fn is_disabled(&self) -> bool {
        let is = |key: &str, value: bool| self.node.get(key).and_then(Node::as_bool) == Some(value);
        is("disabled", true) || is("enabled", false)
    }

    pub(super) fn launch(&mut self) -> Option<Launch> {
        if self.node.as_map().is_none() {
            let what = format!("the entry is {}, not a map", self.node.describe());
            self.complain(self.node, what);
            return None;
        }
        if let Some(words) = registry_package::command(self.node) {
            return Some(self.command(words));
        }
        if let Some(inner) = self.any(&["transport"]).filter(|node| node.as_map().is_some()) {
            self.node = inner;
        }
        // An older form of Zed: `command: {path, args, env}`.
        let command = self.any(&["command", "cmd"]);
        if let Some(inner) = command.filter(|node| node.as_map().is_some()) {
            let mut fields = Fields { node: inner, document: self.document, problems: Vec::new() };
            let program = inner.get("path").and_then(Node::raw).map(str::to_owned);
            let launch = program.map(|program| fields.command(vec![program]));
            self.problems.append(&mut fields.problems);
            if launch.is_none() {
                self.complain(inner, "`command` has no `path`");
            }
            return launch;
        }
        match (command, self.any(&URL)) {
            (Some(command), url) => {
                if url.is_some() {
                    self.complain(command, "has a command and a URL; the command counts");
                }
                let words = self.command_words(command)?;
                Some(self.command(words))
            }
            (None, Some(url)) => self.url(url),
            (None, None) if is_part_of_goose(self.node) || self.node.get("settings").is_some() => {
                self.complain(
                    self.node,
                    "is started by the client itself or by an extension of it",
                );
                None
            }
            (None, None) => {
                self.complain(self.node, "has neither a command nor a URL");
                None
            }
        }
    }

    /// The program and the first arguments: a text, a list, or a whole line.
    fn command_words(&mut self, node: &Node) -> Option<Vec<String>> {
        let words = match (node.as_seq(), node.raw()) {
            (Some(_), _) => self.texts("command", node),
            (None, Some(line)) if is_line(line) => words(line),
            (None, Some(program)) => vec![program.to_owned()],
            (None, None) => {
                self.complain(node, format!("`command` is {}", node.describe()));
                return None;
            }
        };
        if words.first().is_none_or(|program| program.trim().is_empty()) {
            self.complain(node, "`command` is empty");
            return None;
        }
        Some(words)
    }

    fn command(&mut self, mut words: Vec<String>) -> Launch {
        let mut args = words.split_off(1);
        match self.any(&["args"]) {
            Some(node) if node.as_seq().is_some() => args.extend(self.texts("args", node)),
            Some(node) => match node.as_str() {
                Some(line) => args.extend(self::words(line)),
                None => self.complain(node, format!("`args` is {}, not a list", node.describe())),
            },
            None => {}
        }
        let mut env: BTreeMap<String, SecretString> = self.pairs(&ENV).into_iter().collect();
        for name in self.any(&INHERITED).and_then(Node::as_seq).into_iter().flatten() {
            if let Some(name) = name.raw() {
                env.entry(name.to_owned()).or_insert_with(|| format!("${{{name}}}").into());
            }
        }
        let cwd = self.any(&CWD).and_then(Node::raw).map(PathBuf::from);
        Launch::Command { command: words.swap_remove(0), args, env, cwd }
    }

    fn url(&mut self, node: &Node) -> Option<Launch> {
        let Some(url) = node.raw().map(str::trim).filter(|url| !url.is_empty()) else {
            self.complain(node, format!("the URL is {}", node.describe()));
            return None;
        };
        let mut headers = self.pairs(&HEADERS);
        for options in ["requestOptions", "requestInit"] {
            if let Some(node) = self.node.get(options) {
                let mut fields = Fields { node, document: self.document, problems: Vec::new() };
                headers.extend(fields.pairs(&HEADERS));
                self.problems.append(&mut fields.problems);
            }
        }
        for (name, variable) in
            self.node.get("env_http_headers").and_then(Node::as_map).unwrap_or_default()
        {
            if let Some(variable) = variable.raw() {
                headers.push((name.text.clone(), format!("${{{variable}}}").into()));
            }
        }
        if let Some(variable) = self.node.get("bearer_token_env_var").and_then(Node::raw) {
            headers.push(("Authorization".to_owned(), format!("Bearer ${{{variable}}}").into()));
        }
        let transport = self.transport();
        Some(Launch::Url { url: url.to_owned(), headers, auth: Auth::None, transport })
    }

    fn transport(&mut self) -> Transport {
        let Some(node) = self.any(&["type", "transport"]) else { return Transport::Auto };
        let word = node.raw().unwrap_or_default().to_ascii_lowercase().replace(['-', '_'], "");
        match word.as_str() {
            "http" | "streamablehttp" => Transport::StreamableHttp,
            "sse" => Transport::Sse,
            "remote" | "" => Transport::Auto,
            _ => {
                self.complain(node, "the type of the transport is not known");
                Transport::Auto
            }
        }
    }

    fn texts(&mut self, name: &str, node: &Node) -> Vec<String> {
        let mut texts = Vec::new();
        for item in node.as_seq().unwrap_or_default() {
            if let Some(text) = item.raw() {
                texts.push(text.to_owned());
            } else {
                let what = format!("`{name}` contains {} instead of text", item.describe());
                self.complain(item, what);
            }
        }
        texts
    }

    /// Names with values: a map, a list of `NAME=VALUE`, or a list of maps with `name` and `value`.
    fn pairs(&mut self, keys: &[&str]) -> Vec<(String, SecretString)> {
        let Some(node) = self.any(keys) else { return Vec::new() };
        let mut pairs = Vec::new();
        if let Some(entries) = node.as_map() {
            for (key, value) in entries {
                match value.raw() {
                    Some(text) => pairs.push((key.text.clone(), text.into())),
                    None if value.is_null() => pairs.push((key.text.clone(), "".into())),
                    None => {
                        let what = format!("`{}` is {}, not a text", key.text, value.describe());
                        self.complain(value, what);
                    }
                }
            }
        } else if let Some(items) = node.as_seq() {
            for item in items {
                let text = |key: &str| item.get(key).and_then(Node::raw);
                match (item.raw().and_then(|text| text.split_once('=')), text("name")) {
                    (Some((name, value)), _) => pairs.push((name.to_owned(), value.into())),
                    (None, Some(name)) => match text("value").or_else(|| text("default")) {
                        Some(value) => pairs.push((name.to_owned(), value.into())),
                        // The user is asked for it.
                        None => pairs.push((name.to_owned(), format!("${{input:{name}}}").into())),
                    },
                    (None, None) => self.complain(item, "is not `NAME=VALUE`"),
                }
            }
        } else {
            let what = format!("`{}` is {}, not a map", keys[0], node.describe());
            self.complain(node, what);
        }
        pairs
    }
}

/// Whether a command is a whole line: a plain name and something behind it. A path may hold spaces.
pub(super) fn is_line(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let first = words.next().unwrap_or_default();
    words.next().is_some() && !first.contains(['/', '\\'])
}

/// The words of a line; quotes of both kinds group.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        if quote == Some(c) {
            quote = None;
        } else if quote.is_none() && matches!(c, '"' | '\'') {
            quote = Some(c);
            word.get_or_insert_default();
        } else if quote.is_none() && c.is_whitespace() {
            words.extend(word.take());
        } else {
            word.get_or_insert_default().push(c);
        }
    }
    words.extend(word);
    words
}

/// Whether an entry is an extension that Goose itself contains.
fn is_part_of_goose(node: &Node) -> bool {
    let kind = node.get("type").and_then(Node::raw).unwrap_or_default();
    matches!(kind, "builtin" | "platform" | "frontend" | "inline_python")
}
