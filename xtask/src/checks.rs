//! House rules that no compiler checks: who may depend on whom, licences, file sizes, leftovers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{Result, architecture, module_graph, stage::Note, workspace::Workspace};

const PURE: &[&str] =
    &["quintain-source", "quintain-script", "quintain-content", "quintain-evidence"];
/// What judges: it may also ask for the opinion of a model.
const JUDGING: &[&str] = &[
    "quintain-source",
    "quintain-script",
    "quintain-content",
    "quintain-evidence",
    "quintain-judge",
];
const ENGINE: &[&str] = &[
    "quintain-source",
    "quintain-script",
    "quintain-content",
    "quintain-evidence",
    "quintain-judge",
    "quintain-suite",
    "quintain-redteam",
    "quintain-scan",
    "quintain-grade",
    "quintain-wire",
    "quintain-llm",
    "quintain-observe",
];
const SERVE: &[&str] = &[
    "quintain-source",
    "quintain-content",
    "quintain-evidence",
    "quintain-judge",
    "quintain-suite",
    "quintain-redteam",
    "quintain-scan",
    "quintain-grade",
    "quintain-wire",
    "quintain-engine",
    "quintain-report",
];
/// The Python package is a client of the engine and of the command line.
const PYTHON: &[&str] = &[
    "quintain",
    "quintain-engine",
    "quintain-evidence",
    "quintain-grade",
    "quintain-judge",
    "quintain-source",
];
/// Rooms of the workspace and the rooms they may look into. A crate that is not listed may not exist.
const ROOMS: &[(&str, &[&str])] = &[
    ("quintain-source", &[]),
    ("quintain-wire", &[]),
    ("quintain-observe", &[]),
    ("quintain-demo", &[]),
    ("quintain-script", &[]),
    ("quintain-content", &["quintain-source", "quintain-script"]),
    ("quintain-evidence", &["quintain-source", "quintain-script", "quintain-content"]),
    // Siblings: none of them knows another.
    ("quintain-judge", &["quintain-content", "quintain-evidence"]),
    ("quintain-suite", JUDGING),
    ("quintain-redteam", JUDGING),
    ("quintain-scan", PURE),
    ("quintain-grade", JUDGING),
    ("quintain-llm", &["quintain-source", "quintain-content"]),
    ("quintain-report", &["quintain-source", "quintain-content", "quintain-evidence"]),
    ("quintain-engine", ENGINE),
    ("quintain-serve", SERVE),
    ("quintain-python", PYTHON),
    // The binary may use every room, which `may_depend` knows; xtask and the benches stay outside.
    ("xtask", &[]),
];

/// Neither an async runtime nor a network client, however far away.
const PURE_ROOMS: &[&str] = &[
    "quintain-source",
    "quintain-script",
    "quintain-content",
    "quintain-evidence",
    "quintain-judge",
    "quintain-suite",
    "quintain-redteam",
    "quintain-scan",
    "quintain-grade",
    "quintain-report",
];
const PURE_IS_FREE_OF: &[&str] = &["tokio", "reqwest", "hyper"];
const FORBIDDEN_CRATES: &[&str] = &["aws-lc-sys", "aws-lc-rs", "openssl-sys"];
const MAX_LINES: usize = 800;
/// Spelled in two halves, so that this file does not accuse itself.
const LEFTOVERS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Calls that write files or create temporary folders, where another user could have prepared a link or could read.
/// Only few files may make them; all other code uses `confined` and `planted`.
const GUARDED_CALLS: &[(&str, &[&str])] = &[
    (
        "temp_dir()",
        &[
            "crates/quintain-engine/src/planted/private.rs",
            "crates/quintain-engine/src/redteam/canary_files.rs",
        ],
    ),
    (".tempdir()", &["crates/quintain-demo/src/store/mod.rs"]),
    ("tempfile::tempdir()", &[]),
    ("TempDir::new()", &[]),
];
/// The same, in the room that works in folders of targets and suites.
const GUARDED_WRITES: &[(&str, &[&str])] = &[
    ("fs::write(", &["redteam/canary_files.rs", "redteam/canary_files/project.rs"]),
    ("File::create(", &[]),
    ("create_dir_all(", &[]),
    ("remove_dir_all(", &[]),
];

pub(crate) fn run(workspace: &Workspace) -> Result<Note> {
    let metadata = workspace.metadata(&["--filter-platform", &Workspace::host()?])?;
    let graph = Graph::read(&metadata)?;
    let mut complaints = direction(&graph.workspace_edges());
    complaints.extend(purity(&graph));
    complaints.extend(crates(&graph));
    let files = source_files(workspace)?;
    for file in &files {
        let text = fs::read_to_string(workspace.root.join(file))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        complaints.extend(source(file, &text));
    }
    complaints.extend(module_graph::check(&workspace.root, &files)?);
    complaints.extend(architecture::check(&workspace.root, &files)?);
    if complaints.is_empty() {
        let note = format!("{} crates, {} source files", graph.packages.len(), files.len());
        println!("{note}: fine");
        return Ok(Some(note));
    }
    for complaint in &complaints {
        println!("- {complaint}");
    }
    Err(format!("{} rule(s) broken", complaints.len()))
}

struct Package {
    name: String,
    member: bool,
    license: Option<String>,
    /// Package ids this one needs to be built, without those of its tests.
    needs: Vec<String>,
}

struct Graph {
    packages: BTreeMap<String, Package>,
}

impl Graph {
    fn read(metadata: &Value) -> Result<Self> {
        let members: BTreeSet<&str> =
            list(&metadata["workspace_members"]).filter_map(Value::as_str).collect();
        let mut packages = BTreeMap::new();
        for node in list(&metadata["resolve"]["nodes"]) {
            let id = node["id"].as_str().ok_or("a package without id")?;
            let needs = list(&node["deps"])
                .filter(|dep| list(&dep["dep_kinds"]).any(|kind| kind["kind"] != "dev"))
                .filter_map(|dep| dep["pkg"].as_str().map(str::to_owned))
                .collect();
            let member = members.contains(id);
            let empty = Package { name: String::new(), member, license: None, needs };
            packages.insert(id.to_owned(), empty);
        }
        for facts in list(&metadata["packages"]) {
            let Some(package) = facts["id"].as_str().and_then(|id| packages.get_mut(id)) else {
                continue;
            };
            facts["name"].as_str().unwrap_or_default().clone_into(&mut package.name);
            let stated = facts["license"].as_str().or(facts["license_file"].as_str());
            package.license = stated.map(str::to_owned);
        }
        Ok(Self { packages })
    }

    fn workspace_edges(&self) -> Vec<(&str, &str)> {
        let mut edges = Vec::new();
        for package in self.packages.values().filter(|package| package.member) {
            // A room without neighbours is still checked for being a known room.
            edges.push((package.name.as_str(), ""));
            for needed in package.needs.iter().filter_map(|id| self.packages.get(id)) {
                if needed.member {
                    edges.push((package.name.as_str(), needed.name.as_str()));
                }
            }
        }
        edges
    }

    fn reachable(&self, start: &str) -> BTreeSet<&str> {
        let first = self.packages.iter().find(|(_, package)| package.name == start);
        let mut open: Vec<&str> = first.map(|(id, _)| id.as_str()).into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            let Some(package) = self.packages.get(id) else { continue };
            if seen.insert(package.name.as_str()) {
                open.extend(package.needs.iter().map(String::as_str));
            }
        }
        seen
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn direction(edges: &[(&str, &str)]) -> Vec<String> {
    let mut complaints = Vec::new();
    for &(from, to) in edges {
        let known = from == "quintain" || ROOMS.iter().any(|(room, _)| *room == from);
        if to.is_empty() {
            if !known {
                complaints.push(format!("{from} is a new room: add it to ROOMS in xtask"));
            }
        } else if known && !may_depend(from, to) {
            complaints.push(format!("{from} must not depend on {to}"));
        }
    }
    complaints
}

fn may_depend(from: &str, to: &str) -> bool {
    let rooms = ROOMS.iter().find(|(room, _)| *room == from);
    (from == "quintain" && to != "xtask") || rooms.is_some_and(|(_, allowed)| allowed.contains(&to))
}

fn purity(graph: &Graph) -> Vec<String> {
    let mut complaints = Vec::new();
    for room in PURE_ROOMS {
        let reached = graph.reachable(room);
        let wrong = PURE_IS_FREE_OF.iter().filter(|name| reached.contains(**name));
        complaints.extend(wrong.map(|name| format!("{room} reaches {name}: it must stay pure")));
    }
    complaints
}

fn crates(graph: &Graph) -> Vec<String> {
    let mut complaints = Vec::new();
    for Package { name, license, .. } in graph.packages.values() {
        if FORBIDDEN_CRATES.contains(&name.as_str()) {
            complaints.push(format!("{name} must not be in the dependency tree"));
        }
        match license {
            None => complaints.push(format!("{name} states no licence")),
            Some(license) if needs_gpl(license) => {
                complaints.push(format!("{name} is under {license}"));
            }
            Some(_) => {}
        }
    }
    complaints
}

/// Whether every alternative of a licence expression is of the GPL family.
fn needs_gpl(license: &str) -> bool {
    license.replace('/', " OR ").split(" OR ").all(|alternative| alternative.contains("GPL"))
}

fn source(file: &Path, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let count = text.lines().count();
    if count > MAX_LINES {
        complaints.push(format!("{} has {count} lines, at most {MAX_LINES}", file.display()));
    }
    complaints.extend(guarded_calls(file, text));
    for (number, line) in text.lines().enumerate() {
        if let Some(word) = leftover(line) {
            complaints.push(format!("{}:{}: leftover {word}", file.display(), number + 1));
        }
    }
    complaints
}

/// Calls outside of the files that may make them. Tests may do what they want.
fn guarded_calls(file: &Path, text: &str) -> Vec<String> {
    let shown = file.display().to_string();
    let is_rust = file.extension().is_some_and(|ending| ending == "rs");
    let is_product = is_rust && shown.starts_with("crates/") && shown.contains("/src/");
    if !is_product || shown.contains("/tests") {
        return Vec::new();
    }
    let code = text.split("\nmod tests {").next().unwrap_or_default();
    let engine = shown.strip_prefix("crates/quintain-engine/src/");
    let guarded =
        GUARDED_CALLS.iter().map(|(call, allowed)| (*call, allowed.contains(&shown.as_str())));
    let writes = GUARDED_WRITES
        .iter()
        .filter_map(|(call, allowed)| Some((*call, allowed.contains(&engine?))));
    let forbidden: Vec<&str> =
        guarded.chain(writes).filter(|(_, allowed)| !allowed).map(|(call, _)| call).collect();
    let mut complaints = Vec::new();
    for (number, line) in code.lines().enumerate() {
        for call in forbidden.iter().filter(|call| line.contains(**call)) {
            let place = format!("{shown}:{}", number + 1);
            complaints
                .push(format!("{place}: {call} here; use `confined` or `planted` of the engine"));
        }
    }
    complaints
}

/// Finds a marker of unfinished work in a comment; the same word in data is allowed.
fn leftover(line: &str) -> Option<&'static str> {
    let marks = ["//", "# ", "/*", "* "];
    let at = marks.iter().filter_map(|mark| line.find(mark)).min()?;
    let comment = &line[at..];
    let mut words = comment.split(|character: char| !character.is_alphanumeric());
    words.find_map(|word| LEFTOVERS.iter().find(|leftover| **leftover == word).copied())
}

fn source_files(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let is_source = |path: &PathBuf| {
        let kind = path.extension().and_then(|extension| extension.to_str());
        matches!(kind, Some("rs" | "py" | "mjs" | "js" | "ts" | "sh"))
    };
    Ok(workspace.files()?.into_iter().filter(is_source).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn edges_along_the_plan_are_allowed() {
        let plan = [
            ("quintain-suite", "quintain-source"),
            ("quintain-grade", "quintain-judge"),
            ("quintain-engine", "quintain-redteam"),
            ("quintain-engine", "quintain-wire"),
            ("quintain-engine", "quintain-observe"),
            ("quintain-report", "quintain-evidence"),
            ("quintain-serve", "quintain-engine"),
            ("quintain-serve", "quintain-report"),
            ("quintain", "quintain-serve"),
            ("quintain", "quintain-demo"),
        ];
        assert_eq!(direction(&plan), Vec::<String>::new());
    }

    #[test]
    fn edges_against_the_plan_are_named() {
        let against = [
            ("quintain-suite", "quintain-redteam"),
            ("quintain-evidence", "quintain-suite"),
            ("quintain-evidence", "quintain-judge"),
            ("quintain-judge", "quintain-grade"),
            ("quintain-wire", "quintain-source"),
            ("quintain-demo", "quintain-evidence"),
            ("quintain-engine", "quintain-report"),
            ("quintain-report", "quintain-engine"),
            ("quintain-engine", "quintain"),
            ("quintain", "xtask"),
        ];
        assert_eq!(direction(&against).len(), against.len());
    }

    #[test]
    fn an_unknown_room_is_reported_once() {
        let edges = [("quintain-attic", ""), ("quintain-attic", "quintain-evidence")];
        assert_eq!(direction(&edges).len(), 1);
    }

    fn graph(core_needs: &str, kind: &Value) -> Graph {
        let metadata = json!({
            "workspace_members": ["core"],
            "packages": [
                {"id": "core", "name": "quintain-suite", "license": "Apache-2.0"},
                {"id": "middle", "name": "middle", "license": "MIT"},
                {"id": "tokio", "name": "tokio", "license": "MIT"},
            ],
            "resolve": {"nodes": [
                {"id": "core", "deps": [{"pkg": core_needs, "dep_kinds": [{"kind": kind}]}]},
                {"id": "middle", "deps": [{"pkg": "tokio", "dep_kinds": [{"kind": null}]}]},
                {"id": "tokio", "deps": []},
            ]},
        });
        Graph::read(&metadata).expect("a readable graph")
    }

    #[test]
    fn core_may_not_reach_a_runtime_through_others_but_its_tests_may() {
        assert_eq!(purity(&graph("middle", &Value::Null)).len(), 1);
        assert!(purity(&graph("middle", &json!("dev"))).is_empty());
    }

    #[test]
    fn a_gpl_alternative_is_fine_and_a_gpl_duty_is_not() {
        assert!(!needs_gpl("MIT OR GPL-3.0") && !needs_gpl("MIT/Apache-2.0"));
        assert!(needs_gpl("GPL-3.0-only") && needs_gpl("LGPL-3.0 OR AGPL-3.0"));
    }

    #[test]
    fn writing_is_for_few_files() {
        let write = "fs::write(path, text)?;\n#[cfg(test)]\nmod tests {\n fs::write(p, t);\n}\n";
        let complaints = |file: &str| guarded_calls(Path::new(file), write).len();
        assert_eq!(complaints("crates/quintain-engine/src/redteam/plan.rs"), 1);
        assert_eq!(complaints("crates/quintain-engine/src/redteam/canary_files.rs"), 0);
        assert_eq!(complaints("crates/quintain-engine/src/store/tests/mod.rs"), 0);
        let temporary = "let folder = tempfile::tempdir()?;\n";
        assert_eq!(guarded_calls(Path::new("crates/quintain/src/cli/call.rs"), temporary).len(), 1);
    }

    #[test]
    fn leftovers_count_in_comments_only() {
        let word = LEFTOVERS[0];
        assert!(leftover(&format!("let x = 1; // {word}: later")).is_some());
        assert!(leftover(&format!("let x = \"{word}\";")).is_none());
        assert!(leftover(&format!("// a {word}S list")).is_none());
    }
}
