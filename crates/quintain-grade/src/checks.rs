//! Checks of traces: each proves one kind of fault with what was recorded, without a model. One file each; the registry
//! below lists them all.

use quintain_content::registry::Meta;
use quintain_evidence::graded::{Layer, Level, NotApplicable, TraceFinding};
use quintain_evidence::trace::Trace;

use crate::policy::CallPolicy;
use crate::view::View;

mod args_extra;
mod args_schema;
mod args_stale;
mod args_ungrounded;
mod call_loop;
mod call_redundant;
mod claim_unsupported;
#[cfg(test)]
mod conversation;
mod efficiency;
mod policy_allow;
mod policy_data_flow;
mod policy_destructive;
mod policy_injection_followed;
mod prompt_arguments;
mod prompt_unknown;
mod protocol;
mod recovery;
mod resource_unknown;
mod resource_unused;
mod result_error;
mod result_schema;
mod result_unused;
#[cfg(test)]
mod testing;
mod tool_ambiguous;
mod tool_unknown;

/// Proves one kind of fault. The same trace leads to the same findings.
pub trait TraceCheck: Sync {
    fn meta(&self) -> &'static Meta;

    fn layer(&self) -> Layer;

    fn check(&self, view: &View<'_>, policy: &CallPolicy) -> Checked;
}

/// What a check says about a trace.
pub enum Checked {
    Findings(Vec<Fault>),
    /// Findings of the rules of a family: the end of the id, and the fault.
    OfRules(Vec<(String, Fault)>),
    /// The trace lacks what the check needs.
    NotApplicable(&'static str),
}

/// A finding without what the registry adds: the id of the check and its layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub severity: Level,
    pub call: Option<usize>,
    pub pointer: String,
    pub message: String,
    pub evidence: String,
    pub hint: String,
}

/// All checks, in the order in which findings are listed.
pub static CHECKS: &[&dyn TraceCheck] = &[
    &protocol::Protocol,
    &tool_unknown::ToolUnknown,
    &tool_ambiguous::ToolAmbiguous,
    &args_schema::ArgsSchema,
    &args_extra::ArgsExtra,
    &result_schema::ResultSchema,
    &result_error::ResultError,
    &recovery::Recovery,
    &call_redundant::CallRedundant,
    &call_loop::CallLoop,
    &policy_allow::PolicyAllow,
    &policy_destructive::PolicyDestructive,
    &resource_unknown::ResourceUnknown,
    &resource_unused::ResourceUnused,
    &prompt_unknown::PromptUnknown,
    &prompt_arguments::PromptArguments,
    &args_stale::ArgsStale,
    &args_ungrounded::ArgsUngrounded,
    &claim_unsupported::ClaimUnsupported,
    &efficiency::Efficiency,
    &policy_data_flow::DataFlow,
    &policy_injection_followed::InjectionFollowed,
    &result_unused::ResultUnused,
];

/// The ids of all checks, and their families: `args.schema`, `args`.
pub fn names() -> impl Iterator<Item = &'static str> {
    let ids = CHECKS.iter().map(|check| check.meta().id);
    ids.flat_map(|id| [Some(id), id.split_once('.').map(|(family, _)| family)]).flatten()
}

/// Whether a name is the id of a check or a family.
pub fn is_named(name: &str) -> bool {
    names().any(|known| known == name)
}

/// The findings of all checks in the order of calls, those about the answer last, and the checks that say nothing.
pub fn run(trace: &Trace, policy: &CallPolicy) -> (Vec<TraceFinding>, Vec<NotApplicable>) {
    run_on(&View::new(trace), policy)
}

/// The same for a view that metrics use, too.
pub fn run_on(view: &View<'_>, policy: &CallPolicy) -> (Vec<TraceFinding>, Vec<NotApplicable>) {
    let mut findings = Vec::new();
    let mut silent = Vec::new();
    for check in CHECKS {
        let id = check.meta().id;
        match check.check(view, policy) {
            Checked::Findings(faults) => {
                findings.extend(faults.into_iter().map(|fault| fault.of(id, check.layer())));
            }
            Checked::OfRules(faults) => {
                let named = faults.into_iter();
                findings.extend(
                    named.map(|(rule, fault)| fault.of(&format!("{id}.{rule}"), check.layer())),
                );
            }
            Checked::NotApplicable(why) => {
                silent.push(NotApplicable { check: id.to_owned(), why: why.to_owned() });
            }
        }
    }
    findings.sort_by_key(|finding| finding.call.unwrap_or(usize::MAX));
    (findings, silent)
}

impl Fault {
    fn of(self, check: &str, layer: Layer) -> TraceFinding {
        TraceFinding {
            check: check.to_owned(),
            layer,
            severity: self.severity,
            call: self.call,
            pointer: self.pointer,
            message: self.message,
            evidence: self.evidence,
            hint: self.hint,
        }
    }
}
