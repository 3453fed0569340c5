//! The opinion of a judge, `{pass, score, reason}`, read as leniently as promptfoo reads it.

use quintain_content::text::js;
use serde_json::Value;

/// What a judge thinks of an output.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Opinion {
    pub(super) pass: bool,
    /// As the judge gave it: not limited to the range from 0 to 1.
    pub(super) score: f64,
    pub(super) reason: String,
}

impl Opinion {
    /// A missing `pass` counts as true, a missing `score` follows `pass`. With a threshold, the score must reach it, too.
    pub(super) fn read(said: &Value, threshold: Option<f64>) -> Self {
        let pass = match said.get("pass") {
            None | Some(Value::Null) => true,
            Some(Value::Bool(pass)) => *pass,
            Some(other) => {
                let word = js::string(other);
                ["true", "yes", "pass", "y"].iter().any(|yes| word.eq_ignore_ascii_case(yes))
            }
        };
        let score = said.get("score").map(number).filter(|score| score.is_finite());
        let score = score.unwrap_or_else(|| f64::from(u8::from(pass)));
        let pass = pass && threshold.is_none_or(|least| score >= least);
        let reason = match said.get("reason").filter(|reason| !js::is_falsy(reason)) {
            Some(Value::String(reason)) => reason.clone(),
            Some(other) => js::stringify(other),
            None => match threshold {
                _ if pass => "Grading passed".to_owned(),
                Some(least) => {
                    format!("Score {} below threshold {}", js::number(score), js::number(least))
                }
                None => "the judge gave no reason".to_owned(),
            },
        };
        Self { pass, score, reason }
    }

    /// The opposite, with a score from 0 to 1.
    pub(super) fn inverted(self) -> Self {
        Self { pass: !self.pass, score: (1.0 - self.score).clamp(0.0, 1.0), ..self }
    }
}

/// `Number(value)` of JavaScript.
pub(super) fn number(value: &Value) -> f64 {
    match value {
        Value::Null => 0.0,
        Value::Bool(set) => f64::from(u8::from(*set)),
        Value::Number(number) => number.as_f64().unwrap_or(f64::NAN),
        Value::String(text) => match js::trim(text) {
            "" => 0.0,
            // Rust reads words that JavaScript does not.
            text if text.contains(|c: char| c.is_ascii_alphabetic() && !"eE".contains(c)) => {
                f64::NAN
            }
            text => text.parse().unwrap_or(f64::NAN),
        },
        Value::Array(_) => number(&Value::String(js::string(value))),
        Value::Object(_) => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(said: Value, threshold: Option<f64>) -> (bool, f64) {
        let opinion = Opinion::read(&said, threshold);
        (opinion.pass, opinion.score)
    }

    #[test]
    fn opinions_are_read_leniently() {
        for (said, wanted) in [
            (json!({}), (true, 1.0)),
            (json!({"pass": null, "score": 0.2}), (true, 0.2)),
            (json!({"pass": "Yes"}), (true, 1.0)),
            (json!({"pass": "y", "score": "0.5"}), (true, 0.5)),
            (json!({"pass": "no"}), (false, 0.0)),
            (json!({"pass": 1, "score": 1}), (false, 1.0)),
            (json!({"pass": false, "score": 7}), (false, 7.0)),
            (json!({"pass": true, "score": null}), (true, 0.0)),
            (json!({"pass": true, "score": "high"}), (true, 1.0)),
            (json!({"pass": true, "score": -3}), (true, -3.0)),
            (json!({"pass": ["yes"], "score": [0.5]}), (true, 0.5)),
            (json!({"pass": "inf", "score": "inf"}), (false, 0.0)),
        ] {
            assert_eq!(read(said.clone(), None), wanted, "{said}");
        }
    }

    #[test]
    fn a_threshold_is_one_more_condition() {
        assert_eq!(read(json!({"pass": true, "score": 0.4}), Some(0.5)), (false, 0.4));
        assert_eq!(read(json!({"pass": true, "score": 0.5}), Some(0.5)), (true, 0.5));
        assert_eq!(read(json!({"pass": false, "score": 0.9}), Some(0.5)), (false, 0.9));
        let reason = |said: Value, least| Opinion::read(&said, least).reason;
        assert_eq!(reason(json!({"score": 0.4}), Some(0.5)), "Score 0.4 below threshold 0.5");
        assert_eq!(reason(json!({"reason": {"a": 1}}), None), "{\"a\":1}");
        assert_eq!(reason(json!({"reason": ""}), None), "Grading passed");
    }

    #[test]
    fn inverted_scores_stay_in_range() {
        let inverted =
            |score: f64| Opinion { pass: true, score, reason: String::new() }.inverted().score;
        assert_eq!((inverted(0.25), inverted(7.0), inverted(-3.0)), (0.75, 0.0, 1.0));
    }
}
