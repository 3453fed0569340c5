//! What the request names, and whether the calls show it: files, tools to use, and contents instead of templates.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use quintain_evidence::lexicon;
use quintain_evidence::trace::TraceServer;
use regex::Regex;
use serde_json::Value;

use crate::view::CallView;

/// Longer texts among arguments are contents rather than commands; a path in them produces nothing.
const MAX_COMMAND: usize = 3_000;
/// Placeholders beyond which a text is a template.
const MIN_PLACEHOLDERS: usize = 3;
/// Paths beyond which a request is data.
const MAX_PATHS: usize = 20;

static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?:^|[\s"'`(\[<:=,])((?:~|[A-Za-z]:)?(?:[/\\][\w.\-]+)+\.[A-Za-z0-9]{1,8})\b"#)
        .ok()
});

/// `[Title]`, but neither links, nor indexes, nor boxes to tick.
static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:^|[^\w\])])\[[A-Z][A-Za-z]+(?: [A-Za-z0-9]+){0,4}\](?:[^(\[:\w]|$)|(?i:lorem ipsum)",
    )
    .ok()
});

static INVENTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let what = "data|values?|results?|numbers?|figures?|contents?|prices?|entries|records?";
    Regex::new(&format!(
        r"(?i)\b(?:simulated|mock(?:ed)?|dummy|fictional|fictitious|hypothetical|made-up|placeholder) (?:{what})\b"
    ))
    .ok()
});

/// `use NAME`, and whether the request says that it is a tool.
static TOLD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:use|using|via)\s+(?:the\s+)?(`?)([\w\-./]+)`?(\s+(?:mcp|server|tool)\b)?")
        .ok()
});

/// Whether the request names a file that no successful call touches: as an argument, in a command, or in a result.
pub(super) fn is_missing(requests: &[&str], succeeded: &[&CallView<'_>]) -> bool {
    let Some(pattern) = PATH.as_ref() else { return false };
    let mut paths: BTreeSet<&str> = BTreeSet::new();
    for request in requests {
        let found = pattern.captures_iter(request).filter_map(|found| found.get(1));
        paths.extend(found.take(MAX_PATHS).map(|path| path.as_str()));
    }
    paths.into_iter().any(|path| !succeeded.iter().any(|call| touches(call, path)))
}

fn touches(call: &CallView<'_>, path: &str) -> bool {
    let named = call.call.args.json().is_some_and(|args| {
        texts(args).any(|text| text == path || (text.len() <= MAX_COMMAND && text.contains(path)))
    });
    named || call.call.name.ends_with(path) || call.text().contains(path)
}

/// Whether the calls wrote placeholders although the request does not ask for a template.
pub(super) fn is_template(requests: &[&str], succeeded: &[&CallView<'_>]) -> bool {
    let Some(pattern) = PLACEHOLDER.as_ref() else { return false };
    let wanted = requests.iter().any(|request| {
        let request = request.to_lowercase();
        ["template", "placeholder", "boilerplate", "skeleton"]
            .iter()
            .any(|word| request.contains(word))
    });
    let count = |call: &&CallView<'_>| {
        let texts = call.call.args.json().into_iter().flat_map(texts);
        texts.map(|text| pattern.find_iter(text).take(MIN_PLACEHOLDERS).count()).sum::<usize>()
    };
    !wanted && succeeded.iter().map(count).sum::<usize>() >= MIN_PLACEHOLDERS
}

/// Whether the answer, or what was written, calls its own data invented although the request does not ask for such.
pub(super) fn is_invented(
    requests: &[&str],
    answer: Option<&str>,
    succeeded: &[&CallView<'_>],
) -> bool {
    let Some(pattern) = INVENTED.as_ref() else { return false };
    let wanted = requests.iter().any(|request| {
        let words = lexicon::words(request);
        words.iter().any(|word| {
            matches!(
                word.as_str(),
                "simulated"
                    | "simulate"
                    | "mock"
                    | "dummy"
                    | "fictional"
                    | "fictitious"
                    | "hypothetical"
                    | "placeholder"
                    | "sample"
                    | "example"
                    | "test"
            )
        })
    });
    let written = succeeded.iter().filter_map(|call| call.call.args.json()).flat_map(texts);
    !wanted && answer.into_iter().chain(written).any(|text| pattern.is_match(text))
}

/// Whether the request says to use a tool or server of the lists, and no successful call does.
pub(super) fn ignores_named(
    requests: &[&str],
    servers: &[TraceServer],
    succeeded: &[&CallView<'_>],
) -> bool {
    let Some(pattern) = TOLD.as_ref() else { return false };
    let mut told =
        requests.iter().flat_map(|request| pattern.captures_iter(request)).take(MAX_PATHS);
    told.any(|found| {
        let word = found[2].trim_end_matches('.').to_lowercase();
        // `use excel` may mean the program, `use context7` cannot.
        let is_name = word.contains(|c: char| c.is_ascii_digit() || matches!(c, '_' | '-'));
        let is_marked = !found[1].is_empty() || found.get(3).is_some();
        let uses = |call: &&CallView<'_>| {
            is_called(&call.call.name, &word)
                || call.server().is_some_and(|server| is_called(server, &word))
        };
        (is_name || is_marked) && is_listed(servers, &word) && !succeeded.iter().any(uses)
    })
}

fn is_listed(servers: &[TraceServer], word: &str) -> bool {
    servers.iter().any(|server| {
        let tools = server.tools_at(usize::MAX).unwrap_or_default();
        server.name.as_deref().is_some_and(|name| is_called(name, word))
            || tools.iter().filter_map(|tool| tool.name()).any(|name| is_called(name, word))
    })
}

/// Whether a name is meant by a word: `context7-mcp` is called `context7`.
fn is_called(name: &str, word: &str) -> bool {
    if name.eq_ignore_ascii_case(word) {
        return true;
    }
    let mut parts = lexicon::words(name);
    parts.retain(|part| !matches!(part.as_str(), "mcp" | "server"));
    !parts.is_empty() && parts == lexicon::words(word)
}

/// All texts in a value, without recursion: arguments may be nested as deep as a reader allows.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let mut open = vec![value];
    std::iter::from_fn(move || {
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => return Some(text.as_str()),
                Value::Array(items) => open.extend(items),
                Value::Object(entries) => open.extend(entries.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::surface::Tool;
    use quintain_evidence::trace::{Call, CallOutcome, Listing, Trace};
    use serde_json::json;

    use super::*;
    use crate::view::View;

    fn called(calls: &[(&str, Value, &str)]) -> Trace {
        let mut trace = Trace::default();
        for (name, args, result) in calls {
            let mut call = Call::tool(*name, args.clone());
            call.outcome =
                CallOutcome::Result(json!({"content": [{"type": "text", "text": result}]}));
            trace.call(call);
        }
        trace
    }

    fn missing(request: &str, calls: &[(&str, Value, &str)]) -> bool {
        let trace = called(calls);
        let view = View::new(&trace);
        is_missing(&[request], &view.calls.iter().collect::<Vec<_>>())
    }

    #[test]
    fn requested_files_are_looked_for() {
        let request = "Save the report to /srv/out/report.pdf.";
        assert!(missing(request, &[("search", json!({"q": "x"}), "found")]));
        assert!(!missing(request, &[("write", json!({"path": "/srv/out/report.pdf"}), "ok")]));
        assert!(!missing(request, &[("run", json!({"command": "mk > /srv/out/report.pdf"}), "")]));
        assert!(!missing(request, &[("save", json!({}), "saved /srv/out/report.pdf")]));
        let script = format!("{}/srv/out/report.pdf", "x = 1\n".repeat(1000));
        assert!(missing(request, &[("write", json!({"path": "/a.py", "content": script}), "ok")]));
        assert!(!missing("see https://example.org/a/b.html", &[]), "an address is not a file");
        assert!(!missing("say hello", &[]));
    }

    #[test]
    fn templates_are_not_contents() {
        let template = |request: &str, content: &str| {
            let trace = called(&[("write_file", json!({"content": content}), "ok")]);
            let view = View::new(&trace);
            is_template(&[request], &view.calls.iter().collect::<Vec<_>>())
        };
        let empty = "# [Title]\n\n[Problem Number]: by [Author Name]\n- [Reason 1]\n";
        assert!(template("write a report", empty));
        assert!(!template("write me a template", empty));
        assert!(!template("write a report", "- [x] done\n[Link](a) [Other](b) list[Int] [See][1]"));
    }

    #[test]
    fn invented_data_is_no_result_unless_it_is_wanted() {
        let invented = |request: &str, answer: &str| is_invented(&[request], Some(answer), &[]);
        assert!(invented("plot the prices of 2024", "The chart shows simulated data."));
        assert!(!invented("fill the table with dummy data", "It contains dummy data now."));
        assert!(!invented("plot the prices", "The chart shows data of the exchange."));
    }

    #[test]
    fn named_tools_must_be_used() {
        let server = TraceServer {
            name: Some("context7-mcp".to_owned()),
            listings: vec![Listing {
                tools: Some(vec![Tool(json!({"name": "get_docs"}))]),
                ..Listing::default()
            }]
            .into(),
            ..TraceServer::default()
        };
        let ignores = |request: &str, tool: &str| {
            let trace =
                Trace { servers: vec![server.clone()], ..called(&[(tool, json!({}), "ok")]) };
            let view = View::new(&trace);
            ignores_named(&[request], &trace.servers, &view.calls.iter().collect::<Vec<_>>())
        };
        assert!(ignores("Write a middleware. use context7", "write_file"));
        assert!(!ignores("Write a middleware. use context7", "get_docs"));
        assert!(!ignores("Write a middleware using Rust", "write_file"));
        assert!(ignores("Look it up with care, use the `get_docs` tool", "write_file"));
        assert!(!ignores("Write it using get", "write_file"));
    }
}
