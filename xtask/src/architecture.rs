//! ARCHITECTURE.md is short and true: it fits two pages, a walk has few hops, and every name and path in it exists.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::Result;

/// Two printed pages.
const MAX_LINES: usize = 130;
const MAX_COLUMNS: usize = 170;
/// Of one walk.
const MAX_HOPS: usize = 15;
const PAGE: &str = "ARCHITECTURE.md";

/// `files` are the source files of the workspace.
pub(crate) fn check(root: &Path, files: &[PathBuf]) -> Result<Vec<String>> {
    let read = |path: &Path| {
        fs::read_to_string(root.join(path)).map_err(|error| format!("{}: {error}", path.display()))
    };
    let page = read(Path::new(PAGE))?;
    let is_product = |path: &&PathBuf| {
        path.starts_with("crates") && path.components().any(|part| part.as_os_str() == "src")
    };
    let mut sources = Vec::new();
    for path in files.iter().filter(is_product) {
        sources.push((path.clone(), read(path)?));
    }
    let mut complaints = size(&page);
    complaints.extend(walks(&page).iter().flat_map(|walk| wrong_hops(walk, &sources)));
    complaints.extend(missing_paths(&page, |path| root.join(path).exists()));
    Ok(complaints)
}

fn size(page: &str) -> Vec<String> {
    let lines = page.lines().count();
    let mut complaints = Vec::new();
    if lines > MAX_LINES {
        complaints.push(format!("{PAGE} has {lines} lines, at most {MAX_LINES}"));
    }
    let wide = page.lines().position(|line| line.chars().count() > MAX_COLUMNS);
    complaints.extend(wide.map(|at| format!("{PAGE}:{}: more than {MAX_COLUMNS} columns", at + 1)));
    complaints
}

/// The hops of one command, as they are written.
struct Walk<'p> {
    command: &'p str,
    hops: Vec<&'p str>,
}

/// Paragraphs that begin with a command: `` `eval`: `cli::eval::run` -> ... ``. A sentence after the last hop is no hop.
fn walks(page: &str) -> Vec<Walk<'_>> {
    let paragraphs = page.split("\n\n");
    let walks = paragraphs.filter_map(|paragraph| {
        let (command, rest) = paragraph.trim().strip_prefix('`')?.split_once("`: ")?;
        let rest = rest.split_once(". ").map_or(rest, |(walk, _)| walk);
        let hops: Vec<&str> = rest.split("->").map(str::trim).collect();
        (hops.len() > 1).then_some(Walk { command, hops })
    });
    walks.collect()
}

fn wrong_hops(walk: &Walk<'_>, sources: &[(PathBuf, String)]) -> Vec<String> {
    let Walk { command, hops } = walk;
    let mut complaints = Vec::new();
    if hops.len() > MAX_HOPS {
        let count = hops.len();
        complaints
            .push(format!("{PAGE}: the walk of `{command}` has {count} hops, at most {MAX_HOPS}"));
    }
    for name in hops.iter().flat_map(|hop| code(hop)) {
        if !name.contains('/') && !exists(name, sources) {
            complaints.push(format!(
                "{PAGE}: the walk of `{command}` names `{name}`, which does not exist"
            ));
        }
    }
    complaints
}

/// The texts in backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether something of this name is defined: its last part, in a file whose path has the modules before it, and that
/// mentions the type before it.
fn exists(name: &str, sources: &[(PathBuf, String)]) -> bool {
    let mut parts: Vec<&str> = name.split("::").collect();
    let last = parts.pop().unwrap_or_default();
    sources.iter().any(|(path, text)| {
        let is_there = |part: &&str| {
            if part.starts_with(char::is_uppercase) {
                [" {", "<", ":"].iter().any(|after| text.contains(&format!("{part}{after}")))
            } else {
                let path = path.to_string_lossy().replace("quintain-", "");
                path.split('/').any(|name| name.strip_suffix(".rs").unwrap_or(name) == *part)
            }
        };
        parts.iter().all(is_there) && defines(text, last)
    })
}

fn defines(text: &str, name: &str) -> bool {
    ["fn", "struct", "trait", "enum", "mod"].iter().any(|kind| {
        let word = format!("{kind} {name}");
        let goes_on = |next: char| next.is_alphanumeric() || next == '_';
        text.match_indices(&word).any(|(at, _)| !text[at + word.len()..].starts_with(goes_on))
    })
}

/// Paths as the page writes them: below the root, a crate, or its sources, with or without `quintain-` and `.rs`.
fn missing_paths(page: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    // Code in indented lines is a picture of the flow.
    let prose = page.lines().filter(|line| !line.starts_with("    "));
    let text = prose.collect::<Vec<_>>().join("\n");
    let is_path = |name: &&str| name.contains('/') && !name.contains(' ');
    let mut complaints = Vec::new();
    for name in code(&text).filter(is_path) {
        let name = name.trim_end_matches('/');
        let (first, rest) = name.split_once('/').unwrap_or((name, ""));
        let of_crate = first.strip_prefix("quintain-").unwrap_or(first);
        let candidates = [
            name.to_owned(),
            format!("crates/quintain-{of_crate}/{rest}"),
            format!("crates/quintain-{of_crate}/src/{rest}"),
            format!("crates/quintain/{rest}"),
            format!("crates/quintain/src/{name}"),
            format!("crates/quintain-engine/src/{name}"),
            format!("crates/quintain-serve/src/{name}"),
        ];
        let is_there = candidates.iter().any(|path| exists(path) || exists(&format!("{path}.rs")));
        if !is_there {
            complaints.push(format!("{PAGE}: there is no `{name}`"));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Vec<(PathBuf, String)> {
        [
            ("crates/quintain/src/cli/eval/mod.rs", "pub async fn run(args: Args) {}"),
            (
                "crates/quintain-engine/src/jobs/prepare.rs",
                "impl Jobs { pub async fn prepare() {} }",
            ),
            ("crates/quintain-engine/src/eval/judge.rs", "fn judged() {}"),
            ("crates/quintain-engine/src/eval/mod.rs", "mod judge;"),
        ]
        .map(|(path, text)| (PathBuf::from(path), text.to_owned()))
        .to_vec()
    }

    fn complaints(page: &str) -> Vec<String> {
        walks(page).iter().flat_map(|walk| wrong_hops(walk, &sources())).collect()
    }

    #[test]
    fn names_of_a_walk_exist() {
        let page = "Text.\n\n`eval`: `cli::eval::run` -> `Jobs::prepare`\nreads -> `eval::judge`. Then `Nothing`.\n\nMore.";
        assert_eq!(complaints(page), [""; 0]);
        assert_eq!(walks(page)[0].hops.len(), 3);
        for wrong in ["`cli::grade::run`", "`Jobs::start`", "`judge::judge`", "`jud`"] {
            let page = format!("`eval`: `cli::eval::run` -> {wrong}");
            assert_eq!(complaints(&page).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn a_walk_has_few_hops() {
        let page = |hops: usize| format!("`eval`: {}", vec!["`Jobs::prepare`"; hops].join(" -> "));
        assert_eq!(complaints(&page(MAX_HOPS)), [""; 0]);
        assert_eq!(complaints(&page(MAX_HOPS + 1)).len(), 1);
    }

    #[test]
    fn paths_exist() {
        let there = |path: &str| {
            ["crates/quintain-engine/src/store/sql.rs", "peers/hostile", "crates/quintain/src/cli"]
                .contains(&path)
        };
        let found = |page| missing_paths(page, there);
        assert_eq!(
            found("`engine/src/store/sql.rs`, `store/sql.rs`, `peers/hostile/`, `cli/`"),
            [""; 0]
        );
        assert_eq!(found("`engine/src/store/gone.rs`, `peers/kind/`").len(), 2);
        assert_eq!(found("    suite.yaml ──`a/b`──> Node"), [""; 0]);
    }

    #[test]
    fn the_page_stays_short() {
        assert_eq!(size(&"line\n".repeat(MAX_LINES)), [""; 0]);
        assert_eq!(size(&"line\n".repeat(MAX_LINES + 1)).len(), 1);
        assert_eq!(size(&"w".repeat(MAX_COLUMNS + 1)).len(), 1);
    }
}
