//! A model derives evaluation steps from criteria and scores the output by them.

use quintain_content::registry::Meta;
use quintain_content::text::fence;
use quintain_evidence::inquiry::Next;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use super::careful::Criterion;
use super::failure::error;
use super::judge::{Graded, Judge, NextStep, asking};
use super::opinion::number;
use super::replies::Replies;
use super::rubric::{self, Rubric};
use crate::check::{Builtin, Expected, Scene};

const STEPS: Rubric = Rubric(include_str!("rubrics/g-eval-steps.txt"));
const EVALUATE: Rubric = Rubric(include_str!("rubrics/g-eval.txt"));

const DEFAULT_THRESHOLD: f64 = 0.7;
const MAX_SCORE: f64 = 10.0;

pub(in super::super) static G_EVAL: Builtin = Builtin {
    meta: &Meta {
        id: "g-eval",
        aliases: &[],
        summary: "A model scores the output by criteria, step by step (G-Eval)",
        docs: r#"# What it does
Asks a model twice for each criterion in `value` (text, or a list of texts): first for evaluation steps,
`{"steps": [...]}` on one line, then for a score from 0 to 10 by these steps, `{"score", "reason"}` on one
line. The score of the assertion is a tenth of that; the scores of several criteria are averaged. Passes if
it is at least `threshold` (default 0.7). `not-` inverts both.

`provider` names the judge, see `llm-rubric`. `rubricPrompt` is a map that replaces the questions: `steps`
(variable `criteria`) and `evaluate` (`criteria`, `steps`, `maxScore`, `input`, `output`).

# What counts as proof
The replies of the judge, which are stored. If it cannot answer, or gives no reason or a score outside the
range, the result is an error, never a pass, even with `not-`.

# Example
```yaml
- type: g-eval
  value: [is coherent, is to the point]
```
"#,
        since: "0.1.0",
    },
    compile: |spec| {
        let wrong = "G-Eval assertion type must have a string or array of strings value";
        let criteria = spec.expect(move |value| match value {
            Some(Value::String(text)) => Ok(vec![text.clone()]),
            Some(Value::Array(items)) if !items.is_empty() => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>().ok_or_else(|| wrong.to_owned())
            }
            Some(Value::Array(_)) => {
                Err("G-Eval assertion requires at least one criterion".to_owned())
            }
            _ => Err(wrong.to_owned()),
        });
        asking(GEval { judge: Judge::read(spec), criteria })
    },
};

struct GEval {
    judge: Judge,
    criteria: Expected<Vec<String>>,
}

impl GEval {
    /// The part of the user's prompt for one of the two questions.
    fn own<'a>(&'a self, scene: &Scene<'a>, name: &str) -> Result<Option<&'a Value>, Box<Verdict>> {
        let prompt = self.judge.rubric_prompt(scene.test, scene.templates)?;
        let part = prompt.and_then(Value::as_object).and_then(|parts| parts.get(name));
        Ok(part.filter(|own| !own.is_null()))
    }

    fn steps_prompt(&self, scene: &Scene<'_>, criterion: &str) -> Result<String, Box<Verdict>> {
        match self.own(scene, "steps")? {
            Some(own) => {
                rubric::render(scene.templates, own, rubric::only([("criteria", criterion.into())]))
            }
            None => Ok(STEPS.fill(&[("criteria", criterion)])),
        }
    }

    fn evaluate_prompt(
        &self,
        scene: &Scene<'_>,
        criterion: &str,
        steps: &str,
    ) -> Result<String, Box<Verdict>> {
        let (input, output) = (scene.prompt, scene.text());
        match self.own(scene, "evaluate")? {
            Some(own) => {
                let vars = rubric::only([
                    ("criteria", criterion.into()),
                    ("steps", steps.into()),
                    ("maxScore", "10".into()),
                    ("input", rubric::parsed(input)),
                    ("output", rubric::parsed(&output)),
                ]);
                rubric::render(scene.templates, own, vars)
            }
            None => Ok(EVALUATE.fill(&[
                ("criteria", criterion),
                ("steps", steps),
                ("input", &fence::quote(input)),
                ("output", &fence::quote(&output)),
            ])),
        }
    }
}

impl Graded for GEval {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn written(&self) -> Option<String> {
        self.criteria.constant().map(|criteria| criteria.concat())
    }

    fn criterion(&self, scene: &Scene<'_>) -> Option<Result<Criterion, Box<Verdict>>> {
        let criterion = || {
            let statement = self.criteria.get(scene)?.join("\n");
            let output = scene.text().into_owned();
            let material = vec![("Input", scene.prompt.to_owned()), ("Output", output)];
            Ok(Criterion { statement, material })
        };
        Some(criterion())
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        let criteria = self.criteria.get(scene)?;
        let count = criteria.len();
        if replies.is_empty() {
            if scene.prompt.is_empty() {
                return error("No source text to estimate reply");
            }
            let questions = criteria
                .iter()
                .map(|criterion| self.judge.chat(scene.test, self.steps_prompt(scene, criterion)?));
            return Ok(Next::Ask(questions.collect::<Result<_, _>>()?));
        }
        if replies.len() <= count {
            let questions = criteria.iter().enumerate().map(|(at, criterion)| {
                let text = replies.text(at)?;
                let Some(steps) = steps(&text) else {
                    return replies.malformed("has no list of evaluation steps", &text);
                };
                let prompt = self.evaluate_prompt(scene, criterion, &steps.join("\n- "))?;
                self.judge.chat(scene.test, prompt)
            });
            return Ok(Next::Ask(questions.collect::<Result<_, _>>()?));
        }
        let mut sum = 0.0;
        let mut reasons = Vec::with_capacity(count);
        for at in count..2 * count {
            let text = replies.text(at)?;
            let Some((score, reason)) = scored(&text) else {
                let wanted = "has no score from 0 to 10 with a reason";
                return replies.malformed(wanted, &text);
            };
            sum += score / MAX_SCORE;
            reasons.push(reason);
        }
        let score = sum / count as f64;
        let pass = score >= self.judge.threshold.unwrap_or(DEFAULT_THRESHOLD);
        Ok(Next::Done(self.judge.scored(pass, score, reasons.join("\n\n"))))
    }
}

/// The steps in a reply.
fn steps(text: &str) -> Option<Vec<String>> {
    let said: Value = serde_json::from_str(in_one_line(text, "{\"steps\"")?).ok()?;
    let steps = said.get("steps")?.as_array()?;
    let texts = steps.iter().map(|step| step.as_str().filter(|step| !step.trim().is_empty()));
    let steps = texts.map(|step| step.map(str::to_owned)).collect::<Option<Vec<_>>>()?;
    (!steps.is_empty()).then_some(steps)
}

/// The score and the reason in a reply.
fn scored(text: &str) -> Option<(f64, String)> {
    let said: Value = serde_json::from_str(in_one_line(text, "{")?).ok()?;
    let score = match said.get("score")? {
        score @ Value::Number(_) => number(score),
        Value::String(text) if !text.trim().is_empty() => number(&said["score"]),
        _ => return None,
    };
    let reason = said.get("reason")?.as_str().filter(|reason| !reason.trim().is_empty())?;
    (0.0..=MAX_SCORE).contains(&score).then(|| (score, reason.to_owned()))
}

/// The first line with `start`, from there to its last closing brace: promptfoo's `/\{.+\}/`.
fn in_one_line<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    text.split(['\n', '\r', '\u{2028}', '\u{2029}']).find_map(|line| {
        let from = line.find(start)?;
        let to = line.rfind('}')?;
        (to > from + start.len()).then(|| &line[from..=to])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_must_begin_the_json() {
        let read = |text| steps(text).map(|steps| steps.join("|"));
        assert_eq!(read(r#"{"steps": ["a", "b"]}"#), Some("a|b".to_owned()));
        assert_eq!(read("Here:\n{\"steps\":[\"a\"]} done"), Some("a".to_owned()));
        for wrong in [
            r#"{ "steps": ["a"]}"#,
            "{\"steps\":\n[\"a\"]}",
            r#"{"steps": []}"#,
            r#"{"steps": "a"}"#,
            r#"{"steps": ["a", " "]}"#,
            r#"{"steps": ["a"]} and {"more": 1}"#,
            "a, b",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn scores_are_in_range_and_have_a_reason() {
        assert_eq!(scored(r#"{"score": 7, "reason": "r"}"#), Some((7.0, "r".to_owned())));
        assert_eq!(
            scored("x {\"score\": \"7.5\", \"reason\": \"r\"} y"),
            Some((7.5, "r".to_owned()))
        );
        for wrong in [
            r#"{"score": 11, "reason": "r"}"#,
            r#"{"score": -1, "reason": "r"}"#,
            r#"{"score": 7}"#,
            r#"{"score": 7, "reason": " "}"#,
            r#"{"score": null, "reason": "r"}"#,
            r#"{"score": "", "reason": "r"}"#,
            r#"{"score": "high", "reason": "r"}"#,
            "{\"score\": 7,\n\"reason\": \"r\"}",
            "7",
            "{}",
        ] {
            assert_eq!(scored(wrong), None, "{wrong}");
        }
    }
}
