//! promptfoo's collections of plugins. The members that need no model are run, the others are reported as not run.

const PII: &[&str] = &["pii"];
const ACCESS: &[&str] = &["bfla", "bola", "rbac"];
const AGENCY: &[&str] = &["excessive-agency"];
const AGENCY_AND_LIES: &[&str] = &["excessive-agency", "harmful:misinformation-disinformation"];

/// Names of collections, and their members.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "toxicity",
        &[
            "harmful:hate",
            "harmful:harassment-bullying",
            "harmful:insults",
            "harmful:profanity",
            "harmful:graphic-content",
            "harmful:sexual-content",
        ],
    ),
    (
        "misinformation",
        &[
            "hallucination",
            "overreliance",
            "harmful:misinformation-disinformation",
            "unverifiable-claims",
        ],
    ),
    (
        "illegal-activity",
        &[
            "harmful:violent-crime",
            "harmful:non-violent-crime",
            "harmful:sex-crime",
            "harmful:cybercrime",
            "harmful:illegal-activities",
            "harmful:illegal-drugs",
            "harmful:chemical-biological-weapons",
            "harmful:indiscriminate-weapons",
        ],
    ),
    (
        "personal-safety",
        &["harmful:privacy", "harmful:self-harm", "harmful:unsafe-practices", "pii"],
    ),
    ("tool-discovery:multi-turn", &["tool-discovery"]),
    (
        "foundation",
        &[
            "pii",
            "bfla",
            "bola",
            "rbac",
            "debug-access",
            "sql-injection",
            "shell-injection",
            "ssrf",
            "excessive-agency",
            "tool-discovery",
            "cross-session-leak",
            "harmful",
            "bias",
            "hallucination",
            "hijacking",
            "prompt-extraction",
            "overreliance",
            "politics",
            "religion",
            "imitation",
            "contracts",
        ],
    ),
    ("guardrails-eval", &["harmful", "hijacking", "prompt-extraction", "pii", "ascii-smuggling"]),
    ("coding-agent:core", &["coding-agent"]),
    ("coding-agent:all", &["coding-agent"]),
    ("owasp:llm:redteam:model", &["foundation"]),
    (
        "owasp:llm:redteam:implementation",
        &["pii", "rbac", "bfla", "bola", "prompt-extraction", "ascii-smuggling"],
    ),
    (
        "owasp:llm:redteam:system",
        &[
            "shell-injection",
            "sql-injection",
            "ssrf",
            "debug-access",
            "tool-discovery",
            "indirect-prompt-injection",
            "hijacking",
        ],
    ),
    (
        "owasp:llm:redteam:runtime",
        &[
            "excessive-agency",
            "overreliance",
            "pliny",
            "competitors",
            "imitation",
            "politics",
            "religion",
            "harmful:radicalization",
            "harmful:self-harm",
            "harmful:hate",
        ],
    ),
    (
        "mitre:atlas:exfiltration",
        &["pii", "data-exfil", "prompt-extraction", "ascii-smuggling", "indirect-prompt-injection"],
    ),
    ("mitre:atlas:impact", &["excessive-agency", "harmful", "hijacking", "imitation"]),
    (
        "mitre:atlas:initial-access",
        &["debug-access", "shell-injection", "sql-injection", "ssrf", "harmful:cybercrime"],
    ),
    (
        "mitre:atlas:ml-attack-staging",
        &["excessive-agency", "hallucination", "ascii-smuggling", "indirect-prompt-injection"],
    ),
    ("mitre:atlas:reconnaissance", &["rbac", "tool-discovery", "competitors", "prompt-extraction"]),
    (
        "mitre:atlas:resource-development",
        &["harmful:cybercrime", "harmful:illegal-drugs", "harmful:indiscriminate-weapons"],
    ),
    (
        "nist:ai:measure",
        &[
            "excessive-agency",
            "pii",
            "bfla",
            "bola",
            "rbac",
            "shell-injection",
            "sql-injection",
            "harmful",
        ],
    ),
    ("nist:ai", &["nist:ai:measure"]),
    ("nist:ai:measure:1.1", AGENCY_AND_LIES),
    ("nist:ai:measure:1.2", AGENCY_AND_LIES),
    ("nist:ai:measure:2.1", PII),
    ("nist:ai:measure:2.2", PII),
    ("nist:ai:measure:2.3", AGENCY),
    ("nist:ai:measure:2.4", AGENCY_AND_LIES),
    ("nist:ai:measure:2.5", AGENCY),
    (
        "nist:ai:measure:2.6",
        &[
            "harmful:chemical-biological-weapons",
            "harmful:indiscriminate-weapons",
            "harmful:unsafe-practices",
        ],
    ),
    ("nist:ai:measure:2.7", &["shell-injection", "sql-injection", "harmful:cybercrime"]),
    ("nist:ai:measure:2.8", ACCESS),
    ("nist:ai:measure:2.9", AGENCY),
    ("nist:ai:measure:2.10", PII),
    ("nist:ai:measure:2.11", &["harmful:harassment-bullying", "harmful:hate", "harmful:insults"]),
    ("nist:ai:measure:2.12", &[]),
    ("nist:ai:measure:2.13", AGENCY),
    ("nist:ai:measure:3.1", AGENCY_AND_LIES),
    ("nist:ai:measure:3.2", AGENCY),
    ("nist:ai:measure:3.3", AGENCY),
    ("nist:ai:measure:4.1", AGENCY),
    ("nist:ai:measure:4.2", AGENCY_AND_LIES),
    ("nist:ai:measure:4.3", AGENCY),
    (
        "eu:ai-act",
        &[
            "pii",
            "shell-injection",
            "sql-injection",
            "ssrf",
            "excessive-agency",
            "hijacking",
            "imitation",
            "overreliance",
            "hallucination",
            "harmful:misinformation-disinformation",
            "harmful:hate",
        ],
    ),
    ("eu:ai-act:art5:subliminal-manipulation", &["excessive-agency", "hijacking"]),
    (
        "eu:ai-act:art5:exploitation-of-vulnerabilities",
        &["hijacking", "imitation", "harmful:misinformation-disinformation"],
    ),
    ("eu:ai-act:art5:social-scoring", &["overreliance", "harmful:misinformation-disinformation"]),
    ("eu:ai-act:art5:biometric-categorisation", PII),
    ("eu:ai-act:art5:remote-biometric-id-live", PII),
    ("eu:ai-act:art5:remote-biometric-id-post", PII),
    ("eu:ai-act:annex3:biometric-id", PII),
    (
        "eu:ai-act:annex3:critical-infrastructure",
        &["shell-injection", "sql-injection", "ssrf", "excessive-agency"],
    ),
    (
        "eu:ai-act:annex3:education",
        &["hallucination", "overreliance", "harmful:misinformation-disinformation"],
    ),
    ("eu:ai-act:annex3:employment", &["pii", "imitation", "overreliance"]),
    ("eu:ai-act:annex3:essential-services", &["pii", "excessive-agency"]),
    ("eu:ai-act:annex3:law-enforcement", PII),
    ("eu:ai-act:annex3:migration-border", &["pii", "harmful:hate"]),
    (
        "eu:ai-act:annex3:justice-democracy",
        &["pii", "hallucination", "harmful:misinformation-disinformation"],
    ),
    (
        "iso:42001",
        &[
            "excessive-agency",
            "pii",
            "bfla",
            "bola",
            "rbac",
            "shell-injection",
            "sql-injection",
            "ssrf",
            "debug-access",
            "harmful",
            "bias",
            "hallucination",
            "overreliance",
        ],
    ),
    (
        "gdpr",
        &["pii", "bola", "bfla", "rbac", "cross-session-leak", "data-exfil", "harmful:privacy"],
    ),
    (
        "dod:ai:ethics",
        &[
            "excessive-agency",
            "bfla",
            "bola",
            "rbac",
            "harmful",
            "bias",
            "hallucination",
            "overreliance",
        ],
    ),
];

/// The members of a collection.
pub(super) fn members(name: &str) -> Option<&'static [&'static str]> {
    GROUPS.iter().find(|(known, _)| *known == name).map(|(_, members)| *members)
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders::{collections, unavailable};

    #[test]
    fn every_member_is_known() {
        for (name, members) in GROUPS {
            for member in *members {
                let known = collections(member).is_some()
                    || unavailable(member, crate::suits::Receiver::Model).is_some()
                    || super::members(member).is_some();
                assert!(known, "{member} of {name}");
            }
        }
    }
}
