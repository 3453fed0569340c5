//! Masks secrets in a result before it is reported or stored.

use quintain_content::secret::is_credential;
use quintain_evidence::result::CaseResult;
use quintain_suite::plan::Sameness;
use quintain_wire::redact::{MASK, Redactor};
use serde_json::{Map, Value};

use crate::masked::{self, MaskedCase};

/// Masks the values of variables that are named like secrets, and every known secret.
pub(crate) fn mask(mut result: CaseResult, redactor: &Redactor) -> MaskedCase {
    hide(&mut result.vars);
    if let Some(Value::Object(vars)) = result.test.get_mut("vars") {
        hide(vars);
    }
    masked::case(result, redactor)
}

/// The identity of a test in stored results, which are masked.
pub(crate) fn stored_sameness(
    description: Option<&str>,
    vars: &Map<String, Value>,
    redactor: &Redactor,
) -> Sameness {
    let description = description.map(|text| redactor.text(text));
    let mut vars = vars.clone();
    hide(&mut vars);
    Sameness::new(description.as_deref(), &redactor.masked_or(&vars, Map::new))
}

fn hide(entries: &mut Map<String, Value>) {
    for (name, value) in entries {
        match value {
            Value::String(text) if is_credential(name) => {
                text.clear();
                text.push_str(MASK);
            }
            Value::Object(inner) => hide(inner),
            Value::Array(items) => {
                items.iter_mut().filter_map(Value::as_object_mut).for_each(hide);
            }
            _ => {}
        }
    }
}
