//! A graph of small questions that ends in fixed scores.

mod graph;
mod run;

use quintain_content::registry::Meta;
use quintain_judge::template::Prompt;

use self::graph::Graph;
use super::judging::{JudgeSettings, judged};
use super::{Metric, Options, Scorer};

pub(super) struct Dag;

static META: Meta = Meta {
    id: "dag",
    aliases: &["DAGMetric", "DagMetric", "ConversationalDAGMetric"],
    summary: "a graph of small questions, each answered by the judge, ends in a fixed score",
    docs: "\
# What it does
Follows a graph. A *task* extracts something from the case. A *binary* judgement answers a criterion with true or
false, a *choice* with one of several words. A *verdict* says what follows from an answer: a score from 0 to 10,
another node, or another metric. A node with several parents waits for all of them. If several verdicts are reached,
the lowest score counts.

# Why it matters
Small closed questions are answered the same way more often than one large open one.

# What counts as proof
`details.path` lists the answers that led to the score, with the reasons of the judge.

# Options
`dag`: the graph: a node with its children inside, or `nodes` by id as deepeval writes them. A node has `type`
(`task`, `binary`, `choice`, or deepeval's names), `instructions` and `outputLabel` or `criteria`, `evaluationParams`
as in `g-eval`, and `children`. A verdict has `verdict` and `score`, or `child`: a node, `{ref: ID}`, or a metric with
its options. A node without `evaluationParams` and without a task before it sees the whole conversation.
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `task` and `judgement`. Variables: task: instructions, material; judgement:
criteria, answers, material.

# When it does not apply
The case lacks a part that a node needs. Without a judge the metric is an error, never a pass.

# Example
```yaml
metrics:
  - type: dag
    model: openai:chat:gpt-4.1-mini
    dag:
      type: task
      instructions: Extract the headings of the summary
      outputLabel: Headings
      evaluationParams: [actual_output]
      children:
        - type: binary
          criteria: Are there the headings intro, body and conclusion?
          children:
            - {verdict: false, score: 0}
            - verdict: true
              child:
                type: choice
                criteria: Are they in this order?
                children:
                  - {verdict: all in order, score: 10}
                  - {verdict: two out of order, score: 4}
                  - {verdict: all out of order, score: 2}
```
",
    since: "0.3.0",
};

impl Metric for Dag {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        let Some(value) = options.value("dag") else {
            options.error("dag", "`dag` is missing");
            return None;
        };
        let graph = match Graph::read(value, &settings) {
            Ok(graph) => graph,
            Err(errors) => {
                errors.into_iter().for_each(|error| options.error("dag", error));
                return None;
            }
        };
        judged(META.id, settings, move |input, judge| run::run(&graph, input, judge))
    }
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "task",
        text: "\
Follow these instructions with the material below, and add nothing.

Instructions:
{{instructions}}

{{material}}",
    },
    Prompt {
        id: "judgement",
        text: "\
Decide about a criterion with the material below.

Criterion:
{{criteria}}

Answers: {{answers}}

{{material}}",
    },
];

#[cfg(test)]
mod tests;
