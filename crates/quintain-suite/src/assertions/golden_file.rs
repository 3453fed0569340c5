//! The file that an assertion compares with: its path, its content, and the proposed content.

use std::path::PathBuf;

use quintain_evidence::kept_file::{KeptFile, OUTSIDE};
use quintain_evidence::question::Answer;
use quintain_evidence::verdict::Verdict;
use quintain_source::{Diagnostic, is_template, wrong_type};
use serde_json::Value;

use crate::check::{Scene, Spec};

/// Maximum length of a file name that is derived from other text.
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
            let fixed = text.filter(|text| !text.is_empty() && !is_template(text));
            if fixed.is_some_and(|text| !KeptFile::new(spec.base_dir, text).is_inside()) {
                let title = "the snapshot is outside the folder of the suite";
                let diagnostic = Diagnostic::error(OUTSIDE, title);
                spec.dx.push(
                    diagnostic.at(node.span, "expected a path inside the folder of the suite"),
                );
            }
            text.map(str::to_owned)
        });
        let per_target = spec.fields.bool("perTarget", spec.dx).unwrap_or(false);
        Self { name, per_target, base_dir: spec.base_dir.to_owned() }
    }

    /// The path of the file for this case; `default` is its name if the suite gives none.
    pub(super) fn path(
        &self,
        scene: &Scene<'_>,
        default: impl FnOnce() -> String,
    ) -> Result<KeptFile, Box<Verdict>> {
        let error = |why: String| Box::new(Verdict::error(why));
        let name = match &self.name {
            None => default(),
            Some(name) if !is_template(name) => name.clone(),
            Some(name) => scene.render(name).map_err(|why| error(why.to_string()))?,
        };
        let mut file = KeptFile::new(&self.base_dir, name);
        // A variable may contain text from a target, such as `../..`.
        if !file.is_inside() {
            let shown = file.path.display();
            return Err(error(format!("`value` is outside the folder of the suite: {shown}")));
        }
        if self.per_target {
            let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
            let name = format!("{}.{}", slug(scene.target), name.unwrap_or_default());
            file.path.set_file_name(name);
        }
        Ok(file)
    }

    /// The path as messages show it.
    pub(super) fn shown(file: &KeptFile) -> String {
        file.path.strip_prefix(&file.folder).unwrap_or(&file.path).display().to_string()
    }
}

/// The content of the file that the engine read; none if the file does not exist.
pub(super) fn content(answers: &[Answer]) -> Result<Option<String>, Box<Verdict>> {
    match answers.first() {
        // Git may have changed the line endings.
        Some(Answer::Value(Value::String(text))) => Ok(Some(text.replace("\r\n", "\n"))),
        Some(Answer::Value(Value::Null)) => Ok(None),
        Some(Answer::Failed(why) | Answer::Unavailable(why)) => Err(Box::new(Verdict::error(why))),
        Some(Answer::Value(_) | Answer::Exchange(_) | Answer::Reply(_)) | None => {
            Err(Box::new(Verdict::error("the file was not read")))
        }
    }
}

/// Turns a text into a file name.
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
}
