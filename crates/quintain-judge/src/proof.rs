//! Opinions and proofs: a judge can add to a proof and never overrule one.

/// The score of a judge, limited by the score that checks computed. If checks proved a fault, theirs is the most that the
/// judge can give; otherwise the judge decides.
pub fn combined(checked: Option<f64>, judged: f64, is_fault_proven: bool) -> f64 {
    let judged = clamped(judged);
    match checked {
        Some(checked) if is_fault_proven => judged.min(clamped(checked)),
        _ => judged,
    }
}

/// A score that a judge gave, from 0 to 1 whatever it answered.
pub fn clamped(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judge_never_overrules_a_proof() {
        for (checked, judged, is_proven, expected) in [
            (Some(0.25), 1.0, true, 0.25),
            (Some(0.25), 0.1, true, 0.1),
            (Some(0.25), 1.0, false, 1.0),
            (None, 0.5, true, 0.5),
            (None, 7.0, false, 1.0),
            (None, -1.0, false, 0.0),
            (None, f64::NAN, false, 0.0),
            (None, f64::INFINITY, false, 1.0),
        ] {
            assert!((combined(checked, judged, is_proven) - expected).abs() < 1e-12);
        }
    }
}
