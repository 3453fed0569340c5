//! Whether data fits a JSON schema, a tool's arguments above all. The schema may come from the target
//! and is hostile: it must not make us fetch anything, backtrack, recurse without end or crash.

mod bounds;
pub mod build;
mod plain;
pub mod promptfoo;
pub mod violations;

use std::panic::{AssertUnwindSafe, catch_unwind};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ReferencingError, ValidationOptions, Validator};
use serde_json::Value;

/// Bytes of one compiled pattern.
const PATTERN_SIZE: usize = 4 << 20;
/// Nobody reads more.
const MAX_PROBLEMS: usize = 50;
const MAX_MESSAGE: usize = 400;

/// One reason why arguments do not fit, or why that could not be found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub fault: Fault,
    /// Into the arguments; into the schema if that is at fault.
    pub pointer: String,
    pub message: String,
}

/// Who is to blame for a [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Arguments,
    Schema,
}

impl Problem {
    fn new(fault: Fault, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() > MAX_MESSAGE {
            message.truncate(message.floor_char_boundary(MAX_MESSAGE));
            message.push('…');
        }
        Self { fault, pointer: pointer.into(), message }
    }
}

/// Checks `args` against `schema` (draft 2020-12 unless it names another). Empty means they fit.
pub fn validate(schema: &Value, args: &Value) -> Vec<Problem> {
    if plain::certainly_fits(schema, args) {
        return Vec::new();
    }
    let options = options(schema).should_validate_formats(false);
    let validator = match compile(schema, options) {
        Ok(validator) => validator,
        Err(problem) => return vec![problem],
    };
    apply(schema, &validator, args, |validator| problems(validator, args))
        .unwrap_or_else(|problem| vec![problem])
}

/// Patterns of the target must not backtrack.
fn options(schema: &Value) -> ValidationOptions<'static> {
    jsonschema::options().with_draft(draft(schema)).with_pattern_options(
        PatternOptions::regex().size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_SIZE),
    )
}

/// Makes a validator of a schema that is not too large for one.
///
/// # Errors
/// What is wrong with the schema.
pub(crate) fn compile(
    schema: &Value,
    options: ValidationOptions<'static>,
) -> Result<Validator, Problem> {
    bounds::check(schema, &Value::Null)?;
    guarded(|| build(schema, &options.offline()))
}

/// Hands the validator of a schema over, if it can be applied to the data in bearable time.
///
/// # Errors
/// Why it cannot.
pub(crate) fn apply<T>(
    schema: &Value,
    validator: &Validator,
    data: &Value,
    look: impl FnOnce(&Validator) -> T,
) -> Result<T, Problem> {
    bounds::check(schema, data)?;
    guarded(|| Ok(look(validator)))
}

/// The validator is a library fed with hostile input: a panic in it is the schema's fault.
fn guarded<T>(work: impl FnOnce() -> Result<T, Problem>) -> Result<T, Problem> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Problem::new(Fault::Schema, "", "the schema crashed the validator"))
    })
}

fn build(schema: &Value, options: &ValidationOptions<'_>) -> Result<Validator, Problem> {
    options.build(schema).map_err(|error| {
        let message = match error.kind() {
            // Which of several comes first differs from run to run, so none is named.
            ValidationErrorKind::Referencing(ReferencingError::Unretrievable { .. }) => {
                "it refers to other documents, which are never fetched".to_owned()
            }
            _ => error.to_string(),
        };
        Problem::new(Fault::Schema, error.instance_path().to_string(), message)
    })
}

/// An unknown `$schema` does not make a schema unusable: MCP says 2020-12 by default.
fn draft(schema: &Value) -> Draft {
    match Draft::default().detect(schema) {
        Draft::Unknown => Draft::Draft202012,
        known => known,
    }
}

fn problems(validator: &Validator, args: &Value) -> Vec<Problem> {
    let errors = validator.iter_errors(args).take(MAX_PROBLEMS);
    errors
        .map(|error| {
            Problem::new(Fault::Arguments, error.instance_path().to_string(), error.to_string())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(schema: Value, args: Value) -> Vec<Fault> {
        validate(&schema, &args).into_iter().map(|problem| problem.fault).collect()
    }

    #[test]
    fn arguments_are_checked_with_pointers() {
        let schema = json!({
            "type": "object",
            "properties": {"amount": {"type": "number", "minimum": 0}, "user": {"type": "string"}},
            "required": ["amount"], "additionalProperties": false
        });
        assert_eq!(validate(&schema, &json!({"amount": 1, "user": "a"})), []);
        let found = validate(&schema, &json!({"amount": -1, "user": 7, "x": 1}));
        let mut pointers: Vec<_> = found.iter().map(|p| p.pointer.as_str()).collect();
        pointers.sort_unstable();
        assert_eq!(pointers, ["", "/amount", "/user"]);
        assert!(validate(&schema, &json!({}))[0].message.contains("amount"));
    }

    #[test]
    fn a_schema_that_is_no_schema_is_a_problem() {
        for schema in [json!(null), json!(7), json!("x"), json!([]), json!({"type": "wat"})] {
            assert_eq!(faults(schema.clone(), json!({})), [Fault::Schema], "{schema}");
        }
        assert_eq!(faults(json!({"$schema": "urn:mine", "type": "object"}), json!({})), []);
    }

    #[test]
    fn remote_references_are_never_fetched() {
        for url in ["http://127.0.0.1:1/x", "file:///etc/passwd", "other.json"] {
            assert_eq!(faults(json!({"$ref": url}), json!({})), [Fault::Schema], "{url}");
        }
    }

    #[test]
    fn evil_patterns_cost_linear_time_or_nothing() {
        let schema = json!({"properties": {"a": {"pattern": "^(a+)+$"}}});
        let text = format!("{}!", "a".repeat(50_000));
        assert_eq!(faults(schema, json!({"a": text})), [Fault::Arguments]);
        let huge = json!({"properties": {"a": {"pattern": "((a{1,1000}){1,1000}){1,1000}"}}});
        assert_eq!(faults(huge, json!({"a": "a"})), [Fault::Schema]);
        let look = json!({"properties": {"a": {"pattern": "(?=a)(\\w)\\1"}}});
        assert_eq!(faults(look, json!({"a": "a"})), [Fault::Schema]);
    }

    #[test]
    fn what_is_accepted_is_checked_in_bearable_time() {
        let mut defs = serde_json::Map::new();
        defs.insert("a0".into(), json!({"type": "object"}));
        for level in 1..=10 {
            let below = json!({"$ref": format!("#/$defs/a{}", level - 1)});
            defs.insert(format!("a{level}"), json!({"allOf": [below, below]}));
        }
        let schema = json!({"$defs": defs, "$ref": "#/$defs/a10"});
        assert_eq!(faults(schema, json!({})), []);
    }

    #[test]
    fn the_deepest_accepted_case_fits_the_stack() {
        let mut defs = serde_json::Map::new();
        for level in 10..30 {
            let next = json!({"$ref": format!("#/$defs/a{}", level + 1)});
            let next = if level % 2 == 0 { next } else { json!({"allOf": [next]}) };
            defs.insert(format!("a{level}"), next);
        }
        defs.insert("a30".into(), json!({"properties": {"a": {"$ref": "#/$defs/a10"}}}));
        let schema = json!({"$defs": defs, "$ref": "#/$defs/a10"});
        let args = (0..31).fold(json!({}), |inner, _| json!({"a": inner}));
        assert_eq!(validate(&schema, &args), []);
        // Once through the failing path, which keeps more on the stack.
        let strict = json!({"$defs": schema["$defs"], "not": {"$ref": "#/$defs/a10"}});
        assert_eq!(faults(strict, args), [Fault::Arguments]);
    }

    #[test]
    fn odd_numbers_do_not_crash_the_validator() {
        for multiple in [json!(1e-300), json!(1e300), json!(0), json!(-1), json!(0.1)] {
            validate(&json!({"properties": {"a": {"multipleOf": multiple}}}), &json!({"a": 1e308}));
        }
        let negative = json!({"minLength": -1, "maxItems": 1e300, "minProperties": 0.5});
        validate(&negative, &json!({"a": []}));
    }
}
