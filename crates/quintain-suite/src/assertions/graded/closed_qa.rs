//! A model judges whether the output meets a criterion, yes or no.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::inquiry::Next;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use super::careful::Criterion;
use super::failure::error;
use super::judge::{Graded, Judge, NextStep, asking};
use super::replies::Replies;
use super::rubric::Rubric;
use crate::check::{Builtin, Expected, Scene};

const RUBRIC: Rubric = Rubric(include_str!("rubrics/model-graded-closedqa.txt"));

pub(in super::super) static CLOSED_QA: Builtin = Builtin {
    meta: &Meta {
        id: "model-graded-closedqa",
        aliases: &[],
        summary: "A model judges whether the output meets a criterion, yes or no",
        docs: r"# What it does
Asks a model whether the output, as the answer to the prompt, meets the criterion in `value`. Passes if the
reply ends in `Y`; any other reply fails, `Yes` and `Y.` included. `not-` has no effect, as in promptfoo.

`provider` names the judge, `rubricPrompt` replaces the question (variables `input`, `criteria`,
`completion` and those of the test); see `llm-rubric`.

# What counts as proof
The reply of the judge, which is stored. If it cannot answer, the result is an error.

# Example
```yaml
- type: model-graded-closedqa
  value: names exactly one city
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let criterion = spec.expect(|value| match value {
            Some(Value::String(text)) => Ok(text.clone()),
            _ => Err("model-graded-closedqa assertion type must have a string value".to_owned()),
        });
        asking(ClosedQa { judge: Judge::without_negation(spec), criterion })
    },
};

struct ClosedQa {
    judge: Judge,
    criterion: Expected<String>,
}

impl ClosedQa {
    fn prompt(&self, scene: &Scene<'_>) -> Result<String, Box<Verdict>> {
        let criterion = self.criterion.get(scene)?;
        if scene.prompt.is_empty() {
            return error("model-graded-closedqa assertion type must have a prompt");
        }
        self.judge.compared_prompt(scene, &RUBRIC, ("criteria", &criterion), &criterion)
    }
}

impl Graded for ClosedQa {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn written(&self) -> Option<String> {
        self.criterion.constant().cloned()
    }

    fn criterion(&self, scene: &Scene<'_>) -> Option<Result<Criterion, Box<Verdict>>> {
        let criterion = || {
            let statement = self.criterion.get(scene)?.into_owned();
            let output = scene.text().into_owned();
            let material = vec![("Input", scene.prompt.to_owned()), ("Output", output)];
            Ok(Criterion { statement, material })
        };
        Some(criterion())
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        if replies.is_empty() {
            return self.judge.ask_once(scene.test, self.prompt(scene)?);
        }
        let text = replies.text(0)?;
        let end = text.trim_end_matches(js::is_space);
        let said = match (end.ends_with('Y'), end.ends_with('N')) {
            (true, _) => "The submission meets the criterion",
            (_, true) => "The submission does not meet the criterion",
            _ => "Model grader produced a malformed response",
        };
        Ok(Next::Done(Verdict::of(end.ends_with('Y'), format!("{said}:\n{text}"))))
    }
}
