//! Whether the answer is short.

use quintain_content::registry::Meta;

use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, immediately};

pub(super) struct AnswerLength;

static META: Meta = Meta {
    id: "answer-length",
    aliases: &[],
    summary: "the answer has at most a number of words",
    docs: "\
# What it does
Counts the words of the answer. The score is 1 up to `maxWords`, and `maxWords` divided by their number above it.

# Why it matters
Long answers are not read.

# What counts as proof
The number of words.

# Options
`maxWords`: a number above 0, 100 by default.

# When it does not apply
The trace has no answer.

# Example
```yaml
metrics:
  - type: answer-length
    maxWords: 50
```
",
    since: "0.2.0",
};

impl Metric for AnswerLength {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let most = match options.value("maxWords") {
            None => 100.0,
            Some(value) => match value.as_f64().filter(|number| *number > 0.0) {
                Some(number) => number,
                None => {
                    options.expected("maxWords", "a number above 0", value);
                    return None;
                }
            },
        };
        immediately(move |input| measure(input, most))
    }
}

fn measure(input: &MetricInput<'_>, most: f64) -> Measured {
    let Some(answer) = input.view.trace.answer() else {
        return Measured::undefined("the trace has no answer");
    };
    let words = answer.split_whitespace().count();
    let score = (most / words.max(1) as f64).min(1.0);
    Measured::Score(Scored::new(score, format!("{words} words, at most {most}")))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Role, Trace};

    use super::*;
    use crate::metrics::testing::measured_value;

    #[test]
    fn a_short_answer_scores_1() {
        let mut trace = Trace::default();
        trace.say(Role::Assistant, "It rains.");
        assert!((measured_value(&AnswerLength, &trace) - 1.0).abs() < 1e-9);
    }
}
