//! `exec:COMMAND`: a user program that is started for every prompt.

use std::path::{Path, PathBuf};

use quintain_content::registry::Meta;
use quintain_evidence::effects::{Environment, ProcessStart, Variables};
use quintain_source::Diagnostic;
use serde_json::{Map, Value};

use super::{Entry, TargetKind};
use crate::target::{ProgramFiles, Reach, Settings};

const META: Meta = Meta {
    id: "exec",
    aliases: &[],
    summary: "A command that is started for every prompt",
    docs: "\
# What it does
Starts the command behind `exec:` in the folder of the suite, with three more arguments: the prompt, the options of the
target and the context (variables) as JSON. Secrets in arguments are masked; the environment variables
`QUINTAIN_PROMPT`, `QUINTAIN_OPTIONS` and `QUINTAIN_CONTEXT` contain the whole values. What the command prints on
standard output is the response. An exit code other than 0 is an error.

# Example
```yaml
targets:
  - id: 'exec: python3 chat.py'
    label: chat
```
",
    since: "0.1.0",
};

pub struct ExecKind;

impl TargetKind for ExecKind {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["exec"]
    }

    fn answers_to(&self, id: &str) -> bool {
        id.starts_with("exec:")
    }

    fn read(&self, entry: &mut Entry<'_>) -> Option<Box<dyn Settings>> {
        let mut words = words(entry.id.strip_prefix("exec:").unwrap_or_default()).into_iter();
        let Some(command) = words.next() else {
            let title = "`exec:` has no command";
            entry.dx.push(
                Diagnostic::error("config::no-command", title)
                    .at(entry.span, "")
                    .help("write, for example, `exec: python3 chat.py`"),
            );
            return None;
        };
        Some(Box::new(ExecTarget {
            command,
            args: words.collect(),
            base_dir: entry.reader.base_dir.to_owned(),
            config: entry.config_map(),
        }))
    }
}

/// A program that is started for every prompt, with the prompt as an argument.
#[derive(Debug)]
pub struct ExecTarget {
    pub command: String,
    pub args: Vec<String>,
    /// Its working directory.
    pub base_dir: PathBuf,
    /// `config` as written.
    pub config: Map<String, Value>,
}

impl Settings for ExecTarget {
    fn reach(&self, reach: &mut Reach<'_>) {
        let mut args = self.args.clone();
        args.extend(["PROMPT", "OPTIONS", "CONTEXT"].map(str::to_owned));
        reach.start(ProcessStart {
            what: reach.what.clone(),
            command: self.command.clone(),
            args,
            cwd: Some(self.base_dir.display().to_string()),
            environment: Environment::All,
            receives: Variables::default(),
        });
    }

    fn programs(&self) -> Vec<ProgramFiles<'_>> {
        let args = self.args.iter().map(Path::new).collect();
        vec![ProgramFiles { folder: Some(&self.base_dir), program: Path::new(&self.command), args }]
    }
}

/// Splits a command line at white space outside of quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let quoted = matches!(first, '"' | '\'').then(|| rest[1..].split_once(first)).flatten();
        if let Some((word, after)) = quoted {
            words.push(word.to_owned());
            rest = after;
        } else {
            let end =
                rest[first.len_utf8()..].find(|c: char| c.is_whitespace() || "\"'".contains(c));
            let end = end.map_or(rest.len(), |end| end + first.len_utf8());
            words.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn quotes_hold_words_together() {
        assert_eq!(
            words("  python3 'my chat.py' --x=\"a b\" é"),
            ["python3", "my chat.py", "--x=", "a b", "é"]
        );
        assert_eq!(words("it's"), ["it", "'s"], "an unclosed quote is a plain character");
        assert!(words("  ").is_empty());
    }
}
