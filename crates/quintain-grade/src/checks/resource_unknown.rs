//! A resource that no server offers is read.

use std::collections::HashSet;
use std::sync::LazyLock;

use quintain_content::registry::Meta;
use quintain_content::text::short::shortened;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::CallKind;

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::view::{CallView, Offer, View};
use crate::word_pattern::{Pattern, compile};

pub(super) struct ResourceUnknown;

static META: Meta = Meta {
    id: "resource.unknown",
    aliases: &[],
    summary: "a resource is read that no server offers",
    docs: "\
# What it does
Compares the URI of each read resource with the resources that its server listed at that time, with its templates, and
with the links in earlier results, which need not be listed.

# Why it matters
A model that invents URIs reads nothing, or something that it was not meant to read.

# What counts as proof
The resources of the servers are recorded, the URI is not among them, matches no template, and is in no earlier result.

# Severity
Error, in the layer *call*.

# When it does not apply
No resource is read, or the resources of the servers are not recorded.

# Example
`resources/read {\"uri\": \"file:///notes/todoo.md\"}`
",
    since: "0.2.0",
};

/// URIs in the text of results.
static URI: Pattern = LazyLock::new(|| compile(r#"[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>\\`)\]]+"#));

impl TraceCheck for ResourceUnknown {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Call
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        let is_read = |call: &&CallView<'_>| call.call.kind == CallKind::Resource;
        if !view.calls.iter().any(|call| is_read(&call)) {
            return Checked::NotApplicable("no resource is read");
        }
        if view.trace.servers.iter().all(|server| server.resources_at(usize::MAX).is_none()) {
            return Checked::NotApplicable("the resources of the servers are not recorded");
        }
        let unknown = view.calls.iter().filter(is_read);
        let unknown: Vec<_> =
            unknown.filter(|call| matches!(call.offer, Offer::NotOffered)).collect();
        let Some(last) = unknown.last().map(|call| call.position) else {
            return Checked::Findings(Vec::new());
        };
        let mut linked: HashSet<String> = HashSet::new();
        let mut faults = Vec::new();
        for call in &view.calls[..=last] {
            let is_unknown = is_read(&call) && matches!(call.offer, Offer::NotOffered);
            if is_unknown && !linked.contains(&call.call.name) {
                faults.push(fault(view, call));
            }
            if call.failure().is_none() {
                add_links(call, &mut linked);
            }
        }
        Checked::Findings(faults)
    }
}

/// URIs that a result contains, as links or in its text.
fn add_links(call: &CallView<'_>, linked: &mut HashSet<String>) {
    let (Some(result), Some(uri)) = (call.call.result(), URI.as_ref()) else { return };
    let blocks = result.get("content").and_then(serde_json::Value::as_array);
    for block in blocks.into_iter().flatten() {
        let links = [block.get("uri"), block.pointer("/resource/uri")];
        linked
            .extend(links.into_iter().flatten().filter_map(|uri| uri.as_str().map(str::to_owned)));
    }
    // The text of what was read proves what it links to, not that it exists itself.
    for found in uri.find_iter(call.text()) {
        linked.insert(found.as_str().trim_end_matches(['.', ',', ';', ':']).to_owned());
    }
}

fn fault(view: &View<'_>, call: &CallView<'_>) -> Fault {
    let uri = &call.call.name;
    let shown = shortened(uri, 300);
    let servers = view.trace.servers.iter();
    let listed = servers.filter_map(|server| server.resources_at(call.step)).flatten();
    let nearest = crate::nearest::nearest(uri, listed.filter_map(|one| one.uri()));
    Fault {
        severity: Level::Error,
        call: Some(call.position),
        pointer: String::new(),
        message: format!("no server offers a resource `{shown}`"),
        hint: nearest.map_or_else(
            || "read a resource that is listed or matches a template".to_owned(),
            |nearest| format!("did you mean `{nearest}`?"),
        ),
        evidence: shown.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::surface::{Resource, ResourceTemplate};
    use quintain_evidence::trace::{Args, Call, Listing, Trace, TraceServer};
    use serde_json::json;

    use super::super::testing::{found_at, with_result};
    use super::*;

    fn read(uri: &str) -> Call {
        Call::new(CallKind::Resource, uri, Args::default())
    }

    fn trace(calls: Vec<Call>) -> Trace {
        let listing = Listing {
            resources: Some(vec![Resource(json!({"uri": "file:///a.md"}))]),
            templates: Some(vec![ResourceTemplate(json!({"uriTemplate": "db://{table}/{id}"}))]),
            ..Listing::default()
        };
        let server = TraceServer { listings: vec![listing].into(), ..TraceServer::default() };
        let mut trace = Trace { servers: vec![server], ..Trace::default() };
        for call in calls {
            trace.call(call);
        }
        trace
    }

    #[test]
    fn listed_resources_and_templates_are_known() {
        let calls = vec![
            read("file:///a.md"),
            read("file:///b.md"),
            read("db://users/7"),
            read("db://users"),
        ];
        assert_eq!(found_at(&ResourceUnknown, &trace(calls)), [1, 3]);
    }

    #[test]
    fn links_in_earlier_results_are_known() {
        let link = json!({"content": [{"type": "resource_link", "uri": "mem://7", "name": "x"}]});
        let text = json!({"content": [{"type": "text", "text": "see file:///c.md."}]});
        let calls = vec![
            read("mem://7"),
            with_result("find", json!({}), link),
            read("mem://7"),
            with_result("find", json!({}), text),
            read("file:///c.md"),
        ];
        assert_eq!(found_at(&ResourceUnknown, &trace(calls)), [0]);
    }

    #[test]
    fn unrecorded_lists_prove_nothing() {
        let mut trace = trace(vec![read("x://y")]);
        trace.servers[0].listings[0].resources = None;
        assert_eq!(found_at(&ResourceUnknown, &trace), [0; 0]);
    }
}
