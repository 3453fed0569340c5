//! How well metrics agree with people: verdicts on labelled traces against their labels.

mod agreement;
mod calibration;
mod labels;
mod resample;

use std::collections::{BTreeMap, HashMap, HashSet};

use quintain_evidence::graded::MetricScore;
use serde::Serialize;
use serde_json::Map;

pub use self::agreement::{Agreement, Verdict};
pub use self::calibration::{
    Calibrated, Calibration, CalibrationError, CalibrationFile, CalibrationFileError, Curve,
    LabelledScore, MIN_LABELS, Method,
};
pub use self::labels::{Label, LabelError, read_labels};
pub use quintain_evidence::mcnemar::McNemar;

/// How well each metric agrees with the labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetaEvaluation {
    /// By the name of the metric, in the order of the configuration.
    pub metrics: Map<String, serde_json::Value>,
    /// The accuracy of a verdict that always passes; null without labelled traces.
    pub baseline: Option<f64>,
    /// McNemar's test for every two metrics, on the traces for which both are defined.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<Comparison>,
}

/// Whether two metrics are right on different traces.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub first: String,
    pub second: String,
    /// `worse` are traces that only the first metric judges as the label does, `better` those that only the second one does.
    #[serde(flatten)]
    pub test: McNemar,
}

/// Collects verdicts trace by trace.
#[derive(Debug, Default)]
pub struct MetaEvaluator {
    labels: HashMap<String, bool>,
    seen: HashSet<String>,
    unlabelled: usize,
    names: Vec<String>,
    verdicts: HashMap<String, Vec<(String, Verdict)>>,
}

impl MetaEvaluator {
    pub fn new(labels: impl IntoIterator<Item = Label>) -> Self {
        let labels = labels.into_iter().map(|label| (label.id, label.success)).collect();
        Self { labels, ..Self::default() }
    }

    /// Adds the scores of a trace. Traces without a label only count as such.
    pub fn add(&mut self, id: &str, scores: &[MetricScore]) {
        let Some(label) = self.labels.get(id).copied() else {
            self.unlabelled += 1;
            return;
        };
        self.seen.insert(id.to_owned());
        for score in scores {
            let (Some(success), Some(value)) = (score.success, score.score) else { continue };
            if !self.verdicts.contains_key(&score.name) {
                self.names.push(score.name.clone());
            }
            let verdicts = self.verdicts.entry(score.name.clone()).or_default();
            verdicts.push((id.to_owned(), Verdict { label, success, score: value }));
        }
    }

    /// The number of traces without a label.
    pub fn unlabelled(&self) -> usize {
        self.unlabelled
    }

    /// The number of labels without a trace.
    pub fn unseen(&self) -> usize {
        self.labels.len() - self.seen.len()
    }

    /// The agreement of a metric; none if it was never defined on a labelled trace.
    pub fn agreement(&self, name: &str) -> Option<Agreement> {
        let verdicts: Vec<Verdict> =
            self.verdicts.get(name)?.iter().map(|(_, verdict)| *verdict).collect();
        Some(Agreement::of(&verdicts))
    }

    /// Whether two metrics are right on different traces: `worse` are those that only the first one gets right.
    pub fn compare(&self, first: &str, second: &str) -> Option<McNemar> {
        Some(compared(self.verdicts.get(first)?, self.verdicts.get(second)?))
    }

    /// The same for one metric under two judges, on the traces that both decide.
    pub fn compare_judges(first: &Self, second: &Self, name: &str) -> Option<McNemar> {
        Some(compared(first.verdicts.get(name)?, second.verdicts.get(name)?))
    }

    /// Calibrates every metric on the labels. What cannot be calibrated is returned with the reason.
    pub fn calibrate(&self, method: Method) -> (CalibrationFile, Vec<(String, CalibrationError)>) {
        let mut fits = BTreeMap::new();
        let mut errors = Vec::new();
        for name in &self.names {
            let verdicts = self.verdicts.get(name).map(Vec::as_slice).unwrap_or_default();
            let samples: Vec<LabelledScore> = verdicts
                .iter()
                .map(|(_, verdict)| LabelledScore {
                    score: verdict.score,
                    is_success: verdict.label,
                })
                .collect();
            match Calibration::fit(&samples, method) {
                Ok(fit) => {
                    fits.insert(name.clone(), fit);
                }
                Err(error) => errors.push((name.clone(), error)),
            }
        }
        (CalibrationFile::new(fits), errors)
    }

    /// The names of the metrics, in the order in which they came.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// All pairs of metrics.
    pub fn comparisons(&self) -> Vec<Comparison> {
        let mut found = Vec::new();
        for (index, first) in self.names.iter().enumerate() {
            for second in &self.names[index + 1..] {
                let comparison =
                    |test| Comparison { first: first.clone(), second: second.clone(), test };
                found.extend(self.compare(first, second).map(comparison));
            }
        }
        found
    }

    pub fn finish(&self) -> MetaEvaluation {
        let mut metrics = Map::new();
        for name in &self.names {
            let agreement = self.agreement(name).and_then(|found| serde_json::to_value(found).ok());
            metrics.extend(agreement.map(|agreement| (name.clone(), agreement)));
        }
        let successes = self.seen.iter().filter(|id| self.labels.get(*id) == Some(&true)).count();
        let baseline = (!self.seen.is_empty()).then(|| successes as f64 / self.seen.len() as f64);
        let comparisons = self.comparisons();
        MetaEvaluation { metrics, baseline, comparisons }
    }
}

/// Whether two lists of verdicts are right on different traces.
fn compared(first: &[(String, Verdict)], second: &[(String, Verdict)]) -> McNemar {
    let others: HashMap<&str, Verdict> =
        second.iter().map(|(id, verdict)| (id.as_str(), *verdict)).collect();
    McNemar::of(first.iter().filter_map(|(id, verdict)| {
        others.get(id.as_str()).map(|other| (verdict.is_right(), other.is_right()))
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn score(name: &str, value: Option<f64>) -> MetricScore {
        MetricScore {
            name: name.to_owned(),
            score: value,
            success: value.map(|value| value >= 0.5),
            threshold: 0.5,
            reason: None,
            findings: Vec::new(),
            details: Map::new(),
            judge: None,
            error: None,
        }
    }

    #[test]
    fn metrics_are_compared_with_labels() {
        let labels = ["a", "b", "c", "d"].map(|id| Label { id: id.to_owned(), success: id != "d" });
        let mut evaluator = MetaEvaluator::new(labels);
        evaluator.add("a", &[score("good", Some(1.0)), score("blind", Some(1.0))]);
        evaluator.add("b", &[score("good", Some(0.9)), score("blind", None)]);
        evaluator.add("d", &[score("good", Some(0.1)), score("blind", Some(0.8))]);
        evaluator.add("x", &[score("good", Some(0.1))]);
        assert_eq!((evaluator.unlabelled(), evaluator.unseen()), (1, 1));
        let found = serde_json::to_value(evaluator.finish()).unwrap();
        assert_eq!(found["metrics"]["good"]["kappa"], json!(1.0));
        assert_eq!(found["metrics"]["blind"]["n"], json!(2));
        assert!((found["baseline"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9);
        let keys: Vec<&String> = found["metrics"]["good"].as_object().unwrap().keys().collect();
        let expected = [
            "n",
            "accuracy",
            "kappa",
            "kappa_ci",
            "mcc",
            "failure_precision",
            "failure_recall",
            "auc",
            "ece",
        ];
        assert_eq!(keys, expected);
        let test = evaluator.compare("good", "blind").unwrap();
        assert_eq!((test.worse, test.better), (1, 0));
    }

    #[test]
    fn judges_are_compared_and_calibrated_on_the_same_labels() {
        let ids: Vec<String> = (0..40).map(|at| format!("t{at}")).collect();
        let is_success = |at: usize| !at.is_multiple_of(4);
        let labels = ids
            .iter()
            .enumerate()
            .map(|(at, id)| Label { id: id.clone(), success: is_success(at) });
        let labels: Vec<Label> = labels.collect();
        let (mut good, mut bad) = (MetaEvaluator::new(labels.clone()), MetaEvaluator::new(labels));
        for (at, id) in ids.iter().enumerate() {
            good.add(id, &[score("g-eval", Some(if is_success(at) { 0.9 } else { 0.2 }))]);
            bad.add(id, &[score("g-eval", (at != 7).then_some(0.9))]);
        }
        let test = MetaEvaluator::compare_judges(&good, &bad, "g-eval").unwrap();
        assert_eq!((test.worse, test.better), (10, 0), "only the first one finds the failures");
        let (file, errors) = good.calibrate(Method::Auto);
        assert!(errors.is_empty());
        assert!(file.metrics["g-eval"].expected_accuracy > 0.95);
        let (file, _) = bad.calibrate(Method::Auto);
        assert!(file.metrics["g-eval"].expected_accuracy < 0.8, "a constant score is the baseline");
    }

    #[test]
    fn without_labels_nothing_is_claimed() {
        let found = MetaEvaluator::default().finish();
        assert_eq!(
            found,
            MetaEvaluation { metrics: Map::new(), baseline: None, comparisons: Vec::new() }
        );
    }
}
