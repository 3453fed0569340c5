//! A scoring service answers how well the output satisfies a question.

use std::collections::BTreeMap;

use quintain_content::registry::Meta;
use quintain_evidence::inquiry::Next;
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::verdict::Verdict;
use quintain_source::Node;
use serde_json::{Value, json};

use super::failure::error;
use super::judge::{Graded, Judge, NextStep, asking};
use super::replies::Replies;
use crate::check::{Builtin, Expected, ModelTask, Scene, Spec};

const DEFAULT_THRESHOLD: f64 = 0.5;

pub(in super::super) static PI: Builtin = Builtin {
    meta: &Meta {
        id: "pi",
        aliases: &[],
        summary: "A scoring service scores the output by a question",
        docs: r#"# What it does
Sends `{"llm_input", "llm_output", "scoring_spec": [{"question"}]}` to the scoring service in `config.url`
(POST), with the prompt, the output and the question in `value`, and expects `{"total_score",
"question_scores"}`. Passes if the total score is above `threshold` (default 0.5); the scores of questions
are reported as named scores. `not-` has no effect, as in promptfoo.

promptfoo sends this to a hosted service. Quintain contacts only what `config.url` names; without it, the
result is an error.

# What counts as proof
The reply of the service, which is stored. If it cannot answer, the result is an error.

# Example
```yaml
- type: pi
  value: Is the response to the point?
  config: { url: "http://localhost:8080/score" }
```
"#,
        since: "0.1.0",
    },
    compile: |spec| {
        let question = spec.expect(|value| match value {
            Some(Value::String(text)) => Ok(text.clone()),
            _ => Err("\"pi\" assertion type must have a string value".to_owned()),
        });
        let url = url(spec);
        asking(Pi { judge: Judge::without_negation(spec), question, url })
    },
};

fn url(spec: &mut Spec<'_, '_>) -> Option<String> {
    let node = spec.fields.get("config").and_then(|config| config.get("url"))?;
    let url = node.raw().map(str::to_owned);
    if url.is_none() {
        quintain_source::wrong_type("url", "a URL", node, spec.dx);
    }
    url.or_else(|| spec.node.get("provider").and_then(Node::raw).map(str::to_owned))
}

struct Pi {
    judge: Judge,
    question: Expected<String>,
    url: Option<String>,
}

impl Graded for Pi {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    /// It asks a web service, not a model.
    fn tasks(&self) -> &'static [ModelTask] {
        &[]
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        let question = self.question.get(scene)?;
        let Some(url) = &self.url else {
            return error("`pi` needs a scoring service: name it in `config.url`");
        };
        let Some(answer) = replies.answer(0) else {
            let body = json!({
                "llm_input": scene.prompt,
                "llm_output": scene.text(),
                "scoring_spec": [{"question": *question}],
            });
            return Ok(Next::Ask(vec![Question::Post { url: url.clone(), body }]));
        };
        let said = match answer {
            Answer::Value(said) => said,
            Answer::Failed(why) | Answer::Unavailable(why) => {
                return error(format!("the scoring service failed: {why}"));
            }
            Answer::Exchange(_) | Answer::Reply(_) => {
                return error("the scoring service was not called");
            }
        };
        let Some(score) = said.get("total_score").and_then(Value::as_f64) else {
            return error("the reply of the scoring service lacks `total_score`");
        };
        let least = self.judge.threshold.unwrap_or(DEFAULT_THRESHOLD);
        let scores = said.get("question_scores").and_then(Value::as_object).into_iter().flatten();
        let named_scores: BTreeMap<String, f64> =
            scores.filter_map(|(name, score)| Some((name.clone(), score.as_f64()?))).collect();
        let verdict = Verdict::new(score > least, score, "Pi Scorer");
        Ok(Next::Done(Verdict { named_scores, ..verdict }))
    }
}
