//! A schema that is compiled once and applied to many values. It asserts formats, reads patterns with look-around, and
//! names the kind and the place of each violation.

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{Draft, PatternOptions, ValidationError, ValidationOptions, Validator};
use serde_json::Value;

use super::bounds::{self, Bounds};
use super::promptfoo::formats;
use super::{Problem, build, guarded};
use crate::json_value::pointer_token;

/// What a pattern may try on one text.
const BACKTRACKS: usize = 100_000;
/// Nobody reads more violations of one value.
const MAX_FOUND: usize = 100;
/// Formats that older drafts do not define, although schemas that declare these drafts use them.
const LATER_FORMATS: [&str; 2] = ["duration", "uuid"];

/// A schema ready to be applied.
pub struct CompiledSchema {
    validator: Validator,
    bounds: Bounds,
}

/// One place of a value that breaks a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violated {
    pub class: Class,
    /// JSON pointer into the value; of a missing or undeclared property, to that property.
    pub pointer: String,
    pub message: String,
}

/// Which demand of a schema is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    MissingRequired,
    Type,
    Enum,
    Range,
    Multiple,
    Length,
    Pattern,
    Format,
    Extra,
    Unique,
    /// It fits none of several schemas, or too many.
    Alternative,
    Other,
}

impl Class {
    pub fn word(self) -> &'static str {
        match self {
            Self::MissingRequired => "missing-required",
            Self::Type => "type",
            Self::Enum => "enum",
            Self::Range => "range",
            Self::Multiple => "multiple",
            Self::Length => "length",
            Self::Pattern => "pattern",
            Self::Format => "format",
            Self::Extra => "extra",
            Self::Unique => "unique",
            Self::Alternative => "alternative",
            Self::Other => "other",
        }
    }
}

impl CompiledSchema {
    /// Compiles a schema as the draft that it declares, else as 2020-12. If it is not valid under 2020-12 and declares
    /// no draft, the older drafts are tried: many servers write their schemas and declare nothing.
    ///
    /// # Errors
    /// What is wrong with the schema.
    pub fn new(schema: &Value) -> Result<Self, Problem> {
        let bounds = bounds::measure(schema)?;
        let declared = declared(schema);
        let first = compile(schema, declared.unwrap_or(Draft::Draft202012));
        let validator = match (first, declared) {
            (Err(problem), None) => [Draft::Draft7, Draft::Draft4]
                .into_iter()
                .find_map(|draft| compile(schema, draft).ok())
                .ok_or(problem)?,
            (first, _) => first?,
        };
        Ok(Self { validator, bounds })
    }

    /// Every place of a value that breaks the schema; none if it fits.
    ///
    /// # Errors
    /// Why that cannot be determined.
    pub fn violations(&self, value: &Value) -> Result<Vec<Violated>, Problem> {
        self.bounds.admit(value)?;
        guarded(|| {
            let mut found = Vec::new();
            for error in self.validator.iter_errors(value).take(MAX_FOUND) {
                add(&error, &mut found);
            }
            found.truncate(MAX_FOUND);
            Ok(found)
        })
    }
}

/// The draft that a schema declares. The fragment and the scheme are often written in other ways than the standard does.
pub fn declared(schema: &Value) -> Option<Draft> {
    let uri = schema.get("$schema")?.as_str()?;
    [
        ("2020-12", Draft::Draft202012),
        ("2019-09", Draft::Draft201909),
        ("draft-07", Draft::Draft7),
        ("draft-06", Draft::Draft6),
        ("draft-04", Draft::Draft4),
    ]
    .into_iter()
    .find_map(|(part, draft)| {
        (uri.contains("json-schema.org") && uri.contains(part)).then_some(draft)
    })
}

/// Whether the keywords next to `$ref` are ignored: in drafts up to 7.
pub fn ignores_siblings_of_ref(schema: &Value) -> bool {
    declared(schema)
        .is_some_and(|draft| matches!(draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7))
}

fn compile(schema: &Value, draft: Draft) -> Result<Validator, Problem> {
    guarded(|| build(schema, &options(draft).offline()))
}

fn options(draft: Draft) -> ValidationOptions<'static> {
    let options = jsonschema::options()
        .with_draft(draft)
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS))
        .should_validate_formats(true);
    let later = formats::ALL.iter().filter(|(name, _)| LATER_FORMATS.contains(name));
    match draft {
        Draft::Draft4 | Draft::Draft6 | Draft::Draft7 => {
            later.fold(options, |options, (name, fits)| options.with_format(*name, fits))
        }
        _ => options,
    }
}

fn add(error: &ValidationError<'_>, found: &mut Vec<Violated>) {
    let place = error.instance_path().to_string();
    let below = |name: &str| format!("{place}/{}", pointer_token(name));
    let class = match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            found.extend(unexpected.iter().map(|name| Violated {
                class: Class::Extra,
                pointer: below(name),
                message: format!("property `{name}` is not allowed"),
            }));
            return;
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            found.push(Violated {
                class: Class::MissingRequired,
                pointer: below(name),
                message: format!("required property `{name}` is missing"),
            });
            return;
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            match closest(context, &place) {
                Some(errors) => errors.iter().for_each(|error| add(error, found)),
                None => found.push(violated(error, alternative(context), place)),
            }
            return;
        }
        // The text was not compared; nothing can be said about it.
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => return,
        Kind::PropertyNames { error: inner } => {
            let name = inner.instance().as_str().map(below);
            found.push(violated(error, Class::Extra, name.unwrap_or(place)));
            return;
        }
        Kind::Type { .. } => Class::Type,
        Kind::Enum { .. } | Kind::Constant { .. } => Class::Enum,
        Kind::Minimum { .. }
        | Kind::Maximum { .. }
        | Kind::ExclusiveMinimum { .. }
        | Kind::ExclusiveMaximum { .. } => Class::Range,
        Kind::MultipleOf { .. } => Class::Multiple,
        Kind::MinLength { .. }
        | Kind::MaxLength { .. }
        | Kind::MinItems { .. }
        | Kind::MaxItems { .. }
        | Kind::MinProperties { .. }
        | Kind::MaxProperties { .. } => Class::Length,
        Kind::Pattern { .. } => Class::Pattern,
        Kind::Format { .. } => Class::Format,
        Kind::UniqueItems => Class::Unique,
        Kind::AdditionalItems { .. } | Kind::UnevaluatedItems { .. } | Kind::FalseSchema => {
            Class::Extra
        }
        Kind::OneOfMultipleValid { .. } => Class::Alternative,
        _ => Class::Other,
    };
    found.push(violated(error, class, place));
}

fn violated(error: &ValidationError<'_>, class: Class, pointer: String) -> Violated {
    let problem = Problem::new(super::Fault::Arguments, pointer, error.to_string());
    Violated { class, pointer: problem.pointer, message: problem.message }
}

/// The errors of the alternative that the value is meant to fit: its type and its constants fit, and no other
/// alternative of this kind has fewer errors.
fn closest<'e>(
    context: &'e [Vec<ValidationError<'static>>],
    place: &str,
) -> Option<&'e [ValidationError<'static>]> {
    let is_other_kind = |error: &&ValidationError<'_>| {
        let path = error.instance_path().to_string();
        let is_here = path == place;
        let is_constant = matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. });
        is_here && (matches!(error.kind(), Kind::Type { .. } | Kind::FalseSchema) || is_constant)
            || is_constant && path.matches('/').count() == place.matches('/').count() + 1
    };
    let mut meant: Vec<&Vec<_>> =
        context.iter().filter(|errors| !errors.iter().any(|error| is_other_kind(&error))).collect();
    meant.sort_by_key(|errors| errors.len());
    match meant.as_slice() {
        [] => None,
        [one] => Some(one),
        [first, second, ..] => (first.len() < second.len()).then_some(first),
    }
}

/// What is wrong if no alternative is closest: usually the type.
fn alternative(context: &[Vec<ValidationError<'static>>]) -> Class {
    let all = |is: fn(&Kind) -> bool| {
        context.iter().all(|errors| errors.iter().any(|error| is(error.kind())))
    };
    if all(|kind| matches!(kind, Kind::Type { .. })) {
        Class::Type
    } else if all(|kind| {
        matches!(kind, Kind::Type { .. } | Kind::Constant { .. } | Kind::Enum { .. })
    }) {
        Class::Enum
    } else {
        Class::Alternative
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(schema: Value, value: Value) -> Vec<String> {
        let schema = CompiledSchema::new(&schema).unwrap();
        let mut found: Vec<String> = schema
            .violations(&value)
            .unwrap()
            .into_iter()
            .map(|violated| format!("{} {}", violated.class.word(), violated.pointer))
            .collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn every_violation_has_a_class_and_a_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 1},
                "price": {"type": "number", "multipleOf": 0.01},
                "kind": {"enum": ["a", "b"]},
                "when": {"type": "string", "format": "date"},
                "tags": {"type": "array", "items": {"type": "string", "maxLength": 2}, "uniqueItems": true},
                "in": {"type": "object", "required": ["x"], "additionalProperties": false, "properties": {"x": {}}}
            },
            "required": ["n", "kind"], "additionalProperties": false
        });
        let value = json!({"n": 0, "price": 19.995, "when": "tomorrow", "tags": ["abc", "abc"], "in": {"y": 1}, "a/b": 1});
        assert_eq!(
            found(schema, value),
            [
                "extra /a~1b",
                "extra /in/y",
                "format /when",
                "length /tags/0",
                "length /tags/1",
                "missing-required /in/x",
                "missing-required /kind",
                "multiple /price",
                "range /n",
                "unique /tags",
            ]
        );
    }

    #[test]
    fn prices_are_multiples_of_cents() {
        for price in
            [json!(19.99), json!(0.07), json!(1.1), json!(4.35), json!(1_000_000.01), json!(3)]
        {
            assert_eq!(found(json!({"multipleOf": 0.01}), price.clone()), [""; 0], "{price}");
        }
        assert_eq!(found(json!({"multipleOf": 0.01}), json!(19.999)), ["multiple "]);
    }

    #[test]
    fn drafts_differ_in_siblings_of_references() {
        let schema = |draft: &str| {
            json!({
                "$schema": draft,
                "definitions": {"name": {"type": "string"}},
                "properties": {"a": {"$ref": "#/definitions/name", "maxLength": 2}}
            })
        };
        let value = json!({"a": "long"});
        for draft in
            ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema"]
        {
            assert_eq!(found(schema(draft), value.clone()), [""; 0], "{draft}");
            assert!(ignores_siblings_of_ref(&schema(draft)));
        }
        let new = "https://json-schema.org/draft/2020-12/schema";
        assert_eq!(found(schema(new), value.clone()), ["length /a"]);
        assert_eq!(found(schema("urn:other"), value), ["length /a"]);
    }

    #[test]
    fn undeclared_schemas_of_older_drafts_are_understood() {
        let tuple =
            json!({"properties": {"a": {"items": [{"type": "string"}, {"type": "number"}]}}});
        assert_eq!(found(tuple, json!({"a": ["x", "y"]})), ["type /a/1"]);
        let exclusive = json!({"properties": {"a": {"minimum": 3, "exclusiveMinimum": true}}});
        assert_eq!(found(exclusive, json!({"a": 3})), ["range /a"]);
    }

    #[test]
    fn formats_are_asserted_in_every_draft() {
        for draft in [
            "http://json-schema.org/draft-07/schema#",
            "https://json-schema.org/draft/2020-12/schema",
        ] {
            for (format, good, bad) in [
                ("date-time", "2024-05-01T10:00:00Z", "yesterday"),
                ("email", "a@example.com", "a.example.com"),
                ("uri", "https://example.com/a", "no uri"),
                ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
                ("ipv4", "10.0.0.1", "10.0.0.256"),
                ("duration", "P1D", "1 day"),
                ("time", "10:00:00Z", "10 o'clock"),
            ] {
                let schema = json!({"$schema": draft, "properties": {"a": {"format": format}}});
                assert_eq!(found(schema.clone(), json!({"a": good})), [""; 0], "{draft} {format}");
                assert_eq!(found(schema, json!({"a": bad})), ["format /a"], "{draft} {format}");
            }
        }
    }

    #[test]
    fn the_closest_alternative_is_reported() {
        let nullable = json!({"properties": {"a": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}}});
        assert_eq!(found(nullable.clone(), json!({"a": 0})), ["range /a"]);
        assert_eq!(found(nullable, json!({"a": "x"})), ["type /a"]);
        let kinds = json!({"properties": {"shape": {"oneOf": [
            {"properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
            {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]}
        ]}}});
        assert_eq!(
            found(kinds, json!({"shape": {"kind": "square", "side": "1"}})),
            ["type /shape/side"]
        );
        let either = json!({"properties": {"a": {"anyOf": [{"const": 1}, {"const": 2}]}}});
        assert_eq!(found(either, json!({"a": 3})), ["enum /a"]);
    }

    #[test]
    fn look_around_is_understood_and_bounded() {
        let schema = json!({"properties": {"a": {"pattern": "^(?!.*secret)[a-z]+$"}}});
        assert_eq!(found(schema.clone(), json!({"a": "fine"})), [""; 0]);
        assert_eq!(found(schema, json!({"a": "asecret"})), ["pattern /a"]);
        let evil = json!({"properties": {"a": {"pattern": "^(?=(a+)+$)"}}});
        let _ = found(evil, json!({"a": format!("{}!", "a".repeat(5_000))}));
    }

    #[test]
    fn unusable_schemas_are_errors() {
        for schema in
            [json!(7), json!({"type": "wat"}), json!({"$ref": "http://h/x"}), json!({"$ref": "#"})]
        {
            assert!(CompiledSchema::new(&schema).is_err(), "{schema}");
        }
        let deep = (0..40).fold(json!({}), |inner, _| json!({"a": inner}));
        assert!(CompiledSchema::new(&json!({})).unwrap().violations(&deep).is_err());
    }
}
