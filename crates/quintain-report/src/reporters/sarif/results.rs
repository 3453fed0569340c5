//! Results: findings, and failed cases.

use quintain_evidence::finding::{Finding, FindingProof, Place};
use quintain_evidence::graded::{Level, MetricScore, TraceFinding};
use quintain_evidence::result::{CaseResult, SourcePlace as Written};
use serde_json::{Map, Value, json};

use super::rules::{Named, level};
use super::taxonomies;
use crate::document::hex_digest;
use crate::findings::{Standing, acceptance, qualified, seen, tags};
use crate::gist;
use crate::text::{excerpt, json_excerpt, line};
use crate::traces;

const MAX_MESSAGE: usize = 1_000;
const MAX_TEXT: usize = 4_000;
const MAX_PROOFS: usize = 50;
/// Code scanning reads no more locations of one result.
const MAX_PLACES: usize = 1_000;

/// `some` if any finding of the run is suppressed: SARIF requires `suppressions` on all results or on none.
pub(super) fn of_finding(finding: &Finding, rule: &Named, some: bool) -> Value {
    let level = match Standing::of(finding) {
        Standing::ByDesign => "note",
        Standing::Confirmed | Standing::Suspected => level(finding.severity),
    };
    let proof = finding.proofs.first().map(|proof| format!(": {}", proof.what));
    let text = format!("{}{}", finding.title, proof.unwrap_or_default());
    let mut result = json!({
        "ruleId": rule.id,
        "ruleIndex": rule.index,
        "level": level,
        "message": {"text": message(&text)},
        "locations": finding.parts().iter().take(MAX_PLACES).map(location).collect::<Vec<_>>(),
        "partialFingerprints": fingerprints(&finding.fingerprint),
        "taxa": taxonomies::references(tags(finding).iter().map(String::as_str)),
        "properties": properties(finding),
    });
    if let (true, Some(result)) = (some, result.as_object_mut()) {
        let accepted = finding.accepted.iter().map(|accepted| {
            let why = acceptance(accepted);
            json!({"kind": "external", "status": "accepted", "justification": why})
        });
        result.insert("suppressions".into(), accepted.collect());
    }
    result
}

/// The file that defines the server. Code scanning rejects results without a file, so the place of a
/// target without one is a path below its name.
fn location(finding: &Finding) -> Value {
    let name = line(&qualified(&finding.place), 500);
    let kind = match &finding.place {
        Place::Argument { .. } | Place::PromptArgument { .. } | Place::Variable { .. } => {
            "parameter"
        }
        Place::Tool { .. } | Place::Prompt { .. } => "function",
        Place::Resource { .. } | Place::Uri { .. } => "resource",
        Place::Launch { .. } => "member",
        _ => "module",
    };
    let physical = match &finding.written {
        Some(written) => in_file(written),
        None => json!({
            "artifactLocation": {
                "uri": below(&format!("{}/{name}", finding.target)),
                "description": {"text": "a place of the target, not a file"},
            },
            "region": {"startLine": 1},
        }),
    };
    json!({
        "physicalLocation": physical,
        "logicalLocations": [{
            "name": line(&finding.argument.clone().or(finding.tool.clone()).unwrap_or_else(|| name.clone()), 200),
            "fullyQualifiedName": name,
            "kind": kind,
        }],
        "message": {"text": message(&finding.place.to_string())},
    })
}

fn properties(finding: &Finding) -> Value {
    let mut properties = json!({
        "id": finding.id,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "target": line(&finding.target, 200),
        "proofs": finding.proofs.iter().take(MAX_PROOFS).map(proof).collect::<Vec<_>>(),
    });
    if let Some(properties) = properties.as_object_mut() {
        let mut add = |name: &str, value: Option<Value>| {
            properties.extend(value.map(|value| (name.to_owned(), value)));
        };
        add("tool", finding.tool.as_deref().map(|tool| line(tool, 200).into()));
        add("argument", finding.argument.as_deref().map(|argument| line(argument, 200).into()));
        add("reproduce", finding.reproduce.as_deref().map(|text| excerpt(text, MAX_TEXT).into()));
        add("replay", finding.replay.as_deref().map(|text| excerpt(text, MAX_TEXT).into()));
        let help = finding.metadata.get("help").and_then(Value::as_str);
        add("help", help.map(|text| excerpt(text, MAX_TEXT).into()));
        add("byDesign", finding.note.as_deref().map(|note| excerpt(note, MAX_TEXT).into()));
        let strategies = &finding.strategies;
        add("strategies", (!strategies.is_empty()).then(|| json!(strategies)));
    }
    properties
}

fn proof(proof: &FindingProof) -> Value {
    let mut map = Map::new();
    map.insert("form".into(), line(&proof.form, MAX_MESSAGE).into());
    map.insert("what".into(), excerpt(&proof.what, MAX_TEXT).into());
    if let Some(payload) = &proof.payload {
        map.insert("payload".into(), json_excerpt(payload, false, MAX_TEXT).into());
    }
    let observations = proof.attempt.observations.iter().take(10);
    let observations: Vec<String> = observations.map(|one| seen(one, MAX_MESSAGE)).collect();
    if !observations.is_empty() {
        map.insert("observations".into(), json!(observations));
    }
    map.into()
}

pub(super) fn of_case(case: &CaseResult, rule: &Named) -> Value {
    let text = format!("{}: {}", gist::name(case), gist::reason(case));
    let properties = json!({
        "target": line(case.target.name(), 200),
        "status": case.status,
        "score": case.score,
    });
    about_case(case, rule, "error", &text, "", properties)
}

/// A finding of a check in a graded trace.
pub(super) fn of_trace_finding(case: &CaseResult, finding: &TraceFinding, rule: &Named) -> Value {
    let level = match finding.severity {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "note",
    };
    let place = traces::place(finding, case.evidence.trace.as_deref());
    let text = format!("{}, {place}: {}", gist::name(case), finding.message);
    let what = format!("\n{place}\n{}", finding.message);
    let properties = json!({
        "severity": finding.severity,
        "layer": finding.layer,
        "call": finding.call,
        "pointer": line(&finding.pointer, MAX_MESSAGE),
        "evidence": excerpt(&finding.evidence, MAX_TEXT),
        "help": excerpt(&finding.hint, MAX_TEXT),
    });
    about_case(case, rule, level, &text, &what, properties)
}

/// A metric below its threshold.
pub(super) fn of_metric(case: &CaseResult, metric: &MetricScore, rule: &Named) -> Value {
    let reason = traces::reason(metric);
    let text = format!("{}: {}: {reason}", gist::name(case), traces::score(metric));
    let properties = json!({"score": metric.score, "threshold": metric.threshold});
    about_case(case, rule, "error", &text, "", properties)
}

/// `what` distinguishes results of the same rule about the same case.
fn about_case(
    case: &CaseResult,
    rule: &Named,
    level: &str,
    text: &str,
    what: &str,
    properties: Value,
) -> Value {
    let name = gist::name(case);
    let target = case.target.name();
    let place = gist::place(case);
    let file = place.map_or("", |place| place.file.as_str());
    let fingerprint = hex_digest(&format!("{}\n{file}\n{name}\n{target}{what}", rule.id));
    let fingerprint = &fingerprint[..32];
    let mut location = json!({
        "logicalLocations": [{"name": name, "fullyQualifiedName": format!("{}/{name}", line(target, 200))}],
    });
    if let (Some(place), Some(location)) = (place, location.as_object_mut()) {
        location.insert("physicalLocation".into(), in_file(place));
    }
    json!({
        "ruleId": rule.id,
        "ruleIndex": rule.index,
        "level": level,
        "message": {"text": message(text)},
        "locations": [location],
        "partialFingerprints": fingerprints(fingerprint),
        "properties": properties,
    })
}

fn in_file(place: &Written) -> Value {
    json!({
        "artifactLocation": {"uri": file_uri(&place.file)},
        "region": {"startLine": place.line.max(1), "startColumn": place.column.max(1)},
    })
}

/// Code scanning identifies results by the second one.
fn fingerprints(fingerprint: &str) -> Value {
    json!({
        "quintainFingerprint/v1": fingerprint,
        "primaryLocationLineHash": format!("{fingerprint}:1"),
    })
}

/// Text for a viewer that renders brackets before parentheses as a link.
fn message(text: &str) -> String {
    let text = excerpt(text, MAX_MESSAGE);
    if text.contains("](") { text.replace('[', "\\[").replace(']', "\\]") } else { text }
}

/// A path as a URI reference; an absolute path gets a scheme.
fn file_uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let drive = path.starts_with(|c: char| c.is_ascii_alphabetic()) && path[1..].starts_with(":/");
    match path.strip_prefix('/') {
        Some(rest) => format!("file:///{}", encoded(rest)),
        None if drive => format!("file:///{}:{}", &path[..1], encoded(&path[2..])),
        None => encoded(path.strip_prefix("./").unwrap_or(&path)),
    }
}

/// A relative reference that cannot be read as anything else.
fn below(path: &str) -> String {
    let parts = path.split('/').filter(|part| !["", ".", ".."].contains(part));
    parts.map(encoded).collect::<Vec<_>>().join("/")
}

fn encoded(path: &str) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_references() {
        assert_eq!(file_uri("./a b/ü.yaml"), "a%20b/%C3%BC.yaml");
        assert_eq!(file_uri("/a/b"), "file:///a/b");
        assert_eq!(file_uri("C:\\a"), "file:///C:/a");
        assert_eq!(file_uri("a:b"), "a%3Ab");
        assert_eq!(below("x/../../etc//a:b"), "x/etc/a%3Ab");
    }

    #[test]
    fn hostile_text_is_no_link() {
        assert_eq!(message("see [here](https://x)"), "see \\[here\\](https://x)");
        assert_eq!(message("a[0] is b"), "a[0] is b");
    }
}
