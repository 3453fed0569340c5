//! The spellings of a path to a file outside a folder.

use std::path::{Component, Path, PathBuf};

use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::surface::Tool;

use super::tool_actions;
use crate::attack::{Aim, Hit, TargetView};
use crate::knowledge::words;

/// More levels than the root of a server usually has. Extra `..` have no effect.
const DEEP: usize = 14;

/// One spelling of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    /// The missing check that lets the path pass.
    pub(super) fault: &'static str,
    /// The description in reports.
    pub(super) words: &'static str,
    pub(super) path: String,
}

/// Faults of a check that accepts plain paths. With one of them, other spellings of the same path prove nothing
/// more.
pub(super) const PLAIN: [&str; 3] = ["relative", "absolute", "unrestricted"];

/// Names of arguments that are the path of any file, not the name of a file in a fixed folder.
const FREE: [&str; 12] = [
    "path",
    "paths",
    "filepath",
    "file",
    "files",
    "dir",
    "directory",
    "folder",
    "uri",
    "cwd",
    "destination",
    "output",
];

/// The spellings of a path, the plain ones first.
pub(super) fn forms(target: &Path, roots: &[PathBuf]) -> Vec<Form> {
    let absolute = target.display().to_string();
    let tail = absolute.trim_start_matches('/').to_owned();
    let deep = format!("{}{tail}", "../".repeat(DEEP));
    let mut forms = Vec::new();
    let mut add = |fault, words, path| forms.push(Form { fault, words, path });
    add("relative", "relative path", deep.clone());
    add("absolute", "absolute path", absolute.clone());
    if let Some(root) = roots.first() {
        add("relative", "relative path from the root", relative(root, target));
        let up = "../".repeat(depth(root));
        let path = format!("{}/{up}{tail}", root.display().to_string().trim_end_matches('/'));
        add("dots", "`..` after the root path", path);
    }
    add("encoded", "URL-encoded", encoded(&deep));
    add("encoded", "URL-encoded twice", encoded(&deep).replace('%', "%25"));
    add("backslash", "backslashes", deep.replace('/', "\\"));
    add("stripped", "`....//`, which survives the removal of `../`", deep.replace("../", "....//"));
    add("uri", "file URI", format!("file://{absolute}"));
    forms
}

/// The path relative to a root.
pub(super) fn relative(root: &Path, target: &Path) -> String {
    let shared = root.components().zip(target.components()).take_while(|(a, b)| a == b).count();
    let up = root.components().count().saturating_sub(shared);
    let rest: PathBuf = target.components().skip(shared).collect();
    format!("{}{}", "../".repeat(up), rest.display())
}

/// The path with dots and separators percent-encoded.
pub(super) fn encoded(path: &str) -> String {
    path.replace("../", "%2e%2e%2f").replace('/', "%2f")
}

fn depth(path: &Path) -> usize {
    path.components().filter(|part| matches!(part, Component::Normal(_))).count()
}

/// The missing check that lets a form pass, by the description of the form.
pub(super) fn fault(form: &str) -> &'static str {
    let known = [
        ("relative path", "relative"),
        ("absolute path", "absolute"),
        ("`..` after", "dots"),
        ("sibling", "sibling"),
        ("symbolic link", "link"),
        ("URL-encoded", "encoded"),
        ("backslashes", "backslash"),
        ("`....//`", "stripped"),
        ("null byte", "null"),
        ("file URI", "uri"),
    ];
    known.iter().find(|(words, _)| form.starts_with(words)).map_or("", |(_, fault)| *fault)
}

/// Names of arguments with the folder that other arguments refer to.
const BASES: [&str; 7] = ["project", "workspace", "vault", "root", "base", "repo", "repository"];

/// Why a place accepts any path if no allowed folder is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Free {
    /// The user who starts the server can read and write the same files.
    ByDesign,
    /// Clients that reach the server over HTTP cannot.
    Served,
    /// Another argument names the folder that this one refers to.
    Base(String),
}

impl Free {
    /// A hit at a place that accepts any path.
    pub(super) fn hit(&self, place: &Place, verb: &str, form: &str, what: String) -> Hit {
        let hit = match self {
            Self::ByDesign => {
                let title =
                    format!("`{place}` {verb} any file; no allowed folder is declared ({form})");
                Hit::confirmed(title, what)
                    .severity(Severity::Low)
                    .note("the server declares no allowed folder, so no path is restricted")
            }
            Self::Served => {
                let title =
                    format!("`{place}` {verb} any file on the machine of the server ({form})");
                Hit::confirmed(title, what)
            }
            Self::Base(base) => {
                let title = format!(
                    "Path traversal: `{place}` {verb} files outside the folder `{base}` ({form})"
                );
                Hit::confirmed(title, what).severity(Severity::Medium)
            }
        };
        hit.fault("unrestricted")
    }
}

/// Why a place accepts any path. None if an allowed folder is declared or claimed.
pub(super) fn free(view: &TargetView<'_>, aim: &Aim, roots: &[PathBuf]) -> Option<Free> {
    let own = words(&tool_actions::last_name(aim));
    let named = own.iter().any(|word| FREE.contains(&word.as_str()))
        || matches!(aim.place, Place::Uri { .. });
    let tool = tool_actions::tool_of(view, aim);
    if !roots.is_empty() || !named || tool_actions::claims_folder(tool, &aim.schema) {
        return None;
    }
    let is_base = |words: &[String]| {
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
        has(&BASES) && (words.len() == 1 || has(&["path", "dir", "directory", "folder", "root"]))
    };
    let others = tool.and_then(Tool::properties).into_iter().flatten().map(|(name, _)| name);
    let base = others.into_iter().find(|name| is_base(&words(name)));
    Some(match base {
        _ if view.capabilities.http => Free::Served,
        Some(base) if !is_base(&own) => Free::Base(base.clone()),
        _ => Free::ByDesign,
    })
}

pub(super) fn is_free(view: &TargetView<'_>, aim: &Aim, roots: &[PathBuf]) -> bool {
    free(view, aim, roots).is_some()
}

/// Drops other spellings if nothing is checked, since they prove nothing more. Symbolic links stay: they need
/// another fix.
pub(super) fn without_spellings(mut hits: Vec<Hit>) -> Vec<Hit> {
    let is_plain = |hit: &Hit| PLAIN.contains(&hit.fault);
    let is_open = |hit: &Hit| hit.fault == "unrestricted";
    let (plain, open) = (hits.iter().any(is_plain), hits.iter().any(is_open));
    hits.retain(
        |hit| {
            if open { is_open(hit) } else { !plain || is_plain(hit) || hit.fault == "link" }
        },
    );
    hits
}

/// The path with another file name; inside the path if it is a root, since nothing may be created next to a root.
pub(super) fn renamed(path: &Path, name: &str, roots: &[PathBuf]) -> PathBuf {
    if roots.iter().any(|root| root == path) { path.join(name) } else { path.with_file_name(name) }
}

/// Whether a path is inside one of these folders.
pub(super) fn is_below(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_from_a_root_to_the_target() {
        let (root, target) = (Path::new("/srv/data/files"), Path::new("/srv/canaries/c.txt"));
        assert_eq!(relative(root, target), "../../canaries/c.txt");
        assert_eq!(relative(Path::new("/a"), target), "../srv/canaries/c.txt");
        let forms = forms(target, &[root.to_owned()]);
        let path = |words: &str| forms.iter().find(|f| f.words == words).unwrap().path.clone();
        assert_eq!(path("`..` after the root path"), "/srv/data/files/../../../srv/canaries/c.txt");
        assert!(path("URL-encoded").ends_with("%2e%2e%2fsrv%2fcanaries%2fc.txt"));
        assert!(path("URL-encoded twice").contains("%252e%252e%252f"));
        assert!(path("backslashes").ends_with("..\\srv\\canaries\\c.txt"));
    }

    #[test]
    fn another_name_stays_inside_of_the_root() {
        let roots = [PathBuf::from("/a/b")];
        assert_eq!(renamed(Path::new("/a/b/c.txt"), "d", &roots), Path::new("/a/b/d"));
        assert_eq!(renamed(Path::new("/a/b"), "d", &roots), Path::new("/a/b/d"));
    }

    #[test]
    fn a_folder_that_only_shares_a_prefix_is_not_below() {
        let roots = [PathBuf::from("/a/b")];
        assert!(is_below(Path::new("/a/b/c"), &roots));
        assert!(!is_below(Path::new("/a/bc/d"), &roots));
    }
}
