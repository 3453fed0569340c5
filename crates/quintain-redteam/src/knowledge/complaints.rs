//! What a refusal says about arguments: which one is missing, and what was expected. Servers with a sparse schema say
//! it here, in the words of their validation library.

mod prose;

use serde_json::{Map, Value, json};

use self::prose::{choices, prose};

/// Maximum number of bytes read of one refusal.
const MAX_TEXT: usize = 16_000;
const MAX_COMPLAINTS: usize = 40;
const MAX_CHOICES: usize = 12;
const MAX_DEPTH: usize = 8;

/// One argument, and what the server expects of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Complaint {
    /// Keys and indexes from the arguments down; empty if the refusal names none.
    pub path: Vec<String>,
    pub want: Want,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Want {
    /// A value is required.
    Present,
    /// A JSON Schema type.
    Type(&'static str),
    OneOf(Vec<Value>),
    /// A JSON Schema format.
    Format(&'static str),
    AtLeast(f64),
    AtMost(f64),
    /// The argument is not allowed.
    Absent,
}

/// What a refusal asks for.
pub fn complaints(said: &str) -> Vec<Complaint> {
    let said = &said[..said.floor_char_boundary(MAX_TEXT.min(said.len()))];
    let mut found = issues(said);
    if found.is_empty() {
        found = pydantic(said);
    }
    if found.is_empty() {
        found = prose(said);
    }
    found.truncate(MAX_COMPLAINTS);
    found
}

/// The choices that a description lists.
pub(super) fn listed(said: &str) -> Option<Vec<Value>> {
    said.lines().find_map(choices)
}

/// Adds the expectations to a schema; returns whether they are new.
pub fn amend(schema: &mut Value, complaints: &[Complaint]) -> bool {
    let before = schema.clone();
    for complaint in complaints.iter().filter(|one| !one.path.is_empty()) {
        put(schema, &complaint.path, &complaint.want);
    }
    *schema != before
}

fn put(schema: &mut Value, path: &[String], want: &Want) {
    if !schema.is_object() {
        *schema = json!({});
    }
    let Some(of) = schema.as_object_mut() else { return };
    let Some((first, rest)) = path.split_first() else {
        return set(of, want);
    };
    // References and alternatives are not followed: the expectation replaces them.
    for key in ["$ref", "anyOf", "oneOf"] {
        of.remove(key);
    }
    if first.parse::<usize>().is_ok() {
        of.insert("type".into(), json!("array"));
        return put(of.entry("items").or_insert_with(|| json!({})), rest, want);
    }
    of.insert("type".into(), json!("object"));
    let properties = of.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = properties.as_object_mut() else { return };
    if rest.is_empty() && *want == Want::Absent {
        properties.remove(first);
        if let Some(required) = of.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| name != first);
        }
        return;
    }
    put(properties.entry(first.clone()).or_insert_with(|| json!({})), rest, want);
    // A missing value, a wrong type or a wrong choice makes the argument required; a constraint does not.
    let required = of.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut()
        && !required.iter().any(|name| name == first)
        && matches!(want, Want::Present | Want::Type(_) | Want::OneOf(_))
    {
        required.push(json!(first));
    }
}

fn set(of: &mut Map<String, Value>, want: &Want) {
    let mut insert = |key: &str, value: Value| {
        of.insert(key.to_owned(), value);
    };
    match want {
        Want::Type(kind) => insert("type", json!(kind)),
        Want::OneOf(choices) => insert("enum", json!(choices)),
        Want::Format(format) => insert("format", json!(format)),
        Want::AtLeast(least) => insert("minimum", json!(least)),
        Want::AtMost(most) => insert("maximum", json!(most)),
        Want::Present | Want::Absent => {}
    }
}

/// A JSON list of issues, each with a `path` and a `code`, anywhere in the text.
fn issues(said: &str) -> Vec<Complaint> {
    let starts = said.match_indices('[').map(|(at, _)| at).take(8);
    for at in starts {
        let mut values = serde_json::Deserializer::from_str(&said[at..]).into_iter::<Value>();
        if let Some(Ok(Value::Array(items))) = values.next() {
            let mut found = Vec::new();
            items.iter().for_each(|item| issue(item, &[], 0, &mut found));
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

fn issue(item: &Value, above: &[String], depth: usize, found: &mut Vec<Complaint>) {
    let Some(path) = item.get("path").and_then(Value::as_array) else { return };
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut whole = above.to_vec();
    whole.extend(path.iter().map(|part| match part {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }));
    let mut add = |want: Want| found.push(Complaint { path: whole.clone(), want });
    let number = |key: &str| item.get(key).and_then(Value::as_f64);
    match text("code") {
        "invalid_type" => match kind(text("expected")) {
            Some(kind) => add(Want::Type(kind)),
            None => add(Want::Present),
        },
        "invalid_value" | "invalid_enum_value" | "invalid_literal" => {
            let choices = ["values", "options"].iter().find_map(|key| item.get(*key)?.as_array());
            let choices = choices.cloned().or_else(|| Some(vec![item.get("expected")?.clone()]));
            if let Some(choices) = choices.filter(|choices| !choices.is_empty()) {
                add(Want::OneOf(choices.into_iter().take(MAX_CHOICES).collect()));
            }
        }
        "invalid_string" | "invalid_format" => {
            let named = format!("{}{}", text("validation"), text("format"));
            if let Some(format) = format(&named) {
                add(Want::Format(format));
            }
        }
        "too_small" => number("minimum").into_iter().for_each(|least| add(Want::AtLeast(least))),
        "too_big" => number("maximum").into_iter().for_each(|most| add(Want::AtMost(most))),
        "unrecognized_keys" => {
            let keys = item.get("keys").and_then(Value::as_array).into_iter().flatten();
            for key in keys.filter_map(Value::as_str) {
                let mut path = whole.clone();
                path.push(key.to_owned());
                found.push(Complaint { path, want: Want::Absent });
            }
        }
        // Any alternative will do, so the first one is used.
        "invalid_union" if depth < MAX_DEPTH => {
            let ways = item.get("errors").or_else(|| item.get("unionErrors"));
            let first = ways.and_then(|ways| ways.get(0));
            let first = first.map(|first| first.get("issues").unwrap_or(first));
            for below in first.and_then(Value::as_array).into_iter().flatten() {
                issue(below, &whole, depth + 1, found);
            }
        }
        _ => {}
    }
}

/// A name on a separate line, and below it an error that ends in `[type=...]`.
fn pydantic(said: &str) -> Vec<Complaint> {
    let mut found = Vec::new();
    let mut name = "";
    for line in said.lines() {
        let Some((message, tag)) = line.split_once("[type=") else {
            name = line.trim();
            continue;
        };
        let tag = tag.split([',', ']']).next().unwrap_or_default();
        let is_name = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "_-$".contains(c))
        };
        let path: Vec<String> = name.split('.').map(str::to_owned).collect();
        if !path.iter().all(|part| is_name(part)) {
            continue;
        }
        let number = || {
            let digits = message.rsplit(' ').map(|word| word.trim_matches(['.', ',']));
            digits.into_iter().find_map(|word| word.parse::<f64>().ok())
        };
        let want = match tag {
            "missing" | "missing_argument" | "missing_keyword_only_argument" => Want::Present,
            "literal_error" | "enum" => Want::OneOf(quoted(message)),
            "extra_forbidden" | "unexpected_keyword_argument" => Want::Absent,
            "greater_than_equal" => Want::AtLeast(number().unwrap_or(0.0)),
            "greater_than" => Want::AtLeast(number().unwrap_or(0.0) + 1.0),
            "less_than_equal" => Want::AtMost(number().unwrap_or(1.0)),
            "less_than" => Want::AtMost(number().unwrap_or(1.0) - 1.0),
            tag => match kind(tag.split('_').next().unwrap_or_default()) {
                Some(kind) => Want::Type(kind),
                None => continue,
            },
        };
        if want != Want::OneOf(Vec::new()) {
            found.push(Complaint { path, want });
        }
    }
    found
}

fn quoted(text: &str) -> Vec<Value> {
    for quote in ['\'', '"', '`'] {
        let inside: Vec<&str> = text.split(quote).skip(1).step_by(2).collect();
        let fits = |word: &&&str| !word.is_empty() && word.len() < 60;
        let found: Vec<Value> =
            inside.iter().filter(fits).take(MAX_CHOICES).map(|word| json!(word)).collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// The JSON Schema type for a library's type name.
fn kind(word: &str) -> Option<&'static str> {
    Some(match word {
        "string" | "str" => "string",
        "number" | "float" | "decimal" => "number",
        "integer" | "int" => "integer",
        "boolean" | "bool" => "boolean",
        "array" | "list" | "tuple" | "set" => "array",
        "object" | "dict" | "record" | "map" | "model" => "object",
        _ => return None,
    })
}

fn format(word: &str) -> Option<&'static str> {
    Some(match word {
        "url" | "uri" => "uri",
        "email" => "email",
        "uuid" | "guid" => "uuid",
        "datetime" => "date-time",
        "date" => "date",
        "time" => "time",
        "ip" | "ipv4" => "ipv4",
        "base64" => "byte",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(said: &str) -> Value {
        let mut schema = Value::Null;
        amend(&mut schema, &complaints(said));
        schema
    }

    #[test]
    fn issues_in_json_are_read_wherever_they_stand() {
        let said = "MCP error -32602: Invalid arguments [for] edit: [{\"expected\": \"string\", \"code\": \
            \"invalid_type\", \"path\": [\"path\"], \"message\": \"expected string\"}, {\"expected\": \
            \"array\", \"code\": \"invalid_type\", \"path\": [\"edits\"]}, {\"code\": \"invalid_value\", \
            \"values\": [\"a\", \"b\"], \"path\": [\"edits\", 0, \"mode\"]}]";
        let schema = learned(said);
        assert_eq!(schema["required"], json!(["path", "edits"]));
        assert_eq!(schema["properties"]["path"]["type"], "string");
        let mode = &schema["properties"]["edits"]["items"]["properties"]["mode"];
        assert_eq!(mode["enum"], json!(["a", "b"]));
    }

    #[test]
    fn validation_errors_of_python_are_read() {
        let said = "Error executing tool log: 2 validation errors for logArguments\nrepo_path\n  Field \
            required [type=missing, input_value={}, input_type=dict]\n    For further information visit \
            https://x\nitems.0.mode\n  Input should be 'a' or 'b' [type=literal_error, input_value=1]\ncount\n  \
            Input should be a valid integer [type=int_type, input_value='x']";
        let schema = learned(said);
        assert_eq!(schema["required"], json!(["repo_path", "items", "count"]));
        assert_eq!(schema["properties"]["count"]["type"], "integer");
        let items = &schema["properties"]["items"]["items"];
        assert_eq!(items["properties"]["mode"]["enum"], json!(["a", "b"]));
    }

    #[test]
    fn sentences_name_what_they_miss() {
        for said in [
            "TypeError: missing 'city'",
            "\"city\" is required",
            "city is required",
            "Missing required parameter: city",
            "The \"city\" argument must be of type string. Received undefined",
            "data must have required property 'city'",
        ] {
            assert_eq!(learned(said)["required"], json!(["city"]), "{said}");
        }
        for said in ["no such file 'x'", "Access denied", "Required", "it is missing"] {
            assert_eq!(learned(said), Value::Null, "{said}");
        }
    }

    #[test]
    fn sentences_list_what_they_take() {
        let choices = |said: &str| match &complaints(said)[..] {
            [Complaint { path, want: Want::OneOf(all) }] => (path.join("."), all.len()),
            other => panic!("{said}: {other:?}"),
        };
        assert_eq!(choices("format must be one of: csv, json or xml"), ("format".into(), 3));
        assert_eq!(choices("Invalid action 'x'. Valid actions: list, get"), ("action".into(), 2));
        assert_eq!(choices("'x' is not one of ['a', 'b']").1, 2);
        assert_eq!(choices("Unknown job. Known jobs: nightly, weekly"), ("job".into(), 2));
        assert_eq!(choices("No such page: x. Available help pages: a, b, c").1, 3);
        for none in ["Unknown job: a, b", "Invalid date: 1, 2", "It is available at http://x, or y"]
        {
            assert!(complaints(none).is_empty(), "{none}: {:?}", complaints(none));
        }
    }

    #[test]
    fn what_is_too_much_goes() {
        let mut schema = json!({"properties": {"a": {}, "b": {}}, "required": ["a", "b"]});
        let said = "[{\"code\": \"unrecognized_keys\", \"keys\": [\"a\"], \"path\": []}]";
        assert!(amend(&mut schema, &complaints(said)));
        assert!(schema["properties"].get("a").is_none());
        assert!(!amend(&mut schema, &complaints(said)));
    }
}
