//! The graph of modules inside each crate: who names whom. Modules that form a cycle are one module in
//! several files, so a cycle breaks the house rules, at the top of a crate and below.

mod references;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::{Path as FilePath, PathBuf},
};

use crate::Result;
use references::{Contents, Path};

/// Draws the graph of every crate among `files`, which are relative to `root`. Returns one text for each cycle.
pub(crate) fn check(root: &FilePath, files: &[PathBuf]) -> Result<Vec<String>> {
    let mut crates: BTreeMap<String, Vec<&PathBuf>> = BTreeMap::new();
    for file in files {
        if let Some(name) = crate_of(file) {
            crates.entry(name).or_default().push(file);
        }
    }
    let mut complaints = Vec::new();
    for (name, files) in crates {
        let graph = Graph::read(root, &files)?;
        for parent in graph.parents() {
            let place = [std::slice::from_ref(&name), &parent].concat().join("::");
            let cycles = graph.cycles(&parent);
            complaints.extend(
                cycles.iter().map(|cycle| format!("{place}: modules form a cycle: {cycle}")),
            );
        }
    }
    Ok(complaints)
}

/// `crates/NAME/src/...` and `xtask/src/...`, Rust only.
fn crate_of(file: &FilePath) -> Option<String> {
    let words: Vec<&str> = file.iter().filter_map(|word| word.to_str()).collect();
    let is_rust = file.extension().is_some_and(|ending| ending == "rs");
    match words.as_slice() {
        ["crates", name, "src", _, ..] | [name @ "xtask", "src", _, ..] if is_rust => {
            Some((*name).to_owned())
        }
        _ => None,
    }
}

/// The module that a file defines: the path below `src` without `mod.rs`, `lib.rs` and `main.rs`.
fn module_of(file: &FilePath) -> Path {
    let below = file.iter().skip_while(|word| *word != "src").skip(1);
    let mut path: Path = below.filter_map(|word| word.to_str()).map(str::to_owned).collect();
    if let Some(name) = path.pop().and_then(|name| name.strip_suffix(".rs").map(str::to_owned)) {
        let is_root = path.is_empty() && matches!(name.as_str(), "lib" | "main");
        if name != "mod" && !is_root {
            path.push(name);
        }
    }
    path
}

/// Where a module names another one.
#[derive(Debug)]
struct Mention {
    file: PathBuf,
    line: usize,
    text: String,
}

/// The modules of one crate.
#[derive(Debug, Default)]
struct Graph {
    /// The first place of each edge.
    edges: BTreeMap<(Path, Path), Mention>,
}

/// One cycle, ready to be shown: its modules in order, and where each names the next.
struct Cycle(Vec<(String, String, String)>);

impl std::fmt::Display for Cycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (from, _, _) in &self.0 {
            write!(f, "{from} -> ")?;
        }
        f.write_str(self.0.first().map_or("", |(from, _, _)| from))?;
        for (from, to, place) in &self.0 {
            write!(f, "\n    {from} -> {to}: {place}")?;
        }
        Ok(())
    }
}

impl Graph {
    fn read(root: &FilePath, files: &[&PathBuf]) -> Result<Self> {
        let mut sources = Vec::new();
        for file in files {
            let shown = |error: String| format!("{}: {error}", file.display());
            let text =
                fs::read_to_string(root.join(file)).map_err(|error| shown(error.to_string()))?;
            sources.push(((*file).clone(), text));
        }
        Self::of(&sources)
    }

    fn of(sources: &[(PathBuf, String)]) -> Result<Self> {
        let mut read = Vec::new();
        for (file, text) in sources {
            let module = module_of(file);
            let contents = references::read(&module, text)
                .map_err(|error| format!("{}: {error}", file.display()))?;
            read.push((module, file, text, contents));
        }
        // A file that no module declares outside of tests is code for tests.
        let mut modules: BTreeSet<Path> = BTreeSet::from([Path::new()]);
        let declared: BTreeSet<&Path> =
            read.iter().flat_map(|(_, _, _, contents)| &contents.modules).collect();
        // Parents come before their children, since a shorter path sorts first.
        for module in declared {
            if modules.contains(&module[..module.len() - 1]) {
                modules.insert(module.clone());
            }
        }
        let live = || read.iter().filter(|(module, ..)| modules.contains(module));
        let imports = Imports::of(live().map(|(_, _, _, contents)| contents));
        let mut graph = Self::default();
        for (_, file, text, contents) in live() {
            for reference in &contents.references {
                let target = imports.follow(&reference.to, &modules);
                let Some(to) = longest_module(&target, &modules) else { continue };
                let line = text.lines().nth(reference.line.saturating_sub(1)).unwrap_or_default();
                let place = || Mention {
                    file: (*file).clone(),
                    line: reference.line,
                    text: line.trim().to_owned(),
                };
                let from = longest_module(&reference.from, &modules).unwrap_or_default();
                graph.edges.entry((from, to)).or_insert_with(place);
            }
        }
        Ok(graph)
    }

    /// Modules that have modules below them, the root first.
    fn parents(&self) -> BTreeSet<Path> {
        let ends = self.edges.keys().flat_map(|(from, to)| [from, to]);
        ends.flat_map(|path| (0..path.len()).map(|length| path[..length].to_vec())).collect()
    }

    /// Cycles among the modules right below `parent`, one for each knot.
    fn cycles(&self, parent: &[String]) -> Vec<Cycle> {
        let mut edges: BTreeMap<(&str, &str), &Mention> = BTreeMap::new();
        for ((from, to), place) in &self.edges {
            let child = |path: &'_ Path| path.starts_with(parent) && path.len() > parent.len();
            if child(from) && child(to) && from[parent.len()] != to[parent.len()] {
                edges.entry((&from[parent.len()], &to[parent.len()])).or_insert(place);
            }
        }
        let nodes: BTreeSet<&str> = edges.keys().map(|(from, _)| *from).collect();
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let mut cycles = Vec::new();
        for node in nodes {
            if known.contains(node) {
                continue;
            }
            let Some(cycle) = shortest_cycle(node, &edges) else { continue };
            known.extend(knot(node, &edges));
            let steps = cycle.iter().zip(cycle.iter().cycle().skip(1));
            cycles.push(Cycle(
                steps
                    .map(|(from, to)| {
                        let place = edges.get(&(*from, *to)).map_or_else(String::new, |place| {
                            format!("{}:{}: {}", place.file.display(), place.line, place.text)
                        });
                        ((*from).to_owned(), (*to).to_owned(), place)
                    })
                    .collect(),
            ));
        }
        cycles
    }
}

type Edges<'a, 'b> = BTreeMap<(&'a str, &'a str), &'b Mention>;

/// The nodes of the shortest way from `start` back to it.
fn shortest_cycle<'a>(start: &'a str, edges: &Edges<'a, '_>) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(node) = open.pop_front() {
        for &(from, to) in edges.keys().filter(|(from, _)| *from == node) {
            if to == start {
                let mut way = vec![from];
                while let Some(&earlier) = way.last().and_then(|last| before.get(*last)) {
                    way.push(earlier);
                }
                way.reverse();
                return Some(way);
            }
            if !before.contains_key(to) {
                before.insert(to, from);
                open.push_back(to);
            }
        }
    }
    None
}

/// All nodes that can be reached from `start` and reach it again.
fn knot<'a>(start: &'a str, edges: &Edges<'a, '_>) -> BTreeSet<&'a str> {
    let reach = |forwards: bool| {
        let mut seen = BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            for &(from, to) in edges.keys() {
                let (here, there) = if forwards { (from, to) } else { (to, from) };
                if here == node && seen.insert(there) {
                    open.push(there);
                }
            }
        }
        seen
    };
    reach(true).intersection(&reach(false)).copied().collect()
}

fn longest_module(path: &[String], modules: &BTreeSet<Path>) -> Option<Path> {
    (0..=path.len())
        .rev()
        .map(|length| &path[..length])
        .find(|path| modules.contains(*path))
        .map(<[_]>::to_vec)
}

/// Names that modules import and thereby pass on, such as `pub use node::Node;` in a `lib.rs`.
#[derive(Default)]
struct Imports(BTreeMap<Path, Path>);

impl Imports {
    fn of<'a>(contents: impl Iterator<Item = &'a Contents>) -> Self {
        let imports = contents.flat_map(|contents| &contents.imports);
        Self(
            imports
                .map(|(module, name, from)| {
                    let mut path = module.clone();
                    path.push(name.clone());
                    (path, from.clone())
                })
                .collect(),
        )
    }

    /// Where a path leads once the names on its way are looked up.
    fn follow(&self, path: &[String], modules: &BTreeSet<Path>) -> Path {
        let mut path = path.to_vec();
        // Names can be imported in circles, which the compiler refuses and a checker survives.
        for _ in 0..8 {
            let length = (1..=path.len()).find(|&length| {
                !modules.contains(&path[..length]) && self.0.contains_key(&path[..length])
            });
            let Some(length) = length else { break };
            let Some(from) = self.0.get(&path[..length]) else { break };
            path = [from.as_slice(), &path[length..]].concat();
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(files: &[(&str, &str)]) -> Graph {
        let sources: Vec<(PathBuf, String)> = files
            .iter()
            .map(|(file, text)| (PathBuf::from(format!("crates/c/src/{file}")), (*text).to_owned()))
            .collect();
        Graph::of(&sources).expect("readable code")
    }

    fn cycles(files: &[(&str, &str)]) -> Vec<String> {
        graph(files).cycles(&[]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn one_direction_is_no_cycle() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b/mod.rs", "mod c; pub struct B;"),
            ("b/c.rs", "use super::B;"),
        ];
        assert_eq!(cycles(&files), Vec::<String>::new());
    }

    #[test]
    fn a_cycle_is_named_with_one_line_for_each_edge() {
        let files = [
            ("main.rs", "mod a; mod b; mod c; fn main() {}"),
            ("a.rs", "//! First.\nuse crate::b::B;"),
            ("b.rs", "fn f() { super::c::d(); }"),
            ("c/mod.rs", "mod d;"),
            ("c/d.rs", "use super::super::a;"),
        ];
        let expected = "a -> b -> c -> a\n    \
            a -> b: crates/c/src/a.rs:2: use crate::b::B;\n    \
            b -> c: crates/c/src/b.rs:1: fn f() { super::c::d(); }\n    \
            c -> a: crates/c/src/c/d.rs:1: use super::super::a;";
        assert_eq!(cycles(&files), [expected]);
    }

    #[test]
    fn a_name_that_the_root_passes_on_belongs_to_the_module_it_comes_from() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::{A, x::Deep};"),
            ("a/mod.rs", "mod x; pub use x::Other; use crate::b::B;"),
            ("a/x.rs", ""),
            ("b.rs", "use crate::Deep; pub struct B;"),
        ];
        let found = cycles(&files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("a -> b -> a"), "{found:?}");
    }

    #[test]
    fn tests_may_look_wherever_they_want() {
        let files = [
            ("lib.rs", "mod a; mod b; #[cfg(test)] mod fixture;"),
            ("a.rs", "#[cfg(test)] mod tests;"),
            ("a/tests.rs", "use crate::b::B;"),
            ("b.rs", "use crate::a::A; #[cfg(test)] mod tests { use crate::fixture::F; }"),
            ("fixture.rs", "use crate::b::B;"),
        ];
        assert_eq!(cycles(&files), Vec::<String>::new());
    }

    #[test]
    fn each_knot_is_shown_once() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod d; mod e;"),
            ("a.rs", "use crate::b::X; use crate::d::X as Y;"),
            ("b.rs", "use crate::{a::X, c::Y};"),
            ("c.rs", "use crate::b::X;"),
            ("d.rs", "use crate::e::X;"),
            ("e.rs", "use crate::d::X;"),
        ];
        let found = cycles(&files);
        let shown: Vec<&str> = found.iter().filter_map(|cycle| cycle.lines().next()).collect();
        assert_eq!(shown, ["a -> b -> a", "d -> e -> d"]);
    }

    #[test]
    fn cycles_below_a_module_are_found_there_and_not_above() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b; mod c;"),
            ("a/b.rs", "use super::c::X;"),
            ("a/c.rs", "use crate::a::b::Y;"),
        ];
        let graph = graph(&files);
        assert!(graph.cycles(&[]).is_empty());
        assert_eq!(graph.parents(), BTreeSet::from([vec![], vec!["a".to_owned()]]));
        assert_eq!(graph.cycles(&["a".to_owned()]).len(), 1);
    }

    #[test]
    fn only_sources_of_the_workspace_are_drawn() {
        let of = |file: &str| crate_of(FilePath::new(file));
        assert_eq!(of("crates/quintain-wire/src/rpc/mod.rs"), Some("quintain-wire".to_owned()));
        assert_eq!(of("xtask/src/main.rs"), Some("xtask".to_owned()));
        assert_eq!(of("crates/quintain/tests/it/main.rs"), None);
        assert_eq!(of("crates/quintain-report/src/page.js"), None);
    }
}
