//! Combines the verdicts of a case into one grade: weights, thresholds, sets, named scores.

use std::collections::BTreeMap;

use quintain_evidence::result::{Component, Grade, SourcePlace};
use quintain_evidence::verdict::{Status, Verdict};
use serde_json::Value;

/// One entry of `assert` with its verdict.
#[derive(Debug)]
pub struct Judged {
    pub verdict: Verdict,
    pub weight: f64,
    /// With its templates expanded.
    pub metric: Option<String>,
    /// The entry as written.
    pub assertion: Value,
    pub place: Option<SourcePlace>,
    /// The entries of an `assert-set`, whose verdict is combined from theirs.
    pub set: Option<Set>,
}

#[derive(Debug)]
pub struct Set {
    pub members: Vec<Judged>,
    pub threshold: Option<f64>,
}

/// The sum of the scores with one name, and the sum of their weights.
#[derive(Debug, Clone, Copy, Default)]
struct Named {
    score: f64,
    weight: f64,
}

#[derive(Debug, Default)]
struct Sum {
    score: f64,
    weight: f64,
    named: BTreeMap<String, Named>,
    failure: Option<String>,
}

/// An assertion that could not be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Unjudged {
    /// The entry as written.
    pub assertion: Value,
    pub place: Option<SourcePlace>,
    pub reason: String,
}

impl Unjudged {
    fn name(&self) -> String {
        let kind = self.assertion.get("type").and_then(Value::as_str).unwrap_or("assertion");
        match &self.place {
            Some(place) => format!("{kind} ({place})"),
            None => kind.to_owned(),
        }
    }
}

/// The reasons of all assertions that could not be evaluated. A single one is its reason; of several, every line names
/// the assertions with the same reason.
pub fn explain(unjudged: &[Unjudged]) -> String {
    if let [only] = unjudged {
        return only.reason.clone();
    }
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for one in unjudged {
        match reasons.iter_mut().find(|(reason, _)| *reason == one.reason) {
            Some((_, names)) => names.push(one.name()),
            None => reasons.push((&one.reason, vec![one.name()])),
        }
    }
    let lines = reasons.iter().map(|(reason, names)| format!("{}: {reason}", names.join(", ")));
    lines.collect::<Vec<_>>().join("\n")
}

/// Combines all verdicts of a case.
///
/// # Errors
/// If checks ended in an error, all of them; there is no grade then.
pub fn combine(judged: Vec<Judged>, threshold: Option<f64>) -> Result<Grade, Vec<Unjudged>> {
    if judged.is_empty() {
        return Ok(Grade {
            pass: true,
            score: 1.0,
            reason: "No assertions".to_owned(),
            named_scores: BTreeMap::new(),
            named_weights: BTreeMap::new(),
            components: Vec::new(),
        });
    }
    let mut components = Vec::with_capacity(judged.len());
    let mut unjudged = Vec::new();
    let sum = add_up(judged, None, &mut components, &mut unjudged);
    if !unjudged.is_empty() {
        return Err(unjudged);
    }
    let (pass, score, reason) = sum.outcome(threshold);
    let mean = |named: &Named| if named.weight > 0.0 { named.score / named.weight } else { 0.0 };
    Ok(Grade {
        pass,
        score,
        reason,
        named_scores: sum.named.iter().map(|(name, sum)| (name.clone(), mean(sum))).collect(),
        named_weights: sum.named.iter().map(|(name, sum)| (name.clone(), sum.weight)).collect(),
        components,
    })
}

fn add_up(
    judged: Vec<Judged>,
    set: Option<usize>,
    components: &mut Vec<Component>,
    unjudged: &mut Vec<Unjudged>,
) -> Sum {
    let mut sum = Sum::default();
    // As in promptfoo, the last failure is the reason, and sets count after single assertions.
    let mut set_failure = None;
    for Judged { mut verdict, weight, metric, assertion, place, set: members } in judged {
        let at = components.len();
        let is_set = members.is_some();
        // A set is listed before its members.
        if verdict.status == Status::Error && !is_set {
            let (assertion, place) = (assertion.clone(), place.clone());
            unjudged.push(Unjudged { assertion, place, reason: verdict.reason.clone() });
        }
        components.push(Component { assertion, place, verdict: Verdict::pass(""), set });
        if let Some(Set { members, threshold }) = members {
            let inner = add_up(members, Some(at), components, unjudged);
            let (pass, score, reason) = inner.outcome(threshold);
            verdict = Verdict::new(pass, score, reason);
            for (name, Named { score, weight: inner_weight }) in inner.named {
                sum.name(name, score, inner_weight, weight);
            }
        } else {
            for (name, score) in &verdict.named_scores {
                if metric.as_ref() != Some(name) {
                    sum.name(name.clone(), *score, 1.0, weight);
                }
            }
        }
        // An assertion of weight 0 cannot fail the test; a set can, whatever its weight.
        if weight == 0.0 && !is_set {
            verdict.status = Status::Pass;
        }
        if let Some(name) = metric.filter(|name| !name.is_empty()) {
            sum.name(name, verdict.score, 1.0, weight);
        }
        sum.score += verdict.score * weight;
        sum.weight += weight;
        if !verdict.passed() {
            let failure = if is_set { &mut set_failure } else { &mut sum.failure };
            *failure = Some(verdict.reason.clone());
        }
        components[at].verdict = verdict;
    }
    sum.failure = set_failure.or(sum.failure);
    sum
}

impl Sum {
    fn name(&mut self, name: String, score: f64, count: f64, weight: f64) {
        let named = self.named.entry(name).or_default();
        named.score += score * weight;
        named.weight += count * weight;
    }

    fn outcome(&self, threshold: Option<f64>) -> (bool, f64, String) {
        let score = if self.weight > 0.0 { self.score / self.weight } else { 0.0 };
        if let Some(threshold) = threshold {
            let pass = score >= threshold;
            let sign = if pass { '≥' } else { '<' };
            let reason = format!("Aggregate score {score:.2} {sign} {threshold} threshold");
            return (pass, score, reason);
        }
        match &self.failure {
            None => (true, score, "All assertions passed".to_owned()),
            Some(reason) => (false, score, reason.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(pass: bool, weight: f64, metric: Option<&str>) -> Judged {
        Judged {
            verdict: Verdict::of(pass, if pass { "yes" } else { "no" }),
            weight,
            metric: metric.map(str::to_owned),
            assertion: Value::Null,
            place: None,
            set: None,
        }
    }

    #[test]
    fn scores_are_weighted_and_one_failure_fails() {
        let grade = combine(vec![judged(true, 3.0, None), judged(false, 1.0, None)], None);
        let grade = grade.unwrap();
        assert_eq!((grade.pass, grade.score, grade.reason.as_str()), (false, 0.75, "no"));
    }

    #[test]
    fn a_threshold_overrules_single_failures() {
        let both = || vec![judged(true, 1.0, None), judged(false, 1.0, None)];
        let grade = combine(both(), Some(0.5)).unwrap();
        assert_eq!((grade.pass, &*grade.reason), (true, "Aggregate score 0.50 ≥ 0.5 threshold"));
        assert!(!combine(both(), Some(0.6)).unwrap().pass);
        assert!(combine(vec![judged(false, 1.0, None)], Some(0.0)).unwrap().pass);
    }

    #[test]
    fn weight_zero_is_a_metric_only() {
        let grade = combine(vec![judged(false, 0.0, Some("m"))], None).unwrap();
        assert_eq!((grade.pass, grade.score), (true, 0.0));
        assert!(grade.named_scores["m"].abs() < f64::EPSILON);
    }

    #[test]
    fn a_set_counts_as_one_and_hands_its_metrics_up() {
        let set = Judged {
            set: Some(Set {
                members: vec![judged(true, 1.0, Some("m")), judged(false, 1.0, Some("m"))],
                threshold: Some(0.5),
            }),
            ..judged(true, 2.0, Some("set"))
        };
        let grade = combine(vec![set, judged(true, 1.0, None)], None).unwrap();
        assert!(grade.pass);
        assert_eq!(grade.components.len(), 4);
        assert_eq!(grade.components[1].set, Some(0));
        assert_eq!((grade.named_scores["m"], grade.named_weights["m"]), (0.5, 4.0));
        assert!((grade.score - 2.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_check_that_could_not_be_made_is_no_grade() {
        let broken = Judged { verdict: Verdict::error("broken"), ..judged(true, 1.0, None) };
        let unjudged = combine(vec![broken], Some(0.0)).unwrap_err();
        assert_eq!(explain(&unjudged), "broken");
    }

    #[test]
    fn all_assertions_that_could_not_be_judged_are_named() {
        let broken = |kind: &str, why: &str| Judged {
            verdict: Verdict::error(why),
            assertion: serde_json::json!({"type": kind}),
            ..judged(true, 1.0, None)
        };
        let members = vec![broken("similar", "no model"), judged(false, 1.0, None)];
        let set = Judged { set: Some(Set { members, threshold: None }), ..judged(true, 1.0, None) };
        let all = vec![broken("llm-rubric", "no model"), set, broken("python", "no interpreter")];
        assert_eq!(
            explain(&combine(all, None).unwrap_err()),
            "llm-rubric, similar: no model\npython: no interpreter"
        );
    }
}
