//! Code of the user that a suite names: inline or in a file, in one of three languages. Data only; who runs it
//! is decided elsewhere.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    JavaScript,
    Python,
    Ruby,
}

/// A piece of code, loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    /// JavaScript as a suite has it. Python and Ruby as a whole program whose function `main` is to
    /// be called with the arguments; see [`Code::program`].
    Inline { language: Language, text: String },
    /// `file://path[:function]`. Python and Ruby ask for `get_assert` if no function is named.
    File { language: Language, path: PathBuf, text: String, function: Option<String> },
}

impl Code {
    pub fn language(&self) -> Language {
        match self {
            Self::Inline { language, .. } | Self::File { language, .. } => *language,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Inline { text, .. } | Self::File { text, .. } => text,
        }
    }

    /// An expression, or the lines of a function of `output` and `context`, as a whole program.
    pub fn program(language: Language, text: &str) -> Self {
        let text = match language {
            Language::JavaScript => text.to_owned(),
            Language::Python => {
                format!("import json\n\ndef main(output, context):\n{}\n", body(text, "    "))
            }
            Language::Ruby => {
                format!("require 'json'\n\ndef main(output, context)\n{}\nend\n", body(text, "  "))
            }
        };
        Self::Inline { language, text }
    }
}

/// One line is an expression. More lines are indented like the first of them that is indented, so
/// that tabs and spaces do not mix.
fn body(text: &str, indent: &str) -> String {
    if !text.contains('\n') {
        return format!("{indent}return {text}");
    }
    let indented =
        text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    let indent = indented.map_or(indent, |line| &line[..line.len() - line.trim_start().len()]);
    text.split('\n').map(|line| format!("{indent}{line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_is_wrapped_into_a_function() {
        let one = Code::program(Language::Python, "len(output) > 3");
        assert_eq!(
            one.text(),
            "import json\n\ndef main(output, context):\n    return len(output) > 3\n"
        );
        let two = Code::program(Language::Python, "if output:\n\treturn 1\nreturn 0");
        assert!(
            two.text().contains("\n\tif output:\n\t\treturn 1\n\treturn 0\n"),
            "{}",
            two.text()
        );
        let ruby = Code::program(Language::Ruby, "output == 'a'");
        assert!(ruby.text().ends_with("  return output == 'a'\nend\n"));
    }
}
