//! A model judges how the facts in the output relate to a reference answer.

use std::sync::LazyLock;

use quintain_content::json_text;
use quintain_content::registry::Meta;
use quintain_content::text::fence;
use quintain_evidence::inquiry::Next;
use quintain_evidence::verdict::Verdict;
use regex::Regex;
use serde_json::Value;

use super::careful::Criterion;
use super::failure::error;
use super::judge::{Graded, Judge, NextStep, asking};
use super::replies::Replies;
use super::rubric::Rubric;
use crate::check::{Builtin, Expected, Scene, Test};

const RUBRIC: Rubric = Rubric(include_str!("rubrics/factuality.txt"));

pub(in super::super) static FACTUALITY: Builtin = Builtin {
    meta: &Meta {
        id: "factuality",
        aliases: &["model-graded-factuality"],
        summary: "A model judges that the output agrees with a fact",
        docs: r"# What it does
Asks a model how the facts in the output relate to the statement in `value`, given the prompt. The model
answers with a category: (A) the output says less, (B) it says more, (C) it says the same, (D) it
contradicts, (E) it differs in ways that do not matter. All but D pass with score 1. `factuality` in
`options` of a test sets other scores: `subset`, `superset`, `agree`, `disagree`, `differButFactual`; a
category with a score above 0 passes. `not-` has no effect, as in promptfoo.

`provider` names the judge, `rubricPrompt` replaces the question (variables `input`, `ideal`, `completion`
and those of the test); see `llm-rubric`.

# What counts as proof
The reply of the judge, which is stored. If it cannot answer, or names no category, the result is an error.

# Example
```yaml
- type: factuality
  value: The capital of France is Paris
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let fact = spec.expect(|value| match value {
            Some(Value::String(text)) => Ok(text.clone()),
            _ => Err("factuality assertion type must have a string value".to_owned()),
        });
        asking(Factuality { judge: Judge::without_negation(spec), fact })
    },
};

/// Categories: letter, option for the score, default score, meaning.
const CATEGORIES: [(char, &str, f64, &str); 5] = [
    ('A', "subset", 1.0, "the output says less than the reference and agrees with it"),
    ('B', "superset", 1.0, "the output says more than the reference and agrees with it"),
    ('C', "agree", 1.0, "the output says the same as the reference"),
    ('D', "disagree", 0.0, "the output contradicts the reference"),
    ('E', "differButFactual", 1.0, "the differences do not matter"),
];

struct Factuality {
    judge: Judge,
    fact: Expected<String>,
}

impl Factuality {
    fn prompt(&self, scene: &Scene<'_>) -> Result<String, Box<Verdict>> {
        let fact = self.fact.get(scene)?;
        if scene.prompt.is_empty() {
            return error("factuality assertion type must have a prompt");
        }
        self.judge.compared_prompt(scene, &RUBRIC, ("ideal", &fact), &fence::quote(&fact))
    }
}

impl Graded for Factuality {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn written(&self) -> Option<String> {
        self.fact.constant().cloned()
    }

    fn criterion(&self, scene: &Scene<'_>) -> Option<Result<Criterion, Box<Verdict>>> {
        let criterion = || {
            let fact = self.fact.get(scene)?.into_owned();
            let statement = "The output does not contradict the reference.".to_owned();
            let material = vec![("Reference", fact), ("Output", scene.text().into_owned())];
            Ok(Criterion { statement, material })
        };
        Some(criterion())
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        if replies.is_empty() {
            return self.judge.ask_once(scene.test, self.prompt(scene)?);
        }
        let text = replies.text(0)?;
        let Some((letter, reason)) = category(&text) else {
            return replies.malformed("names no category from A to E", &text);
        };
        let score = score(letter, scene.test);
        Ok(Next::Done(Verdict::new(score > 0.0, score, reason)))
    }
}

#[expect(clippy::unwrap_used, reason = "a constant, used by the tests")]
static LETTER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\(?([a-eA-E])\)").unwrap());

/// The category and the reason in a reply: JSON, or `(A) because ...`.
fn category(text: &str) -> Option<(char, String)> {
    let said = json_text::objects(text).into_iter().next();
    let named = said.as_ref().and_then(|said| said.get("category")).and_then(Value::as_str);
    let reason = said.as_ref().and_then(|said| said.get("reason"));
    let is_readable = reason.is_none_or(|reason| reason.is_string() || reason.is_null());
    if let Some(named) = named.filter(|named| !named.is_empty() && is_readable) {
        let mut letters = named.trim().chars().map(|letter| letter.to_ascii_uppercase());
        let (letter, None) = (letters.next()?, letters.next()) else { return None };
        let meaning = CATEGORIES.iter().find(|(known, ..)| *known == letter)?.3;
        let reason = reason.and_then(Value::as_str).map(str::trim).filter(|why| !why.is_empty());
        let reason = reason.map_or_else(|| format!("Category {letter}: {meaning}"), str::to_owned);
        return Some((letter, reason));
    }
    let letter = LETTER.captures(text)?.get(1)?.as_str().chars().next()?.to_ascii_uppercase();
    let reason = text.split_once(')').map_or("", |(_, rest)| rest.trim());
    Some((letter, if reason.is_empty() { text } else { reason }.to_owned()))
}

/// The score of a category: the default, or that of the options.
fn score(letter: char, test: &Test) -> f64 {
    let Some((_, option, default, _)) = CATEGORIES.iter().find(|(known, ..)| *known == letter)
    else {
        return 0.0;
    };
    let scores = test.options.raw.get("factuality");
    scores.and_then(|scores| scores.get(option)?.as_f64()).unwrap_or(*default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_are_read_from_json_and_from_prose() {
        for (text, wanted) in [
            (r#"{"category": "C", "reason": " same "}"#, Some(('C', "same"))),
            (r#"sure: {"category": "d", "reason": "no"}"#, Some(('D', "no"))),
            (
                r#"{"category": " b "}"#,
                Some((
                    'B',
                    "Category B: the output says more than the reference and agrees with it",
                )),
            ),
            ("(e) style only", Some(('E', "style only"))),
            ("a)", Some(('A', "a)"))),
            ("Answer: D) wrong (really)", Some(('D', "wrong (really)"))),
            (r#"{"category": "F"}"#, None),
            (r#"{"category": "AB"}"#, None),
            ("Yes", None),
            ("(f)", None),
        ] {
            let found = category(text);
            let found = found.as_ref().map(|(letter, reason)| (*letter, reason.as_str()));
            assert_eq!(found, wanted, "{text}");
        }
    }
}
