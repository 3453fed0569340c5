//! Expands the templates of a suite that are filled in before a run.

use quintain_source::{Diagnostic, Diagnostics, Node, Severity, Templates};

/// The diagnostic code for a variable that is not set.
pub(super) const MISSING_ENV: &str = "config::missing-env";

/// Expands the templates of what is sent. A variable that is not set would be sent as empty text, as promptfoo does; in a
/// file that is not promptfoo's, that is an error.
pub(super) fn fill_sent(
    node: &mut Node,
    templates: &Templates,
    strictness: Severity,
    dx: &mut Diagnostics,
) {
    let mut faults = Diagnostics::new();
    templates.fill_tree(node, &mut faults);
    for fault in &faults {
        let severity = if fault.code == MISSING_ENV { strictness } else { fault.severity };
        dx.push(Diagnostic { severity, ..fault.clone() });
    }
}
