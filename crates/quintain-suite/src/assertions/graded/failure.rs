//! The verdict of an assertion that cannot be evaluated.

use quintain_evidence::verdict::Verdict;

/// Ends an assertion with an error, which is neither a pass nor a failure.
pub(super) fn error<T>(why: impl Into<String>) -> Result<T, Box<Verdict>> {
    Err(Box::new(Verdict::error(why)))
}
