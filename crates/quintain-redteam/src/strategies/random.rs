//! Reproducible random numbers: the same seed and text give the same numbers on every machine.

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use sha2::{Digest as _, Sha256};

/// The random number generator of strategies.
pub(crate) type Random = ChaCha8Rng;

/// A separate sequence for each text, so that texts are changed independently.
pub(crate) fn seeded(seed: u64, text: &str) -> Random {
    let hash = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(text).finalize();
    ChaCha8Rng::from_seed(hash.into())
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::*;

    #[test]
    fn seed_and_text_decide_everything_on_every_machine() {
        assert_eq!(seeded(1, "a").next_u64(), seeded(1, "a").next_u64());
        assert_ne!(seeded(1, "a").next_u64(), seeded(2, "a").next_u64());
        assert_ne!(seeded(1, "a").next_u64(), seeded(1, "b").next_u64());
    }
}
