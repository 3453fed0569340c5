//! Whether the answer is exactly the expected one.

use quintain_content::registry::Meta;

use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, immediately};

pub(super) struct ExactMatch;

static META: Meta = Meta {
    id: "exact-match",
    aliases: &["ExactMatchMetric"],
    summary: "the answer equals the expected output",
    docs: "\
# What it does
Compares the answer with `expected_output` of the case, without white space around either. The score is 1 or 0; the
threshold is 1.

# Why it matters
For answers with one right form it is the strictest and cheapest comparison.

# What counts as proof
The two texts.

# When it does not apply
The case has no expected output, or the trace has no answer.

# Example
```yaml
metrics:
  - type: exact-match
```
",
    since: "0.2.0",
};

impl Metric for ExactMatch {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn threshold(&self) -> f64 {
        1.0
    }

    fn compile(&self, _: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        immediately(measure)
    }
}

fn measure(input: &MetricInput<'_>) -> Measured {
    let trace = input.view.trace;
    let Some(expected) = trace.expected.output.as_deref() else {
        return Measured::undefined("the case has no expected output");
    };
    let Some(answer) = trace.answer() else {
        return Measured::undefined("the trace has no answer");
    };
    Measured::Score(if answer.trim() == expected.trim() {
        Scored::new(1.0, "the answer equals the expected output")
    } else {
        Scored::new(0.0, "the answer differs from the expected output")
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Role, Trace};

    use super::*;
    use crate::metrics::testing::{measured, measured_value};

    #[test]
    fn white_space_around_does_not_matter_but_case_does() {
        let mut trace = Trace::default();
        trace.say(Role::Assistant, " 42\n");
        assert!(matches!(measured(&ExactMatch, &trace), Measured::Undefined(_)));
        trace.expected.output = Some("42".to_owned());
        assert!((measured_value(&ExactMatch, &trace) - 1.0).abs() < 1e-9);
        trace.expected.output = Some("forty-two".to_owned());
        assert!(measured_value(&ExactMatch, &trace) < 1e-9);
    }
}
