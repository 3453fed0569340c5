//! The embedding of the output is close to that of a text.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::inquiry::Next;
use quintain_evidence::question::{ModelRequest, Question};
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use super::judge::{Graded, Judge, NextStep, asking};
use super::replies::Replies;
use super::vectors;
use crate::check::{Builtin, Expected, ModelTask, Scene};

const DEFAULT_THRESHOLD: f64 = 0.75;

pub(in super::super) static SIMILAR: Builtin = Builtin {
    meta: &Meta {
        id: "similar",
        aliases: &["similar:cosine", "similar:dot", "similar:euclidean"],
        summary: "The output is similar in meaning to a text",
        docs: r"# What it does
Compares the embedding of the output with that of the text in `value`, or of a list of texts, one of which
must be similar. Passes if the cosine similarity is at least `threshold` (default 0.75). `similar:dot` uses
the dot product. `similar:euclidean` uses the distance, which must be at most `threshold`; its score is
1 / (1 + distance). `not-` requires that no text is similar.

`provider` names the embedding model: here, in `options` of the test or of `defaultTest`, as an id such as
`openai:embedding:NAME`, as a map with `id` and `config`, or under `embedding` in a map of tasks.

# What counts as proof
The embeddings, which are stored. If the model cannot answer, the result is an error, never a pass, even
with `not-`.

# Example
```yaml
- type: similar
  value: The order is on its way
  threshold: 0.8
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let texts = spec.expect(|value| {
            let wrong = "Similarity assertion type must have a string or array of strings value";
            match value {
                Some(Value::String(text)) => Ok(Expectation::One(text.clone())),
                Some(Value::Array(items)) if items.is_empty() => {
                    Err("Similarity assertion must have at least one value to compare against"
                        .into())
                }
                Some(Value::Array(items)) => {
                    let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                    let texts = texts.collect::<Option<Vec<_>>>().ok_or(wrong)?;
                    Ok(Expectation::OneOf(texts))
                }
                _ => Err(wrong.to_owned()),
            }
        });
        let measure = match spec.kind {
            "similar:dot" => Measure::Dot,
            "similar:euclidean" => Measure::Euclidean,
            _ => Measure::Cosine,
        };
        asking(Similar { judge: Judge::read(spec), texts, measure })
    },
};

#[derive(Clone)]
enum Expectation {
    One(String),
    OneOf(Vec<String>),
}

impl Expectation {
    fn texts(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::OneOf(texts) => texts,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    Cosine,
    Dot,
    Euclidean,
}

struct Similar {
    judge: Judge,
    texts: Expected<Expectation>,
    measure: Measure,
}

impl Similar {
    fn embed(&self, scene: &Scene<'_>, text: &str) -> Result<Question, Box<Verdict>> {
        let request = ModelRequest::Embed { text: text.to_owned() };
        self.judge.ask(scene.test, ModelTask::Embedding, request)
    }

    fn verdict(&self, expected: &[f64], output: &[f64]) -> Result<Verdict, Box<Verdict>> {
        let (negated, least) =
            (self.judge.negated, self.judge.threshold.unwrap_or(DEFAULT_THRESHOLD));
        let shown = js::number(least);
        if self.measure == Measure::Euclidean {
            let distance = vectors::euclidean(expected, output)?;
            let pass = if negated {
                distance >= least - f64::EPSILON
            } else {
                distance <= least + f64::EPSILON
            };
            let sign = if pass == negated { "greater than" } else { "less than or equal to" };
            let score = 1.0 / (1.0 + distance);
            let score = if negated { 1.0 - score } else { score };
            let distance = js::to_fixed(distance, 2);
            return Ok(Verdict::new(
                pass,
                score,
                format!("Distance {distance} is {sign} threshold {shown}"),
            ));
        }
        let similarity = match self.measure {
            Measure::Dot => vectors::dot(expected, output)?,
            _ => vectors::cosine(expected, output)?,
        };
        let pass = if negated {
            similarity <= least + f64::EPSILON
        } else {
            Judge::reaches(similarity, least)
        };
        let sign = if pass == negated { "less than" } else { "greater than or equal to" };
        let score = if negated { 1.0 - similarity } else { similarity };
        let similarity = js::to_fixed(similarity, 2);
        let reason = format!("Similarity {similarity} is {sign} threshold {shown}");
        Ok(Verdict::new(pass, score, reason))
    }
}

impl Graded for Similar {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn tasks(&self) -> &'static [ModelTask] {
        &[ModelTask::Embedding]
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        let expected = self.texts.get(scene)?;
        if replies.is_empty() {
            let output = scene.text();
            let all = std::iter::once(&*output).chain(expected.texts().iter().map(String::as_str));
            let questions = all.map(|text| self.embed(scene, text));
            return Ok(Next::Ask(questions.collect::<Result<_, _>>()?));
        }
        let output = vectors::vector(replies, 0)?;
        // As in promptfoo, the first text that decides ends the comparison. One without an embedding cannot decide.
        let (mut closest, mut missing): (Option<Verdict>, _) = (None, None);
        for at in 1..=expected.texts().len() {
            let compared =
                vectors::vector(replies, at).and_then(|expected| self.verdict(&expected, &output));
            let verdict = match compared {
                Ok(verdict) => verdict,
                Err(why) => {
                    missing.get_or_insert(why);
                    continue;
                }
            };
            if matches!(*expected, Expectation::One(_)) || verdict.passed() != self.judge.negated {
                return Ok(Next::Done(verdict));
            }
            let is_closer = |earlier: &Verdict| {
                if self.judge.negated {
                    verdict.score < earlier.score
                } else {
                    verdict.score > earlier.score
                }
            };
            if closest.as_ref().is_none_or(is_closer) {
                closest = Some(verdict);
            }
        }
        if let Some(why) = missing {
            return Err(why);
        }
        let closest = closest.unwrap_or_else(|| Verdict::error("there is nothing to compare with"));
        Ok(Next::Done(if self.judge.negated {
            closest
        } else {
            let reason = "None of the provided values met the similarity threshold".to_owned();
            Verdict { reason, ..closest }
        }))
    }
}
