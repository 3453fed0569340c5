//! Rules: the attacks and assertions that results refer to.

use quintain_content::registry::Meta;
use quintain_evidence::finding::{Finding, Severity};
use quintain_evidence::result::{CaseResult, CaseStatus};
use serde_json::{Map, Value, json};

use super::taxonomies;
use crate::findings::tags;
use crate::text::line;
use crate::{RuleDocs, gist, prose};

/// In the order of their first result.
pub(super) struct Rules {
    named: Vec<Rule>,
    docs: RuleDocs,
}

struct Rule {
    id: String,
    meta: Option<Meta>,
    /// Of an attack that the suite defines.
    summary: Option<String>,
    about: About,
}

enum About {
    /// Including the ids of frameworks and weaknesses.
    Attack {
        worst: Severity,
        frameworks: Vec<String>,
    },
    Assertion,
}

/// The parts of a result that describe its rule.
pub(super) struct Named {
    pub(super) id: String,
    pub(super) index: usize,
}

impl Rules {
    pub(super) fn new(docs: RuleDocs) -> Self {
        Self { named: Vec::new(), docs }
    }

    pub(super) fn of_finding(&mut self, finding: &Finding) -> Named {
        let meta = (self.docs.attack)(&finding.rule);
        let named = self.named(line(&finding.rule, 200), || Rule {
            id: line(&finding.rule, 200),
            meta,
            summary: finding.attack_summary().map(|text| line(text, 200)),
            about: About::Attack { worst: finding.severity, frameworks: tags(finding) },
        });
        if let Some(Rule { about: About::Attack { worst, .. }, .. }) =
            self.named.get_mut(named.index)
        {
            *worst = finding.severity.max(*worst);
        }
        named
    }

    pub(super) fn of_case(&mut self, case: &CaseResult) -> Named {
        let kind = match case.status {
            CaseStatus::Errored => "no-result".to_owned(),
            _ => gist::failures(case).next().map_or_else(|| "assertion".into(), gist::kind_text),
        };
        let meta = (self.docs.assertion)(kind.strip_prefix("not-").unwrap_or(&kind));
        let id = kind.clone();
        self.named(kind, || Rule { meta, summary: None, about: About::Assertion, id })
    }

    /// A check or a metric of `grade`.
    pub(super) fn of_check(&mut self, check: &str) -> Named {
        let id = line(check, 200);
        let meta = (self.docs.assertion)(&id);
        self.named(id.clone(), || Rule { meta, summary: None, about: About::Assertion, id })
    }

    fn named(&mut self, id: String, make: impl FnOnce() -> Rule) -> Named {
        let index = self.named.iter().position(|rule| rule.id == id).unwrap_or_else(|| {
            self.named.push(make());
            self.named.len() - 1
        });
        Named { id, index }
    }

    pub(super) fn described(&self) -> Vec<Value> {
        self.named.iter().map(Rule::described).collect()
    }

    /// The framework ids of the rules.
    pub(super) fn frameworks(&self) -> impl Iterator<Item = &str> {
        self.named
            .iter()
            .flat_map(|rule| match &rule.about {
                About::Attack { frameworks, .. } => &frameworks[..],
                About::Assertion => &[],
            })
            .map(String::as_str)
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
            About::Attack { worst, frameworks } => {
                let mut properties = Map::new();
                properties.insert("tags".into(), json!(spelled(frameworks)));
                let targets = taxonomies::references(frameworks.iter().map(String::as_str));
                let relation = |target: Value| json!({"target": target, "kinds": ["relevant"]});
                let relations: Vec<Value> = targets.into_iter().map(relation).collect();
                rule.insert("relationships".into(), relations.into());
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

/// With CWE ids in the spelling of code scanning.
fn spelled(frameworks: &[String]) -> Vec<String> {
    let spelled = frameworks.iter().map(|id| match id.strip_prefix("CWE-") {
        Some(number) => format!("external/cwe/cwe-{number:0>3}"),
        None => id.clone(),
    });
    std::iter::once("security".to_owned()).chain(spelled).collect()
}

pub(super) fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

/// A number in the middle of GitHub's range for that severity; GitHub has none for `info`.
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
        let tags = spelled(&["CWE-78".into(), "CWE-1336".into(), "MCP05".into()]);
        let cwe = ["external/cwe/cwe-078", "external/cwe/cwe-1336"];
        assert_eq!(tags, ["security", cwe[0], cwe[1], "MCP05"]);
    }
}
