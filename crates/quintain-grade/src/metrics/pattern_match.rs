//! Whether the whole answer matches a regular expression.

use quintain_content::registry::Meta;
use regex::{Regex, RegexBuilder};

use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, immediately};

pub(super) struct PatternMatch;

static META: Meta = Meta {
    id: "pattern-match",
    aliases: &["PatternMatchMetric"],
    summary: "the answer matches a regular expression",
    docs: "\
# What it does
Matches the whole answer, without white space around it, against `pattern`. With `ignoreCase` case is ignored. The score
is 1 or 0; the threshold is 1. Look-around and back references are not available, so that matching takes linear time.

# Why it matters
Formats such as ids and dates are easier to describe than to list.

# What counts as proof
The answer and the pattern.

# Options
- `pattern`: a regular expression, required
- `ignoreCase`: true or false (default)

# When it does not apply
The trace has no answer.

# Example
```yaml
metrics:
  - type: pattern-match
    pattern: 'INV-\\d{4}'
    ignoreCase: true
```
",
    since: "0.2.0",
};

impl Metric for PatternMatch {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn threshold(&self) -> f64 {
        1.0
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let ignore_case = options.flag("ignoreCase").unwrap_or(false);
        let given = options.value("pattern").is_some();
        let Some(pattern) = options.text("pattern") else {
            if !given {
                options.error("pattern", "`pattern` is required");
            }
            return None;
        };
        let whole = format!(r"\A(?:{})\z", pattern.trim());
        match RegexBuilder::new(&whole).case_insensitive(ignore_case).build() {
            Ok(pattern) => immediately(move |input| measure(input, &pattern)),
            Err(error) => {
                let error = error.to_string();
                let last = error.lines().last().unwrap_or_default();
                let last = last.strip_prefix("error: ").unwrap_or(last);
                options.error("pattern", format!("invalid regular expression: {last}"));
                None
            }
        }
    }
}

fn measure(input: &MetricInput<'_>, pattern: &Regex) -> Measured {
    let Some(answer) = input.view.trace.answer() else {
        return Measured::undefined("the trace has no answer");
    };
    Measured::Score(if pattern.is_match(answer.trim()) {
        Scored::new(1.0, "the answer matches the pattern")
    } else {
        Scored::new(0.0, "the answer does not match the pattern")
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Role, Trace};
    use serde_json::json;

    use crate::metrics::testing::{compiled, score};

    #[test]
    fn the_whole_answer_must_match() {
        let metric =
            compiled("pattern-match", &json!({"pattern": "inv-\\d+|none", "ignore_case": true}));
        let says = |text: &str| {
            let mut trace = Trace::default();
            trace.say(Role::Assistant, text);
            score(&metric, &trace).score
        };
        assert_eq!(says(" INV-12 "), Some(1.0));
        assert_eq!(says("see INV-12"), Some(0.0), "a part is not enough");
        assert_eq!(says("none at all"), Some(0.0), "alternatives are anchored, too");
    }

    #[test]
    fn patterns_are_checked() {
        let options = json!({"pattern": "("});
        let Err(errors) = crate::metrics::compile("pattern-match", options.as_object().unwrap())
        else {
            panic!("an unclosed group")
        };
        assert!(errors.to_string().contains("invalid regular expression"), "{errors}");
    }
}
