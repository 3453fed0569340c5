//! Assertions and the checks they compile to: the extension point for assertion types.

mod asked;
mod assert;
mod builtin;
mod comparison;
mod expected;
mod models;
mod options;
mod param;
mod scene;
mod spec;
mod test;
mod view;

pub use assert::{Assert, Rule};
pub use builtin::{Builtin, judging};
pub use comparison::{Compared, Comparison};
pub use expected::Expected;
pub use models::{AskedModel, ModelTask, NamedModel, WrittenModel};
pub use options::TestOptions;
pub use param::Param;
pub use scene::{Scene, as_text};
pub use spec::Spec;
pub use test::{Test, VarFile};
pub use view::View;

use quintain_content::registry::Meta;
use quintain_evidence::code::Code;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::verdict::Verdict;

/// A type of assertion.
pub trait Assertion: Sync {
    fn meta(&self) -> &'static Meta;

    /// Reads the options of one assertion. Reports all errors in `spec.dx`.
    fn compile(&self, spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>>;
}

/// A verdict that is yet to be computed.
pub type SlowVerdict = Box<dyn FnOnce() -> Verdict + Send>;

/// One assertion of a suite, ready to judge. Pure: the same scene and the same answers give the same
/// verdict. A check that asks no questions is written with [`judging`].
pub trait Check: Send + Sync {
    /// The verdict, or the questions to answer first. `rounds` are the answers to its questions so far;
    /// the calls among them are also in the evidence of the scene.
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

    /// User code that it runs itself, as written. Code that an interpreter runs is a question instead.
    fn code(&self) -> Option<Code> {
        None
    }

    /// Whether it judges responses that are errors. If no check of a case does, an error response ends
    /// the case with an error, as in promptfoo.
    fn wants_errors(&self) -> bool {
        false
    }

    /// Whether it needs the resources and prompts of the target, not only its tools.
    fn wants_survey(&self) -> bool {
        false
    }

    /// The tasks that it asks models for.
    fn model_tasks(&self) -> &'static [ModelTask] {
        &[]
    }

    /// `provider` of the assertion.
    fn written_model(&self) -> Option<&WrittenModel> {
        None
    }

    /// The models that the assertion itself names, one for each of its tasks. [`Test::models`] adds those of the
    /// options.
    fn models(&self) -> Vec<NamedModel> {
        let picked = |written: &WrittenModel| -> Vec<NamedModel> {
            self.model_tasks().iter().filter_map(|task| written.pick(*task).ok()).collect()
        };
        self.written_model().map(picked).unwrap_or_default()
    }

    /// Whether the question to the judge is empty for all cases of a test.
    fn lacks_rubric(&self, _: &Test) -> bool {
        false
    }

    /// `judge` of the assertion: how carefully to judge. None for one question, as in promptfoo.
    fn judge_options(&self) -> Option<quintain_judge::options::JudgeOptions> {
        None
    }

    /// The comparison of the responses to one test. `next` is not called on such a check; the comparison
    /// runs after all responses are graded.
    fn comparison(&self) -> Option<&dyn Comparison> {
        None
    }

    /// The same check for a test with these options. Only for comparisons, which see no test.
    fn with_options(&self, _: &TestOptions) -> Option<Box<dyn Check>> {
        None
    }
}
