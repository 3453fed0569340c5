//! The highest score among the responses of all prompts and targets of a test.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::result::CaseResult;
use quintain_evidence::verdict::Verdict;
use serde_json::{Map, Value};

use crate::check::{Builtin, Check, Compared, Comparison, Expected, Scene};

pub(super) static MAX_SCORE: Builtin = Builtin {
    meta: &Meta {
        id: "max-score",
        aliases: &[],
        summary: "The response has the highest score of all responses to the same test",
        docs: r"# What it does
Compares the responses of all prompts and targets to a test. The score of a response is the `average`
(default) or the `sum` of the scores of its other assertions, selected by `method`; `weights` gives
assertion types a weight. The response with the highest score passes (the first one of a tie), all others
fail. With `threshold`, the highest score must also be at least that high.

# Example
```yaml
- type: contains
  value: Paris
- type: max-score
  value:
    method: sum
    weights: { contains: 2 }
    threshold: 1
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let negated = spec.negated;
        let options = spec.expect(move |value| {
            if negated {
                return Err("max-score cannot be negated".to_owned());
            }
            MaxScore::read(value)
        });
        Some(Box::new(Picking { options }))
    },
};

/// The scores of types that compare responses do not count.
const COMPARING: [&str; 2] = ["max-score", "select-best"];

#[derive(Clone)]
struct MaxScore {
    sum: bool,
    weights: Map<String, Value>,
    threshold: Option<f64>,
}

struct Picking {
    options: Expected<MaxScore>,
}

impl Check for Picking {
    fn next(&self, _: &Scene<'_>, _: &Rounds) -> Next<Verdict> {
        Next::Done(Verdict::error(
            "`max-score` compares the responses to a test and cannot be in an `assert-set`",
        ))
    }

    fn comparison(&self) -> Option<&dyn Comparison> {
        Some(self)
    }
}

impl Comparison for Picking {
    fn next(&self, graded: &[&CaseResult], _: &Rounds) -> Next<Compared> {
        let unusable = || "the options of `max-score` are invalid".to_owned();
        let options = self.options.constant().ok_or_else(unusable);
        Next::Done(options.and_then(|options| options.compare(graded)))
    }
}

/// The score of one response.
struct Sum {
    score: f64,
    count: usize,
    weight: f64,
}

impl MaxScore {
    fn read(value: Option<&Value>) -> Result<Self, String> {
        let mut options = Self { sum: false, weights: Map::new(), threshold: None };
        let map = match value {
            None | Some(Value::Null) => return Ok(options),
            Some(Value::Object(map)) => map,
            Some(_) => {
                return Err("max-score value must be a map with method, weights, threshold".into());
            }
        };
        match map.get("method").map(Value::as_str) {
            None | Some(Some("average")) => {}
            Some(Some("sum")) => options.sum = true,
            Some(_) => return Err("max-score method must be \"average\" or \"sum\"".to_owned()),
        }
        match map.get("weights") {
            None => {}
            Some(Value::Object(weights)) if weights.values().all(Value::is_number) => {
                options.weights.clone_from(weights);
            }
            Some(_) => return Err("max-score weights must map types to numbers".to_owned()),
        }
        match map.get("threshold") {
            None => {}
            Some(Value::Number(threshold)) => options.threshold = threshold.as_f64(),
            Some(_) => return Err("max-score threshold must be a number".to_owned()),
        }
        Ok(options)
    }

    fn compare(&self, graded: &[&CaseResult]) -> Result<Vec<Verdict>, String> {
        if graded.len() < 2 {
            return Err(
                "max-score assertion must have at least two outputs to compare between".to_owned()
            );
        }
        let sums =
            graded.iter().map(|result| self.add_up(result)).collect::<Result<Vec<_>, _>>()?;
        let mut best = 0;
        for (at, sum) in sums.iter().enumerate() {
            if sum.score > sums[best].score {
                best = at;
            }
        }
        let max = sums[best].score;
        let reached = self.threshold.is_none_or(|threshold| max >= threshold);
        Ok(sums
            .iter()
            .enumerate()
            .map(|(at, sum)| self.verdict(sum, at == best, max, reached))
            .collect())
    }

    fn verdict(&self, sum: &Sum, is_best: bool, max: f64, reached: bool) -> Verdict {
        let score = js::to_fixed(sum.score, 3);
        let mut verdict = match self.threshold {
            _ if is_best && reached => {
                Verdict::pass(format!("Selected as highest scoring output (score: {score})"))
            }
            Some(threshold) if sum.score >= max && !reached => Verdict::fail(format!(
                "Not selected - score {score} below threshold {}",
                js::number(threshold)
            )),
            _ => Verdict::fail(format!(
                "Not selected (score: {score}, max: {})",
                js::to_fixed(max, 3)
            )),
        };
        verdict.named_scores = [
            ("maxScore", sum.score),
            ("assertionCount", sum.count as f64),
            ("totalWeight", sum.weight),
        ]
        .map(|(name, score)| (name.to_owned(), score))
        .into();
        verdict
    }

    fn add_up(&self, result: &CaseResult) -> Result<Sum, String> {
        let mut sum = Sum { score: 0.0, count: 0, weight: 0.0 };
        let components = result.grade.iter().flat_map(|grade| &grade.components);
        for component in components.filter(|component| !component.is_set()) {
            let kind = component.assertion.get("type").and_then(Value::as_str).unwrap_or_default();
            if COMPARING.contains(&kind) {
                continue;
            }
            let weight = self.weights.get(kind).and_then(Value::as_f64).unwrap_or(1.0);
            sum.score += component.verdict.score * weight;
            sum.weight += weight;
            sum.count += 1;
        }
        if sum.count == 0 {
            return Err("max-score requires at least one other assertion (besides max-score or \
                        select-best) to aggregate scores from"
                .to_owned());
        }
        if !self.sum {
            sum.score = if sum.weight > 0.0 { sum.score / sum.weight } else { 0.0 };
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use quintain_evidence::inquiry::{Next, Rounds};
    use quintain_evidence::result::{CaseResult, CaseStatus, Component, Grade};
    use quintain_evidence::verdict::Verdict;
    use serde_json::json;

    use crate::compare::apply_comparison;
    use crate::suite::NoFiles;
    use crate::testing::{compile, compile_with, flaw, result};

    /// A response to which `contains` gave these scores.
    fn scored(scores: &[f64]) -> CaseResult {
        let component = |score: &f64| Component {
            assertion: json!({"type": "contains"}),
            place: None,
            verdict: Verdict::new(*score > 0.0, *score, "no"),
            set: None,
        };
        let pass = scores.iter().all(|score| *score > 0.0);
        let error = (!pass).then(|| "no".to_owned());
        let score = scores.iter().sum::<f64>() / scores.len() as f64;
        CaseResult {
            status: if pass { CaseStatus::Passed } else { CaseStatus::Failed },
            score,
            grade: Some(Grade {
                pass,
                score,
                reason: error.clone().unwrap_or_default(),
                named_scores: BTreeMap::new(),
                named_weights: BTreeMap::new(),
                components: scores.iter().map(component).collect(),
            }),
            error,
            ..result("x")
        }
    }

    fn settled(options: &str, scores: &[&[f64]]) -> Vec<CaseResult> {
        let asserts = compile(&format!("[{{type: max-score{options}}}]"));
        let mut results: Vec<CaseResult> = scores.iter().map(|scores| scored(scores)).collect();
        let comparison = asserts[0].comparison().unwrap();
        let graded: Vec<&CaseResult> = results.iter().filter(|one| one.grade.is_some()).collect();
        let next = comparison.next(&graded, &Rounds::default());
        let Next::Done(compared) = next else { panic!("it asks nothing") };
        apply_comparison(compared, &mut results, &asserts[0].raw, None);
        results
    }

    fn reasons(results: &[CaseResult]) -> Vec<&str> {
        let last = |result: &'_ CaseResult| result.grade.as_ref().unwrap().components.len() - 1;
        results
            .iter()
            .map(|r| r.grade.as_ref().unwrap().components[last(r)].verdict.reason.as_str())
            .collect()
    }

    #[test]
    fn the_first_of_the_best_is_selected() {
        let results = settled("", &[&[1.0, 0.0], &[1.0, 1.0], &[1.0, 1.0]]);
        assert_eq!(
            reasons(&results),
            [
                "Not selected (score: 0.500, max: 1.000)",
                "Selected as highest scoring output (score: 1.000)",
                "Not selected (score: 1.000, max: 1.000)"
            ]
        );
        let states: Vec<_> =
            results.iter().map(|r| (r.status, r.score, r.error.as_deref())).collect();
        assert_eq!(
            states,
            [
                (CaseStatus::Failed, 0.0, Some("no")),
                (CaseStatus::Passed, 1.0, None),
                (CaseStatus::Failed, 0.0, Some("Not selected (score: 1.000, max: 1.000)"))
            ]
        );
    }

    #[test]
    fn sums_weights_and_thresholds_count() {
        let results = settled(", value: {method: sum, weights: {contains: 3}}", &[&[1.0], &[0.5]]);
        assert_eq!(
            reasons(&results),
            [
                "Selected as highest scoring output (score: 3.000)",
                "Not selected (score: 1.500, max: 3.000)"
            ]
        );
        let results = settled(", value: {threshold: 0.9}", &[&[0.5], &[0.4]]);
        assert_eq!(
            reasons(&results),
            [
                "Not selected - score 0.500 below threshold 0.9",
                "Not selected (score: 0.400, max: 0.500)"
            ]
        );
    }

    #[test]
    fn nothing_to_compare_is_an_error() {
        for scores in [&[&[1.0][..]][..], &[&[], &[]]] {
            let results = settled("", scores);
            assert!(results.iter().all(|result| result.status == CaseStatus::Errored));
            assert!(results[0].error.as_ref().unwrap().contains("at least"), "{:?}", results[0]);
        }
    }

    #[test]
    fn wrong_options_are_reported() {
        for value in ["5", "{method: median}", "{weights: [1]}", "{threshold: high}"] {
            flaw(&format!("[{{type: max-score, value: {value}}}]"), "x");
        }
        let (_, told) = compile_with("[{type: not-max-score}]", &NoFiles);
        assert!(told.contains("cannot be negated"), "{told}");
    }
}
