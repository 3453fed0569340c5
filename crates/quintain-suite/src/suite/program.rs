//! Reads targets that are user programs: commands, and files with a provider.

use quintain_evidence::code::Language;
use quintain_source::{Diagnostic, Diagnostics, Node, Span};
use serde_json::{Map, Value};

use super::reader::Reader;
use super::referred;
use crate::files::FileValue;
use crate::target::{CodeTarget, ExecTarget};

/// Reads the command line after `exec:`.
pub(super) fn exec(
    line: &str,
    config: Option<&Node>,
    span: Span,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<ExecTarget> {
    let mut words = words(line).into_iter();
    let Some(command) = words.next() else {
        let title = "`exec:` has no command";
        dx.push(
            Diagnostic::error("config::no-command", title)
                .at(span, "")
                .help("write, for example, `exec: python3 chat.py`"),
        );
        return None;
    };
    Some(ExecTarget {
        command,
        args: words.collect(),
        base_dir: reader.base_dir.to_owned(),
        config: settings(config, reader, dx),
    })
}

/// Reads a file with a provider.
pub(super) fn code(
    reference: &str,
    config: Option<&Node>,
    span: Span,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<CodeTarget> {
    let why = match FileValue::read(reference, reader.base_dir, reader.files) {
        Ok(FileValue::Code(code)) => {
            let config = match (config, code.language()) {
                (Some(config), Language::Python | Language::Ruby) => {
                    referred::map(config, reader, dx)
                }
                _ => settings(config, reader, dx),
            };
            let name = match code.language() {
                Language::Ruby => "rubyExecutable",
                _ => "pythonExecutable",
            };
            let executable = config.get(name).and_then(Value::as_str).map(str::to_owned);
            return Some(CodeTarget { code, config, executable });
        }
        Ok(FileValue::Data(_)) => "expected a JavaScript, Python or Ruby file".to_owned(),
        Err(why) => why,
    };
    let title = "this file cannot be used";
    dx.push(Diagnostic::error("config::unreadable-file", title).at(span, why));
    None
}

fn settings(
    config: Option<&Node>,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Map<String, Value> {
    config.map(|node| reader.payload_map(node, dx)).unwrap_or_default()
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
