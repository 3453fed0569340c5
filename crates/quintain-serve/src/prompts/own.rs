//! Prompts that the owner of the server wrote: text files in a folder. `{{ name }}` in a file stands for an argument. A file
//! with the name of a built-in prompt replaces its text and keeps its arguments.

use std::collections::BTreeMap;
use std::path::Path;

use super::find;
use crate::arguments::Issue;
use crate::prompt::{Argument, Message, Prompt, PromptContext, PromptMeta, Values};

/// Suffixes of files that are prompts.
const SUFFIXES: [&str; 4] = ["md", "txt", "j2", "jinja"];
const MAX_FILES: usize = 200;
const MAX_BYTES: u64 = 1 << 20;

/// A prompt of a file. It lives as long as the server, as the built-in ones do.
struct OwnPrompt {
    meta: &'static PromptMeta,
    text: String,
}

impl Prompt for OwnPrompt {
    fn meta(&self) -> &'static PromptMeta {
        self.meta
    }

    fn render(
        &self,
        arguments: &BTreeMap<String, String>,
        _: &PromptContext,
    ) -> Result<Vec<Message>, Vec<Issue>> {
        let mut text = String::new();
        for part in parts(&self.text) {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Argument(name) => {
                    text.push_str(arguments.get(name).map_or("", String::as_str));
                }
            }
        }
        Ok(vec![Message { from_user: true, text, link: None }])
    }
}

enum Part<'t> {
    Text(&'t str),
    Argument(&'t str),
}

/// A text and its placeholders. Braces around anything but a name are text.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(open) = rest[from..].find("{{").map(|at| at + from) {
        let Some(close) = rest[open..].find("}}").map(|at| at + open) else { break };
        let name = rest[open + 2..close].trim();
        let is_name = !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if is_name {
            parts.push(Part::Text(&rest[..open]));
            parts.push(Part::Argument(name));
            rest = &rest[close + 2..];
            from = 0;
        } else {
            from = open + 2;
        }
    }
    parts.push(Part::Text(rest));
    parts
}

/// The prompts of a folder, sorted by name.
///
/// # Errors
/// If the folder or one of its files cannot be read.
pub fn load(folder: &Path) -> Result<Vec<&'static dyn Prompt>, String> {
    let failed = |path: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let listed = std::fs::read_dir(folder).map_err(|error| failed(folder, &error))?;
    let mut paths = Vec::new();
    for entry in listed {
        let path = entry.map_err(|error| failed(folder, &error))?.path();
        let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        if SUFFIXES.contains(&suffix) && path.is_file() {
            paths.push(path);
        }
    }
    if paths.len() > MAX_FILES {
        return Err(failed(folder, &format!("more than {MAX_FILES} prompts")));
    }
    paths.sort();
    let mut prompts: Vec<&'static dyn Prompt> = Vec::new();
    for path in paths {
        let size = std::fs::metadata(&path).map_err(|error| failed(&path, &error))?.len();
        if size > MAX_BYTES {
            return Err(failed(&path, &format!("larger than {MAX_BYTES} bytes")));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, &error))?;
        let name = path.file_stem().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| failed(&path, &"the name is not UTF-8"))?;
        prompts.push(prompt(name, text));
    }
    Ok(prompts)
}

fn prompt(name: &str, text: String) -> &'static dyn Prompt {
    let meta = find(name).map_or_else(|| meta_of(name, &text), Prompt::meta);
    Box::leak(Box::new(OwnPrompt { meta, text }))
}

fn meta_of(name: &str, text: &str) -> &'static PromptMeta {
    let mut names: Vec<&str> = Vec::new();
    for part in parts(text) {
        if let Part::Argument(name) = part
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    let argument = |name: &str| Argument {
        name: leaked(name),
        aliases: &[],
        description: "Inserted into the text",
        required: false,
        values: Values::Text,
    };
    let arguments: Vec<Argument> = names.into_iter().map(argument).collect();
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or(name);
    let title: String = first.trim_start_matches('#').trim().chars().take(100).collect();
    Box::leak(Box::new(PromptMeta {
        name: leaked(name),
        title: leaked(&title),
        description: leaked(&format!("{title} (a prompt of the owner of this server)")),
        arguments: Box::leak(arguments.into_boxed_slice()),
    }))
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_prompts_with_their_placeholders_as_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("our_test.md", "# Our test\n\nSay {{ word }} to {{name}}, not {{ 1 + 1 }} <b>.");
        write("jailbreak_test.txt", "Ours: {{ scenario }}");
        write("notes.pdf", "no prompt");
        let prompts = load(folder.path()).unwrap();
        let names: Vec<&str> = prompts.iter().map(|prompt| prompt.meta().name).collect();
        assert_eq!(names, ["jailbreak_test", "our_test"]);
        let given = BTreeMap::from([("word".to_owned(), "<hi>".to_owned())]);
        let messages = prompts[1].render(&given, &PromptContext::new()).unwrap();
        assert_eq!(messages[0].text, "# Our test\n\nSay <hi> to , not {{ 1 + 1 }} <b>.");
        let arguments: Vec<&str> = prompts[1].meta().arguments.iter().map(|one| one.name).collect();
        assert_eq!(arguments, ["word", "name"]);
        assert_eq!(prompts[0].meta().title, find("jailbreak_test").unwrap().meta().title);
        assert!(load(&folder.path().join("missing")).is_err());
    }
}
