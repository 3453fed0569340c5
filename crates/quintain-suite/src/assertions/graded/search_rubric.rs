//! A model that searches the web judges that the output meets a rubric.

use quintain_content::registry::Meta;
use quintain_content::text::fence;
use quintain_evidence::inquiry::Next;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use super::failure::error;
use super::judge::{Graded, Judge, NextStep, asking};
use super::replies::Replies;
use super::rubric::{self, Rubric};
use crate::check::{Builtin, Expected, ModelTask, NamedModel, Scene, as_text};

const RUBRIC: Rubric = Rubric(include_str!("rubrics/search-rubric.txt"));

pub(in super::super) static SEARCH_RUBRIC: Builtin = Builtin {
    meta: &Meta {
        id: "search-rubric",
        aliases: &[],
        summary: "A model with web search judges that the output meets a rubric",
        docs: r"# What it does
Like `llm-rubric`, but the judge searches the web for facts. `provider` must name a model with web search:
one of Perplexity, or one whose `config.tools` contains the search tool of its provider (`web_search` of
OpenAI and xAI, `web_search_20250305` of Anthropic, `googleSearch` of Google). There is no default. The
answer must contain `pass` as true or false. A `transform` of the assertion does not apply.

# What counts as proof
The reply of the judge, which is stored. If it cannot answer, the result is an error, never a pass, even
with `not-`.

# Example
```yaml
- type: search-rubric
  value: names the current head of government of France
  provider:
    id: openai:responses:gpt-5-mini
    config: { tools: [{ type: web_search }] }
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let rubric = spec.expect(|value| match value {
            Some(Value::String(text)) => Ok(text.clone()),
            _ => Err("search-rubric assertion type must have a string value".to_owned()),
        });
        asking(SearchRubric { judge: Judge::read(spec), rubric })
    },
};

struct SearchRubric {
    judge: Judge,
    rubric: Expected<String>,
}

impl SearchRubric {
    fn prompt(&self, scene: &Scene<'_>) -> Result<String, Box<Verdict>> {
        let rubric = self.rubric.get(scene)?;
        let output = as_text(&scene.response.output);
        match self.judge.rubric_prompt(scene.test, scene.templates)? {
            Some(own) => {
                let (output, rubric) = (rubric::parsed(&output), rubric.into_owned().into());
                let vars = rubric::with(scene.vars, [("output", output), ("rubric", rubric)]);
                rubric::render(scene.templates, own, vars)
            }
            None => Ok(RUBRIC.fill(&[("output", &fence::quote(&output)), ("rubric", &rubric)])),
        }
    }
}

impl Graded for SearchRubric {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        if replies.is_empty() {
            let prompt = self.prompt(scene)?;
            let model = scene.test.model(self.judge.provider(), ModelTask::Text).or_else(error)?;
            if !model.is_some_and(|model| can_search(&model)) {
                return error(
                    "`search-rubric` needs a model with web search: name one in `provider`",
                );
            }
            return self.judge.ask_once(scene.test, prompt);
        }
        let said = replies.object(0)?;
        let Some(pass) = said.get("pass").and_then(Value::as_bool) else {
            return replies.malformed("lacks a boolean `pass`", &replies.text(0)?);
        };
        let score = said.get("score").and_then(Value::as_f64);
        let score = score.unwrap_or_else(|| f64::from(u8::from(pass)));
        let pass = pass && self.judge.threshold.is_none_or(|least| score >= least);
        let reason = said.get("reason").and_then(Value::as_str).filter(|why| !why.is_empty());
        let reason = reason.unwrap_or("No reason provided");
        if self.judge.negated {
            return Ok(Next::Done(Verdict::new(!pass, (1.0 - score).clamp(0.0, 1.0), reason)));
        }
        Ok(Next::Done(Verdict::new(pass, score, reason)))
    }
}

/// Whether a model can search the web, by promptfoo's rules.
fn can_search(model: &NamedModel) -> bool {
    let value = &model.value;
    let id = value.as_str().or_else(|| value.get("id").and_then(Value::as_str)).unwrap_or_default();
    let tools = value.pointer("/config/tools").and_then(Value::as_array);
    let has_tool =
        |is_search: &dyn Fn(&Value) -> bool| tools.is_some_and(|tools| tools.iter().any(is_search));
    let has_type = |names: &[&str]| {
        has_tool(&|tool| {
            let kind = tool.get("type").and_then(Value::as_str);
            kind.is_some_and(|kind| names.contains(&kind))
        })
    };
    let is_any = |words: &[&str]| words.iter().any(|word| id.contains(word));
    is_any(&["perplexity"])
        || is_any(&["google", "gemini", "vertex"])
            && has_tool(&|tool| tool.get("googleSearch").is_some())
        || is_any(&["xai"])
            && (value.pointer("/config/search_parameters/mode").is_some_and(|mode| mode == "on")
                || has_type(&["web_search"]))
        || is_any(&["anthropic"]) && has_type(&["web_search_20250305"])
        || is_any(&["responses"]) && has_type(&["web_search", "web_search_preview"])
        || is_any(&["gpt-5-search-api", "gpt-4o-search-preview", "gpt-4o-mini-search-preview"])
}

#[cfg(test)]
mod tests {
    use quintain_source::Span;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_models_with_search_are_asked() {
        let searches = |value: Value| {
            can_search(&NamedModel { value, kind: ModelTask::Text, span: Span::default() })
        };
        assert!(searches(json!("perplexity:sonar")));
        assert!(searches(json!("openai:chat:gpt-4o-search-preview")));
        let tool = |id: &str, tool: Value| json!({"id": id, "config": {"tools": [tool]}});
        assert!(searches(tool("openai:responses:o4", json!({"type": "web_search_preview"}))));
        assert!(searches(tool("anthropic:messages:x", json!({"type": "web_search_20250305"}))));
        assert!(searches(tool("google:gemini-3", json!({"googleSearch": {}}))));
        assert!(!searches(tool("openai:chat:x", json!({"type": "web_search"}))));
        assert!(!searches(json!("openai:responses:o4")));
        assert!(!searches(json!({"config": 5})));
    }
}
