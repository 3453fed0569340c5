//! Code of the user that a suite names: inline or in a file, in one of three languages. Only data: other crates run
//! it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    JavaScript,
    Python,
    Ruby,
}

/// Loaded code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    /// JavaScript as written in the suite. Python and Ruby as a whole program whose function `main` is called with the
    /// arguments; see [`Code::program`].
    Inline { language: Language, text: String },
    /// `file://path[:function]`. Without a function name, Python and Ruby call `get_assert`.
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

    /// Wraps an expression, or the body of a function of `output` and `context`, into a whole program.
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

/// One line is an expression. Several lines use the indentation of the first indented one, so that tabs and spaces
/// do not mix.
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
