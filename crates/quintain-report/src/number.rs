//! Numbers as JavaScript writes them: whole numbers without `.0`, no NaN.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

/// The largest whole number that every JSON reader preserves.
const SAFE: f64 = 9_007_199_254_740_991.0;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Number(pub(crate) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() <= SAFE {
            out.serialize_i64(self.0 as i64)
        } else {
            out.serialize_f64(self.0)
        }
    }
}

/// Milliseconds with three decimals: finer measurements over a pipe mean nothing.
pub(crate) fn millis(value: f64) -> Number {
    Number((value * 1e3).round() / 1e3)
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers<'a>(pub(crate) &'a BTreeMap<String, f64>);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(self.0.iter().map(|(name, value)| (name, Number(*value))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_no_point() {
        let text = |value| serde_json::to_string(&Number(value)).unwrap();
        assert_eq!(text(1.0), "1");
        assert_eq!(text(-0.25), "-0.25");
        assert_eq!(text(1e300), "1e+300");
        assert_eq!(text(f64::NAN), "null");
        assert_eq!(serde_json::to_string(&millis(1.234_567)).unwrap(), "1.235");
    }
}
