//! Assertions and the checks they compile to: the extension point for everything that is asserted
//! in a suite.

mod assert;
mod builtin;
mod expected;
mod param;
mod scene;
mod spec;
mod test;

pub use assert::{Assert, Rule};
pub use builtin::{Builtin, judging};
pub use expected::Expected;
pub use param::Param;
pub use scene::{Scene, View, as_text};
pub use spec::Spec;
pub use test::{Test, TestOptions, VarFile};

use crate::compare::Comparison;
use quintain_content::registry::Meta;
use quintain_evidence::code::Code;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::verdict::Verdict;

/// A type of assertion.
pub trait Assertion: Sync {
    fn meta(&self) -> &'static Meta;

    /// Reads the options of one assertion. What is wrong is reported in `spec.dx`, all of it.
    fn compile(&self, spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>>;
}

/// A verdict that is yet to be computed.
pub type SlowVerdict = Box<dyn FnOnce() -> Verdict + Send>;

/// One assertion of a suite, ready to judge. Pure: the same scene and the same answers give the same
/// verdict. What needs no answers is written with [`judging`].
pub trait Check: Send + Sync {
    /// The verdict, or what it needs to know first. `rounds` are the answers to what it asked so far;
    /// calls that it asked for are in the evidence of the scene as well.
    fn next(&self, scene: &Scene<'_>, rounds: &Rounds) -> Next<Verdict>;

    /// The verdict as work that takes long, such as code of the user: it owns what it needs and can be done on
    /// another thread. [`Check::next`] does the same work where it is called.
    fn slow_verdict(&self, _: &Scene<'_>) -> Option<SlowVerdict> {
        None
    }

    /// Whether it may ask anything. Only such checks are consulted when the effects of a suite are
    /// listed: others could run code of the user to reach their verdict.
    fn asks(&self) -> bool {
        false
    }

    /// Code of the user that it runs itself, as it is written. What it asks others to run is a question.
    fn code(&self) -> Option<Code> {
        None
    }

    /// Whether it has an opinion on answers that are errors. If no check of a case has one, an
    /// error ends the case, as it does in promptfoo.
    fn wants_errors(&self) -> bool {
        false
    }

    /// Whether it looks at resources and prompts of the target, not only at its tools.
    fn wants_survey(&self) -> bool {
        false
    }

    /// What compares the answers of one test with each other. Such a check is not asked to judge: it
    /// has its say when all of them are graded.
    fn comparison(&self) -> Option<&dyn Comparison> {
        None
    }
}
