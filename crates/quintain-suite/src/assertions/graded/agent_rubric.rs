//! An agent, which can look for evidence itself, judges that the output meets a rubric.

use quintain_content::registry::Meta;
use serde_json::Value;

use super::failure::error;
use super::judge::{Graded, Judge, NextStep, asking};
use super::llm_rubric::RubricCheck;
use super::replies::Replies;
use super::rubric::Rubric;
use crate::check::{Builtin, ModelTask, NamedModel, Scene};

const RUBRIC: Rubric = Rubric(include_str!("rubrics/agent-rubric.txt"));

pub(in super::super) static AGENT_RUBRIC: Builtin = Builtin {
    meta: &Meta {
        id: "agent-rubric",
        aliases: &[],
        summary: "An agent judges that the output meets a rubric",
        docs: r"# What it does
Like `llm-rubric`, but the judge is an agent that can use tools, such as reading files. A model that only
writes text cannot check a file, so `provider` must name an agent: a program (`exec:`), a web service
(`http`), code (`python:`, `file://agent.js`), or an agent of promptfoo. There is no default.

# What counts as proof
The reply of the agent, which is stored. If it cannot answer, the result is an error, never a pass, even
with `not-`.

# Example
```yaml
- type: agent-rubric
  value: the file that it names exists
  provider: exec:./judge.sh
```
",
        since: "0.1.0",
    },
    compile: |spec| asking(AgentRubric(RubricCheck::read(spec, RUBRIC))),
};

/// The beginnings of ids of providers that may use tools.
const AGENTS: [&str; 14] = [
    "openai:codex",
    "openai:agents",
    "anthropic:claude-agent-sdk",
    "anthropic:claude-code",
    "openinterpreter",
    "opencode",
    "exec:",
    "http",
    "python:",
    "ruby:",
    "golang:",
    "file://",
    "websocket",
    "mcp",
];

struct AgentRubric(RubricCheck);

impl Graded for AgentRubric {
    fn judge(&self) -> &Judge {
        self.0.judge()
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        let own = self.0.judge().provider();
        match scene.test.model(own, ModelTask::Text).or_else(error)? {
            Some(model) if is_agent(&model) => self.0.step(scene, replies),
            Some(model) => error(format!(
                "`agent-rubric` needs a judge that can use tools; `{}` only writes text",
                id(&model)
            )),
            None => error("`agent-rubric` needs a model: name an agent in `provider`"),
        }
    }
}

fn id(model: &NamedModel) -> &str {
    let id = model.value.as_str().or_else(|| model.value.get("id").and_then(Value::as_str));
    id.unwrap_or_default()
}

fn is_agent(model: &NamedModel) -> bool {
    AGENTS.iter().any(|agent| id(model).starts_with(agent))
}
