//! Reads the replies to requests of a server. Requests without a declared reply get an error.

use quintain_evidence::connection::Elicitation;
use quintain_evidence::connection::ElicitationAction;
use quintain_evidence::connection::ElicitationReply;
use quintain_evidence::connection::Responders;
use quintain_evidence::connection::Root;
use quintain_evidence::connection::Sampling;
use quintain_source::{Diagnostics, Fields, Node, unknown_word};
use serde_json::Map;

use super::reader::Reader;

pub(super) const ACTIONS: [(&str, ElicitationAction); 3] = [
    ("accept", ElicitationAction::Accept),
    ("decline", ElicitationAction::Decline),
    ("cancel", ElicitationAction::Cancel),
];

pub(super) fn read(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Responders {
    let Some(mut fields) = Fields::of(node, "`respond`", dx) else { return Responders::default() };
    let roots = fields.seq("roots", dx);
    let roots = roots.map(|items| items.iter().filter_map(|item| root(item, reader, dx)).collect());
    let sampling = fields.get("sampling").map(|node| {
        let replies = listed(node).iter().filter_map(|item| sample(item, reader, dx));
        Sampling { replies: replies.collect() }
    });
    let elicitation = fields.get("elicitation").map(|node| elicitation(node, reader, dx));
    fields.finish(reader.strictness, dx);
    Responders { roots, sampling, elicitation }
}

/// The items of a list; any other node is a list of one.
fn listed(node: &Node) -> &[Node] {
    node.as_seq().unwrap_or(std::slice::from_ref(node))
}

fn root(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<Root> {
    if node.raw().is_some() {
        return Some(Root { uri: reader.fill("roots", node, dx)?, name: None });
    }
    let mut fields = Fields::of(node, "a root", dx)?;
    fields.required("uri", dx);
    let uri = reader.text(&mut fields, "uri", dx);
    let name = reader.text(&mut fields, "name", dx);
    fields.finish(reader.strictness, dx);
    Some(Root { uri: uri?, name })
}

fn sample(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<String> {
    if node.raw().is_some() {
        return reader.fill("sampling", node, dx);
    }
    let mut fields = Fields::of(node, "a sampling reply", dx)?;
    fields.required("text", dx);
    let text = reader.text(&mut fields, "text", dx);
    fields.finish(reader.strictness, dx);
    text
}

fn elicitation(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Elicitation {
    if node.raw() == Some("defaults") {
        return Elicitation::Defaults;
    }
    Elicitation::Script(listed(node).iter().filter_map(|item| reply(item, reader, dx)).collect())
}

fn reply(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<ElicitationReply> {
    if let Some(word) = node.raw() {
        let action = ACTIONS.iter().find(|(name, _)| *name == word).map(|(_, action)| *action);
        if action.is_none() {
            let words = ACTIONS.iter().map(|(name, _)| *name).chain(["defaults"]);
            dx.push(unknown_word("elicitation", node, words));
        }
        return Some(ElicitationReply { action: action?, content: Map::new() });
    }
    let mut fields = Fields::of(node, "an elicitation reply", dx)?;
    fields.required("action", dx);
    let action = fields.choice("action", &ACTIONS, dx);
    let content = fields.map("content", dx).map(|content| reader.payload_map(content, dx));
    fields.finish(reader.strictness, dx);
    Some(ElicitationReply { action: action?, content: content.unwrap_or_default() })
}
