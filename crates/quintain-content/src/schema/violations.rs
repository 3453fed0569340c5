//! Arguments that a schema forbids, made from arguments that it allows: each breaks it in one place.

mod walk;

use serde_json::{Map, Value};

use self::walk::{Candidate, candidates};
use super::{Problem, apply, compile, options, problems};
use crate::json_value;

/// One set of arguments that must be refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// JSON pointer to the place in the arguments that breaks the schema.
    pub pointer: String,
    pub rule: Rule,
    /// The new value; none if something was removed.
    pub value: Option<Value>,
    pub args: Map<String, Value>,
}

/// Which part of a schema is broken. What servers check first comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    Type,
    Required,
    Enum,
    Range,
    Additional,
    Length,
    Pattern,
    Format,
    Multiple,
}

impl Rule {
    pub const WORDS: [(&'static str, Self); 9] = [
        ("type", Self::Type),
        ("required", Self::Required),
        ("enum", Self::Enum),
        ("range", Self::Range),
        ("additional", Self::Additional),
        ("length", Self::Length),
        ("pattern", Self::Pattern),
        ("format", Self::Format),
        ("multiple", Self::Multiple),
    ];

    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, rule)| *rule == self).map_or("", |(word, _)| *word)
    }
}

impl Violation {
    /// The place as people write it: `items.0.price`.
    pub fn place(&self) -> String {
        let parts = self.pointer.split('/').skip(1);
        parts.map(json_value::pointer_key).collect::<Vec<_>>().join(".")
    }
}

/// What could be found.
#[derive(Debug, Default, PartialEq)]
pub struct Violations {
    pub all: Vec<Violation>,
    /// There would have been more than were wanted.
    pub more: bool,
}

/// At most `max` violations of a schema, made from arguments that keep it.
///
/// # Errors
/// When the schema cannot be used, or the arguments do not keep it themselves.
pub fn violations(
    schema: &Value,
    valid: &Map<String, Value>,
    max: usize,
    wanted: impl Fn(&str, Rule) -> bool,
) -> Result<Violations, Problem> {
    let whole = Value::Object(valid.clone());
    // Formats are promises, too, although validators need not check them.
    let validator = compile(schema, options(schema).should_validate_formats(true))?;
    let mut faults = apply(schema, &validator, &whole, |validator| problems(validator, &whole))?;
    if !faults.is_empty() {
        return Err(faults.swap_remove(0));
    }
    let mut found = Violations::default();
    for candidate in candidates(schema, &whole) {
        if !wanted(&candidate.pointer(), candidate.rule) {
            continue;
        }
        // Only what the validator refuses is a violation: the walk knows less than it does.
        let broken = candidate.variants(&whole).find(|(_, args)| {
            apply(schema, &validator, args, |validator| !validator.is_valid(args)).unwrap_or(false)
        });
        let Some((value, Value::Object(args))) = broken else { continue };
        if found.all.len() == max {
            found.more = true;
            break;
        }
        let Candidate { rule, .. } = candidate;
        let violation = Violation { pointer: candidate.pointer(), rule, value, args };
        if !found.all.iter().any(|known| known.args == violation.args) {
            found.all.push(violation);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::Fault;

    fn found(schema: Value, valid: Value) -> Vec<String> {
        let Value::Object(valid) = valid else { panic!("arguments are a map") };
        let found = violations(&schema, &valid, 100, |_, _| true).unwrap();
        for violation in &found.all {
            assert_ne!(violation.args, valid);
        }
        let words = found.all.iter().map(|violation| {
            let value = violation.value.as_ref().map(|value| format!("={value}"));
            format!("{}:{}{}", violation.rule.word(), violation.place(), value.unwrap_or_default())
        });
        words.collect()
    }

    #[test]
    fn every_rule_of_a_property_is_broken_once() {
        let schema = json!({
            "type": "object",
            "properties": {
                "amount": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10, "multipleOf": 2},
                "currency": {"type": "string", "enum": ["USD", "EUR"]},
                "note": {"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^[a-z]+$"},
                "when": {"type": "string", "format": "date"},
                "kind": {"const": "x"}
            },
            "required": ["amount"],
            "additionalProperties": false
        });
        assert_eq!(
            found(schema, json!({"amount": 4, "note": "ab"})),
            [
                "type:amount=\"not of this type\"",
                "type:amount=1.5",
                "type:currency={\"unexpected\":true}",
                "type:note={\"unexpected\":true}",
                "type:when={\"unexpected\":true}",
                "required:amount",
                "enum:currency=\"no such value\"",
                "enum:kind=\"no such value\"",
                "range:amount=0",
                "range:amount=10",
                "additional:quintain_unexpected=true",
                "length:note=\"a\"",
                "length:note=\"abab\"",
                "pattern:note=\"!\"",
                "format:when=\"not a date\"",
                "multiple:amount=3",
            ]
        );
    }

    #[test]
    fn nested_values_and_items_are_broken_in_place() {
        let schema = json!({
            "properties": {
                "user": {
                    "type": "object", "required": ["id"],
                    "properties": {"id": {"type": "integer"}}
                },
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                "more": {"type": "array", "items": {"$ref": "#/$defs/item"}}
            },
            "$defs": {"item": {"allOf": [{"type": "number"}, {"maximum": 5}]}}
        });
        let words = found(schema, json!({"user": {"id": 1}, "tags": ["a"]}));
        for expected in [
            "type:user.id=\"not of this type\"",
            "type:tags.0={\"unexpected\":true}",
            "type:more.0=\"not of this type\"",
            "required:user.id",
            "range:more.0=6",
            "length:tags=[\"a\",\"a\",\"a\"]",
        ] {
            assert!(words.iter().any(|word| word == expected), "{expected} of {words:?}");
        }
    }

    #[test]
    fn what_the_schema_allows_is_no_violation() {
        let anything = json!({"type": "object", "properties": {"a": {}, "b": {"format": "int64"}}});
        assert_eq!(found(anything, json!({"a": 1})), [""; 0]);
        let either = json!({"properties": {"a": {"type": ["string", "object", "null"]}}});
        assert_eq!(found(either, json!({})), ["type:a=12.5"]);
    }

    #[test]
    fn arguments_must_keep_the_schema_before_they_can_break_it() {
        let schema = json!({"required": ["a"]});
        let problem = violations(&schema, &Map::new(), 10, |_, _| true).unwrap_err();
        assert_eq!(problem.fault, Fault::Arguments);
        let hostile = json!({"$ref": "http://h/x"});
        let problem = violations(&hostile, &Map::new(), 10, |_, _| true).unwrap_err();
        assert_eq!(problem.fault, Fault::Schema);
    }

    #[test]
    fn the_number_is_bounded_and_places_can_be_chosen() {
        let names = (0..50).map(|n| (format!("p{n}"), json!({"type": "string"})));
        let schema = json!({"properties": names.collect::<Map<_, _>>()});
        let some = violations(&schema, &Map::new(), 5, |_, _| true).unwrap();
        assert_eq!((some.all.len(), some.more), (5, true));
        let one = violations(&schema, &Map::new(), 5, |place, _| place == "/p7").unwrap();
        assert_eq!((one.all.len(), one.more), (1, false));
        let none = violations(&schema, &Map::new(), 5, |_, rule| rule == Rule::Enum).unwrap();
        assert_eq!(none, Violations::default());
    }

    #[test]
    fn hostile_schemas_do_not_make_it_work_for_long() {
        let recursive = json!({
            "properties": {"a": {"$ref": "#"}, "b": {"type": "string", "maxLength": 1e300}},
            "minItems": -1, "multipleOf": 0.0, "enum": {}
        });
        let valid = (0..20).fold(json!({}), |inner, _| json!({"a": inner}));
        let Value::Object(valid) = valid else { panic!() };
        let _ = violations(&recursive, &valid, 20, |_, _| true);
        let huge = json!({"properties": {"a": {"type": "string", "maxLength": 1u64 << 60,
            "minLength": 1u64 << 60}}});
        let found = violations(&huge, &Map::new(), 20, |_, _| true).unwrap();
        assert!(found.all.iter().all(|violation| violation.rule == Rule::Type));
    }
}
