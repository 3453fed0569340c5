//! JSON schemas as promptfoo applies them: draft 7 in the strict mode of ajv, with the formats of
//! ajv-formats and the words of both. The work is done by [`crate::schema`].

pub(super) mod formats;
mod strict;
mod words;

use std::sync::LazyLock;

use jsonschema::{Draft, PatternOptions, ValidationOptions, Validator};
use serde::Serialize;
use serde_json::{Value, json};

use crate::schema::{self, Fault};

/// What the patterns of a schema may try on one text.
const BACKTRACKS: usize = 100_000;
/// Only the first error is reported, but several are needed to determine which one that is.
const MAX_ERRORS: usize = 200;

/// One way in which data does not fit, in the form ajv gives it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Complaint {
    pub instance_path: String,
    pub schema_path: String,
    pub keyword: String,
    pub params: Value,
    pub message: String,
}

/// `data/age must be number`, several joined by commas.
pub fn errors_text(complaints: &[Complaint]) -> String {
    let shown =
        complaints.iter().map(|found| format!("data{} {}", found.instance_path, found.message));
    shown.collect::<Vec<_>>().join(", ")
}

/// A schema that ajv accepts.
pub struct Schema {
    value: Value,
    validator: Validator,
}

impl Schema {
    /// # Errors
    /// What ajv would throw, or why it is too expensive to apply.
    pub fn new(schema: &Value) -> Result<Self, String> {
        strict::check_kind(schema)?;
        let faults = META.as_ref().map_err(Clone::clone)?.check(schema)?;
        if !faults.is_empty() {
            return Err(format!("schema is invalid: {}", errors_text(&faults)));
        }
        strict::check_keywords(schema)?;
        Self::compile(strict::without_nullable(schema))
    }

    fn compile(value: Value) -> Result<Self, String> {
        let validator = schema::compile(&value, options()).map_err(|problem| problem.message)?;
        Ok(Self { value, validator })
    }

    /// Whether data fits. Like ajv it stops at the first fault; a fault inside `anyOf` needs
    /// several errors to describe.
    ///
    /// # Errors
    /// When that cannot be found out in bearable time.
    pub fn check(&self, data: &Value) -> Result<Vec<Complaint>, String> {
        schema::apply(&self.value, &self.validator, data, |validator| {
            let errors: Vec<_> = validator.iter_errors(data).take(MAX_ERRORS).collect();
            words::first(&self.value, data, &errors)
        })
        .map_err(|problem| match problem.fault {
            Fault::Schema => problem.message,
            Fault::Arguments => format!("the data is {}", problem.message),
        })
    }
}

/// What every schema of draft 7 has to fit.
static META: LazyLock<Result<Schema, String>> =
    LazyLock::new(|| Schema::compile(json!({"$ref": "http://json-schema.org/draft-07/schema#"})));

fn options() -> ValidationOptions<'static> {
    let options = jsonschema::options()
        .with_draft(Draft::Draft7)
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS))
        .should_validate_formats(true);
    formats::ALL.iter().fold(options, |options, (name, fits)| options.with_format(*name, fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(schema: Value, data: Value) -> String {
        let found = Schema::new(&schema).and_then(|schema| schema.check(&data));
        found.map_or_else(|why| format!("refused: {why}"), |all| errors_text(&all))
    }

    #[test]
    fn the_first_fault_is_told_in_the_words_of_ajv() {
        let person = json!({
            "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string", "minLength": 2}, "age": {"type": "integer"}},
            "additionalProperties": false
        });
        assert_eq!(told(person.clone(), json!({"name": "Ann", "age": 1.0})), "");
        assert_eq!(told(person.clone(), json!({})), "data must have required property 'name'");
        assert_eq!(
            told(person.clone(), json!({"age": "x", "name": "A", "more": 1})),
            "data must NOT have additional properties"
        );
        assert_eq!(
            told(person, json!({"age": "x", "name": "A"})),
            "data/name must NOT have fewer than 2 characters"
        );
    }

    #[test]
    fn items_come_in_the_order_of_the_data() {
        let schema = json!({"items": {"type": "number", "minimum": 5}});
        assert_eq!(told(schema, json!([9, 1, "x"])), "data/1 must be >= 5");
    }

    #[test]
    fn alternatives_are_told_one_by_one() {
        let schema = json!({"anyOf": [{"type": "number"}, {"type": "string", "format": "date"}]});
        assert_eq!(
            told(schema, json!("x")),
            "data must be number, data must match format \"date\", data must match a schema in anyOf"
        );
    }

    #[test]
    fn a_complaint_has_the_form_of_ajv() {
        let schema = Schema::new(&json!({"required": ["a"]})).unwrap();
        let found = schema.check(&json!({})).unwrap();
        assert_eq!(
            serde_json::to_string(&found).unwrap(),
            r##"[{"instancePath":"","schemaPath":"#/required","keyword":"required","params":{"missingProperty":"a"},"message":"must have required property 'a'"}]"##
        );
    }

    #[test]
    fn hostile_data_does_not_hang_a_pattern() {
        let schema = json!({"pattern": "^(?=(a+)+$)"});
        let text = format!("{}!", "a".repeat(5_000));
        assert!(!told(schema, json!(text)).is_empty());
    }
}
