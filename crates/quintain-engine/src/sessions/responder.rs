//! Turns the suite's `respond:` into a script that answers requests of a server.

use quintain_evidence::connection::{Elicitation, ElicitationAction, Responders};
use quintain_wire::rpc::Script;
use quintain_wire::rpc::responder::Elicited;
use serde_json::{Value, json};

/// The extension that declares support for tasks.
const TASKS: &str = "io.modelcontextprotocol/tasks";

pub(super) fn script(respond: &Responders, tasks: bool) -> Script {
    let mut script = Script::default();
    if tasks {
        script = script.with_capability("extensions", json!({TASKS: {}}));
    }
    if let Some(roots) = &respond.roots {
        let roots = roots.iter().map(|root| match &root.name {
            Some(name) => json!({"uri": root.uri, "name": name}),
            None => json!({"uri": root.uri}),
        });
        script = script.with_roots(roots.collect());
    }
    if let Some(sampling) = &respond.sampling {
        script =
            script.with_sampling(sampling.replies.iter().cloned().map(Value::String).collect());
    }
    match &respond.elicitation {
        None => script,
        Some(Elicitation::Defaults) => script.with_elicitation(vec![Elicited::Defaults]),
        Some(Elicitation::Script(replies)) => {
            let replies = replies.iter().map(|reply| {
                let (action, content) = match reply.action {
                    ElicitationAction::Accept => ("accept", Some(reply.content.clone().into())),
                    ElicitationAction::Decline => ("decline", None),
                    ElicitationAction::Cancel => ("cancel", None),
                };
                Elicited::Reply { action: action.to_owned(), content }
            });
            script.with_elicitation(replies.collect())
        }
    }
}
