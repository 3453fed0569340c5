//! A prompt that is requested with the wrong arguments.

use quintain_content::json_value::pointer_token;
use quintain_content::registry::Meta;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::surface::Prompt;
use quintain_evidence::trace::{Args, CallKind};
use serde_json::{Map, Value};

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::view::{CallView, Offer, View};

pub(super) struct PromptArguments;

static META: Meta = Meta {
    id: "prompt.arguments",
    aliases: &[],
    summary: "a prompt is requested without its required arguments, or with others",
    docs: "\
# What it does
Compares the arguments of each requested prompt with those that the prompt declares.

# Why it matters
Without a required argument the server refuses the request, or fills the template with nothing. An unknown argument is
ignored.

# What counts as proof
A required argument is absent or not a text (error), or an argument is not declared (warning). A prompt that lists no
arguments takes none.

# Severity
Error if a required argument is absent or not a text, warning if an argument is not declared, in the layer *call*.

# When it does not apply
No prompt is requested whose arguments are recorded.

# Example
`prompts/get {\"name\": \"code_review\", \"arguments\": {}}` for a prompt that requires `code`
",
    since: "0.2.0",
};

impl TraceCheck for PromptArguments {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Call
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        let mut faults = Vec::new();
        let mut is_judged = false;
        for call in view.calls.iter().filter(|call| call.call.kind == CallKind::Prompt) {
            if let Offer::Prompt { prompt, .. } = call.offer {
                is_judged |= check(call, prompt, &mut faults);
            }
        }
        if is_judged {
            Checked::Findings(faults)
        } else {
            Checked::NotApplicable("no prompt is requested whose arguments are recorded")
        }
    }
}

/// Adds what is wrong with the arguments. Returns whether there was something to judge.
fn check(call: &CallView<'_>, prompt: &Prompt, faults: &mut Vec<Fault>) -> bool {
    let empty = Map::new();
    let given = match &call.call.args {
        Args::Unknown => return false,
        Args::Json(Value::Object(given)) => given,
        Args::Json(Value::Null) => &empty,
        Args::Json(other) => {
            faults.push(fault(
                call,
                Level::Error,
                "",
                "the arguments are not an object",
                &other.to_string(),
            ));
            return true;
        }
        Args::Invalid(text) => {
            faults.push(fault(call, Level::Error, "", "the arguments are not JSON", text));
            return true;
        }
    };
    let declared = prompt.arguments();
    for (name, _) in
        declared.iter().filter(|(name, required)| *required && !given.contains_key(*name))
    {
        let message = format!("required argument `{name}` is missing");
        faults.push(fault(call, Level::Error, name, &message, ""));
    }
    for (name, value) in given {
        let shown = value.to_string();
        if !declared.iter().any(|(known, _)| known == name) {
            let message =
                format!("prompt `{}` does not declare an argument `{name}`", call.call.name);
            faults.push(fault(call, Level::Warning, name, &message, &shown));
        } else if !value.is_string() {
            let message = format!("argument `{name}` is not a text");
            faults.push(fault(call, Level::Error, name, &message, &shown));
        }
    }
    true
}

fn fault(call: &CallView<'_>, severity: Level, name: &str, message: &str, value: &str) -> Fault {
    Fault {
        severity,
        call: Some(call.position),
        pointer: if name.is_empty() { String::new() } else { format!("/{}", pointer_token(name)) },
        message: message.to_owned(),
        evidence: one_line(value, 200),
        hint: "pass the arguments that the prompt declares, as texts".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, Listing, Trace, TraceServer};
    use serde_json::json;

    use super::super::testing::faults;
    use super::*;

    fn found(args: Args) -> Vec<(Level, String)> {
        let prompt = json!({"name": "p", "arguments": [{"name": "code", "required": true}, {"name": "style"}]});
        let listings =
            vec![Listing { prompts: Some(vec![Prompt(prompt)]), ..Listing::default() }].into();
        let mut trace = Trace {
            servers: vec![TraceServer { listings, ..TraceServer::default() }],
            ..Trace::default()
        };
        trace.call(Call::new(CallKind::Prompt, "p", args));
        faults(&PromptArguments, &trace)
            .into_iter()
            .map(|fault| (fault.severity, fault.pointer))
            .collect()
    }

    #[test]
    fn declared_arguments_are_compared() {
        assert_eq!(found(Args::Json(json!({"code": "x"}))), []);
        assert_eq!(found(Args::Json(json!({"code": "x", "style": "short"}))), []);
        assert_eq!(found(Args::Json(json!({}))), [(Level::Error, "/code".into())]);
        assert_eq!(found(Args::Json(Value::Null)), [(Level::Error, "/code".into())]);
        assert_eq!(
            found(Args::Json(json!({"code": "x", "mode": "y"}))),
            [(Level::Warning, "/mode".into())]
        );
        assert_eq!(found(Args::Json(json!({"code": 7}))), [(Level::Error, "/code".into())]);
        assert_eq!(found(Args::Invalid("{".into())), [(Level::Error, String::new())]);
        assert_eq!(found(Args::Unknown), []);
    }
}
