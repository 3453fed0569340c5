//! Finds the prose of a file: Markdown outside of code, comments and string literals of Rust, and YAML.

use super::words::{Splitter, Word};

/// Paragraphs of a page, without code blocks and without generated sections.
pub(super) fn markdown(text: &str) -> Vec<Vec<Word>> {
    let mut splitter = Splitter::default();
    let (mut in_code, mut generated, mut after_blank) = (false, false, true);
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            in_code = !in_code;
            splitter.end();
        } else if trimmed.starts_with("<!-- generated") {
            generated = true;
        } else if trimmed.starts_with("<!-- end") {
            generated = false;
        } else if trimmed.is_empty() {
            splitter.end();
            after_blank = true;
        } else if !(in_code || generated || line.starts_with("    ") && after_blank) {
            if trimmed.starts_with(['#', '-', '*', '|']) {
                splitter.end();
            }
            splitter.line(number, line);
            after_blank = false;
        }
    }
    splitter.finish()
}

/// Comments and plain texts of a YAML file. Keys and values are words like others.
pub(super) fn yaml(text: &str) -> Vec<Vec<Word>> {
    let mut splitter = Splitter::default();
    let mut in_comment = false;
    for (number, line) in (1..).zip(text.lines()) {
        let is_comment = line.trim_start().starts_with('#');
        if !(is_comment && in_comment) {
            splitter.end();
        }
        in_comment = is_comment;
        splitter.line(number, line);
    }
    splitter.finish()
}

/// Comments and string literals. Comments on consecutive lines are one text.
pub(super) fn rust(text: &str) -> Vec<Vec<Word>> {
    let mut reader = Reader { rest: text, line: 1, splitter: Splitter::default(), in_fence: false };
    let mut comment_ended = 0;
    while let Some(letter) = reader.rest.chars().next() {
        if reader.rest.starts_with("//") {
            if reader.line > comment_ended + 1 {
                reader.splitter.end();
            }
            comment_ended = reader.line;
            reader.line_comment();
        } else if reader.rest.starts_with("/*") {
            reader.block_comment();
        } else if let Some(hashes) = raw_string(reader.rest) {
            reader.raw_literal(hashes);
        } else if letter == '"' {
            reader.literal();
        } else if letter == '\'' {
            reader.quote();
        } else if letter.is_alphanumeric() || letter == '_' {
            // A whole word, so that the `r` at the end of a name does not start a raw string.
            let end = reader.rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            reader.skip(end.unwrap_or(reader.rest.len()));
        } else {
            reader.skip(letter.len_utf8());
        }
    }
    reader.splitter.finish()
}

/// The number of `#` of a raw string that starts here.
fn raw_string(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    body[hashes..].starts_with('"').then_some(hashes)
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    splitter: Splitter,
    /// Inside of an example in a doc comment.
    in_fence: bool,
}

impl<'a> Reader<'a> {
    fn skip(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn line_comment(&mut self) {
        let line = self.line;
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let text = self.skip(end).trim_start_matches(['/', '!']).trim();
        if text.starts_with("```") {
            self.in_fence = !self.in_fence;
        } else if text.is_empty() || self.in_fence {
            self.splitter.end();
        } else {
            self.splitter.line(line, text);
        }
    }

    fn block_comment(&mut self) {
        let end = self.rest.find("*/").map_or(self.rest.len(), |end| end + 2);
        self.prose(end);
    }

    fn raw_literal(&mut self, hashes: usize) {
        let close = format!("\"{}", "#".repeat(hashes));
        let start = self.rest.find('"').map_or(0, |at| at + 1);
        self.skip(start);
        self.prose(self.rest.find(&close).unwrap_or(self.rest.len()));
        self.skip(close.len());
    }

    fn literal(&mut self) {
        self.skip(1);
        let mut escaped = false;
        let end = self.rest.find(|letter: char| {
            let closes = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            closes
        });
        self.prose(end.unwrap_or(self.rest.len()));
        self.skip(1);
    }

    /// A character, or the name of a lifetime or a label.
    fn quote(&mut self) {
        let mut letters = self.rest.chars().skip(1);
        let (first, second) = (letters.next(), letters.next());
        match (first, second) {
            (Some('\\'), Some(escaped)) => {
                let start = 2 + escaped.len_utf8();
                let end = self.rest[start.min(self.rest.len())..].find('\'');
                self.skip(end.map_or(start, |end| start + end + 1));
            }
            (Some(letter), Some('\'')) => {
                self.skip(2 + letter.len_utf8());
            }
            _ => {
                self.skip(1);
            }
        }
    }

    /// Takes text that a reader sees, with escapes of line ends and quotes resolved.
    fn prose(&mut self, length: usize) {
        let first = self.line;
        let text = self.skip(length);
        self.splitter.end();
        let mut in_fence = false;
        for (number, line) in (first..).zip(text.split('\n')) {
            for part in line.split("\\n") {
                let trimmed = part.trim();
                if trimmed.starts_with("```") {
                    in_fence = !in_fence;
                } else if trimmed.is_empty() || in_fence || trimmed.starts_with(['-', '#', '|']) {
                    self.splitter.end();
                }
                if !in_fence {
                    self.splitter.line(number, &part.replace("\\\"", "\"").replace("\\t", " "));
                }
            }
        }
        self.splitter.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(passages: Vec<Vec<Word>>) -> Vec<(usize, String)> {
        let joined = |words: Vec<Word>| {
            let line = words[0].line;
            let texts: Vec<String> = words.into_iter().map(|word| word.text).collect();
            (line, texts.join(" "))
        };
        passages.into_iter().map(joined).collect()
    }

    fn shown(passages: Vec<Vec<Word>>) -> Vec<String> {
        texts(passages).into_iter().map(|(line, text)| format!("{line} {text}")).collect()
    }

    #[test]
    fn a_page_is_read_without_its_code_and_generated_parts() {
        let page = "# One\ntwo\n\n    code\n\n```yaml\nmore: code\n```\nthree\n<!-- generated: x -->\nfour\n<!-- end -->\nfive\n";
        assert_eq!(shown(markdown(page)), ["1 One two", "9 three five"]);
    }

    #[test]
    fn items_of_a_list_are_apart_and_their_lines_together() {
        assert_eq!(shown(markdown("- a\n  b\n- c\n")), ["1 a b", "3 c"]);
    }

    #[test]
    fn comments_and_literals_are_read_and_code_is_not() {
        let code = "/// one\n/// two\nfn holds<'a>(x: char) { let y = ('\"', 'b', '\\''); say(\"three\\nfour \\\n  five\"); }\n// six\n";
        assert_eq!(shown(rust(code)), ["1 one two", "3 three four five", "5 six"]);
    }

    #[test]
    fn raw_strings_end_where_their_hashes_do() {
        let code = "let a = r#\"one \"two\" three\"#; let bar = \"four\";";
        assert_eq!(shown(rust(code)), ["1 one two three", "1 four"]);
    }

    #[test]
    fn examples_in_doc_comments_are_code() {
        assert_eq!(
            shown(rust("/// one\n/// ```\n/// two\n/// ```\n/// three\n")),
            ["1 one", "5 three"]
        );
    }

    #[test]
    fn comments_of_yaml_are_read() {
        assert_eq!(
            shown(yaml("# one\n# two\na: three # four\n")),
            ["1 one two", "3 a", "3 three four"]
        );
    }
}
