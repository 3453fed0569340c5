//! The table of the assertion types that ask a judge.

use quintain_content::registry::Meta;

use super::{Form, Graded, Need};

pub(in super::super) static LLM_RUBRIC: Graded = Graded {
    meta: &Meta {
        id: "llm-rubric",
        aliases: &[],
        summary: "A model judges that the output meets a rubric",
        docs: r"# What it does
Asks a model whether the output meets the rubric in `value`. With `threshold`, the score must also be at
least that high. `rubricPrompt` replaces the default question; `provider` is read, but has no effect yet.

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "An agent judges that the output meets a rubric",
        docs: r"# What it does
Like `llm-rubric`, but the judge is an agent that can use tools.

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "A model with web search judges that the output meets a rubric",
        docs: r"# What it does
Like `llm-rubric`, but the judge searches the web for facts.

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "A model scores the output by criteria, step by step (G-Eval)",
        docs: r"# What it does
Asks a model to derive evaluation steps from the criteria in `value` and to score the output by them. The
scores of several criteria are averaged. Passes if the score is at least `threshold` (default 0.7).

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "A model judges that the output agrees with a fact",
        docs: r"# What it does
Asks a model whether the output agrees with the statement in `value`.

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "A model judges whether the output meets a criterion, yes or no",
        docs: r"# What it does
Asks a model whether the output, as the answer to the prompt, meets the criterion in `value`.

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "The output is relevant to the question",
        docs: r"# What it does
Asks a model how relevant the output is to the variable `query`, or to the prompt if there is no such
variable. Passes if the score is at least `threshold` (default 0.5).

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "The context supports the claims of the output",
        docs: r"# What it does
Asks a model how much of the output is supported by the variable `context` (or the context that
`contextTransform` extracts from the response), given the question in the variable `query`. Passes if the
score is at least `threshold` (default 0.5).

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "The context contains the expected facts",
        docs: r"# What it does
Asks a model how much of the statement in `value` is in the variable `context` (or in the context that
`contextTransform` extracts from the response, or in the prompt if there is neither). Passes if the score
is at least `threshold` (default 0.5).

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "The context is relevant to the question",
        docs: r"# What it does
Asks a model how much of the variable `context` (or of the context that `contextTransform` extracts from
the response) is needed for the question in the variable `query`. Passes if the score is at least
`threshold` (default 0.5).

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "The answers in a conversation are relevant to what came before",
        docs: r"# What it does
Moves a window over the messages of the conversation and asks a model whether the last answer in it is
relevant. Passes if the share of relevant answers is at least `threshold` (default 0.5).
`config.windowSize` sets the number of messages in the window.

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "The output is similar in meaning to a text",
        docs: r"# What it does
Compares the embedding of the output with that of the text in `value`, or of a list of texts, one of which
must be similar. Passes if the cosine similarity is at least `threshold` (default 0.75). `similar:dot` and
`similar:euclidean` use another measure.

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "A classifier assigns the output to a class",
        docs: r"# What it does
Asks the classifier in `provider` for the score of the class in `value`, or of the best class without
`value`. Passes if the score is at least `threshold` (default 1).

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "A moderation service does not flag the output",
        docs: r"# What it does
Sends the prompt and the output to a moderation service and passes if it flags nothing. `value` limits the
check to a list of categories.

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "The Pi scoring service scores the output by a question",
        docs: r"# What it does
Asks the Pi scoring service how well the output satisfies the question in `value`. Passes if the score is
at least `threshold` (default 0.5).

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
        summary: "A model judges that the steps of a case reached a goal",
        docs: r"# What it does
Shows a model the steps of the case (see `trajectory:step-count`) and the output, and asks whether they
reached the goal in `value` (text, or a map with `goal`). For a case without an MCP server the result is
an error.

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

# Example
```yaml
- type: trajectory:goal-success
  value: the order is cancelled and the customer is notified
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
        summary: "A person approves the output",
        docs: r"# What it does
Leaves the verdict to a person. There is no verdict until a person has judged the output.

Quintain does not support models as judges yet: the result is an error, never a pass, even with
`not-`.

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
