//! The answers in a conversation are relevant to what came before.

use quintain_content::registry::Meta;
use quintain_content::text::{fence, js};
use quintain_evidence::inquiry::Next;
use quintain_evidence::verdict::Verdict;
use quintain_source::wrong_value;
use serde_json::{Value, json};

use super::failure::error;
use super::judge::{Graded, Judge, NextStep, asking};
use super::replies::Replies;
use super::rubric::{self, Rubric};
use crate::check::{Builtin, Scene, Spec, as_text};

const RUBRIC: Rubric = Rubric(include_str!("rubrics/conversation-relevance.txt"));
const SUMMARY: Rubric = Rubric(include_str!("rubrics/conversation-relevance-summary.txt"));

const DEFAULT_THRESHOLD: f64 = 0.5;
const DEFAULT_WINDOW: usize = 5;

pub(in super::super) static CONVERSATION_RELEVANCE: Builtin = Builtin {
    meta: &Meta {
        id: "conversation-relevance",
        aliases: &[],
        summary: "The answers in a conversation are relevant to what came before",
        docs: r"# What it does
Moves a window over the turns of the conversation (the variable `_conversation`; without it, the prompt and
the output are the only turn) and asks a model whether the last answer in it is relevant. The score is the
share of windows with a relevant answer. Passes if it is at least `threshold` (default 0.5). `not-` inverts
both. `config.windowSize` sets the number of turns in the window (default 5).

`provider` names the judge, `rubricPrompt` replaces the question (variables `messages`, the turns with
`input` and `output`, and those of the test); see `llm-rubric`.

# What counts as proof
The replies of the judge, which are stored. If it cannot answer, or answers neither `yes` nor `no`, the
result is an error, never a pass, even with `not-`.

# Example
```yaml
- type: conversation-relevance
  threshold: 0.8
  config: { windowSize: 3 }
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        spec.fields.get("value");
        let window = window_size(spec);
        asking(ConversationRelevance { judge: Judge::read(spec), window })
    },
};

fn window_size(spec: &mut Spec<'_, '_>) -> usize {
    let node = spec.fields.get("config").and_then(|config| config.get("windowSize"));
    let Some(node) = node.filter(|node| !node.is_null()) else { return DEFAULT_WINDOW };
    let size = node.as_u64().and_then(|size| usize::try_from(size).ok());
    match size {
        // As in promptfoo.
        Some(0) => DEFAULT_WINDOW,
        Some(size) => size,
        None => {
            wrong_value("windowSize", "a whole number above 0", node, spec.dx);
            DEFAULT_WINDOW
        }
    }
}

struct ConversationRelevance {
    judge: Judge,
    window: usize,
}

impl ConversationRelevance {
    fn prompt(&self, scene: &Scene<'_>, turns: &[Value]) -> Result<String, Box<Verdict>> {
        if let Some(own) = self.judge.rubric_prompt(scene.test, scene.templates)? {
            let vars = rubric::with(scene.vars, [("messages", Value::Array(turns.to_vec()))]);
            return rubric::render_text(scene.templates, own, &vars);
        }
        let messages = turns.iter().flat_map(|turn| {
            let text = |name: &str| as_text(turn.get(name).unwrap_or(&Value::Null)).into_owned();
            [
                json!({"role": "user", "content": text("input")}),
                json!({"role": "assistant", "content": text("output")}),
            ]
        });
        let messages = serde_json::to_string_pretty(&messages.collect::<Vec<_>>());
        let messages = messages.unwrap_or_default();
        Ok(RUBRIC.fill(&[("messages", &fence::quote(&messages))]))
    }

    fn verdict(&self, relevant: usize, windows: usize, reason: Option<String>) -> Verdict {
        let score = relevant as f64 / windows as f64;
        let least = self.judge.threshold.unwrap_or(DEFAULT_THRESHOLD);
        let count = || format!("{relevant} out of {windows} conversation windows were relevant");
        let reason = reason.unwrap_or_else(count);
        self.judge.scored(Judge::reaches(score, least), score, reason)
    }
}

impl Graded for ConversationRelevance {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        let turns = turns(scene)?;
        if replies.is_empty() {
            let questions = (0..turns.len()).map(|at| {
                let window = &turns[(at + 1).saturating_sub(self.window)..=at];
                self.judge.chat(scene.test, self.prompt(scene, window)?)
            });
            return Ok(Next::Ask(questions.collect::<Result<_, _>>()?));
        }
        let mut relevant = 0;
        let mut complaints = Vec::new();
        for at in 0..turns.len() {
            let said = replies.object(at)?;
            match said.get("verdict").and_then(Value::as_str) {
                Some("yes") => relevant += 1,
                Some("no") => {
                    let reason = said.get("reason").and_then(Value::as_str);
                    complaints.extend(reason.filter(|why| !why.is_empty()).map(str::to_owned));
                }
                _ => {
                    let text = replies.text(at)?;
                    return replies.malformed("is neither `yes` nor `no`", &text);
                }
            }
        }
        if complaints.is_empty() {
            return Ok(Next::Done(self.verdict(relevant, turns.len(), None)));
        }
        if replies.len() == turns.len() {
            let score = js::number(relevant as f64 / turns.len() as f64);
            let complaints = serde_json::to_string_pretty(&complaints).unwrap_or_default();
            let values = [("score", score.as_str()), ("complaints", &fence::quote(&complaints))];
            return self.judge.ask_once(scene.test, SUMMARY.fill(&values));
        }
        // The summary is only the reason: without it, the numbers are.
        let summary = replies.object(turns.len()).ok();
        let summary = summary.as_ref().and_then(|said| said.get("reason")?.as_str());
        let summary = summary.filter(|why| !why.is_empty()).map(str::to_owned);
        Ok(Next::Done(self.verdict(relevant, turns.len(), summary)))
    }
}

/// The turns of the conversation, or the only one.
fn turns(scene: &Scene<'_>) -> Result<Vec<Value>, Box<Verdict>> {
    if let Some(Value::Array(turns)) = scene.vars.get("_conversation")
        && !turns.is_empty()
    {
        return Ok(turns.clone());
    }
    if scene.prompt.is_empty() {
        return error("conversational-relevance assertion type must have a prompt");
    }
    Ok(vec![json!({"input": scene.prompt, "output": scene.text()})])
}
