//! Clean traces must raise no finding of warning or above; every mutation of them must be found at the right call.
//! `cargo test -p quintain-grade --test mutations -- --nocapture` prints the table of the documentation.

// Helpers of tests count as code outside of tests.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod corpus;
mod mutation;

use std::collections::BTreeMap;

use quintain_evidence::graded::{Level, TraceFinding};
use quintain_evidence::trace::Trace;
use quintain_grade::checks;
use quintain_grade::policy::CallPolicy;

use mutation::Mutant;

fn findings(trace: &Trace) -> Vec<TraceFinding> {
    checks::run(trace, &CallPolicy::default()).0
}

#[derive(Default)]
struct Row {
    mutants: usize,
    found: usize,
    false_alarms: usize,
}

#[test]
fn every_mutation_is_found_and_clean_traces_are_quiet() {
    let clean = corpus::clean();
    assert!(clean.len() >= 40, "{}", clean.len());
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut faults = Vec::new();
    for trace in &clean {
        for finding in findings(trace).iter().filter(|finding| finding.severity >= Level::Warning) {
            rows.entry(finding.check.clone()).or_default().false_alarms += 1;
            faults.push(format!(
                "false alarm in {:?}: {} {:?}: {}",
                trace.name, finding.check, finding.call, finding.message
            ));
        }
        for mutation in mutation::ALL {
            for mutant in mutation.apply(trace) {
                let row = rows.entry(mutation.check().to_owned()).or_default();
                row.mutants += 1;
                if is_found(&mutant, mutation.check()) {
                    row.found += 1;
                } else {
                    faults.push(format!(
                        "missed in {:?}: {} {}: {}",
                        trace.name,
                        mutation.check(),
                        mutation.name(),
                        mutant.what
                    ));
                }
            }
        }
    }
    println!(
        "| check | mutants | found | false alarms on {} clean traces |\n|---|---|---|---|",
        clean.len()
    );
    for (check, row) in &rows {
        println!("| `{check}` | {} | {} | {} |", row.mutants, row.found, row.false_alarms);
    }
    for mutation in mutation::ALL {
        assert!(
            rows.get(mutation.check()).is_some_and(|row| row.mutants > 0),
            "{} has no mutants",
            mutation.name()
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Whether the check reports the mutant where it was changed.
fn is_found(mutant: &Mutant, check: &str) -> bool {
    findings(&mutant.trace)
        .iter()
        .any(|finding| finding.check == check && finding.call == mutant.call)
}
