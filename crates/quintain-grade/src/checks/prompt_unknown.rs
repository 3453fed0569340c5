//! A prompt that no server offers is requested.

use quintain_content::registry::Meta;
use quintain_content::text::short::shortened;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::CallKind;

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::view::{CallView, Offer, View};

pub(super) struct PromptUnknown;

static META: Meta = Meta {
    id: "prompt.unknown",
    aliases: &[],
    summary: "a prompt is requested that no server offers",
    docs: "\
# What it does
Compares the name of each requested prompt with the prompts that its server listed at that time.

# Why it matters
The request fails, and the application continues without the instructions that it relies on.

# What counts as proof
The prompts of the servers are recorded, and none of them has the name.

# Severity
Error, in the layer *call*.

# When it does not apply
No prompt is requested, or the prompts of the servers are not recorded.

# Example
`prompts/get {\"name\": \"code_reviw\"}`
",
    since: "0.2.0",
};

impl TraceCheck for PromptUnknown {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Call
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        let mut prompts =
            view.calls.iter().filter(|call| call.call.kind == CallKind::Prompt).peekable();
        if prompts.peek().is_none() {
            return Checked::NotApplicable("no prompt is requested");
        }
        if view.trace.servers.iter().all(|server| server.prompts_at(usize::MAX).is_none()) {
            return Checked::NotApplicable("the prompts of the servers are not recorded");
        }
        let unknown = prompts.filter(|call| matches!(call.offer, Offer::NotOffered));
        Checked::Findings(unknown.map(|call| fault(view, call)).collect())
    }
}

fn fault(view: &View<'_>, call: &CallView<'_>) -> Fault {
    let name = &call.call.name;
    let shown = shortened(name, 200);
    let servers = view.trace.servers.iter();
    let listed = servers.filter_map(|server| server.prompts_at(call.step)).flatten();
    let nearest = crate::nearest::nearest(name, listed.filter_map(|prompt| prompt.name()));
    Fault {
        severity: Level::Error,
        call: Some(call.position),
        pointer: String::new(),
        message: format!("no server offers a prompt `{shown}`"),
        hint: nearest.map_or_else(
            || "request a prompt that is listed".to_owned(),
            |nearest| format!("did you mean `{nearest}`?"),
        ),
        evidence: shown.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::surface::Prompt;
    use quintain_evidence::trace::{Args, Call, Listing, Trace, TraceServer};
    use serde_json::json;

    use super::super::testing::{faults, found_at};
    use super::*;

    #[test]
    fn unlisted_prompts_are_found() {
        let prompts = Some(vec![Prompt(json!({"name": "code_review"}))]);
        let listings = vec![Listing { prompts, ..Listing::default() }].into();
        let server = TraceServer { listings, ..TraceServer::default() };
        let mut trace = Trace { servers: vec![server], ..Trace::default() };
        for name in ["code_review", "code_reviw"] {
            trace.call(Call::new(CallKind::Prompt, name, Args::default()));
        }
        assert_eq!(found_at(&PromptUnknown, &trace), [1]);
        assert_eq!(faults(&PromptUnknown, &trace)[0].hint, "did you mean `code_review`?");
        trace.servers[0].listings[0].prompts = None;
        assert_eq!(found_at(&PromptUnknown, &trace), [0; 0]);
    }
}
