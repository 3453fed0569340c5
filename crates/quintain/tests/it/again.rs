//! Attacks observe side effects, which can be late on a busy machine: only a deviation that reproduces in every try
//! counts.

use libtest_mimic::Failed;

const TRIES: usize = 3;

/// Fails with the deviations that reproduce in every try.
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
