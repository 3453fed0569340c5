//! The file that an assertion compares with: where it lies, what is in it, what should be.

use std::path::{Component, Path, PathBuf};

use quintain_source::{is_template, wrong_type};
use serde_json::Value;

use crate::check::{Scene, Spec};
use crate::question::Answer;
use crate::verdict::{Proposal, Verdict};

/// Characters of a name made from other text.
const MAX_NAME: usize = 80;

/// `value` and `perTarget` of an assertion that keeps a file.
pub(super) struct GoldenFile {
    /// As written; may contain templates.
    name: Option<String>,
    per_target: bool,
    base_dir: PathBuf,
}

impl GoldenFile {
    pub(super) fn read(spec: &mut Spec<'_, '_>) -> Self {
        let node = spec.fields.get("value");
        let name = node.and_then(|node| {
            let text = node.raw().map(|text| text.strip_prefix("file://").unwrap_or(text));
            if text.is_none_or(str::is_empty) {
                wrong_type("value", "the path of a file", node, spec.dx);
            }
            text.map(str::to_owned)
        });
        let per_target = spec.fields.bool("perTarget", spec.dx).unwrap_or(false);
        Self { name, per_target, base_dir: spec.base_dir.to_owned() }
    }

    /// Where the file lies for this case; `default` names it if the suite does not.
    pub(super) fn path(
        &self,
        scene: &Scene<'_>,
        default: impl FnOnce() -> String,
    ) -> Result<PathBuf, Box<Verdict>> {
        let error = |why: String| Box::new(Verdict::error(why));
        let name = match &self.name {
            None => default(),
            Some(name) if !is_template(name) => name.clone(),
            Some(name) => {
                let filled = scene.render(name).map_err(|why| error(why.to_string()))?;
                // Variables may hold what a target said.
                if !stays_below(Path::new(&filled)) {
                    return Err(error(format!("`value` leads out of the folder: {filled}")));
                }
                filled
            }
        };
        let mut path: PathBuf = self.base_dir.join(name).components().collect();
        if self.per_target {
            let file = path.file_name().map(|name| name.to_string_lossy().into_owned());
            path.set_file_name(format!("{}.{}", slug(scene.target), file.unwrap_or_default()));
        }
        Ok(path)
    }

    /// How messages name the file.
    pub(super) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.base_dir).unwrap_or(path).display().to_string()
    }
}

fn stays_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// What the engine found in the file; none if there is no such file.
pub(super) fn content(answers: &[Answer]) -> Result<Option<String>, Box<Verdict>> {
    match answers.first() {
        // Git may have changed the line ends.
        Some(Answer::Value(Value::String(text))) => Ok(Some(text.replace("\r\n", "\n"))),
        Some(Answer::Value(Value::Null)) => Ok(None),
        Some(Answer::Failed(why) | Answer::Unavailable(why)) => Err(Box::new(Verdict::error(why))),
        Some(Answer::Value(_) | Answer::Exchange(_)) | None => {
            Err(Box::new(Verdict::error("the file was not read")))
        }
    }
}

impl Verdict {
    /// The file should hold this text from now on.
    pub(super) fn proposing(self, path: PathBuf, text: String, fresh: bool) -> Self {
        Self { proposal: Some(Proposal { path, text, fresh }), ..self }
    }
}

/// A text as the name of a file.
pub(super) fn slug(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.chars().count() == MAX_NAME {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "unnamed".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_names_of_files() {
        assert_eq!(slug("A user: can pay!"), "a-user-can-pay");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("Überweisung"), "überweisung");
        assert_eq!(slug("..."), "unnamed");
        assert_eq!(slug(&"a".repeat(500)).len(), MAX_NAME);
    }

    #[test]
    fn filled_in_names_stay_in_the_folder() {
        assert!(stays_below(Path::new("a/b.snap")));
        assert!(!stays_below(Path::new("a/../../b")));
        assert!(!stays_below(Path::new("/etc/passwd")));
    }
}
