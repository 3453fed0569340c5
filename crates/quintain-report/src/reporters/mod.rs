//! Every format, one per file. To add one: write the file, its `mod` line and its line in `ALL`.

mod console;
mod csv;
mod html;
mod json;
mod jsonl;
mod junit;
mod markdown;
mod sarif;
mod txt;
mod yaml;

use std::path::Path;

use crate::Reporter;

pub use markdown::inline as markdown_inline;
pub use sarif::{LogStatus, log as sarif_log};

static ALL: &[&dyn Reporter] = &[
    &console::Console,
    &csv::Csv,
    &html::Html,
    &json::Json,
    &jsonl::JsonLines,
    &junit::Junit,
    &markdown::Markdown,
    &sarif::Sarif,
    &txt::Txt,
    &yaml::Yaml,
];

pub fn all() -> &'static [&'static dyn Reporter] {
    ALL
}

/// The reporter with a name or alias.
pub fn find(name: &str) -> Option<&'static dyn Reporter> {
    ALL.iter().copied().find(|reporter| reporter.meta().answers_to(name))
}

/// The usual suffix of each reporter, for help texts.
pub fn suffixes() -> impl Iterator<Item = &'static str> {
    ALL.iter().filter_map(|reporter| reporter.suffixes().first().copied())
}

/// The reporter for a file name, by the longest matching suffix, ignoring case.
pub fn for_path(path: &Path) -> Option<&'static dyn Reporter> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let all = ALL.iter().flat_map(|reporter| {
        reporter.suffixes().iter().map(move |suffix| (suffix.len(), *suffix, *reporter))
    });
    all.filter(|(_, suffix, _)| name.ends_with(suffix))
        .max_by_key(|(length, ..)| *length)
        .map(|(.., reporter)| reporter)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_suffixes_are_unique_and_docs_complete() {
        let (mut names, mut suffixes) = (BTreeSet::new(), BTreeSet::new());
        for reporter in all() {
            let meta = reporter.meta();
            for name in std::iter::once(&meta.id).chain(meta.aliases) {
                assert!(names.insert(*name), "{name} is there twice");
                assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
            }
            for suffix in reporter.suffixes() {
                assert!(suffixes.insert(*suffix), "{suffix} is there twice");
                assert!(suffix.starts_with('.') && *suffix == suffix.to_lowercase(), "{suffix}");
            }
            assert!(!meta.summary.ends_with('.'), "{}", meta.id);
            for heading in ["# What it does", "# Example"] {
                assert!(meta.docs.contains(heading), "{} lacks `{heading}`", meta.id);
            }
        }
    }

    #[test]
    fn the_end_of_a_name_chooses_the_format() {
        let id = |path: &str| for_path(Path::new(path)).map(|reporter| reporter.meta().id);
        assert_eq!(id("out/a.junit.xml"), Some("junit"));
        assert_eq!(id("A.JSON"), Some("json"));
        assert_eq!(id("a.json.md"), Some("markdown"));
        assert_eq!(id("a.xml"), Some("junit"));
        assert_eq!(id("a.yml"), Some("yaml"));
        assert_eq!(id("a.sarif"), Some("sarif"));
        assert_eq!(id("a.sarif.json"), Some("sarif"));
        assert_eq!(id("json"), None);
        assert_eq!(id("a.exe"), None);
        assert_eq!(id("/"), None);
    }

    #[test]
    fn every_file_is_registered() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/reporters");
        let this = include_str!("mod.rs");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap().to_owned();
            if stem != "mod" {
                assert!(this.contains(&format!("mod {stem};")), "{stem} is not a module");
                assert!(this.contains(&format!("&{stem}::")), "{stem} is not in the list");
            }
        }
    }
}
