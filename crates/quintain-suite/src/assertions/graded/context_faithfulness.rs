//! The context supports the claims of the output.

use std::sync::LazyLock;

use quintain_content::registry::Meta;
use quintain_content::text::{fence, js};
use quintain_evidence::inquiry::Next;
use quintain_evidence::verdict::Verdict;
use regex::Regex;
use serde_json::{Value, json};

use super::context::{Context, ContextSource};
use super::failure::error;
use super::judge::{Graded, Judge, NextStep, asking};
use super::replies::Replies;
use super::rubric::{self, Rubric};
use super::sentences::lines;
use crate::check::{Builtin, Scene};

const CLAIMS: Rubric = Rubric(include_str!("rubrics/context-faithfulness-claims.txt"));
const VERDICTS: Rubric = Rubric(include_str!("rubrics/context-faithfulness.txt"));

const DEFAULT_THRESHOLD: f64 = 0.5;

pub(in super::super) static CONTEXT_FAITHFULNESS: Builtin = Builtin {
    meta: &Meta {
        id: "context-faithfulness",
        aliases: &[],
        summary: "The context supports the claims of the output",
        docs: r"# What it does
Asks a model twice: which statements the output makes, given the question in the variable `query`, one per
line; and which of them the variable `context` (or the context that `contextTransform` extracts from the
response) supports. The score is the share of supported statements. Passes if it is at least `threshold`
(default 0.5). `not-` inverts both.

`provider` names the judge, see `llm-rubric`. `rubricPrompt` is a list with two prompts that replace the
questions: the first has the variables `question` and `answer`, the second `context` and `statements`.

# What counts as proof
The replies of the judge, which are stored. If it cannot answer, or its verdicts cannot be read, the result
is an error, never a pass, even with `not-`.

# Example
```yaml
- type: context-faithfulness
  threshold: 0.9
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        spec.fields.get("value");
        let context = ContextSource::read(spec, false);
        asking(ContextFaithfulness { judge: Judge::read(spec), context })
    },
};

struct ContextFaithfulness {
    judge: Judge,
    context: ContextSource,
}

impl ContextFaithfulness {
    /// One of the user's two prompts.
    fn own<'a>(&'a self, scene: &Scene<'a>, at: usize) -> Result<Option<&'a Value>, Box<Verdict>> {
        let Some(own) = self.judge.rubric_prompt(scene.test, scene.templates)? else {
            return Ok(None);
        };
        let Value::Array(prompts) = own else {
            return error("rubricPrompt must be an array");
        };
        let prompt = prompts.get(at).map(|prompt| match prompt {
            Value::Object(message) => message.get("content").unwrap_or(&Value::Null),
            other => other,
        });
        Ok(prompt.filter(|prompt| !js::is_falsy(prompt)))
    }

    fn claims_prompt(
        &self,
        scene: &Scene<'_>,
        question: &str,
        answer: &str,
    ) -> Result<String, Box<Verdict>> {
        match self.own(scene, 0)? {
            Some(own) => {
                let vars = [("question", question.into()), ("answer", rubric::parsed(answer))];
                rubric::render(scene.templates, own, rubric::with(scene.vars, vars))
            }
            None => Ok(CLAIMS
                .fill(&[("question", &fence::quote(question)), ("answer", &fence::quote(answer))])),
        }
    }

    fn verdicts_prompt(
        &self,
        scene: &Scene<'_>,
        context: &Context,
        statements: &[&str],
    ) -> Result<String, Box<Verdict>> {
        if let Some(own) = self.own(scene, 1)? {
            let vars = [("context", context.text().into()), ("statements", json!(statements))];
            return rubric::render(scene.templates, own, rubric::with(scene.vars, vars));
        }
        let numbered = statements.iter().enumerate();
        let numbered = numbered.map(|(at, statement)| format!("{}. {statement}", at + 1));
        let statements = numbered.collect::<Vec<_>>().join("\n");
        Ok(VERDICTS.fill(&[
            ("context", &fence::quote(&context.text())),
            ("statements", &fence::quote(&statements)),
        ]))
    }
}

impl Graded for ContextFaithfulness {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        let Some(query) = scene.vars.get("query").and_then(Value::as_str) else {
            return error(
                "context-faithfulness assertion requires a \"query\" variable with the user question",
            );
        };
        let Value::String(output) = scene.output else {
            return error(
                "context-faithfulness assertion requires string output from the provider",
            );
        };
        self.context.then(scene, replies, |context| {
            let asked = context.asked;
            if replies.len() <= asked {
                let prompt = self.claims_prompt(scene, query, output)?;
                return self.judge.ask_once(scene.test, prompt);
            }
            let claims = replies.text(asked)?;
            let statements = lines(&claims);
            if statements.is_empty() {
                return replies.malformed("contains no statements", &claims);
            }
            if replies.len() == asked + 1 {
                let prompt = self.verdicts_prompt(scene, &context, &statements)?;
                return self.judge.ask_once(scene.test, prompt);
            }
            let said = replies.text(asked + 1)?;
            let Some(score) = score(&said, statements.len()) else {
                return replies.malformed("contains no verdicts", &said);
            };
            let least = self.judge.threshold.unwrap_or(DEFAULT_THRESHOLD);
            let pass = Judge::reaches(score, least);
            let sign = if pass { ">=" } else { "<" };
            let (shown, threshold) = (js::to_fixed(score, 2), js::number(least));
            let mut verdict = self.judge.scored(
                pass,
                score,
                format!("Faithfulness {shown} is {sign} {threshold}"),
            );
            verdict.metadata = Some(json!({"context": context.value}));
            Ok(Next::Done(verdict))
        })
    }
}

#[expect(clippy::unwrap_used, reason = "a constant, used by the tests")]
static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?-u:\b)(?:yes|no)(?-u:\b)").unwrap());

/// The share of statements that are supported: by the verdicts after the final words, or else by those after each
/// statement. Statements without a verdict are not supported.
fn score(said: &str, statements: usize) -> Option<f64> {
    const FINAL: &str = "final verdict for each statement in order:";
    let said = said.to_lowercase();
    let unsupported = if let Some((_, verdicts)) = said.split_once(FINAL) {
        let verdicts: Vec<&str> =
            verdicts.split('.').filter(|verdict| !js::trim(verdict).is_empty()).collect();
        if verdicts.is_empty() || !verdicts.iter().all(|verdict| WORD.is_match(verdict)) {
            return None;
        }
        let no = verdicts.iter().filter(|verdict| !verdict.contains("yes")).count();
        no + statements.saturating_sub(verdicts.len())
    } else {
        let count = |word: &str| said.matches(word).count();
        let (no, yes) = (count("verdict: no"), count("verdict: yes"));
        if no + yes == 0 {
            return None;
        }
        no + statements.saturating_sub(no + yes)
    };
    Some((1.0 - unsupported as f64 / statements as f64).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_counted() {
        for (said, statements, wanted) in [
            ("Final verdict for each statement in order: Yes. No. Yes.", 3, Some(2.0 / 3.0)),
            ("final verdict for each statement in order: yes", 2, Some(0.5)),
            ("Final verdict for each statement in order: No. No. No.", 2, Some(0.0)),
            ("Final verdict for each statement in order: Yes. Maybe.", 2, None),
            ("Final verdict for each statement in order:", 2, None),
            ("1. a Verdict: Yes.\n2. b Verdict: No.", 2, Some(0.5)),
            ("1. a Verdict: Yes.", 4, Some(0.25)),
            ("all is well", 1, None),
        ] {
            let found = score(said, statements);
            let is_same = match (found, wanted) {
                (Some(found), Some(wanted)) => (found - wanted).abs() < 1e-12,
                (found, wanted) => found == wanted,
            };
            assert!(is_same, "{said}: {found:?}");
        }
    }
}
