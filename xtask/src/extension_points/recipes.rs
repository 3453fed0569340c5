//! The lists of files in CONTRIBUTING.md: a section "Add a POINT" with a block of the kind `files`.

use crate::Result;

/// How something is added.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Recipe {
    /// What is added: `assertion`.
    pub(super) point: String,
    /// The files to write or change, relative to the workspace. `NAME` is the name of the new module.
    pub(super) files: Vec<String>,
}

/// The recipes that list their files. Sections without such a list are of no interest here.
pub(super) fn read(text: &str) -> Result<Vec<Recipe>> {
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut point = None;
    let mut files: Option<Vec<String>> = None;
    for line in text.lines() {
        if let Some(listed) = &mut files {
            if line != "```" {
                listed.extend(line.split_whitespace().next().map(str::to_owned));
                continue;
            }
            let point: String = point.clone().ok_or("a list of files belongs to no recipe")?;
            if listed.is_empty() {
                return Err(format!("the list of files for \"{point}\" is empty"));
            }
            recipes.push(Recipe { point, files: files.take().unwrap_or_default() });
        } else if let Some(heading) = line.strip_prefix("## ") {
            let article = ["Add a ", "Add an "];
            let added = article.iter().find_map(|article| heading.strip_prefix(article));
            point = added.map(str::to_owned);
        } else if line == "```files" {
            files = Some(Vec::new());
        }
    }
    if files.is_some() { Err("a list of files has no end".into()) } else { Ok(recipes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_with_the_heading_above_them() {
        let text = "# C\n## Add an assertion\n\n```files\na/NAME.rs   new\n\na/mod.rs   a line\n```\n1. Write.\n\
                    ## Add a case\nText.\n## Add a command\n```files\nb.rs\n```\n";
        let recipe = |point: &str, files: &[&str]| Recipe {
            point: point.to_owned(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
        };
        let wanted =
            [recipe("assertion", &["a/NAME.rs", "a/mod.rs"]), recipe("command", &["b.rs"])];
        assert_eq!(read(text).as_deref(), Ok(wanted.as_slice()));
        for wrong in
            ["```files\na\n```\n", "## Add a x\n```files\n```\n", "## Add a x\n```files\na\n"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
