//! Hashing for tables with many small entries. The hash of the standard library takes more time than the rest of the work
//! on most words; this one is seeded at random, too.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::sync::LazyLock;

use foldhash::quality;

pub(crate) type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
pub(crate) type FastSet<K> = HashSet<K, foldhash::fast::RandomState>;

/// The longest text whose case is changed without an allocation.
const SHORT: usize = 64;

/// The same for texts that differ in the case of letters only. It differs from process to process.
pub(crate) fn caseless(text: &str) -> u64 {
    static STATE: LazyLock<quality::RandomState> = LazyLock::new(quality::RandomState::default);
    let state = &*STATE;
    let bytes = text.as_bytes();
    if bytes.iter().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return state.hash_one(bytes);
    }
    if let Some(short) = [0; SHORT].get_mut(..bytes.len()).filter(|_| text.is_ascii()) {
        short.copy_from_slice(bytes);
        short.make_ascii_lowercase();
        return state.hash_one(&*short);
    }
    state.hash_one(text.to_lowercase().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_does_not_count() {
        let long = "A1b".repeat(40);
        for text in ["Abc", "ABC", "", "ÄÖx", &long] {
            assert_eq!(caseless(text), caseless(&text.to_lowercase()), "{text}");
        }
        assert_ne!(caseless("abc"), caseless("abd"));
    }
}
