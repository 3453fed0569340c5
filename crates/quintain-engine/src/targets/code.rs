//! Custom providers: a function `call_api` in Python or Ruby, or a class in JavaScript.

use std::path::Path;

use quintain_evidence::code::{Code, Language};
use quintain_evidence::evidence::Outcome;
use quintain_evidence::response::Response;
use quintain_suite::suite::{CodeKind, CodeTarget};
use serde_json::{Value, json};

use super::{Ask, Asked, Sender, Told};
use crate::external_services::ExternalServices;
use crate::interpreters::{Call, value};

const METHOD: &str = "call_api";
/// Adapts a class, an object or a function to one function.
const ADAPTER: &str = r"
async function __ask(Provider, prompt, options, context) {
  const made = typeof Provider === 'function' && Provider.prototype && 'callApi' in Provider.prototype
    ? new Provider(options) : Provider;
  return typeof made === 'function' ? made(prompt, context, options) : made.callApi(prompt, context);
}
";

impl Sender for CodeKind {
    type Settings = CodeTarget;

    async fn ask(
        &self,
        asked: &Asked<'_, CodeTarget>,
        ask: &Ask<'_>,
        outside: &ExternalServices,
    ) -> Told {
        let provider = asked.settings;
        let arguments =
            [Value::String(ask.prompt.to_owned()), asked.options(&provider.config), ask.context()];
        let [prompt, options, context] = &arguments;
        let answer = match &provider.code {
            Code::File { language: Language::JavaScript, path, text, function: None } => {
                let named = [("prompt", prompt), ("options", options), ("context", context)];
                outside.run(&adapted(path, text), METHOD, &named).await
            }
            code if code.language() == Language::JavaScript => {
                outside.run(code, METHOD, &[("prompt", prompt), ("context", context)]).await
            }
            code => {
                let executable = provider.executable.as_deref();
                let call = Call { code, function: METHOD, arguments: &arguments, executable };
                value(outside.interpreters.call(&call).await)
            }
        };
        let sent = json!({"prompt": ask.prompt});
        match answer {
            Ok(answer) => {
                let needs_keys = provider.code.language() != Language::JavaScript;
                let lacks_keys = answer.get("output").or_else(|| answer.get("error")).is_none();
                let response = if needs_keys && lacks_keys {
                    Response::failed(format!(
                        "the function must return an object with `output` or `error`, not {answer:.200}"
                    ))
                } else {
                    Response::of_code(answer.clone())
                };
                Told { method: METHOD, sent, outcome: Outcome::Reply(answer), response }
            }
            Err(why) => {
                let response = Response::failed(why.clone());
                let outcome = Outcome::ToolError(json!({"error": why}));
                Told { method: METHOD, sent, outcome, response }
            }
        }
    }
}

/// The file with the adapter around its export.
fn adapted(path: &Path, text: &str) -> Code {
    let call = "(prompt, options, context) => __ask(";
    let text = if text.contains("export default ") {
        let text = text.replacen("export default ", "const __provider = ", 1);
        format!("{text}\n;{ADAPTER}export default {call}__provider, prompt, options, context);\n")
    } else {
        format!(
            "{text}\n;{ADAPTER}module.exports = ((exported) => {call}exported.default ?? exported, \
             prompt, options, context))(module.exports);\n"
        )
    };
    Code::File { language: Language::JavaScript, path: path.to_owned(), text, function: None }
}

#[cfg(test)]
mod tests {
    use quintain_script::Host;
    use quintain_suite::code::RunCode as _;

    use super::*;

    #[test]
    fn classes_objects_and_functions_are_asked() {
        for text in [
            "class P { constructor(o) { this.o = o; } id() { return 'p'; }\n  async callApi(prompt, context) { return {output: prompt + this.o.config.x + context.vars.y}; } }\nmodule.exports = P;",
            "export default class P { constructor(o) { this.o = o; }\n  callApi(prompt, context) { return {output: prompt + this.o.config.x + context.vars.y}; } }",
            "module.exports = { callApi: (prompt, context) => ({output: prompt + 1 + context.vars.y}) };",
            "module.exports = async (prompt, context, options) => ({output: prompt + options.config.x + context.vars.y});",
        ] {
            let code = adapted(Path::new("p.js"), text);
            let (prompt, options) = (json!("a"), json!({"config": {"x": 1}}));
            let context = json!({"vars": {"y": 2}});
            let named = [("prompt", &prompt), ("options", &options), ("context", &context)];
            let answer = code.run_js(&named, &Host::default());
            assert_eq!(answer, Ok(json!({"output": "a12"})), "{text}");
        }
    }
}
