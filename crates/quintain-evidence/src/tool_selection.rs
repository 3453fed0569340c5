//! How well applications choose tools and arguments, over all cases of a run with expected calls.

use serde::{Deserialize, Serialize};

/// The choice of tools over all cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SelectionReport {
    /// Cases with expected calls.
    pub cases: u64,
    /// Calls of the expected tool, among all that were expected or made.
    pub accuracy: Share,
    pub tools: Vec<ToolSelection>,
    pub confusion: ConfusionMatrix,
    pub arguments: ArgumentFigures,
}

/// How well one tool was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSelection {
    pub tool: String,
    /// Right among calls of the tool.
    pub precision: Share,
    /// Right among expected calls of the tool.
    pub recall: Share,
    pub f1: Option<f64>,
}

/// How often each tool was called where each was expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfusionMatrix {
    /// Rows and columns; `(none)` is the last one.
    pub labels: Vec<String>,
    /// One row for each expected tool.
    pub counts: Vec<Vec<u64>>,
}

/// The arguments of calls of the expected tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArgumentFigures {
    /// Calls with an argument that the tool does not have.
    pub hallucinated_names: Share,
    /// Calls with all arguments that were expected.
    pub all_expected_present: Share,
    /// Calls with all arguments that the schema requires.
    pub all_required_present: Share,
    /// Calls in which all expected arguments have the expected value.
    pub values_match: Share,
}

/// A share with its 95 % interval (Wilson), which stays within 0 and 1 also for few cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    pub count: u64,
    pub of: u64,
    /// None if there is nothing to take a share of.
    pub value: Option<f64>,
    pub interval: Option<(f64, f64)>,
}

/// The quantile of the normal distribution for 95 %.
const Z: f64 = 1.959_963_984_540_054;

impl Share {
    pub fn new(count: u64, of: u64) -> Self {
        if of == 0 {
            return Self { count, of, value: None, interval: None };
        }
        let (n, share) = (of as f64, count as f64 / of as f64);
        let scale = 1.0 + Z * Z / n;
        let center = (share + Z * Z / (2.0 * n)) / scale;
        let half = Z / scale * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        let low = if count == 0 { 0.0 } else { (center - half).max(0.0) };
        let high = if count == of { 1.0 } else { (center + half).min(1.0) };
        Self { count, of, value: Some(share), interval: Some((low, high)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-4, "{a} is not {b}");
    }

    #[test]
    fn wilson_agrees_with_tables() {
        let (low, high) = Share::new(8, 10).interval.unwrap();
        near(low, 0.4902);
        near(high, 0.9433);
        let (low, high) = Share::new(0, 10).interval.unwrap();
        near(low, 0.0);
        near(high, 0.2775);
        assert_eq!(Share::new(5, 5).interval.unwrap().1.to_bits(), 1.0_f64.to_bits());
        assert_eq!(Share::new(0, 0).value, None);
    }
}
