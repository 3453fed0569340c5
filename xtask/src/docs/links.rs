//! Links between the pages of this repository: file and heading have to be there.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::Result;

/// Checks every relative link of every page, and returns how many there were.
pub(super) fn check(root: &Path, complaints: &mut Vec<String>) -> Result<usize> {
    let mut checked = 0;
    for page in pages(root)? {
        let text = read(&root.join(&page))?;
        let folder = page.parent().unwrap_or(Path::new(""));
        for link in links(&text) {
            checked += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { folder.join(file) };
            if !root.join(&target).exists() {
                complaints.push(format!("{}: `{link}` leads nowhere", page.display()));
            } else if !heading.is_empty() && !has_heading(&read(&root.join(&target))?, heading) {
                complaints.push(format!("{}: no heading for `{link}`", page.display()));
            }
        }
    }
    Ok(checked)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The pages for readers: those at the top and the book.
fn pages(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new(), PathBuf::from("docs")];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(root.join(&folder)).map_err(|error| error.to_string())?;
        for entry in entries {
            let name = entry.map_err(|error| error.to_string())?.file_name();
            let path = folder.join(name);
            if root.join(&path).is_dir() {
                // Folders at the top contain code; folders of the book contain pages.
                open.extend((folder != Path::new("")).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Where the links of a page lead, without those to other places of the web and those in code.
fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code || line.starts_with("    ") {
            continue;
        }
        let ends = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        found.extend(ends.map(|(link, _)| link).filter(|link| !link.contains("://")));
    }
    found
}

fn has_heading(text: &str, wanted: &str) -> bool {
    let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    headings.map(|line| line.trim_start_matches('#').trim()).any(|line| slug(line) == wanted)
}

/// The name that GitHub gives to a heading.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_and_to_the_web_are_left_alone() {
        let text =
            "[a](b.md#c) [w](https://x.org/y)\n    [no](code.md)\n```\n[no](x.md)\n```\n[d](#e)";
        assert_eq!(links(text), ["b.md#c", "#e"]);
    }

    #[test]
    fn headings_are_found_by_the_name_they_get() {
        let page = "# One\n\n## `options` of a test\n\n### trajectory:tool-used\n";
        assert!(has_heading(page, "options-of-a-test") && has_heading(page, "trajectorytool-used"));
        assert!(!has_heading(page, "two"));
    }
}
