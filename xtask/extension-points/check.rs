//! Results without content.

use quintain_content::registry::Meta;
use quintain_evidence::graded::{Layer, Level};

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::view::{CallView, View};

pub(super) struct ResultEmpty;

static META: Meta = Meta {
    id: "result.empty",
    aliases: &[],
    summary: "a reading call returns nothing",
    docs: "\
# What it does
Reports successful calls of read-only tools whose result has no text.

# Why it matters
A model that gets nothing tends to invent something.

# What counts as proof
The recorded result.

# Severity
Info, in the layer *call*.

# When it does not apply
No results are recorded.

# Example
```json
{\"content\": []}
```
",
    since: "0.2.0",
};

impl TraceCheck for ResultEmpty {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Call
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        if view.calls.iter().all(|call| call.call.result().is_none()) {
            return Checked::NotApplicable("no results are recorded");
        }
        let empty = view
            .calls
            .iter()
            .filter(|call| call.succeeded() && call.reads_only() && call.text().trim().is_empty());
        Checked::Findings(empty.map(fault).collect())
    }
}

fn fault(call: &CallView<'_>) -> Fault {
    let name = &call.call.name;
    Fault {
        severity: Level::Info,
        call: Some(call.position),
        pointer: String::new(),
        message: format!("the result of `{name}` is empty"),
        evidence: name.clone(),
        hint: "return a text that states that nothing was found".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, CallOutcome, Trace};
    use serde_json::json;

    use super::super::testing::found_at;
    use super::*;

    #[test]
    fn only_results_without_text_are_reported() {
        let mut trace = Trace::default();
        for result in [json!({"content": []}), json!("one hit")] {
            let call = Call::tool("search", json!({}));
            trace.call(Call { outcome: CallOutcome::Result(result), ..call });
        }
        assert_eq!(found_at(&ResultEmpty, &trace), [0]);
    }
}
