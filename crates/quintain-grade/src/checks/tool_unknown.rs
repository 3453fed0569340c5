//! A call of a tool that its server does not offer.

use quintain_content::registry::Meta;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::CallKind;

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::view::{CallView, Offer, View};

pub(super) struct ToolUnknown;

static META: Meta = Meta {
    id: "tool.unknown",
    aliases: &[],
    summary: "a tool is called that no server offers",
    docs: "\
## What it does
Compares the name of each called tool with the tools that its server listed at the time of the call.

## Why it matters
A model that invents tools does not know what it can do; the call is lost at best.

## What counts as proof
The tools of the servers are recorded, and none of them has the name.

## Example
```json
{\"name\": \"get_wheather\"}
```
",
    since: "0.2.0",
};

impl TraceCheck for ToolUnknown {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Call
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        let mut tools =
            view.calls.iter().filter(|call| call.call.kind == CallKind::Tool).peekable();
        if tools.peek().is_none() {
            return Checked::NotApplicable("no tool is called");
        }
        if view.trace.servers.iter().all(|server| server.tools_at(usize::MAX).is_none()) {
            return Checked::NotApplicable("the tools of the servers are not recorded");
        }
        let unknown = tools.filter(|call| matches!(call.offer, Offer::NotOffered));
        Checked::Findings(unknown.map(|call| fault(view, call)).collect())
    }
}

fn fault(view: &View<'_>, call: &CallView<'_>) -> Fault {
    let name = &call.call.name;
    let servers = view.trace.servers.iter();
    let names = servers.filter_map(|server| server.tools_at(call.step)).flatten();
    let nearest = crate::nearest::nearest(name, names.filter_map(|tool| tool.name()));
    Fault {
        severity: Level::Error,
        call: Some(call.position),
        pointer: String::new(),
        message: format!("no server offers a tool `{name}`"),
        evidence: name.clone(),
        hint: nearest.map_or_else(
            || "call a tool that is listed".to_owned(),
            |nearest| format!("did you mean `{nearest}`?"),
        ),
    }
}
