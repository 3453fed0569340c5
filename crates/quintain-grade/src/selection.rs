//! The choice of tools across the cases of a run, as a classification: how often the expected tool was called, which were
//! confused, and how good the arguments were. Accumulates case by case in bounded memory.

mod case;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

pub use self::case::CaseSelection;
pub use quintain_evidence::mcnemar::McNemar;
pub use quintain_evidence::tool_selection::{
    ArgumentFigures, ConfusionMatrix, SelectionReport, Share, ToolSelection,
};

/// What stands for no tool: nothing was called, or nothing was expected.
pub const NONE: &str = "(none)";
/// What stands for all tools beyond [`MAX_TOOLS`].
const OTHER: &str = "(other)";
/// Number of tools that the matrix distinguishes; a run has fewer.
const MAX_TOOLS: usize = 500;

/// Counts over the cases so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SelectionTally {
    cases: u64,
    /// Expected tool, called tool, count.
    confusion: BTreeMap<String, BTreeMap<String, u64>>,
    tools: BTreeSet<String>,
    arguments: [(u64, u64); 4],
}

impl SelectionTally {
    pub fn add(&mut self, case: &CaseSelection) {
        self.cases += 1;
        for (expected, called) in &case.choices {
            let (expected, called) =
                (self.label(expected.as_deref()), self.label(called.as_deref()));
            *self.confusion.entry(expected).or_default().entry(called).or_default() += 1;
        }
        for (sum, counts) in self.arguments.iter_mut().zip(case.figures()) {
            sum.0 += counts.0;
            sum.1 += counts.1;
        }
    }

    /// Adds the counts of another part of the run.
    pub fn merge(&mut self, other: &Self) {
        self.cases += other.cases;
        for (expected, row) in &other.confusion {
            for (called, count) in row {
                let (expected, called) = (self.label(Some(expected)), self.label(Some(called)));
                *self.confusion.entry(expected).or_default().entry(called).or_default() += count;
            }
        }
        for (sum, counts) in self.arguments.iter_mut().zip(other.arguments) {
            sum.0 += counts.0;
            sum.1 += counts.1;
        }
    }

    fn label(&mut self, name: Option<&str>) -> String {
        let name = name.unwrap_or(NONE);
        if matches!(name, NONE | OTHER) {
            return name.to_owned();
        }
        if !self.tools.contains(name) {
            if self.tools.len() >= MAX_TOOLS {
                return OTHER.to_owned();
            }
            self.tools.insert(name.to_owned());
        }
        name.to_owned()
    }

    /// None if no case expects calls.
    pub fn report(&self) -> Option<SelectionReport> {
        if self.cases == 0 {
            return None;
        }
        let count = |expected: &str, called: &str| {
            self.confusion.get(expected).and_then(|row| row.get(called)).copied().unwrap_or(0)
        };
        let mut labels: Vec<String> = self.tools.iter().cloned().collect();
        let has_other = self.confusion.contains_key(OTHER)
            || self.confusion.values().any(|row| row.contains_key(OTHER));
        labels.extend(has_other.then(|| OTHER.to_owned()));
        let tools = labels.iter().filter(|label| *label != OTHER).map(|tool| {
            let right = count(tool, tool);
            let expected = self.confusion.get(tool).map_or(0, |row| row.values().sum());
            let called = self.confusion.values().filter_map(|row| row.get(tool)).sum();
            let (precision, recall) = (Share::new(right, called), Share::new(right, expected));
            let both = called + expected;
            let f1 = (both > 0).then(|| 2.0 * right as f64 / both as f64);
            ToolSelection { tool: tool.clone(), precision, recall, f1 }
        });
        let tools = tools.collect();
        let right = labels.iter().map(|label| count(label, label)).sum();
        let all = self.confusion.values().flat_map(BTreeMap::values).sum();
        labels.push(NONE.to_owned());
        let counts =
            labels.iter().map(|row| labels.iter().map(|column| count(row, column)).collect());
        let confusion = ConfusionMatrix { counts: counts.collect(), labels };
        let [hallucinated, expected, required, values] =
            self.arguments.map(|(count, of)| Share::new(count, of));
        Some(SelectionReport {
            cases: self.cases,
            accuracy: Share::new(right, all),
            tools,
            confusion,
            arguments: ArgumentFigures {
                hallucinated_names: hallucinated,
                all_expected_present: expected,
                all_required_present: required,
                values_match: values,
            },
        })
    }
}

/// How the choice of tools changed between two runs of the same cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SelectionDiff {
    /// Cases that are in both runs.
    pub cases: u64,
    /// Cases in which all tools are the expected ones.
    pub tools: McNemar,
    pub hallucinated_names: McNemar,
    pub all_expected_present: McNemar,
    pub all_required_present: McNemar,
    pub values_match: McNemar,
}

/// Compares two runs case by case. Cases are matched by name, equal names by their order; others are left out.
pub fn compare<'c>(
    before: impl IntoIterator<Item = (&'c str, &'c CaseSelection)>,
    after: impl IntoIterator<Item = (&'c str, &'c CaseSelection)>,
) -> SelectionDiff {
    let mut earlier: BTreeMap<&str, VecDeque<&CaseSelection>> = BTreeMap::new();
    for (name, case) in before {
        earlier.entry(name).or_default().push_back(case);
    }
    let mut pairs = Vec::new();
    for (name, case) in after {
        if let Some(first) = earlier.get_mut(name).and_then(VecDeque::pop_front) {
            pairs.push((first, case));
        }
    }
    let figure = |index: usize| {
        let outcomes = pairs
            .iter()
            .filter_map(|(before, after)| Some((before.is_good(index)?, after.is_good(index)?)));
        McNemar::of(outcomes)
    };
    let tools = pairs.iter().map(|(before, after)| (before.is_right(), after.is_right()));
    SelectionDiff {
        cases: pairs.len() as u64,
        tools: McNemar::of(tools),
        hallucinated_names: figure(0),
        all_expected_present: figure(1),
        all_required_present: figure(2),
        values_match: figure(3),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn choices(pairs: &[(&str, &str)]) -> CaseSelection {
        let name = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        CaseSelection {
            choices: pairs
                .iter()
                .map(|(expected, called)| (name(expected), name(called)))
                .collect(),
            ..CaseSelection::default()
        }
    }

    #[test]
    fn tools_are_counted_as_classes() {
        let mut tally = SelectionTally::default();
        tally.add(&choices(&[("a", "a"), ("b", "a")]));
        tally.add(&choices(&[("b", "b"), ("b", ""), ("", "c")]));
        let report = tally.report().unwrap();
        assert_eq!((report.accuracy.count, report.accuracy.of), (2, 5));
        let a = &report.tools[0];
        assert_eq!((a.precision.value, a.recall.value), (Some(0.5), Some(1.0)));
        assert!((a.f1.unwrap() - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(report.confusion.labels, ["a", "b", "c", "(none)"]);
        assert_eq!(report.confusion.counts[1], [1, 1, 0, 1]);
        let json = serde_json::to_value(&report).unwrap();
        assert!(json["arguments"]["hallucinatedNames"]["value"].is_null());
        assert_eq!(json["accuracy"]["of"], 5);
    }

    #[test]
    fn parts_of_a_run_add_up() {
        let cases = [choices(&[("a", "b")]), choices(&[("b", "b"), ("", "a")])];
        let mut whole = SelectionTally::default();
        cases.iter().for_each(|case| whole.add(case));
        let mut merged = SelectionTally::default();
        for case in &cases {
            let mut part = SelectionTally::default();
            part.add(case);
            merged.merge(&part);
        }
        assert_eq!(whole, merged);
        assert_eq!(SelectionTally::default().report(), None);
    }

    #[test]
    fn memory_is_bounded_whatever_tools_are_called() {
        let mut tally = SelectionTally::default();
        for index in 0..2 * MAX_TOOLS {
            tally.add(&choices(&[("a", &format!("tool{index}"))]));
        }
        let report = tally.report().unwrap();
        assert_eq!(report.accuracy.of, 2 * MAX_TOOLS as u64);
        assert!(report.confusion.labels.len() <= MAX_TOOLS + 2);
    }

    #[test]
    fn runs_are_compared_case_by_case() {
        let (right, wrong) = (choices(&[("a", "a")]), choices(&[("a", "b")]));
        let before: Vec<(&str, &CaseSelection)> =
            vec![("1", &right), ("2", &wrong), ("3", &right), ("4", &right)];
        let after: Vec<(&str, &CaseSelection)> =
            vec![("1", &wrong), ("2", &right), ("3", &wrong), ("5", &right)];
        let diff = compare(before, after);
        assert_eq!((diff.cases, diff.tools.worse, diff.tools.better), (3, 2, 1));
        assert_eq!(serde_json::to_value(diff).unwrap()["valuesMatch"]["p"], json!(1.0));
    }
}
