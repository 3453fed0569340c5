//! The perplexity of a response: how certain the model was of its tokens.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Scene, Spec, judging};

pub(super) static PERPLEXITY: Builtin = Builtin {
    meta: &Meta {
        id: "perplexity",
        aliases: &[],
        summary: "The perplexity of the response is low",
        docs: r"# What it does
Computes the perplexity of the response from the log probabilities that the target reports: 1 if the model
was certain of every token, higher if it was not. Passes if the perplexity is at most `threshold`, and
always without a threshold. If the target reports no log probabilities, the result is an error.

# Example
```yaml
- type: perplexity
  threshold: 1.5
```
",
        since: "0.1.0",
    },
    compile: perplexity,
};

pub(super) static PERPLEXITY_SCORE: Builtin = Builtin {
    meta: &Meta {
        id: "perplexity-score",
        aliases: &[],
        summary: "The perplexity of the response is low, as a score",
        docs: r"# What it does
Turns the perplexity of the response into a score, 1 / (1 + perplexity): 0.5 if the model was certain of
every token, lower if it was not. Passes if the score is at least `threshold`, and always without a
threshold. If the target reports no log probabilities, the result is an error.

# Example
```yaml
- type: perplexity-score
  threshold: 0.4
```
",
        since: "0.1.0",
    },
    compile: perplexity_score,
};

fn perplexity(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let (negated, threshold) = (spec.negated, spec.threshold());
    judging(move |scene| {
        let perplexity = measure(scene, "Perplexity")?;
        let Some(threshold) = threshold else { return Ok(Verdict::pass("Assertion passed")) };
        let relation = if negated { "less than or equal to" } else { "greater than" };
        Ok(Verdict::met((perplexity <= threshold) != negated, || {
            let (shown, threshold) = (js::to_fixed(perplexity, 2), js::number(threshold));
            format!("Perplexity {shown} is {relation} threshold {threshold}")
        }))
    })
}

fn perplexity_score(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let (negated, threshold) = (spec.negated, spec.threshold());
    judging(move |scene| {
        let score = 1.0 / (1.0 + measure(scene, "perplexity-score")?);
        let shown = if negated { 1.0 - score } else { score };
        let Some(threshold) = threshold.filter(|threshold| (score >= *threshold) == negated) else {
            return Ok(Verdict::new(true, shown, "Assertion passed"));
        };
        let relation = if negated { "greater than or equal to" } else { "less than" };
        let (two_digits, threshold) = (js::to_fixed(score, 2), js::number(threshold));
        let reason = format!("Perplexity score {two_digits} is {relation} threshold {threshold}");
        Ok(Verdict::new(false, shown, reason))
    })
}

/// e to the power of the mean negative log probability.
fn measure(scene: &Scene<'_>, what: &str) -> Result<f64, Box<Verdict>> {
    let reported = scene.response.log_probs.as_ref().and_then(Value::as_array);
    let Some(probabilities) = reported.filter(|all| !all.is_empty()) else {
        let why =
            format!("{what} assertion does not support providers that do not return logProbs");
        return Err(Box::new(Verdict::error(why)));
    };
    let Some(numbers) = probabilities.iter().map(Value::as_f64).collect::<Option<Vec<_>>>() else {
        let why = format!("{what} assertion needs logProbs that are numbers");
        return Err(Box::new(Verdict::error(why)));
    };
    Ok((-(numbers.iter().sum::<f64>() / numbers.len() as f64)).exp())
}

#[cfg(test)]
mod tests {
    use quintain_evidence::response::Response;
    use quintain_evidence::verdict::Status;
    use serde_json::{Value, json};

    use crate::testing::TestScene;

    fn sure(log_probs: Value) -> TestScene {
        let log_probs = Some(log_probs);
        TestScene {
            response: Response { log_probs, ..Response::text("x") },
            ..TestScene::default()
        }
    }

    #[test]
    fn perplexity_is_bounded_from_above() {
        let stage = sure(json!([-0.5, -1.5]));
        assert!(stage.judge("[{type: perplexity, threshold: 2.72}]").passed());
        assert_eq!(
            stage.judge("[{type: perplexity, threshold: 2}]").reason,
            "Perplexity 2.72 is greater than threshold 2"
        );
        assert_eq!(
            stage.judge("[{type: not-perplexity, threshold: 3}]").reason,
            "Perplexity 2.72 is less than or equal to threshold 3"
        );
        assert!(stage.judge("[{type: not-perplexity}]").passed());
    }

    #[test]
    fn the_score_is_bounded_from_below() {
        let stage = sure(json!([-1, -1]));
        let verdict = stage.judge("[{type: perplexity-score, threshold: 0.26}]");
        assert!(verdict.passed());
        assert!((verdict.score - 0.268_941_421_369_995_1).abs() < 1e-15);
        let verdict = stage.judge("[{type: perplexity-score, threshold: 0.5}]");
        assert_eq!(verdict.reason, "Perplexity score 0.27 is less than threshold 0.5");
        let verdict = stage.judge("[{type: not-perplexity-score, threshold: 0.1}]");
        assert_eq!(
            verdict.reason,
            "Perplexity score 0.27 is greater than or equal to threshold 0.1"
        );
        assert!((verdict.score - 0.731_058_578_630_004_9).abs() < 1e-15);
    }

    #[test]
    fn nothing_is_judged_without_log_probabilities() {
        for stage in [TestScene::output("x"), sure(json!([])), sure(json!("x")), sure(json!(["x"]))]
        {
            for yaml in ["[{type: perplexity}]", "[{type: not-perplexity-score}]"] {
                assert_eq!(stage.judge(yaml).status, Status::Error);
            }
        }
    }
}
