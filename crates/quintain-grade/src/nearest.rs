//! Suggestions for names that do not exist.

/// The name that is most similar, if one is similar enough to be meant.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let scored = names.map(|one| (strsim::jaro_winkler(name, one), one));
    let best = scored.max_by(|(left, _), (right, _)| left.total_cmp(right));
    best.filter(|(score, _)| *score > 0.8).map(|(_, one)| one)
}
