//! Arguments that the schema of their tool does not declare, although it does not forbid them.

use std::collections::HashMap;

use quintain_content::json_value::pointer_key;
use quintain_content::registry::Meta;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::CallKind;
use serde_json::Value;

use super::{Checked, Fault, TraceCheck};
use crate::declared::Declared;
use crate::policy::CallPolicy;
use crate::view::{CallView, View};

pub(super) struct ArgsExtra;

static META: Meta = Meta {
    id: "args.extra",
    aliases: &[],
    summary: "arguments contain properties that the input schema does not declare",
    docs: "\
# What it does
Reports each property of the arguments, also of nested objects, that the input schema of the tool does not declare.
References, `allOf`, `anyOf`, `oneOf`, conditions and `patternProperties` are looked through.

# Why it matters
Most schemas leave `additionalProperties` out, so a validator accepts a misspelt or invented property. Most servers ignore
it: the call then does something else than the model intended.

# What counts as proof
The object declares `properties`, the property is not among them, and `additionalProperties` is absent. If it is true or
a schema, the object is open. If it is false, `args.schema` reports the property.

# Severity
Warning, in the layer *call*.

# When it does not apply
Neither arguments nor input schemas are recorded.

# Example
```json
{\"city\": \"Paris\", \"units\": \"metric\"}
```
for `{\"properties\": {\"city\": {\"type\": \"string\"}}}`
",
    since: "0.2.0",
};

impl TraceCheck for ArgsExtra {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Call
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        let mut declared: HashMap<*const Value, Declared<'_>> = HashMap::new();
        let mut faults = Vec::new();
        let mut is_judged = false;
        for call in view.calls.iter().filter(|call| call.call.kind == CallKind::Tool) {
            let schema = call.tool().and_then(|tool| tool.input_schema());
            let (Some(schema), Some(args)) = (schema, call.call.args.json()) else { continue };
            is_judged = true;
            let declared =
                declared.entry(std::ptr::from_ref(schema)).or_insert_with(|| Declared::new(schema));
            let undeclared = declared.undeclared(args);
            faults.extend(undeclared.into_iter().map(|pointer| fault(call, args, schema, pointer)));
        }
        if is_judged {
            Checked::Findings(faults)
        } else {
            Checked::NotApplicable("neither arguments nor input schemas are recorded")
        }
    }
}

fn fault(call: &CallView<'_>, args: &Value, schema: &Value, pointer: String) -> Fault {
    let name = pointer.rsplit('/').next().map(pointer_key).unwrap_or_default();
    let value = args.pointer(&pointer).map(Value::to_string).unwrap_or_default();
    let known = schema.get("properties").and_then(Value::as_object);
    let names = known.into_iter().flatten().map(|(name, _)| name.as_str());
    let nearest =
        crate::nearest::nearest(&name, names).filter(|_| pointer.matches('/').count() == 1);
    Fault {
        severity: Level::Warning,
        call: Some(call.position),
        pointer,
        message: format!("tool `{}` does not declare a property `{name}`", call.call.name),
        evidence: one_line(&value, 200),
        hint: nearest.map_or_else(
            || "pass only properties that the input schema declares".to_owned(),
            |nearest| format!("did you mean `{nearest}`?"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Args, Call, Trace};
    use serde_json::json;

    use super::super::testing::{faults, found_at, server};
    use super::*;

    fn called(schema: Value, all: Vec<Value>) -> Trace {
        let servers = vec![server("a", vec![json!({"name": "t", "inputSchema": schema})])];
        let mut trace = Trace { servers, ..Trace::default() };
        for args in all {
            trace.call(Call::tool("t", args));
        }
        trace
    }

    #[test]
    fn undeclared_properties_are_warnings_at_their_place() {
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        let trace = called(
            schema,
            vec![json!({"city": "x"}), json!({"citty": "x"}), json!({"a": 1, "b": 2})],
        );
        let found = faults(&ArgsExtra, &trace);
        let places: Vec<_> =
            found.iter().map(|fault| (fault.call, fault.pointer.as_str())).collect();
        assert_eq!(places, [(Some(1), "/citty"), (Some(2), "/a"), (Some(2), "/b")]);
        assert_eq!(found[0].hint, "did you mean `city`?");
        assert!(found.iter().all(|fault| fault.severity == Level::Warning));
    }

    #[test]
    fn closed_schemas_and_missing_arguments_are_left_to_others() {
        let closed = json!({"properties": {"a": {}}, "additionalProperties": false});
        assert_eq!(found_at(&ArgsExtra, &called(closed, vec![json!({"b": 1})])), [0; 0]);
        let mut trace = called(json!({"properties": {}}), vec![]);
        trace.call(Call::new(CallKind::Tool, "t", Args::Invalid("{".into())));
        trace.call(Call::tool("other", json!({"a": 1})));
        assert_eq!(found_at(&ArgsExtra, &trace), [0; 0]);
    }
}
