//! Random samples with replacement, the same for the same seed on every machine.

/// SplitMix64: small, fast, and good enough to draw samples.
pub(super) struct Generator(u64);

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; the bias is below one in a billion for the sizes of samples.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// The middle 95 % of a statistic over samples of the same size, drawn with replacement. Samples for which it is undefined
/// do not count.
pub(super) fn interval(
    size: usize,
    statistic: impl Fn(&[usize]) -> Option<f64>,
) -> Option<(f64, f64)> {
    const DRAWS: usize = 20_000_000;
    if size == 0 {
        return None;
    }
    let samples = (DRAWS / size).clamp(200, 2_000);
    let mut generator = Generator::new(1);
    let mut values = Vec::with_capacity(samples);
    let mut drawn = vec![0; size];
    for _ in 0..samples {
        drawn.iter_mut().for_each(|index| *index = generator.below(size));
        values.extend(statistic(&drawn));
    }
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let index = (share * (values.len().saturating_sub(1)) as f64).round() as usize;
        values.get(index).copied()
    };
    Some((at(0.025)?, at(0.975)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_repeatable_and_about_right() {
        let data: Vec<f64> = (0..100).map(|index| f64::from(u8::from(index < 30))).collect();
        let mean = |drawn: &[usize]| {
            Some(drawn.iter().map(|index| data[*index]).sum::<f64>() / drawn.len() as f64)
        };
        let (low, high) = interval(data.len(), mean).unwrap();
        assert!((low - 0.21).abs() < 0.03 && (high - 0.39).abs() < 0.03, "{low} {high}");
        assert_eq!(interval(data.len(), mean), Some((low, high)));
        assert_eq!(interval(0, mean), None);
        assert_eq!(interval(5, |_| None), None);
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut generator = Generator::new(7);
        assert!((0..1000).all(|_| generator.below(3) < 3));
    }
}
