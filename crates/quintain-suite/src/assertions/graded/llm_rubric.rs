//! A model judges that the output meets a rubric.

use quintain_content::registry::Meta;
use quintain_content::text::{fence, js};
use quintain_evidence::inquiry::Next;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use super::careful::Criterion;
use super::failure::error;
use super::judge::{Graded, Judge, NextStep, asking};
use super::opinion::Opinion;
use super::replies::Replies;
use super::rubric::{self, Rubric};
use crate::check::{Builtin, Expected, Scene, Spec};

const RUBRIC: Rubric = Rubric(include_str!("rubrics/llm-rubric.txt"));

pub(in super::super) static LLM_RUBRIC: Builtin = Builtin {
    meta: &Meta {
        id: "llm-rubric",
        aliases: &[],
        summary: "A model judges that the output meets a rubric",
        docs: r#"# What it does
Asks a model whether the output meets the rubric in `value`. The model answers `{"pass", "score", "reason"}`:
without `pass` the output passes, without `score` the score is 1 or 0. With `threshold`, the score must also
be at least that high. `not-` inverts both.

`provider` names the judge: here, in `options` of the test or of `defaultTest`, as an id, as a map with `id`
and `config`, or as the label of a target. Without one, the default judge of the run answers. `rubricPrompt`
replaces the question, in the same places: text, chat messages or `file://`, with the variables `output`,
`rubric` and those of the test.

# What counts as proof
The reply of the judge, which is stored. If the judge cannot answer, or answers without JSON, the result is
an error, never a pass, even with `not-`.

# Example
```yaml
- type: llm-rubric
  value: is polite and does not give away internal ids
  threshold: 0.8
  provider: openai:chat:gpt-5-mini
```
"#,
        since: "0.1.0",
    },
    compile: |spec| asking(RubricCheck::read(spec, RUBRIC)),
};

/// A check of an output against a rubric in words.
pub(super) struct RubricCheck {
    judge: Judge,
    rubric: Expected<Value>,
    default: Rubric,
}

impl RubricCheck {
    pub(super) fn read(spec: &mut Spec<'_, '_>, default: Rubric) -> Self {
        let wrong = format!("\"{}\" assertion type must have a string or object value", spec.kind);
        let rubric = spec.expect(move |value| match value.unwrap_or(&Value::Null) {
            Value::Bool(_) | Value::Number(_) => Err(wrong.clone()),
            value => Ok(value.clone()),
        });
        Self { judge: Judge::read(spec), rubric, default }
    }

    fn prompt(&self, scene: &Scene<'_>) -> Result<String, Box<Verdict>> {
        let rubric = self.rubric.get(scene)?;
        let rubric = if js::is_falsy(&rubric) { Value::from("") } else { rubric.into_owned() };
        let output = scene.text();
        if let Some(own) = self.judge.rubric_prompt(scene.test, scene.templates)? {
            let output = rubric::parsed(&output);
            let vars = rubric::with(scene.vars, [("output", output), ("rubric", rubric)]);
            return rubric::render(scene.templates, own, vars);
        }
        let rubric = crate::check::as_text(&rubric).into_owned();
        if rubric.trim().is_empty() {
            return error(format!(
                "the rubric of `{}` is empty: write it in `value`, or set `rubricPrompt`",
                self.judge.kind
            ));
        }
        Ok(self.default.fill(&[("output", &fence::quote(&output)), ("rubric", &rubric)]))
    }
}

impl Graded for RubricCheck {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn written(&self) -> Option<String> {
        let rubric = self.rubric.constant()?;
        Some(if js::is_falsy(rubric) {
            String::new()
        } else {
            crate::check::as_text(rubric).into_owned()
        })
    }

    fn criterion(&self, scene: &Scene<'_>) -> Option<Result<Criterion, Box<Verdict>>> {
        let criterion = || {
            let rubric = self.rubric.get(scene)?;
            let material = vec![("Output", scene.text().into_owned())];
            Ok(Criterion { statement: crate::check::as_text(&rubric).into_owned(), material })
        };
        Some(criterion())
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        if replies.is_empty() {
            return self.judge.ask_once(scene.test, self.prompt(scene)?);
        }
        let opinion = Opinion::read(&replies.object(0)?, self.judge.threshold);
        let Opinion { pass, score, reason } =
            if self.judge.negated { opinion.inverted() } else { opinion };
        Ok(Next::Done(Verdict::new(pass, score, reason)))
    }
}
