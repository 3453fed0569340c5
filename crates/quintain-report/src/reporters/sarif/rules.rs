//! Rules: the attacks and assertions that results refer to.

use quintain_core::attack::Attack;
use quintain_core::check::Assertion;
use quintain_core::finding::{Finding, Severity};
use quintain_core::registry::Meta;
use quintain_core::result::{CaseResult, CaseStatus};
use quintain_core::{assertions, attacks};
use serde_json::{Map, Value, json};

use crate::text::line;
use crate::{gist, prose};

/// In the order in which results mention them.
#[derive(Default)]
pub(super) struct Rules(Vec<Rule>);

struct Rule {
    id: String,
    meta: Option<Meta>,
    /// Of an attack that the suite defines.
    summary: Option<String>,
    about: About,
}

enum About {
    Attack { worst: Severity, cwe: Vec<u32>, frameworks: Vec<String> },
    Assertion,
}

/// What a result says of its rule.
pub(super) struct Named {
    pub(super) id: String,
    pub(super) index: usize,
}

impl Rules {
    pub(super) fn of_finding(&mut self, finding: &Finding) -> Named {
        let named = self.named(line(&finding.rule, 200), || Rule {
            id: line(&finding.rule, 200),
            meta: attacks::find(&finding.rule).map(Attack::meta),
            summary: finding.attack_summary().map(|text| line(text, 200)),
            about: About::Attack {
                worst: finding.severity,
                cwe: finding.cwe.clone(),
                frameworks: finding.owasp.iter().map(|id| line(id, 80)).collect(),
            },
        });
        if let Some(Rule { about: About::Attack { worst, .. }, .. }) = self.0.get_mut(named.index) {
            *worst = finding.severity.max(*worst);
        }
        named
    }

    pub(super) fn of_case(&mut self, case: &CaseResult) -> Named {
        let kind = match case.status {
            CaseStatus::Errored => "no-result".to_owned(),
            _ => gist::failures(case).next().map_or_else(|| "assertion".into(), gist::kind_text),
        };
        self.named(kind.clone(), || {
            let plain = kind.strip_prefix("not-").unwrap_or(&kind);
            let meta = assertions::find(plain).map(Assertion::meta).copied();
            Rule { meta, summary: None, about: About::Assertion, id: kind.clone() }
        })
    }

    fn named(&mut self, id: String, make: impl FnOnce() -> Rule) -> Named {
        let index = self.0.iter().position(|rule| rule.id == id).unwrap_or_else(|| {
            self.0.push(make());
            self.0.len() - 1
        });
        Named { id, index }
    }

    pub(super) fn described(&self) -> Vec<Value> {
        self.0.iter().map(Rule::described).collect()
    }
}

impl Rule {
    fn described(&self) -> Value {
        let own = self.meta.map(|meta| meta.summary.to_owned());
        let summary = own.or_else(|| self.summary.clone()).unwrap_or_else(|| self.id.clone());
        let mut rule = Map::new();
        rule.insert("id".into(), json!(self.id));
        rule.insert("name".into(), json!(pascal_case(&self.id)));
        rule.insert("shortDescription".into(), json!({"text": summary}));
        if let Some(meta) = self.meta {
            let full = prose::section(meta.docs, "What it does").unwrap_or(summary);
            rule.insert("fullDescription".into(), json!({"text": full}));
            rule.insert("help".into(), json!({"text": meta.docs, "markdown": meta.docs}));
            if let Some(link) = prose::link(meta.docs) {
                rule.insert("helpUri".into(), json!(link));
            }
        }
        match &self.about {
            About::Attack { worst, cwe, frameworks } => {
                let mut properties = Map::new();
                properties.insert("tags".into(), json!(tags(cwe, frameworks)));
                if let Some(number) = security_severity(*worst) {
                    properties.insert("security-severity".into(), json!(number));
                }
                rule.insert("defaultConfiguration".into(), json!({"level": level(*worst)}));
                rule.insert("properties".into(), properties.into());
            }
            About::Assertion => {
                rule.insert("properties".into(), json!({"tags": ["test"]}));
            }
        }
        rule.into()
    }
}

/// With weaknesses as code scanning spells them.
fn tags(cwe: &[u32], frameworks: &[String]) -> Vec<String> {
    let cwe = cwe.iter().map(|number| format!("external/cwe/cwe-{number:03}"));
    std::iter::once("security".to_owned()).chain(cwe).chain(frameworks.iter().cloned()).collect()
}

pub(super) fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

/// A number in the middle of what GitHub takes for that severity; it knows none for `info`.
fn security_severity(severity: Severity) -> Option<&'static str> {
    match severity {
        Severity::Critical => Some("9.5"),
        Severity::High => Some("8.0"),
        Severity::Medium => Some("5.5"),
        Severity::Low => Some("2.0"),
        Severity::Info => None,
    }
}

fn pascal_case(id: &str) -> String {
    let words = id.split(|c: char| !c.is_alphanumeric());
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        first.unwrap_or_default() + letters.as_str()
    };
    words.map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_rules_are_identifiers() {
        assert_eq!(pascal_case("command-injection"), "CommandInjection");
        assert_eq!(pascal_case("rag:poisoning"), "RagPoisoning");
        assert_eq!(pascal_case(""), "");
    }

    #[test]
    fn weaknesses_are_spelled_as_code_scanning_does() {
        assert_eq!(tags(&[78], &["MCP05".into()]), ["security", "external/cwe/cwe-078", "MCP05"]);
    }
}
