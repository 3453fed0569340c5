//! Variables: values from files, references between variables, lists that mean several cases.

use std::path::Path;

use base64::Engine as _;
use quintain_evidence::code::Code;
use quintain_source::{Diagnostic, Node, Nunjucks, RenderError, Severity, Span};
use serde_json::{Map, Value};

use super::VarFile;
use super::loader::{Loader, SuiteFolder, is_pattern, suffix_of};
use crate::files::{language_of, split_function};

/// Maximum depth of variables that refer to variables.
const ROUNDS: usize = 5;
/// Maximum size of the values of one case.
const MAX_LENGTH: usize = 64 << 20;

/// Expands variables in variables: only `{{name}}`, up to five rounds, one occurrence per text and round.
/// Drops a final line break.
///
/// # Errors
/// If they grow without bounds.
pub fn resolve(
    vars: &Map<String, Value>,
    templates: &Nunjucks,
) -> Result<Map<String, Value>, RenderError> {
    let mut vars = vars.clone();
    if templates.is_literal() {
        return Ok(vars);
    }
    for value in vars.values_mut() {
        if let Value::String(text) = value
            && text.ends_with('\n')
        {
            text.pop();
        }
    }
    let mentions = |value: &Value| value.as_str().is_some_and(|text| text.contains("{{"));
    if !vars.values().any(mentions) {
        return Ok(vars);
    }
    let names: Vec<String> = vars.keys().cloned().collect();
    for _ in 0..ROUNDS {
        let mut settled = true;
        for name in &names {
            let Some(Value::String(text)) = vars.get(name) else { continue };
            let Some((range, mentioned)) = placeholder(text) else { continue };
            let Some(other) = vars.get(mentioned) else { continue };
            let other = replacement(&printed(other), text, &range);
            if text.len() + other.len() > MAX_LENGTH {
                let reason = format!("the variable `{name}` grows without bounds");
                return Err(RenderError { reason });
            }
            let filled = format!("{}{other}{}", &text[..range.start], &text[range.end..]);
            vars.insert(name.clone(), Value::String(filled));
            settled = false;
        }
        if settled {
            break;
        }
    }
    Ok(vars)
}

/// The first `{{ name }}` of a text.
fn placeholder(text: &str) -> Option<(std::ops::Range<usize>, &str)> {
    let mut from = 0;
    while let Some(start) = text[from..].find("{{").map(|at| from + at) {
        let inner = &text[start + 2..];
        let name_start = inner.len() - inner.trim_start().len();
        let rest = &inner[name_start..];
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name_len = rest.find(|c| !word(c)).unwrap_or(rest.len());
        let after = &rest[name_len..];
        let gap = after.len() - after.trim_start().len();
        if name_len > 0 && after[gap..].starts_with("}}") {
            let end = start + 2 + name_start + name_len + gap + 2;
            return Some((start..end, &rest[..name_len]));
        }
        from = start + 1;
    }
    None
}

/// The replacement patterns of JavaScript's `replace`: `$&` is the replaced text, `$\`` the text before it,
/// `$'` the text after it, and `$$` a dollar sign.
fn replacement(with: &str, text: &str, range: &std::ops::Range<usize>) -> String {
    let mut out = String::with_capacity(with.len());
    let mut rest = with;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let piece = match rest.as_bytes().get(at + 1) {
            Some(b'$') => "$",
            Some(b'&') => &text[range.clone()],
            Some(b'`') => &text[..range.start],
            Some(b'\'') => &text[range.end..],
            _ => {
                out.push('$');
                rest = &rest[at + 1..];
                continue;
            }
        };
        out.push_str(piece);
        rest = &rest[at + 2..];
        if out.len() > MAX_LENGTH {
            break;
        }
    }
    out.push_str(rest);
    out
}

/// The value as JavaScript converts it to text.
fn printed(value: &Value) -> String {
    quintain_source::printed(value)
}

/// One map per combination of the lists of texts among the variables; later variables vary fastest. Other
/// lists are values. The caller bounds the number with [`combinations`].
pub fn expand(vars: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut cases = vec![vars.clone()];
    for (name, value) in vars {
        let Some(items) = texts(value) else { continue };
        cases = cases
            .into_iter()
            .flat_map(|case| {
                items.iter().map(move |item| {
                    let mut case = case.clone();
                    case.insert(name.clone(), item.clone());
                    case
                })
            })
            .collect();
    }
    cases
}

/// The number of maps that [`expand`] returns.
pub fn combinations(vars: &Map<String, Value>) -> u128 {
    vars.values()
        .filter_map(texts)
        .fold(1, |count, items| count.saturating_mul(items.len() as u128))
}

/// The names of the variables that [`expand`] combines.
pub fn combined(vars: &Map<String, Value>) -> Vec<&str> {
    vars.iter().filter(|(_, value)| texts(value).is_some()).map(|(name, _)| name.as_str()).collect()
}

fn texts(value: &Value) -> Option<&Vec<Value>> {
    value.as_array().filter(|items| items.first().is_some_and(Value::is_string))
}

impl Loader<'_> {
    /// `vars` of a test: a map, or files that contain one.
    pub(super) fn vars(
        &mut self,
        node: &Node,
        place: &SuiteFolder<'_>,
        test_dir: &Path,
    ) -> Map<String, Value> {
        let files = match &node.kind {
            quintain_source::NodeKind::Map(_) => return self.var_map(node, place),
            quintain_source::NodeKind::Seq(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut vars = Map::new();
        for file in files {
            let Some(name) = file.as_str() else {
                quintain_source::wrong_type(
                    "vars",
                    "a map, or a file or list of files with a map",
                    file,
                    self.dx,
                );
                continue;
            };
            let name = name.strip_prefix("file://").unwrap_or(name);
            let there = SuiteFolder { base_dir: test_dir, shown_dir: place.shown_dir, ..*place };
            for path in self.matching(name, &there, file.span) {
                let Some(tree) = self.tree(&path, &there, file.span) else { continue };
                if tree.as_map().is_some() {
                    vars.extend(self.var_map(&tree, place));
                } else {
                    quintain_source::wrong_type("vars", "a map", &tree, self.dx);
                }
            }
        }
        vars
    }

    fn var_map(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Map<String, Value> {
        let mut vars = Map::new();
        for (key, value) in node.as_map().unwrap_or_default() {
            if key.text == "assert" && value.as_seq().is_some() {
                self.dx.push(
                    Diagnostic::warning("config::misplaced-key", "`assert` is a variable here")
                        .at(key.span, "")
                        .help("move `assert` out of `vars`, to the same level"),
                );
            }
            if key.text == "prompt" {
                super::reader::warn_of_misread_words(value, self.dx);
            }
            self.variables.set(&key.text);
            // A name that is unknown in a text stays as it is; in a call it becomes empty text.
            if value.as_map().is_some() || value.as_seq().is_some() {
                self.variables.used_by(value);
            }
            super::call_keys::check(value, Severity::Warning, self.dx);
            if let Some(value) = self.var(value, place) {
                vars.insert(key.text.clone(), value);
            }
        }
        vars
    }

    fn var(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Option<Value> {
        if self.is_literal {
            return Some(node.to_json());
        }
        if let Some(name) = node.as_str().and_then(|text| text.strip_prefix("file://")) {
            let mut values = self.file_var(name, node.span, place)?;
            // A pattern becomes a list, whose items are separate cases.
            return if values.len() == 1 { values.pop() } else { Some(Value::Array(values)) };
        }
        let items = node.as_seq().filter(|items| {
            let file = |item: &Node| item.as_str().is_some_and(|text| text.starts_with("file://"));
            items.first().is_some_and(|item| item.as_str().is_some()) && items.iter().any(file)
        });
        let Some(items) = items else { return Some(node.to_json()) };
        let mut values = Vec::new();
        for item in items {
            match item.as_str().and_then(|text| text.strip_prefix("file://")) {
                Some(name) => values.extend(self.file_var(name, item.span, place)?),
                None => values.push(item.to_json()),
            }
        }
        Some(Value::Array(values))
    }

    /// The references to the files of a path or pattern; their content is stored for later.
    fn file_var(&mut self, name: &str, at: Span, place: &SuiteFolder<'_>) -> Option<Vec<Value>> {
        let several = is_pattern(name);
        let (path, function) = split_function(name);
        let paths = self.matching(path, place, at);
        let mut references = Vec::new();
        for path in &paths {
            let file = self.var_of(path, function, place, at)?;
            let shown = path.strip_prefix(place.base_dir).unwrap_or(path).display();
            let reference =
                if several { format!("file://{shown}") } else { format!("file://{name}") };
            self.var_files.insert(reference.clone(), file);
            references.push(Value::String(reference));
        }
        (!references.is_empty()).then_some(references)
    }

    /// YAML becomes JSON text, images become data URLs, other media become base64, and text is trimmed.
    /// Scripts are called later.
    fn var_of(
        &mut self,
        path: &Path,
        function: Option<&str>,
        place: &SuiteFolder<'_>,
        at: Span,
    ) -> Option<VarFile> {
        let suffix = suffix_of(path);
        let base64 = |bytes: Vec<u8>| base64::engine::general_purpose::STANDARD.encode(bytes);
        let text = match suffix.as_str() {
            "yaml" | "yml" => self.tree(path, place, at)?.to_json().to_string(),
            "pdf" => {
                self.unreadable(at, "PDF files are not supported; use a `.txt` file");
                return None;
            }
            "mp3" | "wav" | "ogg" | "aac" | "m4a" | "flac" | "wma" | "aiff" | "opus" | "mp4"
            | "webm" | "mov" | "avi" | "mkv" | "wmv" | "ogv" | "m4v" => {
                base64(self.bytes(path, place, at)?)
            }
            _ => {
                if let Some(kind) = image_type(&suffix) {
                    format!("data:{kind};base64,{}", base64(self.bytes(path, place, at)?))
                } else if let Some(language) = language_of(&suffix) {
                    if let Err(why) = self.files.may_run(language) {
                        self.unreadable(at, why);
                        return None;
                    }
                    let (path, text) = (path.to_owned(), self.text(path, place, at)?);
                    let function = function.map(str::to_owned);
                    return Some(VarFile::Code(Code::File { language, path, text, function }));
                } else {
                    self.text(path, place, at)?.trim().to_owned()
                }
            }
        };
        Some(VarFile::Text(text))
    }
}

fn image_type(suffix: &str) -> Option<&'static str> {
    Some(match suffix {
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "gif" => "image/gif",
        "bmp" => "image/bmp",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    fn resolved(value: Value) -> Value {
        Value::Object(resolve(&map(value), &Nunjucks::default()).expect("resolved"))
    }

    #[test]
    fn variables_mention_variables() {
        assert_eq!(
            resolved(json!({"a": "x {{ b }} {{c}}", "b": "{{c}}!", "c": 1.50, "n": {"k": 1}})),
            json!({"a": "x 1.5! 1.5", "b": "1.5!", "c": 1.5, "n": {"k": 1}})
        );
        assert_eq!(
            resolved(json!({"a": "{{l}}", "l": ["p", 2]})),
            json!({"a": "p,2", "l": ["p", 2]})
        );
        assert_eq!(
            resolved(json!({"a": "line\n\n", "b": "x\n"})),
            json!({"a": "line\n", "b": "x"})
        );
    }

    #[test]
    fn what_is_unknown_or_no_plain_name_stays() {
        for text in ["{{no}} {{b}}", "{{ b | upper }}", "{{b.c}}", "{{", "{{{b}", "{{ }}"] {
            let vars = json!({"a": text, "b": "B"});
            assert_eq!(resolved(vars.clone()), vars, "{text}");
        }
        assert_eq!(resolved(json!({"a": "{{ {{b}}", "b": "B"})), json!({"a": "{{ B", "b": "B"}));
    }

    #[test]
    fn mutual_mentions_end() {
        let vars = json!({"a": "{{b}}", "b": "{{a}}{{a}}"});
        assert!(resolve(&map(vars), &Nunjucks::default()).is_ok());
        let bomb = json!({"a": "x".repeat(30 << 20), "b": "{{a}}{{a}}{{a}}"});
        assert!(resolve(&map(bomb), &Nunjucks::default()).is_err());
    }

    #[test]
    fn lists_of_texts_are_cases() {
        let cases = expand(&map(json!({"a": ["1", "2"], "n": [1, 2], "b": ["x", "y"], "e": []})));
        let seen: Vec<_> = cases.iter().map(|case| format!("{}{}", case["a"], case["b"])).collect();
        assert_eq!(seen, ["\"1\"\"x\"", "\"1\"\"y\"", "\"2\"\"x\"", "\"2\"\"y\""]);
        assert!(cases.iter().all(|case| case["n"] == json!([1, 2]) && case["e"] == json!([])));
        assert_eq!(expand(&Map::new()).len(), 1);
    }
}
