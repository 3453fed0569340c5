//! Tools and tool choices: whatever form they are written in, every dialect gets its own. What is not a function (a
//! built-in tool of a provider) passes unchanged.

use serde_json::{Map, Value, json};

/// A function that a model may call.
struct Function {
    name: String,
    description: Option<String>,
    /// A JSON schema.
    parameters: Option<Value>,
    /// OpenAI's guarantee that arguments match the schema.
    strict: Option<Value>,
}

enum Tool {
    Function(Function),
    Other(Value),
}

/// The tools of a request followed by those of the options.
pub(crate) fn joined(request: Option<&Value>, options: Option<&Value>) -> Option<Value> {
    let items = |tools: Option<&Value>| match tools {
        Some(Value::Array(items)) => items.clone(),
        Some(Value::Null) | None => Vec::new(),
        Some(other) => vec![other.clone()],
    };
    let mut all = items(request);
    all.extend(items(options));
    (!all.is_empty()).then_some(Value::Array(all))
}

/// `{type: function, function: {name, description, parameters}}`.
pub(crate) fn for_chat_completions(tools: &Value) -> Value {
    convert(tools, |function| {
        let mut inner = described(&function, "parameters");
        if let Some(strict) = function.strict {
            inner.insert("strict".to_owned(), strict);
        }
        json!({"type": "function", "function": inner})
    })
}

/// `{type: function, name, description, parameters}`.
pub(crate) fn for_responses(tools: &Value) -> Value {
    convert(tools, |function| {
        let mut tool = described(&function, "parameters");
        tool.insert("type".to_owned(), json!("function"));
        if let Some(strict) = function.strict {
            tool.insert("strict".to_owned(), strict);
        }
        Value::Object(tool)
    })
}

/// `{name, description, input_schema}`.
pub(crate) fn for_messages(tools: &Value) -> Value {
    convert(tools, |mut function| {
        function.parameters.get_or_insert_with(|| json!({"type": "object", "properties": {}}));
        Value::Object(described(&function, "input_schema"))
    })
}

/// `[{functionDeclarations: [...]}]`, followed by what is no function.
pub(crate) fn for_gemini(tools: &Value, clean: impl Fn(&Value) -> Value) -> Value {
    let (mut declarations, mut others) = (Vec::new(), Vec::new());
    for tool in read(tools) {
        match tool {
            Tool::Function(mut function) => {
                function.parameters = function.parameters.as_ref().map(&clean);
                declarations.push(Value::Object(described(&function, "parameters")));
            }
            Tool::Other(other) => others.push(other),
        }
    }
    if !declarations.is_empty() {
        others.insert(0, json!({"functionDeclarations": declarations}));
    }
    Value::Array(others)
}

fn described(function: &Function, schema_key: &str) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("name".to_owned(), json!(function.name));
    if let Some(description) = &function.description {
        map.insert("description".to_owned(), json!(description));
    }
    if let Some(parameters) = &function.parameters {
        map.insert(schema_key.to_owned(), parameters.clone());
    }
    map
}

fn convert(tools: &Value, make: impl Fn(Function) -> Value) -> Value {
    let made = read(tools).into_iter().map(|tool| match tool {
        Tool::Function(function) => make(function),
        Tool::Other(other) => other,
    });
    made.collect()
}

fn read(tools: &Value) -> Vec<Tool> {
    let items = tools.as_array().map_or(std::slice::from_ref(tools), Vec::as_slice);
    items.iter().flat_map(read_one).collect()
}

fn read_one(tool: &Value) -> Vec<Tool> {
    let declarations =
        tool.get("functionDeclarations").or_else(|| tool.get("function_declarations"));
    if let Some(Value::Array(declarations)) = declarations {
        return declarations.iter().map(named).collect();
    }
    match tool.get("function") {
        Some(function) => vec![named(function)],
        // Built-in tools have a type of their own: `web_search`, `bash_20250124`.
        None => match tool.get("type").and_then(Value::as_str) {
            None | Some("function" | "custom") => vec![named(tool)],
            Some(_) => vec![Tool::Other(tool.clone())],
        },
    }
}

fn named(tool: &Value) -> Tool {
    let Some(name) = tool.get("name").and_then(Value::as_str) else {
        return Tool::Other(tool.clone());
    };
    let schema =
        ["parameters", "input_schema", "inputSchema"].iter().find_map(|key| tool.get(*key));
    let description = tool.get("description").and_then(Value::as_str);
    Tool::Function(Function {
        name: name.to_owned(),
        description: description.filter(|text| !text.is_empty()).map(str::to_owned),
        parameters: schema.filter(|schema| !schema.is_null()).cloned(),
        strict: tool.get("strict").filter(|strict| !strict.is_null()).cloned(),
    })
}

/// Which tool the model may or must call.
enum Choice {
    Auto,
    None,
    Required,
    Named(String),
}

fn choice(value: &Value) -> Option<Choice> {
    let word = value.as_str().or_else(|| value.get("type").and_then(Value::as_str))?;
    let name =
        value.pointer("/function/name").or_else(|| value.get("name")).and_then(Value::as_str);
    match (word, name) {
        ("auto", _) => Some(Choice::Auto),
        ("none", _) => Some(Choice::None),
        ("required" | "any", _) => Some(Choice::Required),
        ("function" | "tool", Some(name)) => Some(Choice::Named(name.to_owned())),
        _ => None,
    }
}

pub(crate) fn choice_for_chat_completions(value: &Value) -> Value {
    match choice(value) {
        Some(Choice::Auto) => json!("auto"),
        Some(Choice::None) => json!("none"),
        Some(Choice::Required) => json!("required"),
        Some(Choice::Named(name)) => json!({"type": "function", "function": {"name": name}}),
        None => value.clone(),
    }
}

pub(crate) fn choice_for_responses(value: &Value) -> Value {
    match choice(value) {
        Some(Choice::Named(name)) => json!({"type": "function", "name": name}),
        Some(_) => choice_for_chat_completions(value),
        None => value.clone(),
    }
}

pub(crate) fn choice_for_messages(value: &Value) -> Value {
    let kind = match choice(value) {
        Some(Choice::Auto) => "auto",
        Some(Choice::None) => "none",
        Some(Choice::Required) => "any",
        Some(Choice::Named(name)) => {
            return keep_parallel(value, json!({"type": "tool", "name": name}));
        }
        None => return value.clone(),
    };
    keep_parallel(value, json!({"type": kind}))
}

/// Anthropic's form has one more switch.
fn keep_parallel(from: &Value, mut to: Value) -> Value {
    if let Some(flag) = from.get("disable_parallel_tool_use") {
        to["disable_parallel_tool_use"] = flag.clone();
    }
    to
}

pub(crate) fn choice_for_gemini(value: &Value) -> Value {
    let config = match choice(value) {
        Some(Choice::Auto) => json!({"mode": "AUTO"}),
        Some(Choice::None) => json!({"mode": "NONE"}),
        Some(Choice::Required) => json!({"mode": "ANY"}),
        Some(Choice::Named(name)) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
        None => return value.clone(),
    };
    json!({"functionCallingConfig": config})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_function_becomes_every_other() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "number"}}});
        let openai = json!([{"type": "function", "function": {"name": "add", "description": "Adds", "parameters": schema}}]);
        let responses = json!([{"name": "add", "description": "Adds", "parameters": schema, "type": "function"}]);
        let anthropic = json!([{"name": "add", "description": "Adds", "input_schema": schema}]);
        let mcp = json!([{"name": "add", "description": "Adds", "inputSchema": schema}]);
        let gemini = json!([{"functionDeclarations": [{"name": "add", "description": "Adds", "parameters": schema}]}]);
        for form in [&openai, &responses, &anthropic, &mcp, &gemini] {
            assert_eq!(for_chat_completions(form), openai);
            assert_eq!(for_responses(form), responses);
            assert_eq!(for_messages(form), anthropic);
            assert_eq!(for_gemini(form, Clone::clone), gemini);
        }
    }

    #[test]
    fn built_in_tools_pass_unchanged() {
        let tools = json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 1}]);
        assert_eq!(for_messages(&tools), tools);
        assert_eq!(
            for_gemini(&json!([{"googleSearch": {}}]), Clone::clone),
            json!([{"googleSearch": {}}])
        );
    }

    #[test]
    fn choices_are_translated() {
        let named = json!({"type": "function", "function": {"name": "add"}});
        assert_eq!(choice_for_messages(&named), json!({"type": "tool", "name": "add"}));
        assert_eq!(choice_for_messages(&json!("required")), json!({"type": "any"}));
        assert_eq!(choice_for_chat_completions(&json!({"type": "tool", "name": "add"})), named);
        assert_eq!(choice_for_responses(&named), json!({"type": "function", "name": "add"}));
        let any =
            json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["add"]}});
        assert_eq!(choice_for_gemini(&named), any);
        assert_eq!(choice_for_gemini(&any), any);
    }

    #[test]
    fn tools_of_request_and_options_are_joined() {
        assert_eq!(joined(None, None), None);
        assert_eq!(joined(Some(&json!([1])), Some(&json!([2]))), Some(json!([1, 2])));
    }
}
