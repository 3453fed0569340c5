//! Tools with several modes, which one argument selects.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::complaints::listed;
use super::{Baseline, words};

/// Maximum number of modes of one tool.
const MAX_CHOICES: usize = 12;
/// Names of arguments that select a mode.
const SWITCHES: [&str; 10] = [
    "action",
    "operation",
    "op",
    "command",
    "subcommand",
    "mode",
    "method",
    "task",
    "verb",
    "function",
];

/// A tool in another mode than that of the first learned call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    pub server: String,
    pub tool: String,
    /// The argument that selects the mode, and its value.
    pub argument: String,
    pub value: String,
    /// The arguments that came closest to a valid call.
    pub args: Map<String, Value>,
    /// The valid call, if there is one.
    pub works: Option<Baseline>,
}

/// The argument of a tool that selects its mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    pub argument: String,
    pub choices: Vec<String>,
}

/// The argument that selects the mode of a tool, if it has one. Its schema or its description lists the choices.
pub fn switch(schema: &Value) -> Option<Switch> {
    let properties = schema.get("properties")?.as_object()?;
    properties.iter().find_map(|(argument, property)| {
        if !is_switch(argument) {
            return None;
        }
        let choices = match property.get("enum").and_then(Value::as_array) {
            Some(all) => all.clone(),
            None => listed(property.get("description")?.as_str()?)?,
        };
        let choices: Vec<String> =
            choices.iter().filter_map(Value::as_str).take(MAX_CHOICES).map(str::to_owned).collect();
        (choices.len() > 1).then(|| Switch { argument: argument.clone(), choices })
    })
}

/// Whether an argument has a name that suggests a mode.
pub(super) fn is_switch(argument: &str) -> bool {
    words(argument).pop().is_some_and(|last| SWITCHES.contains(&last.as_str()))
}

impl Switch {
    /// The schema of a tool in this mode.
    pub fn set(&self, schema: &Value, choice: &str) -> Value {
        let mut schema = schema.clone();
        if let Some(property) =
            schema.get_mut("properties").and_then(|all| all.get_mut(&self.argument))
        {
            *property = serde_json::json!({"type": "string", "const": choice});
        }
        let required = schema
            .as_object_mut()
            .map(|schema| schema.entry("required").or_insert_with(|| Value::Array(Vec::new())));
        if let Some(Value::Array(names)) = required
            && !names.iter().any(|name| *name == *self.argument)
        {
            names.push(Value::String(self.argument.clone()));
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_switch_lists_its_choices_in_the_schema_or_in_words() {
        let of = |property: Value| {
            let schema = json!({"properties": {"name": {"type": "string"}, "action": property}});
            switch(&schema).map(|switch| switch.choices.join(" "))
        };
        assert_eq!(of(json!({"enum": ["list", "run"]})).as_deref(), Some("list run"));
        let said = json!({"type": "string", "description": "What to do. One of: list, run"});
        assert_eq!(of(said).as_deref(), Some("list run"));
        assert_eq!(of(json!({"type": "string", "description": "What to do"})), None);
        let other = json!({"properties": {"colour": {"enum": ["red", "blue"]}}});
        assert_eq!(switch(&other), None);
    }

    #[test]
    fn a_switch_that_is_set_has_to_be_given() {
        let schema = json!({"properties": {"action": {"enum": ["list", "run"]}}});
        let set = switch(&schema).unwrap().set(&schema, "run");
        assert_eq!(set["properties"]["action"]["const"], "run");
        assert_eq!(set["required"], json!(["action"]));
    }
}
