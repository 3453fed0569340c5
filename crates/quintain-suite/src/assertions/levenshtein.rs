//! The edit distance between the output and a text.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_content::text::levenshtein::{Distance, distance};
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static LEVENSHTEIN: Builtin = Builtin {
    meta: &Meta {
        id: "levenshtein",
        aliases: &[],
        summary: "The edit distance between the output and a text is small (Levenshtein)",
        docs: r"# What it does
Counts the characters to insert, delete or replace to turn the output into `value`. Passes if there are at
most `threshold` (default 5). Characters are UTF-16 units, so most emoji count twice.

# What counts as proof
The exact distance. For very long texts (if the product of both lengths exceeds 2^33, as for two texts of
90,000 characters each), only whether the distance is within the threshold; if the threshold is that large
as well, the result is an error.

# Example
```yaml
- type: levenshtein
  value: Hello, world
  threshold: 3
```
",
        since: "0.1.0",
    },
    compile,
};

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let (negated, threshold) = (spec.negated, spec.threshold().unwrap_or(5.0));
    let expected = spec.expect(|value| match value {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => Err("\"levenshtein\" assertion type must have a string value".to_owned()),
    });
    let bound = threshold as usize;
    judging(move |scene| {
        let (within, shown) = match distance(&scene.text(), &expected.get(scene)?, bound) {
            Distance::Exactly(distance) => (distance as f64 <= threshold, distance.to_string()),
            Distance::Over(bound) => (false, format!("over {bound}")),
            Distance::Unknown => {
                return Ok(Verdict::error(
                    "the texts are too long for the Levenshtein distance; use a lower threshold",
                ));
            }
        };
        let relation = if negated { "less than or equal to" } else { "greater than" };
        Ok(Verdict::met(within != negated, || {
            let threshold = js::number(threshold);
            format!("Levenshtein distance {shown} is {relation} threshold {threshold}")
        }))
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::verdict::Status;

    use crate::testing::{TestScene, flaw, passes};

    #[test]
    fn five_letters_are_near_enough_by_default() {
        assert!(passes("[{type: levenshtein, value: abcdef}]", "abcdefghijk"));
        assert!(!passes("[{type: levenshtein, value: abcdef}]", "abcdefghijkl"));
        assert!(passes("[{type: levenshtein, value: '', threshold: 0}]", ""));
    }

    #[test]
    fn reasons_name_the_distance_as_in_promptfoo() {
        let stage = TestScene::output("The cat sat on the mat.");
        let yaml = "[{type: levenshtein, value: A cat was sitting on the mat., threshold: 0.6}]";
        assert_eq!(
            stage.judge(yaml).reason,
            "Levenshtein distance 12 is greater than threshold 0.6"
        );
        let yaml = "[{type: not-levenshtein, value: The cat sat on the hat.}]";
        assert_eq!(
            stage.judge(yaml).reason,
            "Levenshtein distance 1 is less than or equal to threshold 5"
        );
        let stage = TestScene::output("Straße İstanbul 👍 ok.");
        let yaml = "[{type: levenshtein, value: STRASSE istanbul 👍 OK, threshold: 0.6}]";
        assert_eq!(
            stage.judge(yaml).reason,
            "Levenshtein distance 10 is greater than threshold 0.6"
        );
    }

    #[test]
    fn megabytes_fail_without_an_exact_number() {
        let yaml = |threshold: u32| {
            format!(
                "[{{type: levenshtein, threshold: {threshold}, value: {}}}]",
                "b".repeat(200_000)
            )
        };
        let stage = TestScene::output("a".repeat(5_000_000));
        assert_eq!(
            stage.judge(&yaml(9)).reason,
            "Levenshtein distance over 9 is greater than threshold 9"
        );
        assert_eq!(stage.judge(&yaml(4_900_000)).status, Status::Error);
    }

    #[test]
    fn other_values_are_mistakes() {
        for value in ["", ", value: 42", ", value: [a]"] {
            assert_eq!(
                flaw(&format!("[{{type: levenshtein{value}}}]"), "x"),
                "\"levenshtein\" assertion type must have a string value"
            );
        }
    }
}
