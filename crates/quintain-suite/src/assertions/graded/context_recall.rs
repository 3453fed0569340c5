//! The context contains the facts of a reference answer.

use quintain_content::registry::Meta;
use quintain_content::text::{fence, js};
use quintain_evidence::inquiry::Next;
use quintain_evidence::verdict::Verdict;
use serde_json::{Value, json};

use super::context::{Context, ContextSource};
use super::failure::error;
use super::judge::{Graded, Judge, NextStep, asking};
use super::replies::Replies;
use super::rubric::{self, Rubric};
use super::sentences::lines;
use crate::check::{Builtin, Expected, Scene};

const RUBRIC: Rubric = Rubric(include_str!("rubrics/context-recall.txt"));

const DEFAULT_THRESHOLD: f64 = 0.5;

pub(in super::super) static CONTEXT_RECALL: Builtin = Builtin {
    meta: &Meta {
        id: "context-recall",
        aliases: &[],
        summary: "The context contains the expected facts",
        docs: r"# What it does
Asks a model which sentences of the statement in `value` are supported by the variable `context` (or by the
context that `contextTransform` extracts from the response, or by the prompt if there is neither). The
model marks every sentence with `[Attributed]` or `[Not Attributed]`; the score is the share of the first.
Passes if it is at least `threshold` (default 0.5). `not-` inverts both.

`provider` names the judge, `rubricPrompt` replaces the question (variables `context`, `groundTruth` and
those of the test); see `llm-rubric`.

# What counts as proof
The reply of the judge, which is stored. If it cannot answer, or marks nothing, the result is an error,
never a pass, even with `not-`.

# Example
```yaml
- type: context-recall
  value: The order was sent on Monday
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let truth = spec.expect(|value| match value {
            Some(Value::String(text)) => Ok(text.clone()),
            _ => {
                Err("context-recall assertion requires a string value (expected answer or fact to \
                      verify)"
                    .to_owned())
            }
        });
        let context = ContextSource::read(spec, true);
        asking(ContextRecall { judge: Judge::read(spec), truth, context })
    },
};

struct ContextRecall {
    judge: Judge,
    truth: Expected<String>,
    context: ContextSource,
}

impl ContextRecall {
    fn prompt(&self, scene: &Scene<'_>, context: &Context) -> Result<String, Box<Verdict>> {
        let truth = self.truth.get(scene)?;
        match self.judge.rubric_prompt(scene.test, scene.templates)? {
            Some(own) => {
                let vars = [
                    ("context", context.text().into()),
                    ("groundTruth", truth.into_owned().into()),
                ];
                rubric::render(scene.templates, own, rubric::with(scene.vars, vars))
            }
            None => Ok(RUBRIC.fill(&[
                ("context", &fence::quote(&context.text())),
                ("groundTruth", &fence::quote(&truth)),
            ])),
        }
    }

    fn verdict(&self, replies: &Replies<'_>, context: &Context) -> Result<Verdict, Box<Verdict>> {
        let text = replies.text(context.asked)?;
        let marked = lines(&text).into_iter().filter_map(|line| {
            let lower = line.to_lowercase();
            let is_missing = lower.contains("[not attributed]");
            (is_missing || lower.contains("[attributed]")).then_some((line, !is_missing))
        });
        let marked: Vec<(&str, bool)> = marked.collect();
        if marked.is_empty() {
            return replies.malformed("marks nothing as [Attributed] or [Not Attributed]", &text);
        }
        let found = marked.iter().filter(|(_, attributed)| *attributed).count();
        let score = found as f64 / marked.len() as f64;
        let least = self.judge.threshold.unwrap_or(DEFAULT_THRESHOLD);
        let pass = Judge::reaches(score, least);
        let sign = if pass { ">=" } else { "<" };
        let (shown, threshold) = (js::to_fixed(score, 2), js::number(least));
        let mut verdict =
            self.judge.scored(pass, score, format!("Recall {shown} is {sign} {threshold}"));
        let sentences: Vec<Value> = marked
            .iter()
            .map(|(line, attributed)| json!({"sentence": line.trim(), "attributed": attributed}))
            .collect();
        verdict.metadata = Some(json!({
            "context": context.value, "sentenceAttributions": sentences,
            "totalSentences": marked.len(), "attributedSentences": found, "score": score,
        }));
        Ok(verdict)
    }
}

impl Graded for ContextRecall {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        self.truth.get(scene)?;
        if scene.prompt.is_empty() {
            return error("context-recall assertion requires a prompt");
        }
        self.context.then(scene, replies, |context| {
            if replies.len() <= context.asked {
                return self.judge.ask_once(scene.test, self.prompt(scene, &context)?);
            }
            Ok(Next::Done(self.verdict(replies, &context)?))
        })
    }
}
