//! The folders that a target is confined to, and whether it runs on this machine.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use quintain_evidence::connection::{Launch, McpTarget, Server};
use secrecy::ExposeSecret as _;
use url::{Host, Url};

/// Folders on the command line or in the configured environment of a started target. `here` is the working directory of
/// servers that name none.
pub fn declared(target: &McpTarget, here: &Path) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for server in &target.servers {
        let (Launch::Command { args, env, cwd, .. } | Launch::Path { args, env, cwd, .. }) =
            &server.launch
        else {
            continue;
        };
        let values = env.values().map(|value| value.expose_secret().to_owned());
        roots.extend(folders(args, values, cwd.as_deref().unwrap_or(here)));
    }
    let mut seen = HashSet::new();
    roots.retain(|root| seen.insert(root.clone()));
    roots
}

/// Arguments that are folders, and values that look like paths and are folders.
fn folders(args: &[String], values: impl Iterator<Item = String>, base: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let before = std::iter::once("").chain(args.iter().map(String::as_str));
    for (value, before) in args.iter().zip(before) {
        // `python3 -m server` names a module, even if a folder of that name exists.
        let is_plain = before != "-m" && !value.is_empty();
        found.extend(folder(&base.join(value)).filter(|_| is_plain));
    }
    for value in args.iter().cloned().chain(values) {
        let value = value.split_once('=').map_or(value.as_str(), |(_, value)| value);
        found.extend(folder(&base.join(value)).filter(|_| looks_like_path(value)));
    }
    found
}

/// Working directories of the started servers; `here` is that of servers that name none.
pub(super) fn working_folders(target: &McpTarget, here: &Path) -> Vec<PathBuf> {
    let of = |server: &Server| match &server.launch {
        Launch::Command { cwd, .. } | Launch::Path { cwd, .. } => {
            cwd.as_deref().unwrap_or(here).canonicalize().ok()
        }
        Launch::Url { .. } => None,
    };
    target.servers.iter().filter_map(of).collect()
}

fn looks_like_path(value: &str) -> bool {
    value.starts_with(['/', '.', '~']) || value.contains('/') || value.contains('\\')
}

/// A folder that exists and is neither `/` nor a top-level folder.
fn folder(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    (path.is_dir() && path.components().count() > 2).then_some(path)
}

/// Existing folders among paths that the target named.
pub(super) fn named(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().filter_map(|path| folder(path)).collect()
}

/// How and where a target is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) http: bool,
    /// Every server is on this machine.
    pub(super) is_local: bool,
    /// At least one server is on another machine.
    pub(super) is_remote: bool,
}

pub(super) fn location(target: &McpTarget) -> Location {
    let url = |launch: &Launch| match launch {
        Launch::Url { url, .. } => Some(url.clone()),
        _ => None,
    };
    let urls: Vec<String> =
        target.servers.iter().filter_map(|server| url(&server.launch)).collect();
    Location {
        http: !urls.is_empty(),
        is_local: urls.iter().all(|url| is_loopback(url)),
        is_remote: urls.iter().any(|url| is_web(url) && !is_loopback(url)),
    }
}

/// Whether a URL is one of another machine.
pub(super) fn is_on_another_machine(url: &str) -> bool {
    is_web(url) && !is_loopback(url)
}

/// Other URLs cannot be reached anyway.
fn is_web(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

fn is_loopback(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_on_the_command_line_are_roots_however_they_are_written() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for name in ["data", "server", "other"] {
            std::fs::create_dir(home.join(name)).unwrap();
        }
        let words = ["-m", "server", "data", "--root=./other", "stdio", ""].map(str::to_owned);
        let values = ["data".to_owned(), "./server".to_owned()].into_iter();
        let expected = ["data", "other", "server"].map(|name| home.join(name));
        assert_eq!(folders(&words, values, &home), expected);
    }

    #[test]
    fn only_loopback_addresses_are_here() {
        for url in ["http://127.0.0.1:1/mcp", "http://localhost/", "http://[::1]:8/"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in ["http://10.0.0.1/", "https://localhost.example.com/", "nonsense"] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
