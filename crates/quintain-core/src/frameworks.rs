//! What frameworks call weaknesses, and how far a run has covered them.

use serde::{Deserialize, Serialize};

use crate::attack::Attack;
use crate::attacks;

/// A list of weaknesses that others keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framework {
    /// What ids begin with: `MCP`.
    pub prefix: &'static str,
    pub title: &'static str,
    pub entries: &'static [Entry],
}

/// One weakness of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub id: &'static str,
    pub title: &'static str,
}

const fn entry(id: &'static str, title: &'static str) -> Entry {
    Entry { id, title }
}

pub static FRAMEWORKS: &[Framework] = &[
    Framework {
        prefix: "MCP",
        title: "OWASP MCP Top 10 (2025, beta)",
        entries: &[
            entry("MCP01", "Token Mismanagement & Secret Exposure"),
            entry("MCP02", "Privilege Escalation via Scope Creep"),
            entry("MCP03", "Tool Poisoning"),
            entry("MCP04", "Software Supply Chain Attacks & Dependency Tampering"),
            entry("MCP05", "Command Injection & Execution"),
            entry("MCP06", "Intent Flow Subversion"),
            entry("MCP07", "Insufficient Authentication & Authorization"),
            entry("MCP08", "Lack of Audit and Telemetry"),
            entry("MCP09", "Shadow MCP Servers"),
            entry("MCP10", "Context Injection & Over-Sharing"),
        ],
    },
    Framework {
        prefix: "ASI",
        title: "OWASP Top 10 for Agentic Applications (2026)",
        entries: &[
            entry("ASI01", "Agent Goal Hijack"),
            entry("ASI02", "Tool Misuse and Exploitation"),
            entry("ASI03", "Identity and Privilege Abuse"),
            entry("ASI04", "Agentic Supply Chain Vulnerabilities"),
            entry("ASI05", "Unexpected Code Execution"),
            entry("ASI06", "Memory & Context Poisoning"),
            entry("ASI07", "Insecure Inter-Agent Communication"),
            entry("ASI08", "Cascading Failures"),
            entry("ASI09", "Human-Agent Trust Exploitation"),
            entry("ASI10", "Rogue Agents"),
        ],
    },
    Framework {
        prefix: "LLM",
        title: "OWASP Top 10 for LLM Applications (2025)",
        entries: &[
            entry("LLM01", "Prompt Injection"),
            entry("LLM02", "Sensitive Information Disclosure"),
            entry("LLM03", "Supply Chain"),
            entry("LLM04", "Data and Model Poisoning"),
            entry("LLM05", "Improper Output Handling"),
            entry("LLM06", "Excessive Agency"),
            entry("LLM07", "System Prompt Leakage"),
            entry("LLM08", "Vector and Embedding Weaknesses"),
            entry("LLM09", "Misinformation"),
            entry("LLM10", "Unbounded Consumption"),
        ],
    },
    Framework {
        prefix: "API",
        title: "OWASP API Security Top 10 (2023)",
        entries: &[
            entry("API1", "Broken Object Level Authorization"),
            entry("API2", "Broken Authentication"),
            entry("API3", "Broken Object Property Level Authorization"),
            entry("API4", "Unrestricted Resource Consumption"),
            entry("API5", "Broken Function Level Authorization"),
            entry("API6", "Unrestricted Access to Sensitive Business Flows"),
            entry("API7", "Server Side Request Forgery"),
            entry("API8", "Security Misconfiguration"),
            entry("API9", "Improper Inventory Management"),
            entry("API10", "Unsafe Consumption of APIs"),
        ],
    },
    Framework {
        prefix: "AML",
        title: "MITRE ATLAS",
        entries: &[
            entry("AML.T0051", "LLM Prompt Injection"),
            entry("AML.T0051.000", "LLM Prompt Injection: Direct"),
            entry("AML.T0051.001", "LLM Prompt Injection: Indirect"),
            entry("AML.T0053", "AI Agent Tool Invocation"),
            entry("AML.T0086", "Exfiltration via AI Agent Tool Invocation"),
        ],
    },
];

/// Names of weaknesses in the Common Weakness Enumeration.
static CWES: &[(u32, &str)] = &[
    (20, "Improper Input Validation"),
    (22, "Path Traversal"),
    (23, "Relative Path Traversal"),
    (36, "Absolute Path Traversal"),
    (59, "Link Following"),
    (73, "External Control of File Name or Path"),
    (74, "Injection"),
    (77, "Command Injection"),
    (78, "OS Command Injection"),
    (79, "Cross-site Scripting"),
    (88, "Argument Injection"),
    (89, "SQL Injection"),
    (90, "LDAP Injection"),
    (91, "XML Injection"),
    (93, "CRLF Injection"),
    (94, "Code Injection"),
    (95, "Eval Injection"),
    (116, "Improper Encoding or Escaping of Output"),
    (117, "Improper Output Neutralization for Logs"),
    (150, "Improper Neutralization of Escape, Meta, or Control Sequences"),
    (184, "Incomplete List of Disallowed Inputs"),
    (200, "Exposure of Sensitive Information to an Unauthorized Actor"),
    (201, "Insertion of Sensitive Information Into Sent Data"),
    (209, "Generation of Error Message Containing Sensitive Information"),
    (214, "Invocation of Process Using Visible Sensitive Information"),
    (215, "Insertion of Sensitive Information Into Debugging Code"),
    (248, "Uncaught Exception"),
    (269, "Improper Privilege Management"),
    (284, "Improper Access Control"),
    (287, "Improper Authentication"),
    (306, "Missing Authentication for Critical Function"),
    (340, "Generation of Predictable Numbers or Identifiers"),
    (346, "Origin Validation Error"),
    (347, "Improper Verification of Cryptographic Signature"),
    (350, "Reliance on Reverse DNS Resolution for a Security-Critical Action"),
    (352, "Cross-Site Request Forgery"),
    (359, "Exposure of Private Personal Information to an Unauthorized Actor"),
    (384, "Session Fixation"),
    (400, "Uncontrolled Resource Consumption"),
    (407, "Inefficient Algorithmic Complexity"),
    (441, "Unintended Proxy or Intermediary"),
    (451, "User Interface Misrepresentation of Critical Information"),
    (489, "Active Debug Code"),
    (488, "Exposure of Data Element to Wrong Session"),
    (497, "Exposure of Sensitive System Information"),
    (502, "Deserialization of Untrusted Data"),
    (526, "Cleartext Storage of Sensitive Information in an Environment Variable"),
    (532, "Insertion of Sensitive Information into Log File"),
    (598, "Use of GET Request Method With Sensitive Query Strings"),
    (601, "Open Redirect"),
    (611, "XML External Entity Reference"),
    (613, "Insufficient Session Expiration"),
    (639, "Authorization Bypass Through User-Controlled Key"),
    (643, "XPath Injection"),
    (674, "Uncontrolled Recursion"),
    (693, "Protection Mechanism Failure"),
    (755, "Improper Handling of Exceptional Conditions"),
    (770, "Allocation of Resources Without Limits or Throttling"),
    (798, "Use of Hard-coded Credentials"),
    (862, "Missing Authorization"),
    (863, "Incorrect Authorization"),
    (912, "Hidden Functionality"),
    (917, "Expression Language Injection"),
    (918, "Server-Side Request Forgery"),
    (939, "Improper Authorization in Handler for Custom URL Scheme"),
    (943, "Improper Neutralization of Special Elements in Data Query Logic"),
    (1007, "Insufficient Visual Distinction of Homoglyphs"),
    (1021, "Improper Restriction of Rendered UI Layers"),
    (1286, "Improper Validation of Syntactic Correctness of Input"),
    (1287, "Improper Validation of Specified Type of Input"),
    (1333, "Inefficient Regular Expression Complexity"),
    (1336, "Template Injection"),
    (1427, "Improper Neutralization of Input Used for LLM Prompting"),
];

/// What a framework calls one of its entries.
pub fn title(id: &str) -> Option<&'static str> {
    let mut entries = FRAMEWORKS.iter().flat_map(|framework| framework.entries);
    entries.find(|entry| entry.id == id).map(|entry| entry.title)
}

/// The name of a weakness.
pub fn cwe(number: u32) -> Option<&'static str> {
    CWES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

/// What became of an attack in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The id of the attack.
    pub attack: String,
    pub came: Came,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Came {
    /// It looked, and found so many things.
    Looked { findings: usize },
    /// It did not look, and why.
    NotRun { why: String },
}

/// How far a run covered a framework.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    pub framework: String,
    pub entries: Vec<Covered>,
}

/// How far a run covered one entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    pub id: String,
    pub title: String,
    pub standing: Standing,
    pub findings: usize,
    /// Attacks that looked.
    pub attacks: Vec<String>,
    /// Attacks that would have looked, and why they did not. What they look for is not covered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<(String, String)>,
}

/// What can be said of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    Findings,
    /// At least one attack looked, and none found anything.
    Clean,
    /// There are attacks for it, and none of them looked.
    NotRun,
    /// There is no attack for it.
    NoAttack,
}

impl Standing {
    pub fn word(self) -> &'static str {
        match self {
            Self::Findings => "findings",
            Self::Clean => "clean",
            Self::NotRun => "not run",
            Self::NoAttack => "no attack",
        }
    }
}

/// How far a run covered every framework. An attack that the run does not mention was not asked for.
pub fn coverage(runs: &[Run]) -> Vec<Coverage> {
    covered_by(runs, attacks::all())
}

fn covered_by(runs: &[Run], attacks: &[&'static dyn Attack]) -> Vec<Coverage> {
    FRAMEWORKS
        .iter()
        .map(|framework| Coverage {
            framework: framework.title.to_owned(),
            entries: framework.entries.iter().map(|entry| covered(entry, runs, attacks)).collect(),
        })
        .collect()
}

fn covered(entry: &Entry, runs: &[Run], attacks: &[&'static dyn Attack]) -> Covered {
    let mut covered = Covered {
        id: entry.id.to_owned(),
        title: entry.title.to_owned(),
        standing: Standing::NoAttack,
        findings: 0,
        attacks: Vec::new(),
        not_run: Vec::new(),
    };
    let about = |attack: &&&'static dyn Attack| {
        attack.facts().frameworks.iter().any(|id| belongs(id, entry.id))
    };
    for attack in attacks.iter().filter(about) {
        let meta = attack.meta();
        let run = runs.iter().find(|run| meta.answers_to(&run.attack));
        match run.map(|run| &run.came) {
            Some(Came::Looked { findings }) => {
                covered.findings += findings;
                covered.attacks.push(meta.id.to_owned());
            }
            Some(Came::NotRun { why }) => covered.not_run.push((meta.id.to_owned(), why.clone())),
            None => covered.not_run.push((meta.id.to_owned(), "was not asked for".to_owned())),
        }
    }
    covered.standing = match () {
        () if covered.findings > 0 => Standing::Findings,
        () if !covered.attacks.is_empty() => Standing::Clean,
        () if !covered.not_run.is_empty() => Standing::NotRun,
        () => Standing::NoAttack,
    };
    covered
}

/// Whether an id is an entry, or a part of it: `AML.T0051.001` is one of `AML.T0051`.
fn belongs(id: &str, entry: &str) -> bool {
    id.strip_prefix(entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(attack: &str, findings: usize) -> Run {
        Run { attack: attack.into(), came: Came::Looked { findings } }
    }

    fn entry_of(runs: &[Run], id: &str) -> Covered {
        let all = coverage(runs);
        all.into_iter().flat_map(|one| one.entries).find(|entry| entry.id == id).unwrap()
    }

    #[test]
    fn every_id_of_every_attack_has_a_title() {
        for attack in attacks::all() {
            for id in attack.facts().frameworks {
                assert!(title(id).is_some(), "{}: {id}", attack.meta().id);
            }
            for number in attack.facts().cwe {
                assert!(cwe(*number).is_some(), "{}: CWE-{number}", attack.meta().id);
            }
        }
    }

    #[test]
    fn ids_are_unique_and_begin_like_their_framework() {
        let mut seen = std::collections::HashSet::new();
        for framework in FRAMEWORKS {
            for entry in framework.entries {
                assert!(seen.insert(entry.id) && entry.id.starts_with(framework.prefix));
            }
        }
        let mut numbers: Vec<u32> = CWES.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), CWES.len());
    }

    #[test]
    fn findings_clean_and_not_run_are_told_apart() {
        let found = entry_of(&[looked("bola", 2), looked("bfla", 0)], "API1");
        assert_eq!((found.standing, found.findings), (Standing::Findings, 2));
        let clean = entry_of(&[looked("bola", 0)], "API1");
        assert_eq!((clean.standing, clean.attacks), (Standing::Clean, vec!["bola".to_owned()]));
        let why = "needs two identities".to_owned();
        let run = Run { attack: "bola".into(), came: Came::NotRun { why: why.clone() } };
        let not = entry_of(&[run], "API1");
        assert_eq!(not.standing, Standing::NotRun);
        assert_eq!(not.not_run, [("bola".to_owned(), why)]);
        assert_eq!(entry_of(&[], "API1").not_run[0].1, "was not asked for");
        assert_eq!(entry_of(&[], "MCP08").standing, Standing::NoAttack);
    }

    #[test]
    fn what_did_not_look_is_told_beside_what_did() {
        let clean = entry_of(&[looked("bfla", 0)], "API5");
        assert_eq!(clean.standing, Standing::Clean);
        assert!(clean.not_run.iter().any(|(attack, _)| attack == "rbac"));
    }

    #[test]
    fn parts_of_a_technique_count_for_it() {
        assert_eq!(entry_of(&[looked("tool-poisoning", 1)], "AML.T0051").findings, 1);
        assert_eq!(entry_of(&[looked("tool-poisoning", 1)], "AML.T0051.000").findings, 0);
        assert!(!belongs("API10", "API1"));
    }

    #[test]
    fn aliases_are_known() {
        assert_eq!(entry_of(&[looked("idor", 1)], "API1").findings, 1);
    }
}
