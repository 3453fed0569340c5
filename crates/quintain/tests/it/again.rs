//! Attacks watch for side effects, which take their time on a busy machine: only what deviates every time is
//! a deviation.

use libtest_mimic::Failed;

const TRIES: usize = 3;

/// Fails with the deviations that come every time.
pub(crate) fn always(deviations: impl Fn() -> Result<Vec<String>, Failed>) -> Result<(), Failed> {
    let mut left = deviations()?;
    for _ in 1..TRIES {
        if left.is_empty() {
            return Ok(());
        }
        let again = deviations()?;
        left.retain(|one| again.contains(one));
    }
    if left.is_empty() { Ok(()) } else { Err(left.join("\n").into()) }
}
