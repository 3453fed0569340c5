//! Masks secrets in a result before anybody sees or keeps it.

use std::borrow::Cow;

use quintain_core::result::CaseResult;
use quintain_wire::redact::{MASK, Redactor};
use serde_json::{Map, Value};

use crate::masked;

/// Names of variables whose values are nobody's business, without case, dashes and underscores.
const PRIVATE: [&str; 16] = [
    "accesstoken",
    "apikey",
    "apisecret",
    "auth",
    "authorization",
    "bearer",
    "clientsecret",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "refreshtoken",
    "secret",
    "token",
];

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
        let plain = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
        match value {
            Value::String(text) if PRIVATE.contains(&plain(name).as_str()) => {
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
