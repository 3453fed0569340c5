//! Suggestions for misspelt words.

/// The most similar candidate for a misspelt word, if one is close enough.
pub fn closest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let wanted = folded(word);
    // A long word is not a typo, and comparing costs the product of the lengths.
    if wanted.is_empty() || wanted.len() > 64 {
        return None;
    }
    let allowed = (wanted.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != word)
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &folded(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Differences of case, dashes and underscores are the most common and cost nothing.
fn folded(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::closest;

    const KEYS: [&str; 5] = ["command", "args", "exclude_tools", "timeout", "url"];

    #[test]
    fn slips_find_their_word() {
        assert_eq!(closest("comand", KEYS), Some("command"));
        assert_eq!(closest("excludeTools", KEYS), Some("exclude_tools"));
        assert_eq!(closest("tiemout", KEYS), Some("timeout"));
        assert_eq!(closest("URL", KEYS), Some("url"));
    }

    #[test]
    fn strangers_find_nothing() {
        assert_eq!(closest("bogus", KEYS), None);
        assert_eq!(closest("", KEYS), None);
        assert_eq!(closest(&"x".repeat(10_000), KEYS), None);
    }
}
