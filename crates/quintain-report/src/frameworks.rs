//! Frameworks that findings are sorted by, and how far a run covered them. What was not attacked is
//! not clean.

use quintain_core::attack::Attack;
use quintain_core::attacks;
use quintain_core::finding::Finding;
use quintain_core::redteam::RedteamReport;

use crate::findings::Standing;
use crate::text::line;

struct Framework {
    name: &'static str,
    entries: &'static [(&'static str, &'static str)],
}

static FRAMEWORKS: [Framework; 5] = [
    Framework {
        name: "OWASP MCP Top 10 (2025)",
        entries: &[
            ("MCP01", "Token Mismanagement & Secret Exposure"),
            ("MCP02", "Privilege Escalation via Scope Creep"),
            ("MCP03", "Tool Poisoning"),
            ("MCP04", "Supply Chain"),
            ("MCP05", "Command Injection & Execution"),
            ("MCP06", "Intent Flow Subversion"),
            ("MCP07", "Insufficient Authentication & Authorization"),
            ("MCP08", "Lack of Audit and Telemetry"),
            ("MCP09", "Shadow MCP Servers"),
            ("MCP10", "Context Injection & Over-Sharing"),
        ],
    },
    Framework {
        name: "OWASP Agentic (2026)",
        entries: &[
            ("ASI01", "Goal Hijack"),
            ("ASI02", "Tool Misuse"),
            ("ASI03", "Identity and Privilege Abuse"),
            ("ASI04", "Supply Chain"),
            ("ASI05", "Unexpected Code Execution"),
            ("ASI06", "Memory & Context Poisoning"),
            ("ASI07", "Inter-Agent Communication"),
            ("ASI08", "Cascading Failures"),
            ("ASI09", "Human-Agent Trust"),
            ("ASI10", "Rogue Agents"),
        ],
    },
    Framework {
        name: "OWASP LLM (2025)",
        entries: &[
            ("LLM01", "Prompt Injection"),
            ("LLM02", "Sensitive Information Disclosure"),
            ("LLM03", "Supply Chain"),
            ("LLM04", "Data and Model Poisoning"),
            ("LLM05", "Improper Output Handling"),
            ("LLM06", "Excessive Agency"),
            ("LLM07", "System Prompt Leakage"),
            ("LLM08", "Vector and Embedding Weaknesses"),
            ("LLM09", "Misinformation"),
            ("LLM10", "Unbounded Consumption"),
        ],
    },
    Framework {
        name: "OWASP API (2023)",
        entries: &[
            ("API1", "Broken Object Level Authorization"),
            ("API2", "Broken Authentication"),
            ("API3", "Broken Object Property Level Authorization"),
            ("API4", "Unrestricted Resource Consumption"),
            ("API5", "Broken Function Level Authorization"),
            ("API6", "Unrestricted Access to Sensitive Business Flows"),
            ("API7", "Server Side Request Forgery"),
            ("API8", "Security Misconfiguration"),
            ("API9", "Improper Inventory Management"),
            ("API10", "Unsafe Consumption of APIs"),
        ],
    },
    Framework {
        name: "MITRE ATLAS",
        entries: &[
            ("AML.T0051", "Prompt Injection"),
            ("AML.T0051.000", "Direct Prompt Injection"),
            ("AML.T0051.001", "Indirect Prompt Injection"),
            ("AML.T0053", "Tool Invocation"),
            ("AML.T0086", "Exfiltration via Tool Invocation"),
        ],
    },
];

/// How far one framework was covered.
#[derive(Debug)]
pub(crate) struct Covered {
    pub(crate) framework: &'static str,
    pub(crate) entries: Vec<Entry>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) title: &'static str,
    pub(crate) state: State,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum State {
    Confirmed(usize),
    Suspected(usize),
    /// Something was seen, all of it by design.
    ByDesign(usize),
    /// Attacked by these, without success.
    Clean(Vec<String>),
    /// Why nothing was tried.
    NotRun(String),
}

/// Every framework that an attack or a finding knows of.
pub(crate) fn coverage(report: &RedteamReport) -> Vec<Covered> {
    let known =
        |id: &str| FRAMEWORKS.iter().any(|one| one.entries.iter().any(|(known, _)| *known == id));
    let mut all: Vec<Covered> = FRAMEWORKS
        .iter()
        .map(|framework| Covered {
            framework: framework.name,
            entries: framework.entries.iter().map(|(id, title)| entry(id, title, report)).collect(),
        })
        .collect();
    let mut others: Vec<&str> = report
        .findings
        .iter()
        .flat_map(|finding| &finding.owasp)
        .map(String::as_str)
        .filter(|id| !known(id))
        .collect();
    others.sort_unstable();
    others.dedup();
    if !others.is_empty() {
        let entries = others.into_iter().map(|id| entry(id, "", report)).collect();
        all.push(Covered { framework: "Others", entries });
    }
    all
}

fn entry(id: &str, title: &'static str, report: &RedteamReport) -> Entry {
    Entry { id: line(id, 40), title, state: state(id, report) }
}

fn state(id: &str, report: &RedteamReport) -> State {
    let of_id = |finding: &&Finding| finding.owasp.iter().any(|known| known == id);
    let count = |standing: Standing| {
        report.findings.iter().filter(of_id).filter(|one| Standing::of(one) == standing).count()
    };
    let [confirmed, suspected, by_design] =
        [Standing::Confirmed, Standing::Suspected, Standing::ByDesign].map(count);
    match (confirmed, suspected, by_design) {
        (0, 0, 0) => untroubled(id, report),
        (0, 0, by_design) => State::ByDesign(by_design),
        (0, suspected, _) => State::Suspected(suspected),
        (confirmed, ..) => State::Confirmed(confirmed),
    }
}

/// Nothing was found: was anything tried?
fn untroubled(id: &str, report: &RedteamReport) -> State {
    let mine = || attacks::all().iter().filter(|attack| attack.facts().frameworks.contains(&id));
    let ran = |attack: &&&dyn Attack| {
        report.attacks.iter().any(|one| one.bouts > 0 && one.attack == attack.meta().id)
    };
    let known = mine().filter(ran).map(|attack| attack.meta().id.to_owned());
    // Attacks of the suite say themselves what they are about.
    let defined = report.attacks.iter().filter(|one| {
        let about = one.about.as_ref().filter(|_| one.bouts > 0);
        about.is_some_and(|about| about.frameworks.iter().any(|known| known == id))
    });
    let tried: Vec<String> = known.chain(defined.map(|one| line(&one.attack, 80))).collect();
    if !tried.is_empty() {
        return State::Clean(tried);
    }
    let why = mine().find_map(|attack| {
        let id = attack.meta().id;
        let told = report.not_run.iter().find(|one| one.what == id)?;
        Some(format!("{id} {}", line(&told.why, 200)))
    });
    State::NotRun(match (why, mine().next()) {
        (Some(why), _) => why,
        (None, Some(_)) => "not asked for, or nothing to attack".to_owned(),
        (None, None) => "no attack tests it".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use quintain_core::redteam::{AttackReport, NotRun};

    use super::*;

    fn state_of(id: &str, report: &RedteamReport) -> State {
        let all = coverage(report).into_iter().flat_map(|covered| covered.entries);
        all.into_iter().find(|entry| entry.id == id).unwrap().state
    }

    #[test]
    fn what_was_not_run_is_not_clean() {
        let mut report = RedteamReport::default();
        assert!(matches!(state_of("MCP05", &report), State::NotRun(_)));
        assert_eq!(state_of("MCP08", &report), State::NotRun("no attack tests it".into()));
        let attack = "command-injection".to_owned();
        report.attacks.push(AttackReport { attack: attack.clone(), ..AttackReport::default() });
        assert!(matches!(state_of("MCP05", &report), State::NotRun(_)), "no place was attacked");
        report.not_run.push(NotRun { what: attack, why: "needs luck".into() });
        let why = "command-injection needs luck".to_owned();
        assert_eq!(state_of("MCP05", &report), State::NotRun(why));
        report.attacks[0].bouts = 3;
        assert_eq!(state_of("MCP05", &report), State::Clean(vec!["command-injection".into()]));
    }
}
