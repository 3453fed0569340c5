//! The effects of targets: what they start and contact.

use quintain_evidence::effects::Variables;

use super::collect::Collector;
use crate::target::{Reach, Reached, Target};

/// Collects the effects of a target. `content` are the variables in what the tests send to it.
pub(super) fn collect(target: &Target, content: &Variables, found: &mut Collector<'_>) {
    for reached in Reach::of(target, &found.suite.written_env, content, found.inherited) {
        match reached {
            Reached::Start(start) => found.start(start),
            Reached::Contact(contact) => found.contact(contact),
            Reached::Code { code, what, executable } => {
                found.code_with(&code, &what, executable.as_deref());
            }
        }
    }
}
