//! The context is needed for the question.

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
use super::sentences::{lines, sentences, without_bullet};
use crate::check::{Builtin, Scene};

const RUBRIC: Rubric = Rubric(include_str!("rubrics/context-relevance.txt"));

const DEFAULT_THRESHOLD: f64 = 0.5;
/// The reply if nothing in the context is relevant.
const NOTHING: &str = "Insufficient Information";

pub(in super::super) static CONTEXT_RELEVANCE: Builtin = Builtin {
    meta: &Meta {
        id: "context-relevance",
        aliases: &[],
        summary: "The context is relevant to the question",
        docs: r"# What it does
Asks a model to copy the sentences of the variable `context` (or of the context that `contextTransform`
extracts from the response) that are needed for the question in the variable `query`. The score is their
number divided by the number of sentences in the context; lines count as sentences if there are several, and
so do the items of a list. Passes if it is at least `threshold` (default 0.5). `not-` inverts both.

`provider` names the judge, `rubricPrompt` replaces the question (variables `context` and `query`); see
`llm-rubric`.

# What counts as proof
The copied sentences, which are in the metadata of the result. If the judge cannot answer, or copies nothing
that is in the context, the result is an error, never a pass, even with `not-`.

# Example
```yaml
- type: context-relevance
  threshold: 0.6
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        spec.fields.get("value");
        let context = ContextSource::read(spec, false);
        asking(ContextRelevance { judge: Judge::read(spec), context })
    },
};

struct ContextRelevance {
    judge: Judge,
    context: ContextSource,
}

impl ContextRelevance {
    fn prompt(
        &self,
        scene: &Scene<'_>,
        query: &str,
        context: &Context,
    ) -> Result<String, Box<Verdict>> {
        match self.judge.rubric_prompt(scene.test, scene.templates)? {
            Some(own) => {
                let vars = [("context", context.text().into()), ("query", query.into())];
                rubric::render(scene.templates, own, rubric::only(vars))
            }
            None => Ok(RUBRIC.fill(&[
                ("context", &fence::quote(&context.text())),
                ("query", &fence::quote(query)),
            ])),
        }
    }

    fn verdict(&self, replies: &Replies<'_>, context: &Context) -> Result<Verdict, Box<Verdict>> {
        let said = replies.text(context.asked)?;
        let whole = context.text();
        let chunks = context.chunks();
        let is_segmented = chunks.is_some() || lines(&whole).len() > 1;
        let units = match chunks {
            Some(chunks) => {
                chunks.into_iter().filter(|chunk| !js::trim(chunk).is_empty()).collect()
            }
            None => sentences(&whole),
        };
        let nothing = said.contains(NOTHING);
        let mut copied: Vec<&str> = Vec::new();
        if !nothing {
            for sentence in if is_segmented { lines(&said) } else { sentences(&said) } {
                if !copied.contains(&sentence) {
                    copied.push(sentence);
                }
            }
        }
        let plain = normal(&whole);
        let is_copy = |sentence: &&str| plain.contains(&normal(without_bullet(sentence)));
        if !copied.is_empty() && !copied.iter().any(is_copy) {
            return replies.malformed("does not quote the context", &said);
        }
        let count = copied.len().min(units.len());
        let score = if units.is_empty() { 0.0 } else { count as f64 / units.len() as f64 };
        let least = self.judge.threshold.unwrap_or(DEFAULT_THRESHOLD);
        let pass = Judge::reaches(score, least);
        let sign = if pass { ">=" } else { "<" };
        let (shown, threshold) = (js::to_fixed(score, 2), js::number(least));
        let reason = format!("Context relevance {shown} is {sign} {threshold}");
        let mut verdict = self.judge.scored(pass, score, reason);
        verdict.metadata = Some(json!({
            "context": context.value, "extractedSentences": copied, "contextUnits": units,
            "totalContextUnits": units.len(), "relevantSentenceCount": count,
            "insufficientInformation": nothing, "score": score,
        }));
        Ok(verdict)
    }
}

/// A text without its line breaks and capitals.
fn normal(text: &str) -> String {
    js::words(&text.to_lowercase()).collect::<Vec<_>>().join(" ")
}

impl Graded for ContextRelevance {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        let Some(query) = scene.vars.get("query").and_then(Value::as_str) else {
            return error(
                "context-relevance assertion requires a \"query\" variable with the user question",
            );
        };
        self.context.then(scene, replies, |context| {
            if replies.len() <= context.asked {
                return self.judge.ask_once(scene.test, self.prompt(scene, query, &context)?);
            }
            Ok(Next::Done(self.verdict(replies, &context)?))
        })
    }
}
