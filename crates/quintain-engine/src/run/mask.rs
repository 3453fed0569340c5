//! Masks secrets in a result before anybody sees or keeps it.

use std::borrow::Cow;

use quintain_core::result::CaseResult;
use quintain_core::secret::is_credential;
use quintain_wire::redact::{MASK, Redactor};
use serde_json::{Map, Value};

use crate::masked;

/// Replaces the values of variables that are named like secrets, and every known secret.
pub(crate) fn mask(result: &mut CaseResult, redactor: &Redactor) {
    hide(&mut result.vars);
    if let Some(Value::Object(vars)) = result.test.get_mut("vars") {
        hide(vars);
    }
    if let Cow::Owned(masked) = masked::case(result, redactor).into_inner() {
        *result = masked;
    }
}

/// The variables of a test as they are kept with its result.
pub(crate) fn masked_vars(vars: &Map<String, Value>, redactor: &Redactor) -> Map<String, Value> {
    let mut vars = vars.clone();
    hide(&mut vars);
    redactor.masked_or(&vars, Map::new).into_owned()
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
