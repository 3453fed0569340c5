//! What a target says it offers. Every item keeps its raw JSON, since attacks hide in the details; accessors return
//! `None` for JSON of any other shape.

pub mod drift;
pub mod lock;
pub mod saved;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One server's tools, resources, templates and prompts as listed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// `serverInfo` as sent.
    pub server_info: Value,
    pub instructions: Option<String>,
    pub protocol_version: Option<String>,
    /// `capabilities` as sent.
    pub capabilities: Value,
    pub tools: Vec<Tool>,
    pub resources: Vec<Resource>,
    pub templates: Vec<ResourceTemplate>,
    pub prompts: Vec<Prompt>,
    /// What could not be listed, in words; then the lists above are incomplete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl Surface {
    pub fn server_name(&self) -> Option<&str> {
        text(&self.server_info, "name")
    }

    pub fn server_version(&self) -> Option<&str> {
        text(&self.server_info, "version")
    }

    /// The first tool with this name; a server may list several.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name() == Some(name))
    }

    pub fn prompt(&self, name: &str) -> Option<&Prompt> {
        self.prompts.iter().find(|prompt| prompt.name() == Some(name))
    }

    /// Whether the server declared a capability such as `tools` or `resources/subscribe`: an object by its presence, a
    /// boolean by being true.
    pub fn declares(&self, path: &str) -> bool {
        let found = path.split('/').try_fold(&self.capabilities, |value, key| value.get(key));
        found.is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
    }
}

/// An item of a list response, raw.
macro_rules! item {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub struct $name(pub Value);

        impl $name {
            pub fn raw(&self) -> &Value {
                &self.0
            }

            pub fn name(&self) -> Option<&str> {
                text(&self.0, "name")
            }

            pub fn description(&self) -> Option<&str> {
                text(&self.0, "description")
            }
        }
    };
}

item!(
    /// An entry of `tools/list`.
    Tool
);
item!(
    /// An entry of `resources/list`.
    Resource
);
item!(
    /// An entry of `resources/templates/list`.
    ResourceTemplate
);
item!(
    /// An entry of `prompts/list`.
    Prompt
);

impl Tool {
    pub fn input_schema(&self) -> Option<&Value> {
        self.0.get("inputSchema")
    }

    pub fn output_schema(&self) -> Option<&Value> {
        self.0.get("outputSchema")
    }

    /// `properties` of the input schema.
    pub fn properties(&self) -> Option<&Map<String, Value>> {
        self.input_schema()?.get("properties")?.as_object()
    }

    pub fn required_args(&self) -> Vec<&str> {
        let required = self.input_schema().and_then(|schema| schema.get("required"));
        let names = required.and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).collect()
    }

    /// A boolean hint such as `readOnlyHint` or `destructiveHint`. A claim, not a fact.
    pub fn hint(&self, name: &str) -> Option<bool> {
        self.0.get("annotations")?.get(name)?.as_bool()
    }
}

impl Resource {
    pub fn uri(&self) -> Option<&str> {
        text(&self.0, "uri")
    }

    pub fn mime_type(&self) -> Option<&str> {
        text(&self.0, "mimeType")
    }
}

impl ResourceTemplate {
    pub fn uri_template(&self) -> Option<&str> {
        text(&self.0, "uriTemplate")
    }
}

impl Prompt {
    /// The declared arguments as (name, required).
    pub fn arguments(&self) -> Vec<(&str, bool)> {
        let declared = self.0.get("arguments").and_then(Value::as_array).into_iter().flatten();
        declared
            .filter_map(|argument| {
                let required = argument.get("required").and_then(Value::as_bool).unwrap_or(false);
                Some((text(argument, "name")?, required))
            })
            .collect()
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn accessors_answer_none_for_hostile_items() {
        for raw in [json!(null), json!(7), json!([]), json!({"name": {}, "inputSchema": "x"})] {
            let tool = Tool(raw.clone());
            assert_eq!(tool.name(), None);
            assert_eq!(tool.properties(), None);
            assert!(tool.required_args().is_empty());
            assert_eq!(tool.hint("readOnlyHint"), None);
            assert!(Prompt(raw).arguments().is_empty());
        }
    }

    #[test]
    fn a_tool_tells_its_arguments() {
        let tool = Tool(json!({
            "name": "pay",
            "inputSchema": {"properties": {"amount": {}}, "required": ["amount", 7]},
            "annotations": {"destructiveHint": true}
        }));
        assert_eq!(tool.required_args(), ["amount"]);
        assert!(tool.properties().is_some_and(|p| p.contains_key("amount")));
        assert_eq!(tool.hint("destructiveHint"), Some(true));
    }

    #[test]
    fn capabilities_are_declared_by_objects_or_true() {
        let capabilities =
            json!({"tools": {}, "resources": {"subscribe": true, "listChanged": false}});
        let surface = Surface { capabilities, ..Surface::default() };
        assert!(surface.declares("tools"));
        assert!(surface.declares("resources/subscribe"));
        assert!(!surface.declares("resources/listChanged"));
        assert!(!surface.declares("prompts"));
    }
}
