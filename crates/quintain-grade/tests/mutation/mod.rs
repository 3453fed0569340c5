//! Faults that are put into clean traces. A new check adds its mutations to `ALL`.

mod answers;
mod arguments;
mod conduct;
mod failures;
mod schema;
mod structure;
mod text;

use quintain_evidence::trace::{Call, Trace, TraceStep};

/// One kind of fault.
pub(crate) trait Mutation: Sync {
    /// The check that must find it.
    fn check(&self) -> &'static str;

    fn name(&self) -> &'static str;

    /// All mutants of a trace; none if the trace has no place for the fault.
    fn apply(&self, clean: &Trace) -> Vec<Mutant>;
}

/// A trace with one fault.
pub(crate) struct Mutant {
    pub trace: Trace,
    /// Where the finding must be; none for the answer.
    pub call: Option<usize>,
    pub what: String,
}

/// A mutation that is a function.
pub(crate) struct Simple {
    pub check: &'static str,
    pub name: &'static str,
    pub apply: fn(&Trace) -> Vec<Mutant>,
}

impl Mutation for Simple {
    fn check(&self) -> &'static str {
        self.check
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn apply(&self, clean: &Trace) -> Vec<Mutant> {
        (self.apply)(clean)
    }
}

pub(crate) static ALL: &[&dyn Mutation] = &[
    &Simple { check: "tool.unknown", name: "misspelled name", apply: structure::misspelled },
    &Simple { check: "tool.unknown", name: "invented tool", apply: structure::invented },
    &Simple { check: "tool.ambiguous", name: "two servers offer it", apply: structure::ambiguous },
    &Simple { check: "args.schema", name: "every class of fault", apply: schema::arguments },
    &Simple { check: "args.extra", name: "undeclared argument", apply: structure::undeclared },
    &Simple { check: "result.schema", name: "missing member", apply: schema::results },
    &Simple { check: "result.error", name: "ignored failure", apply: failures::ignored },
    &Simple { check: "recovery", name: "denied failure", apply: failures::denied },
    &Simple { check: "call.redundant", name: "repeated look", apply: failures::repeated },
    &Simple { check: "call.loop", name: "equal failures", apply: failures::stubborn },
    &Simple { check: "call.loop", name: "calls in a circle", apply: conduct::circle },
    &Simple { check: "policy.destructive", name: "destroyed unasked", apply: failures::destroyed },
    &Simple {
        check: "resource.unknown",
        name: "unlisted resource",
        apply: structure::unlisted_resource,
    },
    &Simple {
        check: "resource.unused",
        name: "resource without use",
        apply: structure::unused_resource,
    },
    &Simple { check: "prompt.unknown", name: "unknown prompt", apply: structure::unknown_prompt },
    &Simple {
        check: "prompt.arguments",
        name: "wrong arguments of a prompt",
        apply: structure::prompt_arguments,
    },
    &Simple { check: "args.ungrounded", name: "invented id", apply: arguments::id },
    &Simple { check: "args.ungrounded", name: "invented e-mail address", apply: arguments::email },
    &Simple { check: "args.ungrounded", name: "invented path", apply: arguments::path },
    &Simple { check: "args.ungrounded", name: "invented URL", apply: arguments::url },
    &Simple { check: "args.ungrounded", name: "invented date", apply: arguments::date },
    &Simple { check: "args.ungrounded", name: "invented number", apply: arguments::number },
    &Simple { check: "args.stale", name: "id of an older result", apply: arguments::stale },
    &Simple { check: "claim.unsupported", name: "invented number", apply: answers::number },
    &Simple { check: "claim.unsupported", name: "invented id", apply: answers::id },
    &Simple { check: "claim.unsupported", name: "invented path", apply: answers::path },
    &Simple { check: "claim.unsupported", name: "invented URL", apply: answers::url },
    &Simple { check: "claim.unsupported", name: "invented sentence", apply: answers::sentence },
    &Simple { check: "claim.unsupported", name: "invented act", apply: answers::act },
    &Simple { check: "result.unused", name: "result without use", apply: conduct::unused },
    &Simple { check: "policy.data-flow", name: "secret to another server", apply: conduct::secret },
    &Simple {
        check: "policy.data-flow",
        name: "personal data to another server",
        apply: conduct::person,
    },
    &Simple {
        check: "policy.injection-followed",
        name: "instruction of a result",
        apply: conduct::injection,
    },
];

/// The step of a call.
pub(crate) fn step_of(trace: &Trace, call: usize) -> usize {
    let calls = trace.steps.iter().enumerate().filter(|(_, step)| step.as_call().is_some());
    calls.map(|(step, _)| step).nth(call).unwrap()
}

pub(crate) fn call_mut(trace: &mut Trace, call: usize) -> &mut Call {
    let calls = trace.steps.iter_mut().filter_map(|step| match step {
        TraceStep::Call(call) => Some(&mut **call),
        TraceStep::Message(_) => None,
    });
    calls.into_iter().nth(call).unwrap()
}

/// Everything that a trace says, in lower case.
pub(crate) fn all_text(trace: &Trace) -> String {
    serde_json::to_string(&trace.steps).unwrap().to_lowercase()
}
