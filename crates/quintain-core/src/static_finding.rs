//! Findings that need no call: of configurations, of what a server lists, of what it listed before.

use quintain_evidence::evidence::Evidence;
use quintain_evidence::finding::{Confidence, Finding, Place, Proof, Severity, fingerprint};
use quintain_evidence::weakness::Weakness;
use serde_json::{Map, Value};

use crate::attack::{Attack, Field, Hit};

/// What a finding says.
pub struct Told {
    pub title: String,
    pub what: String,
    /// What to do about it.
    pub help: Option<String>,
    /// If it is not that of the rule.
    pub severity: Option<Severity>,
    pub confidence: Confidence,
    /// By design, in words.
    pub note: Option<String>,
    /// Findings of one fault share it.
    pub fault: &'static str,
}

impl Told {
    fn of(hit: Hit) -> (Self, Option<Place>) {
        let Hit { place, title, what, confidence, severity, note, fault, .. } = hit;
        (Self { title, what, help: None, severity, confidence, note, fault }, place)
    }
}

/// Makes a finding that cites what it saw.
pub fn finding(rule: &str, facts: Weakness<'_>, target: &str, place: Place, told: Told) -> Finding {
    let whose = match place.server() {
        "" => target.to_owned(),
        server => format!("{target}/{server}"),
    };
    let fingerprint = fingerprint(rule, &whose, &place, told.fault);
    let mut metadata = Map::new();
    if let Some(help) = told.help {
        metadata.insert("help".to_owned(), Value::String(help));
    }
    Finding {
        id: format!("F-{}", &fingerprint[..8]),
        rule: rule.to_owned(),
        title: told.title,
        severity: told.severity.unwrap_or(facts.severity),
        confidence: told.confidence,
        target: target.to_owned(),
        tool: place.tool().map(str::to_owned),
        argument: place.argument(),
        place,
        cwe: facts.cwe.to_vec(),
        owasp: facts.frameworks.iter().map(|id| (*id).to_owned()).collect(),
        proofs: vec![Proof {
            form: "static".to_owned(),
            what: told.what,
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
        bout: None,
        strategies: Vec::new(),
        note: told.note,
        written: None,
        accepted: None,
        steps: Vec::new(),
        metadata,
    }
}

/// What attacks see in the surface alone. `target` names whose server it is; of several servers
/// together, it is asked for the empty name.
pub fn inspect<'t>(
    attacks: &[&dyn Attack],
    target: impl Fn(&str) -> &'t str,
    field: &Field<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for attack in attacks {
        for hit in attack.inspect(field) {
            let (told, place) = Told::of(hit);
            let whole = || Place::Server { server: String::new() };
            let place = place.unwrap_or_else(whole);
            let target = target(place.server());
            findings.push(finding(attack.meta().id, attack.weakness(), target, place, told));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use quintain_content::registry::Meta;
    use quintain_evidence::surface::{Surface, Tool};

    use super::*;
    use crate::attack::Powers;
    use crate::knowledge::Knowledge;

    /// Suspects every tool.
    struct Suspicious;

    impl Attack for Suspicious {
        fn meta(&self) -> Meta {
            Meta { id: "suspicious", aliases: &[], summary: "", docs: "", since: "" }
        }

        fn weakness(&self) -> Weakness<'static> {
            Weakness { severity: Severity::Medium, cwe: &[1], frameworks: &["X"] }
        }

        fn inspect(&self, field: &Field<'_>) -> Vec<Hit> {
            let hit = |(server, tool): (&str, &Tool)| {
                let tool = tool.name().unwrap_or_default().to_owned();
                let place = Place::Tool { server: server.to_owned(), tool };
                Hit::suspected("is odd", "a tool").at(place).severity(Severity::Low)
            };
            field.tools().map(hit).chain([Hit::confirmed("all are odd", "all")]).collect()
        }
    }

    #[test]
    fn what_attacks_see_becomes_findings() {
        let tools = vec![Tool(serde_json::json!({"name": "pay"}))];
        let surfaces = [("shop".to_owned(), Surface { tools, ..Surface::default() })];
        let (knowledge, powers) = (Knowledge::default(), Powers::default());
        let field =
            Field { surfaces: &surfaces, knowledge: &knowledge, powers: &powers, purpose: None };
        let found = inspect(&[&Suspicious], |_| "cursor", &field);
        let [one, all] = &found[..] else { panic!("{found:?}") };
        assert_eq!((one.rule.as_str(), one.severity), ("suspicious", Severity::Low));
        assert_eq!((one.place.server(), one.tool.as_deref()), ("shop", Some("pay")));
        assert_eq!(one.confidence, Confidence::Suspected);
        assert_eq!((all.severity, all.place.server()), (Severity::Medium, ""));
        assert_ne!(one.fingerprint, all.fingerprint);
        assert_eq!(one.id.len(), 10);
    }
}
