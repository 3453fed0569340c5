//! What the tests of the checks share.

use std::path::{Path, PathBuf};

use quintain_evidence::connection::Launch;

use super::{Concern, LaunchCheck, Machine, Scene};
use crate::clients::{self, Config, Scope};

/// A machine on which every user can write everything below `/open`.
pub(super) struct Nowhere;

impl Machine for Nowhere {
    fn program(&self, name: &str) -> Option<PathBuf> {
        (name == "loose").then(|| "/open/loose".into())
    }

    fn open_to_all(&self, path: &Path) -> Option<PathBuf> {
        path.starts_with("/open").then(|| path.to_owned())
    }
}

/// A configuration with the entries that the JSON says.
pub(super) fn config(client: &str, scope: Scope, servers: &str) -> Config {
    let client = clients::all().iter().find(|known| known.id == client).unwrap();
    let text = format!("{{\"mcpServers\": {servers}}}");
    let config = clients::read(client, scope, Path::new("/home/me/mcp.json"), &text);
    assert!(config.problems.is_empty(), "{:?}", config.problems);
    config
}

/// The launch of a command line.
pub(super) fn launch(line: &str) -> Launch {
    let mut words = clients::words(line).into_iter();
    let command = words.next().unwrap_or_default();
    Launch::Command { command, args: words.collect(), env: [].into(), cwd: None }
}

/// What a check says of an entry.
pub(super) fn look(check: &LaunchCheck, entry: &str) -> Vec<Concern> {
    let configs = [config("cursor", Scope::User, &format!("{{\"s\": {entry}}}"))];
    look_at(check, &configs, 0)
}

pub(super) fn look_at(check: &LaunchCheck, configs: &[Config], at: usize) -> Vec<Concern> {
    let entry = &configs[at].entries[0];
    let launch = entry.launch.as_ref().unwrap();
    let scene = Scene { config: &configs[at], entry, launch, configs, machine: &Nowhere };
    (check.look)(&scene)
}

/// The parts of what a check says of a command line.
pub(super) fn parts(check: &LaunchCheck, line: &str) -> Vec<String> {
    let words = clients::words(line);
    let entry = serde_json::json!({"command": words[0], "args": words[1..]});
    look(check, &entry.to_string()).into_iter().map(|concern| concern.part).collect()
}
