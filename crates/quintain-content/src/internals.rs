//! Internals of a server in its output: stack traces, statements, paths of its files.

use std::path::PathBuf;

use std::sync::LazyLock;

use regex::Regex;

/// One such thing in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    Trace,
    Statement,
    Path,
}

impl Inside {
    /// By the words that suites and findings use.
    pub const WORDS: [(&'static str, Self); 3] =
        [("trace", Self::Trace), ("statement", Self::Statement), ("path", Self::Path)];

    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// Lines of stack traces, by the language that writes them.
static TRACES: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let known = [
        ("Python", r#"Traceback \(most recent call last\)|File "[^"\n]+", line \d+, in "#),
        ("Node.js", r"(?m)^\s+at [^\n]*(?:/|\\|node:)[^\n]*:\d+:\d+\)?\s*$"),
        ("Java", r"(?m)^\s+at [\w$.<>]+\([\w$]+\.(?:java|kt|scala):\d+\)"),
        (".NET", r"(?m)^\s+at [^\n]+\) in [^\n]+:line \d+"),
        ("Go", r"goroutine \d+ \[[a-z ,0-9]+\]:"),
        ("Rust", r"panicked at [^\n]*\.rs:\d+:\d+"),
        ("Ruby", r"\.rb:\d+:in [`'][^'`\n]+'"),
        ("PHP", r"\.php(?: on line |:|\()\d+"),
    ];
    known.into_iter().filter_map(|(of, regex)| Some((of, Regex::new(regex).ok()?))).collect()
});

/// Keywords in capital letters: prose has none.
static STATEMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let kinds = [
        r"\bSELECT\s[^;]{1,200}?\sFROM\s+[\w\x22`\[]+",
        r"\bINSERT\s+INTO\s+[\w\x22`\[]+",
        r"\bUPDATE\s+[\w\x22`\[.\]]+\s+SET\s+\w+",
        r"\bDELETE\s+FROM\s+[\w\x22`\[]+",
    ];
    Regex::new(&kinds.join("|")).ok()
});

static WINDOWS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\b[A-Z]:\\(?:[^\s"'\\<>|]+\\)+[^\s"'\\<>|]*"#).ok());

/// Where files of servers lie; other things that begin with a slash may be routes of an API.
const FOLDERS: [&str; 15] = [
    "/home/",
    "/root/",
    "/usr/",
    "/opt/",
    "/var/",
    "/srv/",
    "/app/",
    "/tmp/",
    "/Users/",
    "/private/",
    "/mnt/",
    "/workspace/",
    "/code/",
    "/build/",
    "/nix/",
];

/// The first line of a trace of each language that a text holds.
pub fn traces(text: &str) -> impl Iterator<Item = (&'static str, &str)> {
    TRACES.iter().filter_map(move |(of, regex)| Some((*of, regex.find(text)?.as_str())))
}

/// The first statement of a database.
pub fn statement(text: &str) -> Option<&str> {
    Some(STATEMENT.as_ref()?.find(text)?.as_str())
}

/// Absolute paths of a server.
pub fn paths(text: &str) -> Vec<String> {
    let of_server = |path: &String| FOLDERS.iter().any(|folder| path.starts_with(folder));
    let unix = paths_in(text).into_iter().map(|path| path.display().to_string()).filter(of_server);
    let windows = WINDOWS.iter().flat_map(|regex| regex.find_iter(text));
    unix.chain(windows.map(|found| found.as_str().to_owned())).collect()
}

/// Everything of the kind, with what it is.
pub fn find(text: &str) -> Vec<(Inside, String)> {
    let traces: Vec<_> =
        traces(text).map(|(_, line)| (Inside::Trace, line.trim().to_owned())).collect();
    // A trace is full of paths; they are no second thing.
    let paths = if traces.is_empty() { paths(text) } else { Vec::new() };
    let statement = statement(text).map(|found| (Inside::Statement, found.to_owned()));
    let paths = paths.into_iter().map(|path| (Inside::Path, path));
    traces.into_iter().chain(statement).chain(paths).collect()
}

/// Absolute paths in a text.
pub fn paths_in(text: &str) -> Vec<PathBuf> {
    let ends = |c: char| c.is_whitespace() || ",;()[]{}<>\"'`|".contains(c);
    let mut found = Vec::new();
    for word in text.split(ends) {
        let word = word.strip_prefix("file://").unwrap_or(word);
        let word = word.trim_end_matches(['.', ':', '!', '?']);
        let is_path = word.starts_with('/')
            && word.len() > 1
            && !word.starts_with("//")
            && word.matches('/').count() >= 2;
        let path = PathBuf::from(word);
        if is_path && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_statements_and_paths_are_told_apart() {
        let kinds =
            |text: &str| -> Vec<Inside> { find(text).into_iter().map(|(kind, _)| kind).collect() };
        let python = "Traceback (most recent call last):\n  File \"/srv/x/y.py\", line 3, in f";
        assert_eq!(kinds(python), [Inside::Trace]);
        assert_eq!(kinds("cannot open /srv/data/x.db"), [Inside::Path]);
        assert_eq!(kinds(r"cannot open C:\srv\app\x.db"), [Inside::Path]);
        assert_eq!(kinds("bad: SELECT a FROM b"), [Inside::Statement]);
        assert!(kinds("GET /api/v1/reports failed; select one from the list").is_empty());
    }

    #[test]
    fn absolute_paths_are_seen_in_prose() {
        let text = "Allowed directories: /tmp/a/b, \"/srv/data\". See http://x/y and /etc.";
        assert_eq!(paths_in(text), [PathBuf::from("/tmp/a/b"), PathBuf::from("/srv/data")]);
    }
}
