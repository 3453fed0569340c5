//! The output is relevant to the question: questions that a model derives from the output mean the same as it.

use quintain_content::registry::Meta;
use quintain_content::text::{fence, js};
use quintain_evidence::inquiry::Next;
use quintain_evidence::question::{ModelRequest, Question};
use quintain_evidence::verdict::Verdict;
use serde_json::{Value, json};

use super::failure::error;
use super::judge::{Graded, Judge, NextStep, asking};
use super::replies::Replies;
use super::rubric::{self, Rubric};
use super::vectors;
use crate::check::{Builtin, ModelTask, Scene};

const RUBRIC: Rubric = Rubric(include_str!("rubrics/answer-relevance.txt"));

const DEFAULT_THRESHOLD: f64 = 0.5;
/// Questions that are derived from the output.
const CANDIDATES: usize = 3;

pub(in super::super) static ANSWER_RELEVANCE: Builtin = Builtin {
    meta: &Meta {
        id: "answer-relevance",
        aliases: &[],
        summary: "The output is relevant to the question",
        docs: r"# What it does
Asks a model three times which question the output answers, and compares the embeddings of these questions
with that of the variable `query`, or of the prompt if there is no such variable. The score is the mean
cosine similarity. Passes if it is at least `threshold` (default 0.5). `not-` inverts both.

Needs two models: `provider: {text: ..., embedding: ...}`, here, in `options` of the test or of
`defaultTest`. `rubricPrompt` replaces the question to the first one (variable `answer`).

# What counts as proof
The derived questions, which are in the metadata of the result, and the embeddings. If a model cannot
answer, the result is an error, never a pass, even with `not-`.

# Example
```yaml
- type: answer-relevance
  threshold: 0.8
  provider:
    text: openai:chat:gpt-5-mini
    embedding: openai:embedding:text-embedding-3-small
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        spec.fields.get("value");
        asking(AnswerRelevance { judge: Judge::read(spec) })
    },
};

struct AnswerRelevance {
    judge: Judge,
}

impl AnswerRelevance {
    fn candidates(&self, scene: &Scene<'_>) -> Result<Vec<Question>, Box<Verdict>> {
        let Value::String(output) = scene.output else {
            return error("answer-relevance assertion type must evaluate a string output");
        };
        if scene.prompt.is_empty() {
            return error("answer-relevance assertion type must have a prompt");
        }
        let prompt = match self.judge.rubric_prompt(scene.test, scene.templates)? {
            Some(own) => {
                let vars = rubric::only([("answer", rubric::parsed(output))]);
                rubric::render(scene.templates, own, vars)?
            }
            None => RUBRIC.fill(&[("answer", &fence::quote(output))]),
        };
        // Missing models are found before the first one is asked.
        self.embed(scene, "")?;
        let question = self.judge.chat(scene.test, prompt)?;
        let numbered = |sample| match &question {
            Question::Model(question) => {
                let mut question = question.clone();
                question.sample = sample;
                Question::Model(question)
            }
            other => other.clone(),
        };
        Ok((0..CANDIDATES).map(numbered).collect())
    }

    fn embed(&self, scene: &Scene<'_>, text: &str) -> Result<Question, Box<Verdict>> {
        let request = ModelRequest::Embed { text: text.to_owned() };
        self.judge.ask(scene.test, ModelTask::Embedding, request)
    }
}

impl Graded for AnswerRelevance {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn tasks(&self) -> &'static [ModelTask] {
        &[ModelTask::Text, ModelTask::Embedding]
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        if replies.is_empty() {
            return Ok(Next::Ask(self.candidates(scene)?));
        }
        let candidates = (0..CANDIDATES).map(|at| replies.text(at));
        let candidates = candidates.collect::<Result<Vec<_>, _>>()?;
        if replies.len() <= CANDIDATES {
            let query = scene.vars.get("query").and_then(Value::as_str).unwrap_or(scene.prompt);
            let texts = std::iter::once(query).chain(candidates.iter().map(String::as_str));
            let questions = texts.map(|text| self.embed(scene, text));
            return Ok(Next::Ask(questions.collect::<Result<_, _>>()?));
        }
        let query = vectors::vector(replies, CANDIDATES)?;
        let mut similarities = Vec::with_capacity(CANDIDATES);
        for at in 0..CANDIDATES {
            let candidate = vectors::vector(replies, CANDIDATES + 1 + at)?;
            similarities.push(vectors::cosine(&query, &candidate)?);
        }
        let score = similarities.iter().sum::<f64>() / CANDIDATES as f64;
        let least = self.judge.threshold.unwrap_or(DEFAULT_THRESHOLD);
        let pass = Judge::reaches(score, least);
        let sign = if pass { "greater" } else { "less" };
        let (shown, threshold) = (js::to_fixed(score, 2), js::number(least));
        let reason = format!("Relevance {shown} is {sign} than threshold {threshold}");
        let mut verdict = self.judge.scored(pass, score, reason);
        let generated: Vec<Value> = candidates
            .iter()
            .zip(&similarities)
            .map(|(question, similarity)| json!({"question": question, "similarity": similarity}))
            .collect();
        verdict.metadata = Some(json!({
            "generatedQuestions": generated, "averageSimilarity": score, "threshold": least,
        }));
        Ok(Next::Done(verdict))
    }
}
