//! Chance that can be repeated: the same seed, the same numbers, on every machine.

/// SplitMix64: one number for another, well stirred.
pub fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A row of numbers that depends on nothing but its seed.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// A row of its own for each text, so that two texts do not share their accidents.
    pub fn of(seed: u64, text: &str) -> Self {
        Self(text.bytes().fold(mix(seed), |state, byte| mix(state ^ u64::from(byte))))
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    /// A number below the bound; zero if the bound is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.number() % bound as u64) as usize }
    }

    /// Whether something happens that happens in this share of all cases.
    pub fn happens(&mut self, share: f64) -> bool {
        // A float represents 53 bits exactly.
        ((self.number() >> 11) as f64) < share * (1_u64 << 53) as f64
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_text_decide_everything() {
        let row = |seed, text| {
            let mut chance = Chance::of(seed, text);
            [chance.number(), chance.number(), chance.number()]
        };
        assert_eq!(row(1, "a"), row(1, "a"));
        assert_ne!(row(1, "a"), row(2, "a"));
        assert_ne!(row(1, "a"), row(1, "b"));
    }

    #[test]
    fn shares_are_kept_roughly_and_at_the_ends_exactly() {
        let mut chance = Chance::new(7);
        let often = (0..1000).filter(|_| chance.happens(0.3)).count();
        assert!((250..350).contains(&often), "{often}");
        assert!((0..100).all(|_| chance.happens(1.0) && !chance.happens(0.0)));
    }

    #[test]
    fn shuffling_loses_nothing() {
        let mut items: Vec<u32> = (0..50).collect();
        Chance::new(1).shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
        assert_eq!(Chance::new(1).below(0), 0);
        assert_eq!(Chance::new(1).pick::<u32>(&[]), None);
    }
}
