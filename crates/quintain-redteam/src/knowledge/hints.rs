//! Values that exist where the target runs, and which of them fit an argument.

use std::path::{Path, PathBuf};

use quintain_evidence::surface::Tool;

use super::words;

/// Values that exist where the target runs.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// Files of the run that can be read and written. Those in declared roots come first.
    pub files: Vec<PathBuf>,
    pub folders: Vec<PathBuf>,
    /// Files of the run that may be moved or deleted.
    pub spare: Vec<PathBuf>,
    /// Folders of the run that may be moved or deleted.
    pub spare_folders: Vec<PathBuf>,
    /// Paths where nothing exists yet.
    pub fresh: Vec<PathBuf>,
    /// A word in those files.
    pub text: String,
    /// A word with a mark, for objects that a target may create.
    pub word: String,
    /// A URL that responds.
    pub url: Option<String>,
}

/// Words that indicate the extension of a file.
const ENDINGS: [(&str, &[&str]); 12] = [
    ("xlsx", &["xlsx", "excel", "workbook", "worksheet", "spreadsheet"]),
    ("docx", &["docx", "word"]),
    ("pdf", &["pdf"]),
    ("csv", &["csv"]),
    ("json", &["json"]),
    ("html", &["html"]),
    ("md", &["md", "markdown", "note", "notes", "vault"]),
    ("png", &["png", "image", "picture", "screenshot", "media"]),
    ("py", &["py", "python", "script"]),
    ("ipynb", &["ipynb", "notebook"]),
    ("yaml", &["yaml", "yml"]),
    ("xml", &["xml"]),
];
const FOLDERS: [&str; 9] =
    ["dir", "directory", "folder", "cwd", "root", "repo", "repository", "workspace", "project"];
const OUTPUTS: [&str; 8] = ["output", "out", "dest", "destination", "target", "save", "to", "new"];

impl Hints {
    /// Paths for an argument with this name and description, most likely first.
    pub(super) fn paths(&self, tool: &Tool, name: &str, said: Option<&str>) -> Vec<String> {
        let of_name = words(name);
        let has = |wanted: &[&str]| of_name.iter().any(|word| wanted.contains(&word.as_str()));
        let described = words(said.unwrap_or_default());
        let speaks = |wanted: &[&str]| described.iter().any(|word| wanted.contains(&&**word));
        let is_folder = has(&FOLDERS) || (speaks(&FOLDERS) && !speaks(&["file", "files"]));
        let about = [said, tool.description()].map(Option::unwrap_or_default).join(" ");
        let tool = tool.name().unwrap_or_default();
        let verb = words(tool);
        let takes = super::Sense::TakesAway.is_in(&verb);
        let makes = verb.iter().any(|word| ["create", "mkdir", "new", "init"].contains(&&**word));
        let ending = ending(tool, name, &about);
        let suiting = |paths: &[PathBuf]| -> Vec<PathBuf> {
            let suits = |path: &&PathBuf| {
                let own = path.extension().and_then(|ending| ending.to_str());
                ending.is_none() || own == ending
            };
            let (first, rest): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(suits);
            first.into_iter().chain(rest).cloned().collect()
        };
        let fresh: Vec<PathBuf> = self
            .fresh
            .iter()
            .map(|path| ending.map_or(path.clone(), |ending| path.with_extension(ending)))
            .collect();
        let files = if takes { suiting(&self.spare) } else { suiting(&self.files) };
        // Folders of the target contain objects of the user.
        let folders = if takes { &self.spare_folders } else { &self.folders };
        let order: [&[PathBuf]; 3] = if has(&OUTPUTS) {
            [&fresh, &files, folders]
        } else if is_folder {
            [folders, &fresh, &files]
        } else if makes {
            [&fresh, &files, folders]
        } else {
            [&files, folders, &fresh]
        };
        let mut texts: Vec<String> = Vec::new();
        let shown = |path: &Path| path.display().to_string();
        texts.extend(order[0].iter().take(1).map(|path| shown(path)));
        // Some tools accept only paths relative to their folder.
        let names = order[0].iter().take(1);
        texts.extend(names.filter_map(|path| Some(path.file_name()?.to_string_lossy().into())));
        texts.extend(order[0].iter().skip(1).take(1).map(|path| shown(path)));
        texts.extend(order[1..].iter().flat_map(|paths| paths.iter().take(1)).map(|p| shown(p)));
        if is_folder && !takes {
            texts.insert(1.min(texts.len()), ".".to_owned());
        }
        texts
    }
}

/// The extension that names and descriptions indicate, those of the argument first.
fn ending(tool: &str, name: &str, about: &str) -> Option<&'static str> {
    [name, tool, about].into_iter().find_map(|text| {
        let said = words(text);
        let speaks = |known: &&str| said.iter().any(|word| word == known);
        ENDINGS.iter().find(|(_, known)| known.iter().any(&speaks)).map(|(e, _)| *e)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> Tool {
        Tool(serde_json::json!({"name": name}))
    }

    fn hints() -> Hints {
        let path = |names: &[&str]| names.iter().map(PathBuf::from).collect();
        Hints {
            files: path(&["/r/a.txt", "/r/a.md", "/r/a.xlsx"]),
            folders: path(&["/r"]),
            spare: path(&["/r/s.txt"]),
            fresh: path(&["/r/f.txt"]),
            ..Hints::default()
        }
    }

    #[test]
    fn paths_suit_what_is_said_of_them() {
        let first = |name: &str, argument: &str, said: &str| {
            hints().paths(&tool(name), argument, Some(said))[0].clone()
        };
        assert_eq!(first("read_file", "path", "Reads a file"), "/r/a.txt");
        assert_eq!(first("read_sheet", "filepath", "Path of the Excel workbook"), "/r/a.xlsx");
        assert_eq!(first("read_note", "filename", ""), "/r/a.md");
        assert_eq!(first("list", "directory", ""), "/r");
        assert_eq!(first("status", "path", "Path of the repository"), "/r");
        assert_eq!(first("create_file", "path", "as JSON"), "/r/f.json");
    }

    #[test]
    fn what_takes_files_away_gets_a_spare_one() {
        assert_eq!(hints().paths(&tool("move_file"), "source", None)[0], "/r/s.txt");
        assert_eq!(hints().paths(&tool("move_file"), "destination", None)[0], "/r/f.txt");
    }
}
