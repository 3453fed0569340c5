//! Turns the return value of user code into a verdict: a boolean, a score, or a whole verdict.

use quintain_content::text::js;
use quintain_evidence::verdict::{Status, Verdict};
use serde_json::{Map, Value};

/// A valid return value.
#[derive(Debug, Clone, PartialEq)]
pub enum Grade {
    Answer(bool),
    Score(f64),
    /// `{pass, score, reason}` with its optional keys.
    Opinion(Box<Verdict>),
}

/// The words that promptfoo uses for the code in reasons.
#[derive(Debug, Clone, Copy)]
pub struct Voice {
    /// `Custom function` or `Python code`.
    pub code: &'static str,
    /// `Python`
    pub language: &'static str,
}

impl Grade {
    /// Reads the return value of JavaScript.
    pub fn of_js(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(answer) => Some(Self::Answer(*answer)),
            Value::Number(number) => number.as_f64().map(Self::Score),
            Value::Object(map) => opinion(map).map(Box::new).map(Self::Opinion),
            _ => None,
        }
    }

    /// Reads the return value of Python or Ruby, which may be JSON text and have keys in snake case.
    ///
    /// # Errors
    /// If the value is invalid; the message shows it.
    pub fn of_script(value: &Value, voice: Voice, threshold: Option<f64>) -> Result<Self, String> {
        let wanted = format!(
            "{} assertion must return a boolean, number, or {{pass, score, reason}} object.",
            voice.language
        );
        let parsed;
        let value = match value {
            Value::String(text) if text.starts_with('{') => {
                parsed = serde_json::from_str(text).map_err(|error| {
                    format!("Invalid JSON: {error} when parsing result: {text}")
                })?;
                &parsed
            }
            value => value,
        };
        match value {
            Value::Bool(answer) => Ok(Self::Answer(*answer)),
            Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(Self::Answer(true)),
            Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(Self::Answer(false)),
            Value::Object(map) => {
                let map = camel_case(map);
                let Some(mut verdict) = opinion(&map) else {
                    let pretty = serde_json::to_string_pretty(&map).unwrap_or_default();
                    return Err(format!("{wanted} Got instead:\n{pretty}"));
                };
                if let Some(threshold) = threshold.filter(|least| verdict.score < *least) {
                    verdict.status = Status::Fail;
                    let (score, least) = (js::number(verdict.score), js::number(threshold));
                    let short =
                        format!("{} score {score} is less than threshold {least}", voice.language);
                    verdict.reason = match verdict.reason.as_str() {
                        "" => short,
                        reason => format!("{short}: {reason}"),
                    };
                }
                Ok(Self::Opinion(Box::new(verdict)))
            }
            Value::Array(_) => {
                let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
                Err(format!("{wanted} Got instead:\n{pretty}"))
            }
            Value::Number(number) => Ok(Self::Score(number.as_f64().unwrap_or_default())),
            other => match leading_number(&js::string(other)) {
                Some(score) => Ok(Self::Score(score)),
                None => Err(format!("{wanted} Instead got:\n{}", js::string(other))),
            },
        }
    }

    /// The verdict; `shown` is the code as reasons show it.
    pub fn verdict(
        self,
        voice: Voice,
        negated: bool,
        threshold: Option<f64>,
        shown: &str,
    ) -> Verdict {
        let said = |raw: bool| format!("{} returned {raw}", voice.code);
        let why = |raw: bool| match shown {
            "" => said(raw),
            shown => format!("{}\n{shown}", said(raw)),
        };
        match self {
            Self::Answer(raw) => Verdict::met(raw != negated, || why(raw)),
            Self::Score(score) => {
                let raw = threshold.map_or(score > 0.0, |least| score >= least);
                Verdict { score, ..Verdict::met(raw != negated, || why(raw)) }
            }
            Self::Opinion(opinion) if !negated => *opinion,
            Self::Opinion(opinion) => {
                let raw = opinion.passed();
                let (status, reason) = if raw {
                    (Status::Fail, said(raw))
                } else {
                    (Status::Pass, "Assertion passed".to_owned())
                };
                Verdict { status, reason, ..*opinion }
            }
        }
    }
}

/// An object that promptfoo accepts as a `GradingResult`.
fn opinion(map: &Map<String, Value>) -> Option<Verdict> {
    let pass = map.get("pass")?.as_bool()?;
    let score = map.get("score")?.as_f64()?;
    let reason = map.get("reason")?.as_str()?;
    let kind = |name: &str, right: fn(&Value) -> bool| map.get(name).is_none_or(right);
    let object = |value: &Value| value.is_object() || value.is_array() || value.is_null();
    let right = kind("namedScores", object)
        && kind("tokensUsed", object)
        && kind("componentResults", Value::is_array)
        && kind("comment", Value::is_string);
    if !right {
        return None;
    }
    let mut verdict = Verdict::new(pass, score, reason);
    let scores = map.get("namedScores").and_then(Value::as_object).into_iter().flatten();
    verdict.named_scores =
        scores.filter_map(|(name, score)| Some((name.clone(), score.as_f64()?))).collect();
    let parts = map.get("componentResults").and_then(Value::as_array).into_iter().flatten();
    verdict.components = parts.filter_map(Value::as_object).map(part).collect();
    verdict.metadata = map.get("metadata").filter(|metadata| metadata.is_object()).cloned();
    Some(verdict)
}

/// Component results may be incomplete; missing keys get defaults.
fn part(map: &Map<String, Value>) -> Verdict {
    opinion(map).unwrap_or_else(|| {
        let pass = map.get("pass").and_then(Value::as_bool).unwrap_or(false);
        let score = map.get("score").and_then(Value::as_f64);
        let reason = map.get("reason").map(js::string).unwrap_or_default();
        Verdict::new(pass, score.unwrap_or(f64::from(u8::from(pass))), reason)
    })
}

fn camel_case(map: &Map<String, Value>) -> Map<String, Value> {
    const NAMES: [(&str, &str); 4] = [
        ("pass_", "pass"),
        ("named_scores", "namedScores"),
        ("component_results", "componentResults"),
        ("tokens_used", "tokensUsed"),
    ];
    let mut map = map.clone();
    for (snake, camel) in NAMES {
        if let (Some(value), false) = (map.get(snake).cloned(), map.contains_key(camel)) {
            map.insert(camel.to_owned(), value);
        }
    }
    if let Some(Value::Array(parts)) = map.get_mut("componentResults") {
        for part in parts {
            if let Value::Object(inner) = part {
                *part = Value::Object(camel_case(inner));
            }
        }
    }
    map
}

/// `parseFloat`: the number at the start of a text.
fn leading_number(text: &str) -> Option<f64> {
    let text = js::trim(text);
    let number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let end = text.find(|c| !number(c)).unwrap_or(text.len());
    (1..=end)
        .rev()
        .take(40)
        .find_map(|end| text[..end].parse::<f64>().ok().filter(|number| number.is_finite()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PYTHON: Voice = Voice { code: "Python code", language: "Python" };

    fn python(value: Value, threshold: Option<f64>, negated: bool) -> Verdict {
        match Grade::of_script(&value, PYTHON, threshold) {
            Ok(grade) => grade.verdict(PYTHON, negated, threshold, "code"),
            Err(why) => Verdict::fail(why),
        }
    }

    #[test]
    fn answers_scores_and_opinions_are_understood() {
        for (value, pass, score) in [
            (json!(true), true, 1.0),
            (json!("False"), false, 0.0),
            (json!(0.5), true, 0.5),
            (json!(0), false, 0.0),
            (json!("0.25 points"), true, 0.25),
            (json!({"pass_": true, "score": 0.5, "reason": "r"}), true, 0.5),
            (json!("{\"pass\": false, \"score\": 0.5, \"reason\": \"r\"}"), false, 0.5),
        ] {
            let verdict = python(value.clone(), None, false);
            assert_eq!((verdict.passed(), verdict.score), (pass, score), "{value}");
        }
        assert_eq!(python(json!(false), None, false).reason, "Python code returned false\ncode");
    }

    #[test]
    fn a_threshold_is_applied_to_scores_and_opinions() {
        assert!(!python(json!(0.4), Some(0.5), false).passed());
        let opinion = json!({"pass": true, "score": 0.4, "reason": "meh"});
        let verdict = python(opinion.clone(), Some(0.5), false);
        assert_eq!(verdict.reason, "Python score 0.4 is less than threshold 0.5: meh");
        let Some(Grade::Opinion(ours)) = Grade::of_js(&opinion) else { panic!() };
        assert!(ours.passed(), "the threshold does not apply to JavaScript");
    }

    #[test]
    fn not_turns_the_opinion_but_not_its_score() {
        let verdict = python(json!({"pass": true, "score": 0.9, "reason": "r"}), None, true);
        assert_eq!((verdict.passed(), verdict.score), (false, 0.9));
        assert_eq!(verdict.reason, "Python code returned true");
        let verdict = python(json!(3), None, true);
        assert_eq!((verdict.passed(), verdict.score), (false, 3.0));
    }

    #[test]
    fn parts_and_named_scores_are_kept() {
        let verdict = python(
            json!({
                "pass": true, "score": 1, "reason": "", "named_scores": {"a": 0.5, "b": "x"},
                "component_results": [{"pass_": true, "score": 1, "reason": "p"}, {"pass": false}, 7]
            }),
            None,
            false,
        );
        assert_eq!(verdict.named_scores.len(), 1);
        let parts: Vec<bool> = verdict.components.iter().map(Verdict::passed).collect();
        assert_eq!(parts, [true, false]);
    }

    #[test]
    fn anything_else_is_refused() {
        for value in [json!(null), json!([1]), json!("yes"), json!({"pass": 1}), json!("{")] {
            assert!(Grade::of_script(&value, PYTHON, None).is_err(), "{value}");
        }
        for value in [json!(null), json!("true"), json!([]), json!({"pass": true, "score": 1})] {
            assert_eq!(Grade::of_js(&value), None, "{value}");
        }
    }
}
