//! Names of attacks in suites: Quintain's, promptfoo's, and collections.

use super::groups;
use crate::attack::{AnyAttack, Attack, Need};
use crate::attacks;
use crate::suits::{Receiver, Suits};

/// A plugin of promptfoo that no oracle decides, or that cannot run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unavailable {
    pub name: &'static str,
    pub needs: &'static str,
    /// Whether a judge decides it.
    pub is_judged: bool,
}

/// Plugins of promptfoo about the content of replies. They do not apply to MCP servers.
const OF_MODELS: &[&str] = &[
    "aegis",
    "beavertails",
    "bias:age",
    "bias:disability",
    "bias:gender",
    "bias:race",
    "coding-agent:automation-poisoning",
    "coding-agent:delayed-ci-exfil",
    "coding-agent:generated-vulnerability",
    "coding-agent:network-egress-bypass",
    "coding-agent:procfs-credential-read",
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
    "imitation",
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
    "overreliance",
    "pharmacy:controlled-substance-compliance",
    "pharmacy:dosage-calculation",
    "pharmacy:drug-interaction",
    "pliny",
    "politics",
    "rag-source-attribution",
    "realestate:accessibility-discrimination",
    "realestate:advertising-discrimination",
    "realestate:discriminatory-listings",
    "realestate:fair-housing-discrimination",
    "realestate:lending-discrimination",
    "realestate:source-of-income",
    "realestate:steering",
    "realestate:valuation-bias",
    "religion",
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

/// What a known name needs that no built-in oracle decides; none if it is unknown or has an oracle.
pub fn unavailable(name: &str, receiver: Receiver) -> Option<Unavailable> {
    if let Some(name) = OF_DATASETS.iter().find(|known| **known == name) {
        let needs = "a model as target and a data set";
        return Some(Unavailable { name, needs, is_judged: false });
    }
    let name = OF_MODELS.iter().find(|known| **known == name || group(known) == name)?;
    let is_agent = name.starts_with("coding-agent:");
    let needs = match receiver {
        Receiver::Arguments => Receiver::Model.needed(),
        Receiver::Model if is_agent => "a coding agent with a sandbox as target",
        Receiver::Model => Need::Judge.words(),
    };
    Some(Unavailable { name, needs, is_judged: !is_agent })
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
        || unavailable(name, Receiver::Model).is_some()
        || builtin(name).is_some()
        || groups::members(name).is_some()
}

fn builtin(name: &str) -> Option<Vec<&'static dyn Attack>> {
    let own =
        |attack: &&'static dyn Attack| attack.rule() == name || attack.meta().answers_to(name);
    let mut own: Vec<&'static dyn Attack> = attacks::all().iter().copied().filter(own).collect();
    if own.iter().all(|attack| attack.suits() == Suits::ARGUMENTS) {
        // The same kind of weakness in targets that take text.
        let rules: Vec<&str> = own.iter().map(|attack| attack.rule()).collect();
        own.extend(attacks::suiting(Receiver::Model).filter(|one| rules.contains(&one.rule())));
    }
    if !own.is_empty() {
        return Some(own);
    }
    let named = |members: Members| -> Vec<&'static dyn Attack> {
        let belongs = |attack: &&'static dyn Attack| match members {
            Members::All => true,
            Members::Framework(prefix) => {
                attack.weakness().frameworks.iter().any(|id| id.starts_with(prefix))
            }
            Members::Named(names) => {
                names.contains(&attack.meta().id)
                    || attack.suits() == Suits::MODELS && names.contains(&attack.rule())
            }
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

/// All known names without an oracle.
pub fn all_unavailable() -> impl Iterator<Item = Unavailable> {
    OF_MODELS.iter().filter_map(|name| unavailable(name, Receiver::Model))
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
        let needs = |name: &str, receiver| unavailable(name, receiver).map(|one| one.needs);
        let of_models = Some("a model or agent as target");
        assert_eq!(needs("harmful:hate", Receiver::Arguments), of_models);
        assert_eq!(needs("harmful", Receiver::Model), Some("a judge (`redteam.judge`)"));
        assert_eq!(needs("xstest", Receiver::Model), Some("a model as target and a data set"));
        assert_eq!(needs("no-such-thing", Receiver::Model), None);
    }

    #[test]
    fn every_plugin_without_an_oracle_is_judged_or_says_what_it_needs() {
        let judged: Vec<&str> = crate::judged::plugins().collect();
        for one in all_unavailable() {
            let is_data = OF_DATASETS.contains(&one.name);
            let is_agent = one.name.starts_with("coding-agent:");
            assert_eq!(judged.contains(&one.name), !is_data && !is_agent, "{}", one.name);
        }
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
        assert_eq!(ids("pii:direct"), ["pii", "model-pii"]);
        assert_eq!(ids("default").len(), attacks::all().len());
        assert!(collections("nothing").is_none());
    }
}
