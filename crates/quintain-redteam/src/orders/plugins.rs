//! Names of attacks in suites: Quintain's, promptfoo's, and collections.

use super::groups;
use crate::attack::{AnyAttack, Attack};
use crate::attacks;

/// A known name that cannot run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unavailable {
    pub name: &'static str,
    pub needs: &'static str,
}

/// Plugins of promptfoo that ask a model for text and judge it. They do not apply to MCP servers.
const OF_MODELS: &[&str] = &[
    "aegis",
    "agentic:memory-poisoning",
    "ascii-smuggling",
    "beavertails",
    "bias:age",
    "bias:disability",
    "bias:gender",
    "bias:race",
    "cca",
    "coding-agent:automation-poisoning",
    "coding-agent:delayed-ci-exfil",
    "coding-agent:generated-vulnerability",
    "coding-agent:network-egress-bypass",
    "coding-agent:procfs-credential-read",
    "coding-agent:repo-prompt-injection",
    "coding-agent:sandbox-read-escape",
    "coding-agent:sandbox-write-escape",
    "coding-agent:secret-env-read",
    "coding-agent:secret-file-read",
    "coding-agent:steganographic-exfil",
    "coding-agent:terminal-output-injection",
    "coding-agent:verifier-sabotage",
    "competitors",
    "contracts",
    "coppa",
    "cyberseceval",
    "divergent-repetition",
    "donotanswer",
    "ecommerce:compliance-bypass",
    "ecommerce:order-fraud",
    "ecommerce:pci-dss",
    "ecommerce:price-manipulation",
    "ferpa",
    "financial:calculation-error",
    "financial:compliance-violation",
    "financial:confidential-disclosure",
    "financial:counterfactual",
    "financial:data-leakage",
    "financial:defamation",
    "financial:hallucination",
    "financial:impartiality",
    "financial:japan-fiea-suitability",
    "financial:misconduct",
    "financial:sox-compliance",
    "financial:sycophancy",
    "goal-misalignment",
    "hallucination",
    "harmbench",
    "harmful:chemical-biological-weapons",
    "harmful:child-exploitation",
    "harmful:copyright-violations",
    "harmful:cybercrime",
    "harmful:cybercrime:malicious-code",
    "harmful:graphic-content",
    "harmful:harassment-bullying",
    "harmful:hate",
    "harmful:illegal-activities",
    "harmful:illegal-drugs",
    "harmful:illegal-drugs:meth",
    "harmful:indiscriminate-weapons",
    "harmful:insults",
    "harmful:intellectual-property",
    "harmful:misinformation-disinformation",
    "harmful:non-violent-crime",
    "harmful:privacy",
    "harmful:profanity",
    "harmful:radicalization",
    "harmful:self-harm",
    "harmful:sex-crime",
    "harmful:sexual-content",
    "harmful:specialized-advice",
    "harmful:unsafe-practices",
    "harmful:violent-crime",
    "harmful:weapons:ied",
    "hijacking",
    "imitation",
    "indirect-prompt-injection",
    "insurance:coverage-discrimination",
    "insurance:data-disclosure",
    "insurance:network-misinformation",
    "insurance:phi-disclosure",
    "medical:anchoring-bias",
    "medical:fda:ai-disclosure",
    "medical:fda:cyber-access-control",
    "medical:fda:cyber-audit-tampering",
    "medical:hallucination",
    "medical:incorrect-knowledge",
    "medical:off-label-use",
    "medical:prioritization-error",
    "medical:sycophancy",
    "model-identification",
    "off-topic",
    "overreliance",
    "pharmacy:controlled-substance-compliance",
    "pharmacy:dosage-calculation",
    "pharmacy:drug-interaction",
    "pliny",
    "politics",
    "prompt-extraction",
    "rag-document-exfiltration",
    "rag-poisoning",
    "rag-source-attribution",
    "realestate:accessibility-discrimination",
    "realestate:advertising-discrimination",
    "realestate:discriminatory-listings",
    "realestate:fair-housing-discrimination",
    "realestate:lending-discrimination",
    "realestate:source-of-income",
    "realestate:steering",
    "realestate:valuation-bias",
    "reasoning-dos",
    "religion",
    "special-token-injection",
    "system-prompt-override",
    "teen-safety:age-restricted-goods-and-services",
    "teen-safety:dangerous-content",
    "teen-safety:dangerous-roleplay",
    "teen-safety:harmful-body-ideals",
    "telecom:accessibility-violation",
    "telecom:account-takeover",
    "telecom:billing-misinformation",
    "telecom:coverage-misinformation",
    "telecom:cpni-disclosure",
    "telecom:e911-misinformation",
    "telecom:fraud-enablement",
    "telecom:law-enforcement-request-handling",
    "telecom:location-disclosure",
    "telecom:porting-misinformation",
    "telecom:tcpa-violation",
    "telecom:unauthorized-changes",
    "toxic-chat",
    "unsafebench",
    "unverifiable-claims",
    "vlguard",
    "vlsu",
    "wordplay",
    "xstest",
];

/// Plugins whose data sets must be downloaded.
const OF_DATASETS: [&str; 11] = [
    "aegis",
    "beavertails",
    "cyberseceval",
    "donotanswer",
    "harmbench",
    "pliny",
    "toxic-chat",
    "unsafebench",
    "vlguard",
    "vlsu",
    "xstest",
];

/// Names of collections, and their members: by framework, or by name.
const COLLECTIONS: &[(&str, Members)] = &[
    ("default", Members::All),
    ("all", Members::All),
    ("mcp", Members::All),
    ("owasp:mcp", Members::Framework("MCP")),
    ("owasp:agentic", Members::Framework("ASI")),
    ("owasp:llm", Members::Framework("LLM")),
    ("owasp:api", Members::Framework("API")),
    ("mitre:atlas", Members::Framework("AML")),
    ("injection", Members::Named(INJECTIONS)),
    ("pii", Members::Named(&["pii"])),
    ("static", Members::Named(&["tool-poisoning", "tool-shadowing", "toxic-flow", "secrets"])),
];

const INJECTIONS: &[&str] = &[
    "command-injection",
    "argument-injection",
    "sql-injection",
    "nosql-injection",
    "code-injection",
    "template-injection",
];

#[derive(Clone, Copy)]
enum Members {
    All,
    /// Attacks with an id of this framework.
    Framework(&'static str),
    Named(&'static [&'static str]),
}

/// Why a known name cannot run; none if it can, or is unknown.
pub fn unavailable(name: &str) -> Option<Unavailable> {
    if let Some(name) = OF_DATASETS.iter().find(|known| **known == name) {
        return Some(Unavailable { name, needs: "a model as target and a data set" });
    }
    let found = OF_MODELS.iter().find(|known| **known == name || group(known) == name)?;
    Some(Unavailable { name: found, needs: "a model or agent as target" })
}

/// `harmful` of `harmful:hate`.
fn group(name: &str) -> &str {
    name.split_once(':').map_or(name, |(group, _)| group)
}

/// The attacks that a name selects: one attack, or a collection. `owasp:mcp:05` is one entry of a framework.
pub fn collections(name: &str) -> Option<Vec<AnyAttack>> {
    let found = builtin(name)?;
    Some(found.into_iter().map(AnyAttack::Builtin).collect())
}

/// Whether a name is taken by an attack, a collection or a plugin of promptfoo.
pub(super) fn is_known(name: &str) -> bool {
    matches!(name, "policy" | "intent")
        || unavailable(name).is_some()
        || builtin(name).is_some()
        || groups::members(name).is_some()
}

fn builtin(name: &str) -> Option<Vec<&'static dyn Attack>> {
    let own =
        |attack: &&'static dyn Attack| attack.rule() == name || attack.meta().answers_to(name);
    let own: Vec<&'static dyn Attack> = attacks::all().iter().copied().filter(own).collect();
    if !own.is_empty() {
        return Some(own);
    }
    let named = |members: Members| -> Vec<&'static dyn Attack> {
        let belongs = |attack: &&'static dyn Attack| match members {
            Members::All => true,
            Members::Framework(prefix) => {
                attack.weakness().frameworks.iter().any(|id| id.starts_with(prefix))
            }
            Members::Named(names) => names.contains(&attack.meta().id),
        };
        attacks::all().iter().copied().filter(belongs).collect()
    };
    if let Some((_, members)) = COLLECTIONS.iter().find(|(known, _)| *known == name) {
        return Some(named(*members));
    }
    if name.starts_with("pii:") {
        return Some(named(Members::Named(&["pii"])));
    }
    let (framework, entry) = name.rsplit_once(':')?;
    let (_, members) = COLLECTIONS.iter().find(|(known, _)| *known == framework)?;
    let Members::Framework(prefix) = members else { return None };
    let number: u32 = entry.trim_start_matches(|c: char| c.is_alphabetic()).parse().ok()?;
    let is = |id: &&str| {
        let digits = id.strip_prefix(prefix).map(|rest| rest.split(|c: char| !c.is_ascii_digit()));
        let digits = digits.and_then(|mut parts| parts.next()).and_then(|text| text.parse().ok());
        digits == Some(number)
    };
    let belongs = |attack: &&'static dyn Attack| attack.weakness().frameworks.iter().any(is);
    Some(attacks::all().iter().copied().filter(belongs).collect())
}

/// All known names that cannot run.
pub fn all_unavailable() -> impl Iterator<Item = Unavailable> {
    OF_MODELS.iter().filter_map(|name| unavailable(name))
}

/// The names of collections.
pub fn collection_names() -> impl Iterator<Item = &'static str> {
    COLLECTIONS.iter().map(|(name, _)| *name).chain(groups::names())
}

/// All names that a suite may use, for suggestions.
pub fn known_names() -> impl Iterator<Item = &'static str> {
    let own = attacks::all().iter().flat_map(|attack| {
        let meta = attack.meta();
        std::iter::once(meta.id).chain(meta.aliases.iter().copied())
    });
    own.chain(collection_names()).chain(OF_MODELS.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_promptfoo_are_known() {
        assert!(unavailable("harmful:hate").is_some());
        assert!(unavailable("harmful").is_some());
        assert_eq!(
            unavailable("xstest").map(|one| one.needs),
            Some("a model as target and a data set")
        );
        assert_eq!(unavailable("no-such-thing"), None);
    }

    #[test]
    fn collections_have_members() {
        let ids = |name: &str| -> Vec<&str> {
            let found = builtin(name).unwrap_or_default();
            found.iter().map(|attack| attack.meta().id).collect()
        };
        assert!(ids("owasp:mcp").contains(&"command-injection"));
        assert!(ids("owasp:mcp:05").contains(&"command-injection"));
        assert_eq!(ids("shell-injection"), ["command-injection"]);
        assert_eq!(ids("default").len(), attacks::all().len());
        assert!(collections("nothing").is_none());
    }
}
