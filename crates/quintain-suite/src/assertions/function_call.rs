//! Calls in the output of a model are valid for the functions that the model was offered.

use quintain_content::function_call::{check_google, check_openai};
use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Scene, Spec, judging};

pub(super) static IS_VALID_FUNCTION_CALL: Builtin = Builtin {
    meta: &Meta {
        id: "is-valid-function-call",
        aliases: &["is-valid-openai-function-call"],
        summary: "The output is a valid call of a function that the model was offered",
        docs: r"# What it does
Checks the function call in the output against the functions in the `config` of the target: `functions`
for models of OpenAI and Azure, the `functionDeclarations` of `tools` for models of Google. The name must
be one of them, and the arguments must match its schema. Fails for other targets, which have no format
for calls.

`not-` has no effect, as in promptfoo.

# Example
```yaml
- type: is-valid-function-call
```
",
        since: "0.1.0",
    },
    compile: function_call,
};

pub(super) static IS_VALID_TOOLS_CALL: Builtin = Builtin {
    meta: &Meta {
        id: "is-valid-openai-tools-call",
        aliases: &[],
        summary: "The output consists of valid calls of tools that the model was offered",
        docs: r"# What it does
Checks the `tool_calls` in the output, or a list of such calls, against the `tools` in the `config` of
the target. Every name must be one of them, and the arguments must match its schema.

Output that reports an MCP call made by the provider (`MCP Tool Result (name): ...`) passes; output that
reports a failed one (`MCP Tool Error (name): ...`) fails.

`not-` has no effect, as in promptfoo.

# Example
```yaml
- type: is-valid-openai-tools-call
```
",
        since: "0.1.0",
    },
    compile: tools_call,
};

#[derive(Clone, Copy)]
enum Format {
    OpenAi,
    Google,
}

impl Format {
    /// The format of a target, by the first part of its id.
    fn of(scene: &Scene<'_>) -> Option<Self> {
        match scene.definition?.id.split(':').next()? {
            "openai" | "azure" | "azureopenai" => Some(Self::OpenAi),
            "google" | "vertex" | "palm" => Some(Self::Google),
            _ => None,
        }
    }
}

fn function_call(_: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    judging(|scene| {
        let checked = match Format::of(scene) {
            None => {
                Err("Provider does not have functionality for checking function call.".to_owned())
            }
            Some(Format::OpenAi) => {
                check_openai(scene.output, &offered(scene, "functions")?.unwrap_or_default())
            }
            Some(Format::Google) => {
                check_google(scene.output, &offered(scene, "tools")?.unwrap_or_default())
            }
        };
        Ok(verdict(checked))
    })
}

/// A list in the `config` of the target, with variables expanded.
fn offered(scene: &Scene<'_>, key: &str) -> Result<Option<Vec<Value>>, Box<Verdict>> {
    let error = |why: String| Box::new(Verdict::error(why));
    let given = scene.definition.and_then(|target| target.offered.get(key));
    let Some(given) = given else { return Ok(None) };
    let value = scene.templates.render_value(given, scene.vars);
    match value.map_err(|why| error(why.to_string()))? {
        Value::Array(items) => Ok(Some(items)),
        value if js::is_falsy(&value) => Ok(None),
        _ => Err(error(format!("`{key}` of the target is not a list"))),
    }
}

fn verdict(checked: Result<(), String>) -> Verdict {
    match checked {
        Ok(()) => Verdict::pass("Assertion passed"),
        Err(why) => Verdict::fail(why),
    }
}

fn tools_call(_: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    judging(|scene| {
        if let Some(verdict) = made_by_the_model(&scene.text()) {
            return Ok(verdict);
        }
        let output = scene.output.get("tool_calls").unwrap_or(scene.output);
        let Some(functions) = called_functions(output) else {
            let shown = js::stringify(output);
            return Ok(Verdict::fail(format!(
                "OpenAI did not return a valid-looking tools response: {shown}"
            )));
        };
        let Some(tools) = offered(scene, "tools")? else {
            let why = "No tools configured in provider, but output contains tool calls";
            return Ok(Verdict::fail(why));
        };
        let tools = tools.iter().filter(|tool| tool["type"] == "function");
        let known: Vec<Value> = tools.filter_map(|tool| tool.get("function").cloned()).collect();
        Ok(verdict(functions.iter().try_for_each(|call| check_openai(call, &known))))
    })
}

/// The calls in a list; none if an element is not a call.
fn called_functions(output: &Value) -> Option<Vec<&Value>> {
    let calls = output.as_array().filter(|calls| !calls.is_empty())?;
    let function = |call: &'_ Value| -> Option<()> {
        let function = call.get("function")?;
        (function.get("name")?.is_string() && function.get("arguments")?.is_string()).then_some(())
    };
    calls.iter().map(|call| function(call).and(call.get("function"))).collect()
}

/// The verdict on an MCP call that the provider made itself, if the output reports one.
fn made_by_the_model(text: &str) -> Option<Verdict> {
    if text.contains("MCP Tool Error") {
        let (name, why) = told(text, "MCP Tool Error (", "): ").unwrap_or(("unknown", ""));
        let why = why.split(['\n', '\r', '\u{2028}', '\u{2029}']).next().unwrap_or_default();
        let (name, why) = if why.is_empty() { ("unknown", "unknown error") } else { (name, why) };
        return Some(Verdict::fail(format!("MCP tool call failed for {name}: {why}")));
    }
    text.contains("MCP Tool Result").then(|| {
        let name = told(text, "MCP Tool Result (", "):").map_or("unknown", |(name, _)| name);
        Verdict::pass(format!("MCP tool call succeeded for {name}"))
    })
}

/// The name in parentheses after `words`, and the text that follows `after`.
fn told<'t>(text: &'t str, words: &str, after: &str) -> Option<(&'t str, &'t str)> {
    text.match_indices(words).find_map(|(at, _)| {
        let rest = &text[at + words.len()..];
        let (name, _) = rest.split_once(')').filter(|(name, _)| !name.is_empty())?;
        Some((name, rest[name.len()..].strip_prefix(after)?))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::TestScene;

    fn reason(kind: &str, output: impl Into<serde_json::Value>) -> String {
        TestScene::output(output).judge(&format!("[{{type: {kind}}}]")).reason
    }

    #[test]
    fn targets_without_a_format_fail_even_negated() {
        for kind in ["is-valid-function-call", "not-is-valid-openai-function-call"] {
            assert_eq!(
                reason(kind, "x"),
                "Provider does not have functionality for checking function call."
            );
        }
    }

    #[test]
    fn the_output_tells_of_calls_that_were_made() {
        for (output, told) in [
            ("MCP Tool Result (search): found", "MCP tool call succeeded for search"),
            ("MCP Tool Result: found", "MCP tool call succeeded for unknown"),
            ("MCP Tool Error (search): no luck\nx", "MCP tool call failed for search: no luck"),
            ("MCP Tool Error", "MCP tool call failed for unknown: unknown error"),
        ] {
            assert_eq!(reason("is-valid-openai-tools-call", output), told);
            assert_eq!(reason("not-is-valid-openai-tools-call", output), told);
        }
    }

    #[test]
    fn calls_need_a_name_and_arguments() {
        let call = json!([{"function": {"name": "a", "arguments": "{}"}}]);
        let kind = "is-valid-openai-tools-call";
        for output in [json!("x"), json!([]), json!([{"function": {"name": "a"}}])] {
            let told = format!("OpenAI did not return a valid-looking tools response: {output}");
            assert_eq!(reason(kind, output), told);
        }
        for output in [json!({"tool_calls": call}), call] {
            let told = "No tools configured in provider, but output contains tool calls";
            assert_eq!(reason(kind, output), told);
        }
    }
}
