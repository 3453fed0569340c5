//! The short way to write an assertion: a description and a function that makes the check.

use quintain_content::registry::Meta;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::verdict::Verdict;

use super::{Assertion, Check, Scene, Spec};

/// An assertion type given by its description and a compile function.
pub struct Builtin {
    pub meta: &'static Meta,
    pub compile: fn(&mut Spec<'_, '_>) -> Option<Box<dyn Check>>,
}

impl Assertion for Builtin {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn compile(&self, spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
        (self.compile)(spec)
    }
}

/// A check without questions. `Err` is a verdict as well, the one of a check that cannot judge, so that
/// the function can use `?`.
pub fn judging<F>(judge: F) -> Option<Box<dyn Check>>
where
    F: Fn(&Scene<'_>) -> Result<Verdict, Box<Verdict>> + Send + Sync + 'static,
{
    Some(Box::new(Judging(judge)))
}

struct Judging<F>(F);

impl<F> Check for Judging<F>
where
    F: Fn(&Scene<'_>) -> Result<Verdict, Box<Verdict>> + Send + Sync,
{
    fn next(&self, scene: &Scene<'_>, _: &Rounds) -> Next<Verdict> {
        Next::Done((self.0)(scene).unwrap_or_else(|verdict| *verdict))
    }
}
