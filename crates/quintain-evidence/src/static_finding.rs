//! Findings without a call: about configurations, about what a server lists, about what it listed before.

use quintain_content::registry::About;
use serde_json::{Map, Value};

use crate::evidence::Evidence;
use crate::finding::{Confidence, Finding, FindingProof, Place, Severity, fingerprint};
use crate::surface::Surface;
use crate::weakness::Weakness;

/// The text of a finding.
pub struct FindingText {
    pub title: String,
    pub what: String,
    /// How to fix it.
    pub help: Option<String>,
    /// If it differs from that of the rule.
    pub severity: Option<Severity>,
    pub confidence: Confidence,
    /// Why this is by design.
    pub note: Option<String>,
    /// Shared by all findings of one fault.
    pub fault: &'static str,
}

/// Creates a finding that cites what was seen.
pub fn finding(
    rule: &str,
    facts: Weakness<'_>,
    target: &str,
    place: Place,
    text: FindingText,
) -> Finding {
    let whose = match place.server() {
        "" => target.to_owned(),
        server => format!("{target}/{server}"),
    };
    let fingerprint = fingerprint(rule, &whose, &place, text.fault);
    let mut metadata = Map::new();
    if let Some(help) = text.help {
        metadata.insert("help".to_owned(), Value::String(help));
    }
    Finding {
        id: Finding::id_of(&fingerprint),
        rule: rule.to_owned(),
        title: text.title,
        severity: text.severity.unwrap_or(facts.severity),
        confidence: text.confidence,
        target: target.to_owned(),
        tool: place.tool().map(str::to_owned),
        argument: place.argument(),
        place,
        cwe: facts.cwe.to_vec(),
        owasp: facts.frameworks.iter().map(|id| (*id).to_owned()).collect(),
        proofs: vec![FindingProof {
            form: "static".to_owned(),
            what: text.what,
            payload: None,
            baseline: None,
            attempt: Evidence::default(),
            pointer: None,
            sign: None,
            identity: None,
        }],
        reproduce: None,
        replay: None,
        fingerprint,
        trial: None,
        group: None,
        places: Vec::new(),
        strategies: Vec::new(),
        note: text.note,
        written: None,
        accepted: None,
        steps: Vec::new(),
        metadata,
    }
}

/// An inspection of what servers list, without a call.
pub trait SurfaceInspection: Send + Sync {
    fn meta(&self) -> About<'_>;

    fn weakness(&self) -> Weakness<'_>;

    /// The rule of its findings.
    fn rule(&self) -> &str;

    /// What it sees, and where; no place means that it is about all servers together.
    fn inspect(&self, surfaces: &[(String, Surface)]) -> Vec<(FindingText, Option<Place>)>;
}

/// The findings of inspections. `target` maps a server to its target; it gets the empty name for findings about several
/// servers together.
pub fn inspect<'t>(
    inspections: &[&dyn SurfaceInspection],
    target: impl Fn(&str) -> &'t str,
    surfaces: &[(String, Surface)],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for inspection in inspections {
        for (text, place) in inspection.inspect(surfaces) {
            let place = place.unwrap_or_else(|| Place::Server { server: String::new() });
            let target = target(place.server());
            let (rule, weakness) = (inspection.meta().id, inspection.weakness());
            findings.push(finding(rule, weakness, target, place, text));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Tool;

    /// Suspects every tool.
    struct Suspicious;

    fn text(title: &str, severity: Option<Severity>, confidence: Confidence) -> FindingText {
        let (title, what) = (title.to_owned(), "seen".to_owned());
        FindingText { title, what, help: None, severity, confidence, note: None, fault: "" }
    }

    impl SurfaceInspection for Suspicious {
        fn meta(&self) -> About<'_> {
            About { id: "suspicious", aliases: &[], summary: "", docs: "", since: "" }
        }

        fn weakness(&self) -> Weakness<'_> {
            Weakness { severity: Severity::Medium, cwe: &[1], frameworks: &["X"] }
        }

        fn rule(&self) -> &'static str {
            "suspicious"
        }

        fn inspect(&self, surfaces: &[(String, Surface)]) -> Vec<(FindingText, Option<Place>)> {
            let mut found = vec![(text("all are odd", None, Confidence::Confirmed), None)];
            for (server, surface) in surfaces {
                for tool in &surface.tools {
                    let tool = tool.name().unwrap_or_default().to_owned();
                    let place = Place::Tool { server: server.clone(), tool };
                    let text = text("is odd", Some(Severity::Low), Confidence::Suspected);
                    found.push((text, Some(place)));
                }
            }
            found
        }
    }

    #[test]
    fn inspections_become_findings() {
        let tools = vec![Tool(serde_json::json!({"name": "pay"}))];
        let surfaces = [("shop".to_owned(), Surface { tools, ..Surface::default() })];
        let found = inspect(&[&Suspicious], |_| "cursor", &surfaces);
        let [all, one] = &found[..] else { panic!("{found:?}") };
        assert_eq!((one.rule.as_str(), one.severity), ("suspicious", Severity::Low));
        assert_eq!((one.place.server(), one.tool.as_deref()), ("shop", Some("pay")));
        assert_eq!(one.confidence, Confidence::Suspected);
        assert_eq!((all.severity, all.place.server()), (Severity::Medium, ""));
        assert_ne!(one.fingerprint, all.fingerprint);
        assert_eq!(one.id.len(), 10);
    }
}
