//! From the errors of the validator to those of ajv: which one comes first, and what it says.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::{Value, json};

use super::Complaint;
use crate::json_value::pointer_key;
use crate::text::js;

/// In which order ajv looks at the keywords of one schema.
pub(super) const ORDER: &[&str] = &[
    "$ref",
    "type",
    "maximum",
    "minimum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "multipleOf",
    "maxLength",
    "minLength",
    "pattern",
    "format",
    "const",
    "enum",
    "not",
    "anyOf",
    "oneOf",
    "allOf",
    "if",
    "then",
    "else",
    "maxItems",
    "minItems",
    "uniqueItems",
    "additionalItems",
    "items",
    "contains",
    "maxProperties",
    "minProperties",
    "required",
    "dependencies",
    "propertyNames",
    "additionalProperties",
    "properties",
    "patternProperties",
];
/// Comparing every item with every other one is for short lists.
const MAX_COMPARED: usize = 300;

/// What ajv says about the first of these errors.
pub(super) fn first(
    schema: &Value,
    data: &Value,
    errors: &[ValidationError<'_>],
) -> Vec<Complaint> {
    let message_builder = MessageBuilder { schema, data };
    let mut told = Vec::new();
    message_builder.tell_first(errors.iter(), &mut told);
    told
}

struct MessageBuilder<'s> {
    schema: &'s Value,
    data: &'s Value,
}

impl MessageBuilder<'_> {
    fn tell_first<'e>(
        &self,
        errors: impl Iterator<Item = &'e ValidationError<'e>>,
        told: &mut Vec<Complaint>,
    ) {
        if let Some(error) = errors.min_by_key(|error| self.rank(error)) {
            self.tell(error, told);
        }
    }

    /// Where ajv would come across an error: the keywords, properties and items on the way to it.
    fn rank(&self, error: &ValidationError<'_>) -> Vec<usize> {
        let path = error.evaluation_path().as_str();
        let instance = error.instance_path().as_str();
        let mut below = instance.split('/').skip(1);
        let (mut rank, mut node, mut place) = (Vec::new(), Some(self.schema), Some(self.data));
        let mut segments = path.split('/').skip(1);
        while let Some(keyword) = segments.next() {
            rank.push(ORDER.iter().position(|known| *known == keyword).unwrap_or(ORDER.len()));
            node = node.and_then(|node| node.get(keyword));
            match keyword {
                "$ref" => {
                    let target = node.and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
                    node = target.and_then(|pointer| self.schema.pointer(pointer));
                }
                "properties" | "patternProperties" | "dependencies" => {
                    let Some(name) = segments.next().map(pointer_key) else { break };
                    let map = node.and_then(Value::as_object);
                    let at = map.and_then(|map| map.keys().position(|key| *key == name));
                    rank.push(at.unwrap_or(usize::MAX));
                    node = map.and_then(|map| map.get(&name));
                    if keyword != "dependencies" {
                        place = descend(place, below.next(), None);
                    }
                }
                "anyOf" | "oneOf" | "allOf" => {
                    let index = segments.next().and_then(|index| index.parse::<usize>().ok());
                    rank.push(index.unwrap_or(usize::MAX));
                    node = index.and_then(|index| node?.get(index));
                }
                "items" | "additionalItems" | "additionalProperties" => {
                    if node.is_some_and(Value::is_array) {
                        let index = segments.next().and_then(|index| index.parse::<usize>().ok());
                        node = index.and_then(|index| node?.get(index));
                    }
                    place = descend(place, below.next(), Some(&mut rank));
                }
                _ => {}
            }
        }
        rank
    }

    fn tell(&self, error: &ValidationError<'_>, told: &mut Vec<Complaint>) {
        let schema_path = error.schema_path().as_str();
        match error.kind() {
            Kind::AnyOf { context }
            | Kind::OneOfNotValid { context }
            | Kind::OneOfMultipleValid { context } => {
                for branch in context {
                    self.tell_first(branch.iter(), told);
                }
            }
            Kind::PropertyNames { error: inner } => {
                let before = told.len();
                self.tell(inner, told);
                for complaint in &mut told[before..] {
                    error.instance_path().as_str().clone_into(&mut complaint.instance_path);
                }
            }
            _ => {}
        }
        let (message, params) = self.words(error);
        let dependency = schema_path.ends_with("/dependencies");
        let keyword = match error.kind() {
            Kind::Required { .. } if dependency => "dependencies",
            kind => kind.keyword(),
        };
        told.push(Complaint {
            instance_path: error.instance_path().as_str().to_owned(),
            schema_path: format!("#{schema_path}"),
            keyword: keyword.to_owned(),
            params,
            message,
        });
    }

    fn words(&self, error: &ValidationError<'_>) -> (String, Value) {
        let limited = |compared: &str, limit: &Value| {
            let shown = js::string(limit);
            (format!("must be {compared} {shown}"), json!({"comparison": compared, "limit": limit}))
        };
        let sized = |much: &str, limit: u64, what: &str| {
            (format!("must NOT have {much} than {limit} {what}"), json!({"limit": limit}))
        };
        let plain = |message: &str| (message.to_owned(), json!({}));
        match error.kind() {
            Kind::AdditionalItems { limit } => sized("more", *limit as u64, "items"),
            Kind::AdditionalProperties { unexpected } => {
                let first = unexpected.first().cloned().unwrap_or_default();
                let message = "must NOT have additional properties".to_owned();
                (message, json!({"additionalProperty": first}))
            }
            Kind::AnyOf { .. } => plain("must match a schema in anyOf"),
            Kind::OneOfNotValid { .. } | Kind::OneOfMultipleValid { .. } => {
                let message = "must match exactly one schema in oneOf".to_owned();
                (message, json!({"passingSchemas": null}))
            }
            Kind::Constant { expected_value } => {
                ("must be equal to constant".to_owned(), json!({"allowedValue": **expected_value}))
            }
            Kind::Contains => {
                ("must contain at least 1 valid item(s)".to_owned(), json!({"minContains": 1}))
            }
            Kind::Enum { options } => {
                let message = "must be equal to one of the allowed values".to_owned();
                (message, json!({"allowedValues": **options}))
            }
            Kind::Maximum { limit } => limited("<=", limit),
            Kind::Minimum { limit } => limited(">=", limit),
            Kind::ExclusiveMaximum { limit } => limited("<", limit),
            Kind::ExclusiveMinimum { limit } => limited(">", limit),
            Kind::FalseSchema => plain("boolean schema is false"),
            Kind::Format { format } => {
                (format!("must match format \"{format}\""), json!({"format": format}))
            }
            Kind::MaxItems { limit } => sized("more", *limit, "items"),
            Kind::MinItems { limit } => sized("fewer", *limit, "items"),
            Kind::MaxLength { limit } => sized("more", *limit, "characters"),
            Kind::MinLength { limit } => sized("fewer", *limit, "characters"),
            Kind::MaxProperties { limit } => sized("more", *limit, "properties"),
            Kind::MinProperties { limit } => sized("fewer", *limit, "properties"),
            Kind::MultipleOf { multiple_of } => {
                let shown = js::number(*multiple_of);
                (format!("must be multiple of {shown}"), json!({"multipleOf": multiple_of}))
            }
            Kind::Not { .. } => plain("must NOT be valid"),
            Kind::Pattern { pattern } => {
                (format!("must match pattern \"{pattern}\""), json!({"pattern": pattern}))
            }
            Kind::PropertyNames { .. } => plain("property name must be valid"),
            Kind::Required { property } => self.required(error, property),
            Kind::Type { kind } => {
                // As written, since the order of several types counts.
                let written = self.schema.pointer(error.schema_path().as_str()).map(js::string);
                let kinds = written.unwrap_or_else(|| match kind {
                    TypeKind::Single(kind) => kind.to_string(),
                    TypeKind::Multiple(kinds) => {
                        let names = kinds.iter().map(|kind| kind.to_string());
                        // The only place where ajv's own schema has several.
                        let mut names: Vec<_> = names.collect();
                        names.sort_unstable_by_key(|name| name != "object");
                        names.join(",")
                    }
                });
                (format!("must be {kinds}"), json!({"type": kinds}))
            }
            Kind::UniqueItems => duplicates(error.instance()),
            _ => plain(&error.to_string()),
        }
    }

    fn required(&self, error: &ValidationError<'_>, property: &Value) -> (String, Value) {
        let missing = js::string(property);
        let path = error.schema_path().as_str();
        let dependencies = path.strip_suffix("/dependencies").map(|_| self.schema.pointer(path));
        if let Some(Some(Value::Object(dependencies))) = dependencies {
            // The error does not name the property; the data has the one and lacks the other.
            let present = |name: &String| error.instance().get(name).is_some();
            let found = dependencies.iter().find_map(|(name, needed)| {
                let needed =
                    needed.as_array().filter(|all| present(name) && all.contains(property));
                Some((name, needed?.iter().map(js::string).collect::<Vec<_>>()))
            });
            let (name, needed) = match found {
                Some((name, needed)) => (name.as_str(), needed),
                None => ("", vec![missing.clone()]),
            };
            let what = if needed.len() == 1 { "property" } else { "properties" };
            let list = needed.join(", ");
            return (
                format!("must have {what} {list} when property {name} is present"),
                json!({
                    "property": name, "missingProperty": missing,
                    "depsCount": needed.len(), "deps": list
                }),
            );
        }
        let message = format!("must have required property '{missing}'");
        (message, json!({"missingProperty": missing}))
    }
}

/// One step into the data, and which of its neighbours that is.
fn descend<'v>(
    place: Option<&'v Value>,
    segment: Option<&str>,
    rank: Option<&mut Vec<usize>>,
) -> Option<&'v Value> {
    let name = pointer_key(segment.unwrap_or_default());
    let (at, next) = match place {
        Some(Value::Array(items)) => {
            let at = name.parse::<usize>().ok();
            (at, at.and_then(|at| items.get(at)))
        }
        Some(Value::Object(map)) => (map.keys().position(|key| *key == name), map.get(&name)),
        _ => (None, None),
    };
    if let Some(rank) = rank {
        rank.push(at.unwrap_or(0));
    }
    next
}

/// ajv goes from the end, and names the pair it meets first.
fn duplicates(list: &Value) -> (String, Value) {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let tail = &items[..items.len().min(MAX_COMPARED)];
    for i in (0..tail.len()).rev() {
        for j in (0..i).rev() {
            if js::deep_equal(&tail[i], &tail[j]) {
                return (
                    format!("must NOT have duplicate items (items ## {j} and {i} are identical)"),
                    json!({"i": i, "j": j}),
                );
            }
        }
    }
    ("must NOT have duplicate items".to_owned(), json!({}))
}
