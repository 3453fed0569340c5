//! How many words the output has.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static WORD_COUNT: Builtin = Builtin {
    meta: &Meta {
        id: "word-count",
        aliases: &[],
        summary: "The number of words in the output is in a range",
        docs: r"# What it does
Counts the words of the output, separated by white space. `value` is the exact number, or a map with `min`,
`max` or both (inclusive).

# Example
```yaml
- type: word-count
  value: {min: 5, max: 50}
```
",
        since: "0.1.0",
    },
    compile,
};

#[derive(Clone, Copy)]
enum Range {
    Exactly(f64),
    Between(f64, f64),
    AtLeast(f64),
    AtMost(f64),
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    let range = spec.expect(range);
    judging(move |scene| {
        let range = *range.get(scene)?;
        let count = js::words(&scene.text()).count();
        Ok(Verdict::met(range.holds(count) != negated, || range.reason(count, negated)))
    })
}

fn range(value: Option<&Value>) -> Result<Range, String> {
    let text = |text: &str| Err(format!("\"word-count\" assertion {text}"));
    let wrong = "value must be a number or an object with min/max properties";
    match value {
        None | Some(Value::Null) => text("must have a value"),
        Some(Value::Object(map)) => match (map.get("min"), map.get("max")) {
            (None, None) => text("object must have \"min\" and/or \"max\" properties"),
            (Some(min), Some(max)) => match (numeric(min), numeric(max)) {
                (Some(min), Some(max)) if min <= max => Ok(Range::Between(min, max)),
                (Some(min), Some(max)) => Err(format!(
                    "\"word-count\" assertion: min ({}) must be less than or equal to max ({})",
                    js::number(min),
                    js::number(max)
                )),
                _ => text(wrong),
            },
            (Some(min), None) => numeric(min).map(Range::AtLeast).map_or_else(|| text(wrong), Ok),
            (None, Some(max)) => numeric(max).map(Range::AtMost).map_or_else(|| text(wrong), Ok),
        },
        Some(value) => numeric(value).map(Range::Exactly).map_or_else(|| text(wrong), Ok),
    }
}

/// A number, or text that is one; blank text is 0, as in JavaScript.
pub(super) fn numeric(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match js::trim(text) {
            "" => Some(0.0),
            text if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
                text.parse().ok()
            }
            _ => None,
        },
        _ => None,
    }
}

impl Range {
    #[expect(clippy::float_cmp, reason = "both are whole numbers, or never equal")]
    fn holds(self, count: usize) -> bool {
        let count = count as f64;
        match self {
            Self::Exactly(wanted) => count == wanted,
            Self::Between(min, max) => (min..=max).contains(&count),
            Self::AtLeast(min) => count >= min,
            Self::AtMost(max) => count <= max,
        }
    }

    fn reason(self, count: usize, negated: bool) -> String {
        let n = js::number;
        match (self, negated) {
            (Self::Exactly(wanted), false) => {
                format!("Word count {count} does not equal expected {}", n(wanted))
            }
            (Self::Exactly(wanted), true) => {
                format!("Expected word count to not equal {}, but got {count}", n(wanted))
            }
            (Self::Between(min, max), false) => {
                format!("Word count {count} is not between {} and {}", n(min), n(max))
            }
            (Self::Between(min, max), true) => {
                let (min, max) = (n(min), n(max));
                format!("Expected word count to not be between {min} and {max}, but got {count}")
            }
            (Self::AtLeast(min), false) => {
                format!("Word count {count} is less than minimum {}", n(min))
            }
            (Self::AtLeast(min), true) => {
                format!("Expected word count to be less than {}, but got {count}", n(min))
            }
            (Self::AtMost(max), false) => {
                format!("Word count {count} is greater than maximum {}", n(max))
            }
            (Self::AtMost(max), true) => {
                format!("Expected word count to be greater than {}, but got {count}", n(max))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestScene, flaw, passes};

    #[test]
    fn words_stand_between_white_space() {
        assert!(passes("[{type: word-count, value: 3}]", " one\ttwo\u{a0}three-and-a-half\n"));
        assert!(passes("[{type: word-count, value: '3'}]", "one two three"));
        assert!(passes("[{type: word-count, value: 0}]", " \n"));
        assert!(!passes("[{type: word-count, value: 2.5}]", "one two"));
    }

    #[test]
    fn bounds_belong_to_the_range() {
        for (range, pass) in
            [("min: 2", true), ("max: 2", true), ("min: 3", false), ("max: 1", false)]
        {
            assert_eq!(passes(&format!("[{{type: word-count, value: {{{range}}}}}]"), "a b"), pass);
            let yaml = format!("[{{type: not-word-count, value: {{{range}}}}}]");
            assert_eq!(passes(&yaml, "a b"), !pass);
        }
        assert!(passes("[{type: word-count, value: {min: 2, max: 2}}]", "a b"));
    }

    #[test]
    fn reasons_say_what_was_counted() {
        let stage = TestScene::output("one two");
        for (kind, value, reason) in [
            ("word-count", "3", "Word count 2 does not equal expected 3"),
            ("not-word-count", "2", "Expected word count to not equal 2, but got 2"),
            ("word-count", "{min: 3, max: 4}", "Word count 2 is not between 3 and 4"),
            (
                "not-word-count",
                "{min: 1, max: 4}",
                "Expected word count to not be between 1 and 4, but got 2",
            ),
            ("word-count", "{min: 3}", "Word count 2 is less than minimum 3"),
            ("not-word-count", "{min: 1}", "Expected word count to be less than 1, but got 2"),
            ("word-count", "{max: 1}", "Word count 2 is greater than maximum 1"),
            ("not-word-count", "{max: 3}", "Expected word count to be greater than 3, but got 2"),
        ] {
            let yaml = format!("[{{type: {kind}, value: {value}}}]");
            assert_eq!(stage.judge(&yaml).reason, reason);
        }
    }

    #[test]
    fn other_values_are_mistakes() {
        for (value, what) in [
            ("", " must have a value"),
            (", value: {}", " object must have \"min\" and/or \"max\" properties"),
            (", value: {min: 5, max: 2}", ": min (5) must be less than or equal to max (2)"),
            (", value: [1]", " value must be a number or an object with min/max properties"),
            (", value: many", " value must be a number or an object with min/max properties"),
        ] {
            let yaml = format!("[{{type: word-count{value}}}]");
            assert_eq!(flaw(&yaml, "one"), format!("\"word-count\" assertion{what}"));
        }
    }
}
