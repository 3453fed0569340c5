//! Values that match a schema, most likely first.

use quintain_evidence::surface::Tool;
use serde_json::{Map, Value, json};

use crate::knowledge::pattern::matching;
use crate::knowledge::{Hints, Kind, Learned, classify, words, writes};
use quintain_evidence::lexicon::{Sense, only_looks};

/// Maximum number of values tried for one argument.
const MAX_VALUES: usize = 10;
const MAX_DEPTH: usize = 6;
/// Names that lists use for their items, whatever they contain.
const GENERIC: [&str; 6] = ["id", "name", "key", "slug", "title", "value"];

pub(super) struct ValueGenerator<'a> {
    pub(super) root: &'a Value,
    pub(super) tool: &'a Tool,
    pub(super) learned: &'a [Learned],
    pub(super) hints: &'a Hints,
}

impl ValueGenerator<'_> {
    /// Values for one argument, most likely first.
    pub(super) fn values(&self, name: &str, schema: &Value, depth: usize) -> Vec<Value> {
        let schema = self.resolved(schema);
        let mut values: Vec<Value> = Vec::new();
        let mut add = |value: Value| {
            if values.len() < MAX_VALUES && !values.contains(&value) {
                values.push(value);
            }
        };
        if !self.must_be_ours(name, schema) {
            if let Some(value) = schema.get("const") {
                return vec![value.clone()];
            }
            if let Some(items) = schema.get("enum").and_then(Value::as_array) {
                return items.iter().take(MAX_VALUES).cloned().collect();
            }
            let given = ["default", "example"].iter().filter_map(|key| schema.get(*key));
            let examples = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
            let given = given.filter(|value| !value.is_null()).chain(examples.take(2));
            given.filter(|value| !harms(value)).for_each(|value| add(value.clone()));
        }
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ if schema.get("properties").is_some() => vec!["object"],
            _ if schema.get("items").is_some() => vec!["array"],
            _ => vec!["string", "number"],
        };
        for kind in kinds {
            match kind {
                "string" => self.texts(name, schema).into_iter().for_each(&mut add),
                "integer" | "number" => {
                    self.numbers(name, schema, kind == "integer").into_iter().for_each(&mut add);
                }
                "boolean" => [json!(false), json!(true)].into_iter().for_each(&mut add),
                "array" if depth < MAX_DEPTH => {
                    let item = schema.get("items").unwrap_or(&Value::Null);
                    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1).max(1);
                    for value in self.values(name, item, depth + 1) {
                        add(Value::Array(vec![value; least.min(8) as usize]));
                    }
                }
                "object" if depth < MAX_DEPTH => add(self.object(schema, depth)),
                _ => {}
            }
        }
        values
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let required = schema.get("required").and_then(Value::as_array);
        let required: Vec<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        let mut made = Map::new();
        for (name, property) in
            schema.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            if required.is_empty() || required.contains(&name.as_str()) {
                let value = self.values(name, property, depth + 1).into_iter().next();
                made.extend(value.map(|value| (name.clone(), value)));
            }
        }
        Value::Object(made)
    }

    /// Follows references, and uses the first alternative that is not null.
    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        for _ in 0..MAX_DEPTH {
            let pointer = schema.get("$ref").and_then(Value::as_str);
            if let Some(found) = pointer.and_then(|p| self.root.pointer(p.strip_prefix('#')?)) {
                schema = found;
                continue;
            }
            let alternatives =
                ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(*key)?.as_array());
            let not_null = |one: &&Value| one.get("type").and_then(Value::as_str) != Some("null");
            match alternatives.and_then(|all| all.iter().find(not_null)) {
                Some(one) => schema = one,
                None => break,
            }
        }
        schema
    }

    fn texts(&self, name: &str, schema: &Value) -> Vec<Value> {
        let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0) as usize;
        let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX) as usize;
        let pattern = schema.get("pattern").and_then(Value::as_str);
        let fits = |text: &str| {
            let length = text.chars().count();
            let matches = |pattern| regex::Regex::new(pattern).is_ok_and(|re| re.is_match(text));
            (least..=most.max(least)).contains(&length) && pattern.is_none_or(matches)
        };
        let mut texts: Vec<String> = Vec::new();
        let description = schema.get("description").and_then(Value::as_str);
        let kinds = classify(name, description, schema);
        let must_be_ours = self.must_be_ours(name, schema);
        if !must_be_ours {
            texts.extend(self.known(name).filter_map(|value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            }));
            texts.extend(of_format(schema.get("format").and_then(Value::as_str)));
            texts.extend(quoted(description.unwrap_or_default()));
        }
        if !self.hints.text.is_empty() && names_old_text(name) {
            texts.push(self.hints.text.trim().to_owned());
        }
        for kind in &kinds {
            self.of_kind(*kind, name, description, &mut texts);
        }
        // Objects that a target creates from this word can be recognised.
        let is_marked = writes(self.tool) && !self.hints.word.is_empty();
        if must_be_ours && is_marked {
            texts.push(self.hints.word.clone());
        } else {
            texts.extend(pattern.and_then(|pattern| matching(pattern, least)));
            texts.push(if is_marked { self.hints.word.clone() } else { "test".to_owned() });
            texts.push("x".repeat(least.clamp(1, 4096)));
        }
        let commands = [Kind::Query, Kind::Command, Kind::Expression];
        let is_command = kinds.iter().any(|kind| commands.contains(kind));
        let harms = |text: &str| is_command && Sense::HarmsQuery.is_in(&words(text));
        texts.into_iter().filter(|text| fits(text) && !harms(text)).map(Value::String).collect()
    }

    /// Whether an argument is a path to write to. Whatever the schema and other tools propose for it may be a file of
    /// the user. Choices that are not file names do not count.
    fn must_be_ours(&self, name: &str, schema: &Value) -> bool {
        let description = schema.get("description").and_then(Value::as_str);
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        let is_address = ["uri", "url", "iri"].iter().any(|kind| format.starts_with(kind));
        let is_path = || classify(name, description, schema).contains(&Kind::Path);
        let choices = schema.get("enum").and_then(Value::as_array);
        let choices = choices.into_iter().flatten().chain(schema.get("const"));
        let choices: Vec<&str> = choices.filter_map(Value::as_str).collect();
        let is_choice = !choices.is_empty() && !choices.iter().any(|text| looks_like_file(text));
        let says_path = || words(name).iter().any(|word| PATH_WORDS.contains(&word.as_str()));
        !only_looks(self.tool) && !is_address && is_path() && (!is_choice || says_path())
    }

    fn name(&self) -> &str {
        self.tool.name().unwrap_or_default()
    }

    fn of_kind(&self, kind: Kind, name: &str, said: Option<&str>, texts: &mut Vec<String>) {
        match kind {
            Kind::Path => {
                texts.extend(self.hints.paths(self.tool, name, said));
            }
            Kind::Url => texts.extend(self.hints.url.clone()),
            Kind::Query => texts.push("SELECT 1".to_owned()),
            Kind::Expression => texts.push("1 + 1".to_owned()),
            Kind::Pattern => texts.extend(["*", ".*", "a"].map(str::to_owned)),
            Kind::Id => texts.push("1".to_owned()),
            Kind::Name | Kind::Filter | Kind::Host if names_revision(name) => {
                texts.extend(["HEAD", "main"].map(str::to_owned));
            }
            Kind::Host => texts.push("127.0.0.1".to_owned()),
            Kind::Name | Kind::Filter => texts.push("main".to_owned()),
            Kind::Command => texts.push("echo".to_owned()),
            Kind::Text | Kind::Number | Kind::Other => {}
        }
    }

    fn numbers(&self, name: &str, schema: &Value, whole: bool) -> Vec<Value> {
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        let low = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|low| low + 1.0));
        let high = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|high| high - 1.0));
        let fits = |value: f64| {
            low.is_none_or(|low| value >= low) && high.is_none_or(|high| value <= high)
        };
        let step = bound("multipleOf").filter(|step| *step > 0.0);
        let known = self.known(name).filter_map(|value| match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        });
        let plain = [1.0, 2.0, 10.0, 0.0].into_iter();
        let values = known.chain(step).chain(plain).chain(low).chain(high);
        let values = values.filter(|value| fits(*value) && (!whole || value.fract() == 0.0));
        let shown = |value: f64| {
            if value.fract() == 0.0 && value.abs() < 9e15 {
                json!(value as i64)
            } else {
                json!(value)
            }
        };
        values.map(shown).collect()
    }

    /// Values from answers under this name, or under `id` in a list of such objects.
    fn known<'s>(&'s self, name: &str) -> impl Iterator<Item = &'s Value> + use<'s> {
        let wanted = words(name);
        let last = wanted.last().cloned().unwrap_or_default();
        let tool = words(self.name());
        let rank = move |learned: &Learned| {
            let found = words(&learned.name);
            if found.is_empty() || learned.tool == self.name() {
                return None;
            }
            let of = words(&learned.tool);
            let related = |word: &String| {
                let stem = |word: &str| word.trim_end_matches('s').to_owned();
                of.iter().any(|other| stem(other) == stem(word))
            };
            if found == wanted {
                Some(0)
            } else if found.last() == Some(&last) && wanted.iter().any(related) {
                Some(1)
            } else if found.last() == Some(&last) && tool.iter().skip(1).any(related) {
                Some(2)
            } else if found.last() == Some(&last) {
                Some(3)
            } else if GENERIC.contains(&found[found.len() - 1].as_str()) && related(&last) {
                Some(4)
            } else {
                None
            }
        };
        let mut ranked: Vec<(u8, &Value)> =
            self.learned.iter().filter_map(|one| Some((rank(one)?, &one.value))).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, value)| value).take(3)
    }
}

/// Whether a proposed text would change something if it were run: several words, one of them with that sense.
fn harms(value: &Value) -> bool {
    let said = words(value.as_str().unwrap_or_default());
    said.len() > 1 && Sense::HarmsQuery.is_in(&said)
}

/// Names of arguments that are always paths.
const PATH_WORDS: [&str; 8] =
    ["path", "file", "filename", "filepath", "dir", "directory", "folder", "filenames"];

/// Whether a text has folders or an extension.
fn looks_like_file(text: &str) -> bool {
    let ending = text.rsplit_once('.').map(|(_, ending)| ending);
    let is_ending = |ending: &str| {
        (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric())
    };
    text.contains(['/', '\\', '~']) || ending.is_some_and(is_ending)
}

fn of_format(format: Option<&str>) -> Option<String> {
    let text = match format? {
        "date-time" => "2025-01-15T12:00:00Z",
        "date" => "2025-01-15",
        "time" => "12:00:00Z",
        "duration" => "PT1H",
        "email" | "idn-email" => "tester@example.com",
        "uri" | "url" | "iri" | "uri-reference" => "https://example.com/",
        "hostname" => "localhost",
        "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        "uuid" => "6f2c1c5e-3b52-4d39-9b47-0a3a9a6e1c11",
        "regex" => "a",
        "byte" => "dGVzdA==",
        _ => return None,
    };
    Some(text.to_owned())
}

/// Whether a name refers to a revision in a repository.
fn names_revision(name: &str) -> bool {
    let known = ["ref", "revision", "rev", "commit", "branch", "target", "sha", "base", "head"];
    words(name).iter().any(|word| known.contains(&word.as_str()))
}

/// Whether a name refers to text that is already in a file.
fn names_old_text(name: &str) -> bool {
    let words = words(name);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    has(&["old", "search", "find", "before", "original", "query", "keyword", "term"])
        && !has(&["path", "file", "name", "id", "sql"])
}

/// Examples in a description, in quotes or after `e.g.`.
fn quoted(description: &str) -> Vec<String> {
    let mut found = Vec::new();
    for quote in ['`', '\'', '"'] {
        let parts: Vec<&str> = description.split(quote).collect();
        let inside = parts.iter().skip(1).step_by(2).take(parts.len() / 2);
        found.extend(inside.map(|part| (*part).to_owned()));
    }
    if let Some((_, rest)) = description.split_once("e.g.") {
        let word = rest.trim_start_matches([',', ' ', ':']).split([',', ')', ';', ' ']).next();
        found.extend(word.map(|word| word.trim_matches(['\'', '"', '`', '.']).to_owned()));
    }
    found.retain(|text| !text.is_empty() && text.len() < 80 && !text.contains('\n'));
    found.truncate(2);
    found
}
