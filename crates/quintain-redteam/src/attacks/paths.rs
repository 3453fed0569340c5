//! How a path that leads out of a folder can be written.

use std::path::{Component, Path, PathBuf};

use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::surface::Tool;

use super::tool_actions;
use crate::attack::{Aim, Hit, TargetView};
use crate::knowledge::words;

/// Deeper folders than this are hardly ever the root of a server; superfluous dots do no harm.
const DEEP: usize = 14;

/// One way to write a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    /// What has to be mended so that it is refused.
    pub(super) fault: &'static str,
    /// In words.
    pub(super) words: &'static str,
    pub(super) path: String,
}

/// Faults of a check that lets plain paths through. Where one of them is, other spellings of the same
/// path say nothing new.
pub(super) const PLAIN: [&str; 3] = ["relative", "absolute", "unrestricted"];

/// Names of arguments that are a path of any file, not the name of one in some folder.
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

/// The ways to write a path that a server does not expect, the plain ones first.
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
        add("dots", "dots behind the path of the root", path);
    }
    add("encoded", "URL-encoded", encoded(&deep));
    add("encoded", "URL-encoded twice", encoded(&deep).replace('%', "%25"));
    add("backslash", "backslashes", deep.replace('/', "\\"));
    add("stripped", "dots that are left when dots are removed", deep.replace("../", "....//"));
    add("uri", "file URI", format!("file://{absolute}"));
    forms
}

/// The same path as it is written from inside a root.
pub(super) fn relative(root: &Path, target: &Path) -> String {
    let shared = root.components().zip(target.components()).take_while(|(a, b)| a == b).count();
    let up = root.components().count().saturating_sub(shared);
    let rest: PathBuf = target.components().skip(shared).collect();
    format!("{}{}", "../".repeat(up), rest.display())
}

/// Dots and separators as percent signs.
pub(super) fn encoded(path: &str) -> String {
    path.replace("../", "%2e%2e%2f").replace('/', "%2f")
}

fn depth(path: &Path) -> usize {
    path.components().filter(|part| matches!(part, Component::Normal(_))).count()
}

/// What has to be mended so that a form is refused, by its words.
pub(super) fn fault(form: &str) -> &'static str {
    let known = [
        ("relative path", "relative"),
        ("absolute path", "absolute"),
        ("dots behind", "dots"),
        ("sibling", "sibling"),
        ("symbolic link", "link"),
        ("URL-encoded", "encoded"),
        ("backslashes", "backslash"),
        ("dots that are left", "stripped"),
        ("null byte", "null"),
        ("file URI", "uri"),
    ];
    known.iter().find(|(words, _)| form.starts_with(words)).map_or("", |(_, fault)| *fault)
}

/// Names of arguments that say which folder the others are about.
const BASES: [&str; 7] = ["project", "workspace", "vault", "root", "base", "repo", "repository"];

/// Why any path may be taken where nothing is said of a folder that a place is confined to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Free {
    /// Whoever starts the server may read and write the same files.
    ByDesign,
    /// Whoever reaches the server may not.
    Served,
    /// Another argument names the folder that this one is about.
    Base(String),
}

impl Free {
    /// A hit on a place that takes any path.
    pub(super) fn hit(&self, place: &Place, verb: &str, form: &str, what: String) -> Hit {
        let hit = match self {
            Self::ByDesign => {
                let title = format!("{place} {verb} any file; no folder is declared ({form})");
                Hit::confirmed(title, what).severity(Severity::Low).note(
                    "the server declares no folder that it is confined to: unrestricted by design",
                )
            }
            Self::Served => {
                Hit::confirmed(format!("{place} {verb} any file of its machine ({form})"), what)
            }
            Self::Base(base) => {
                let title =
                    format!("{place} {verb} outside of the folder that {base} names ({form})");
                Hit::confirmed(title, what).severity(Severity::Medium)
            }
        };
        hit.fault("unrestricted")
    }
}

/// Whether nothing is said of a folder that this place is confined to.
pub(super) fn free(field: &TargetView<'_>, aim: &Aim, roots: &[PathBuf]) -> Option<Free> {
    let own = words(&tool_actions::last_name(aim));
    let named = own.iter().any(|word| FREE.contains(&word.as_str()))
        || matches!(aim.place, Place::Uri { .. });
    let tool = tool_actions::tool_of(field, aim);
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
        _ if field.powers.http => Free::Served,
        Some(base) if !is_base(&own) => Free::Base(base.clone()),
        _ => Free::ByDesign,
    })
}

pub(super) fn is_free(field: &TargetView<'_>, aim: &Aim, roots: &[PathBuf]) -> bool {
    free(field, aim, roots).is_some()
}

/// Where nothing is checked, other spellings say nothing new; a link is a matter of its own.
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

/// Another name at the place of a path; inside of it if it is a root, since beside it nothing may be made.
pub(super) fn renamed(path: &Path, name: &str, roots: &[PathBuf]) -> PathBuf {
    if roots.iter().any(|root| root == path) { path.join(name) } else { path.with_file_name(name) }
}

/// Whether a path is below one of these folders.
pub(super) fn is_below(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_from_a_root_to_the_target() {
        let (root, target) = (Path::new("/srv/data/files"), Path::new("/srv/ground/c.txt"));
        assert_eq!(relative(root, target), "../../ground/c.txt");
        assert_eq!(relative(Path::new("/a"), target), "../srv/ground/c.txt");
        let forms = forms(target, &[root.to_owned()]);
        let path = |words: &str| forms.iter().find(|f| f.words == words).unwrap().path.clone();
        assert_eq!(
            path("dots behind the path of the root"),
            "/srv/data/files/../../../srv/ground/c.txt"
        );
        assert!(path("URL-encoded").ends_with("%2e%2e%2fsrv%2fground%2fc.txt"));
        assert!(path("URL-encoded twice").contains("%252e%252e%252f"));
        assert!(path("backslashes").ends_with("..\\srv\\ground\\c.txt"));
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
