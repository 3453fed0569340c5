//! The types that ask a judge, as a table.

use quintain_content::registry::Meta;

use super::{Form, Graded, Need};

pub(in super::super) static LLM_RUBRIC: Graded = Graded {
    meta: &Meta {
        id: "llm-rubric",
        aliases: &[],
        summary: "A model finds that the output meets a rubric",
        docs: r"# What it does
Asks a model whether the output meets the rubric in `value`. With `threshold`, its score must reach
it. `rubricPrompt` is used in place of the usual question, `provider` names the model.

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: llm-rubric
  value: is polite and does not give away internal ids
```
",
        since: "0.1.0",
    },
    value: Form::Anything("\"llm-rubric\" assertion type must have a string or object value"),
    threshold: None,
    needs: &[],
};

pub(in super::super) static AGENT_RUBRIC: Graded = Graded {
    meta: &Meta {
        id: "agent-rubric",
        aliases: &[],
        summary: "An agent finds that the output meets a rubric",
        docs: r"# What it does
Like `llm-rubric`, but the judge is an agent that may use tools to find out.

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: agent-rubric
  value: the file that it names exists
```
",
        since: "0.1.0",
    },
    value: Form::Anything("\"agent-rubric\" assertion type must have a string or object value"),
    threshold: None,
    needs: &[],
};

pub(in super::super) static SEARCH_RUBRIC: Graded = Graded {
    meta: &Meta {
        id: "search-rubric",
        aliases: &[],
        summary: "A model that searches the web finds that the output meets a rubric",
        docs: r"# What it does
Like `llm-rubric`, but the judge looks up facts on the web.

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: search-rubric
  value: names the current head of government of France
```
",
        since: "0.1.0",
    },
    value: Form::Text("search-rubric assertion type must have a string value"),
    threshold: None,
    needs: &[],
};

pub(in super::super) static G_EVAL: Graded = Graded {
    meta: &Meta {
        id: "g-eval",
        aliases: &[],
        summary: "A model scores the output by criteria, step by step",
        docs: r"# What it does
Asks a model to derive steps from the criteria in `value` and to score the output by them. Several
criteria are averaged. The score must reach `threshold` (0.7 if not given).

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: g-eval
  value: [is coherent, is to the point]
```
",
        since: "0.1.0",
    },
    value: Form::Texts("G-Eval assertion type must have a string or array of strings value"),
    threshold: Some(0.7),
    needs: &[],
};

pub(in super::super) static FACTUALITY: Graded = Graded {
    meta: &Meta {
        id: "factuality",
        aliases: &["model-graded-factuality"],
        summary: "A model finds that the output agrees with a fact",
        docs: r"# What it does
Asks a model whether the output agrees with the statement in `value`.

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: factuality
  value: The capital of France is Paris
```
",
        since: "0.1.0",
    },
    value: Form::Text("factuality assertion type must have a string value"),
    threshold: None,
    needs: &[],
};

pub(in super::super) static CLOSED_QA: Graded = Graded {
    meta: &Meta {
        id: "model-graded-closedqa",
        aliases: &[],
        summary: "A model finds that the output meets a criterion, yes or no",
        docs: r"# What it does
Asks a model whether the output, as the answer to the prompt, meets the criterion in `value`.

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: model-graded-closedqa
  value: names exactly one city
```
",
        since: "0.1.0",
    },
    value: Form::Text("model-graded-closedqa assertion type must have a string value"),
    threshold: None,
    needs: &[],
};

pub(in super::super) static ANSWER_RELEVANCE: Graded = Graded {
    meta: &Meta {
        id: "answer-relevance",
        aliases: &[],
        summary: "The output is about what was asked",
        docs: r"# What it does
Asks a model how relevant the output is for the variable `query`, or else for the prompt. The score
must reach `threshold` (0.5 if not given).

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: answer-relevance
  threshold: 0.8
```
",
        since: "0.1.0",
    },
    value: Form::None,
    threshold: Some(0.5),
    needs: &[Need::TextOutput("answer-relevance assertion type must evaluate a string output")],
};

pub(in super::super) static CONTEXT_FAITHFULNESS: Graded = Graded {
    meta: &Meta {
        id: "context-faithfulness",
        aliases: &[],
        summary: "The output says nothing that the context does not",
        docs: r"# What it does
Asks a model how much of the output is backed by the variable `context` (or what `contextTransform`
makes of the answer), given the question in the variable `query`. The score must reach `threshold`
(0.5 if not given).

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: context-faithfulness
  threshold: 0.9
```
",
        since: "0.1.0",
    },
    value: Form::None,
    threshold: Some(0.5),
    needs: &[
        Need::Query,
        Need::TextOutput("context-faithfulness assertion requires string output from the provider"),
        Need::Context,
    ],
};

pub(in super::super) static CONTEXT_RECALL: Graded = Graded {
    meta: &Meta {
        id: "context-recall",
        aliases: &[],
        summary: "The context holds what the answer needs",
        docs: r"# What it does
Asks a model how much of the statement in `value` can be found in the variable `context` (or what
`contextTransform` makes of the answer, or else the prompt). The score must reach `threshold` (0.5 if
not given).

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: context-recall
  value: The order was sent on Monday
```
",
        since: "0.1.0",
    },
    value: Form::Text(
        "context-recall assertion requires a string value (expected answer or fact to verify)",
    ),
    threshold: Some(0.5),
    needs: &[Need::ContextOrPrompt],
};

pub(in super::super) static CONTEXT_RELEVANCE: Graded = Graded {
    meta: &Meta {
        id: "context-relevance",
        aliases: &[],
        summary: "The context is about what was asked",
        docs: r"# What it does
Asks a model how much of the variable `context` (or what `contextTransform` makes of the answer) is
needed for the question in the variable `query`. The score must reach `threshold` (0.5 if not given).

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: context-relevance
  threshold: 0.6
```
",
        since: "0.1.0",
    },
    value: Form::None,
    threshold: Some(0.5),
    needs: &[Need::Query, Need::Context],
};

pub(in super::super) static CONVERSATION_RELEVANCE: Graded = Graded {
    meta: &Meta {
        id: "conversation-relevance",
        aliases: &[],
        summary: "Every answer of a conversation fits what came before",
        docs: r"# What it does
Asks a model, for a window of messages that moves over the conversation, whether the last answer fits.
The share that fits must reach `threshold` (0.5 if not given). `config.windowSize` sets the window.

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: conversation-relevance
  threshold: 0.8
```
",
        since: "0.1.0",
    },
    value: Form::None,
    threshold: Some(0.5),
    needs: &[],
};

pub(in super::super) static SIMILAR: Graded = Graded {
    meta: &Meta {
        id: "similar",
        aliases: &["similar:cosine", "similar:dot", "similar:euclidean"],
        summary: "The output means about the same as a text",
        docs: r"# What it does
Compares the meaning of the output with the text in `value`, or with several of which one is enough,
by embeddings. The likeness must reach `threshold` (0.75 if not given). `similar:dot` and
`similar:euclidean` measure in other ways.

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: similar
  value: The order is on its way
```
",
        since: "0.1.0",
    },
    value: Form::Texts("Similarity assertion type must have a string or array of strings value"),
    threshold: Some(0.75),
    needs: &[],
};

pub(in super::super) static CLASSIFIER: Graded = Graded {
    meta: &Meta {
        id: "classifier",
        aliases: &[],
        summary: "A classifier puts the output into a class",
        docs: r"# What it does
Asks the classifier in `provider` for the score of the class in `value`, or of the best class. It must
reach `threshold` (1 if not given).

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: classifier
  value: neutral
  threshold: 0.7
```
",
        since: "0.1.0",
    },
    value: Form::OptionalText(
        "\"classifier\" assertion type must have a string value or be undefined",
    ),
    threshold: Some(1.0),
    needs: &[],
};

pub(in super::super) static MODERATION: Graded = Graded {
    meta: &Meta {
        id: "moderation",
        aliases: &[],
        summary: "A moderation service has nothing against the output",
        docs: r"# What it does
Asks a moderation service about the prompt and the output. `value` limits it to a list of categories.

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: moderation
  value: [harassment, self-harm]
```
",
        since: "0.1.0",
    },
    value: Form::OptionalList("moderation assertion value must be a string array if set"),
    threshold: None,
    needs: &[],
};

pub(in super::super) static PI: Graded = Graded {
    meta: &Meta {
        id: "pi",
        aliases: &[],
        summary: "A scoring service finds that the output meets a question",
        docs: r"# What it does
Asks the Pi scoring service how well the output meets the question in `value`. The score must reach
`threshold` (0.5 if not given).

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: pi
  value: Is the response to the point?
```
",
        since: "0.1.0",
    },
    value: Form::Text("\"pi\" assertion type must have a string value"),
    threshold: Some(0.5),
    needs: &[],
};

pub(in super::super) static GOAL_SUCCESS: Graded = Graded {
    meta: &Meta {
        id: "trajectory:goal-success",
        aliases: &[],
        summary: "A model finds that the steps of a case reached a goal",
        docs: r"# What it does
Shows a model the steps that were taken (see `trajectory:step-count`) and the output, and asks whether
they reached the goal in `value` (text, or a map with `goal`). A case that asked no MCP server cannot
be judged.

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: trajectory:goal-success
  value: the order is cancelled and the customer was told
```
",
        since: "0.1.0",
    },
    value: Form::Goal(
        "trajectory:goal-success assertion must have a string value or an object with a goal property",
    ),
    threshold: None,
    needs: &[Need::Trajectory],
};

pub(in super::super) static HUMAN: Graded = Graded {
    meta: &Meta {
        id: "human",
        aliases: &[],
        summary: "A person is content with the output",
        docs: r"# What it does
Leaves the verdict to a person. Until one has looked, there is none.

Without a judge this cannot be judged: it is an error, never a pass, also with `not-`.

# Example
```yaml
- type: human
  value: the tone is right
```
",
        since: "0.1.0",
    },
    value: Form::Anything("human assertion value must be text"),
    threshold: None,
    needs: &[],
};
