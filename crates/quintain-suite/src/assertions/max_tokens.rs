//! The number of tokens of the output.

use quintain_content::registry::Meta;
use quintain_content::text::{js, tokens};
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use super::word_count::numeric;
use crate::check::{Builtin, Check, Expected, Scene, Spec, judging};

pub(super) static MAX_TOKENS: Builtin = Builtin {
    meta: &Meta {
        id: "max-tokens",
        aliases: &[],
        summary: "The output has at most a given number of tokens",
        docs: r"# What it does
Passes if the output has at most `value` (or `threshold`) tokens.

# What counts as proof
The number of tokens that the target reports. If it reports none, or if a transform changed the output,
an estimate, since every model splits texts differently: one token for every 8 letters of a word (3 in
alphabets other than Latin), one for every character of Chinese, Japanese and Korean, for every 3 digits,
for every 2 punctuation marks and for white space of more than one character, two for an emoji. The reason
shows which of the two numbers it is.

# Example
```yaml
- type: max-tokens
  value: 500
```
",
        since: "0.1.0",
    },
    compile,
};

enum Limit {
    Threshold(f64),
    Value(Expected<f64>),
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    let limit = match spec.threshold() {
        Some(threshold) => Limit::Threshold(threshold),
        None => Limit::Value(spec.expect(read)),
    };
    judging(move |scene| {
        let limit = match &limit {
            Limit::Threshold(threshold) => *threshold,
            Limit::Value(value) => *value.get(scene)?,
        };
        let (count, how) = match reported(scene) {
            Some(count) => (count, "reported by the target"),
            None => (tokens::estimate(&scene.text()) as f64, "(estimated)"),
        };
        let allowed = count <= limit;
        let relation = if allowed { "at most" } else { "more than" };
        let (count, limit) = (js::number(count), js::number(limit));
        Ok(Verdict::of(allowed != negated, format!("{count} tokens {how}, {relation} {limit}")))
    })
}

fn read(value: Option<&Value>) -> Result<f64, String> {
    value.filter(|value| !js::is_falsy(value) || value.is_number()).and_then(numeric).ok_or_else(
        || "\"max-tokens\" assertion must have a number as `value` or `threshold`".to_owned(),
    )
}

/// The number that the target reports, if it applies to this output.
fn reported(scene: &Scene<'_>) -> Option<f64> {
    let usage = scene.response.token_usage.as_ref()?;
    let completion = usage.get("completion")?.as_f64()?;
    (*scene.output == scene.response.output).then_some(completion)
}

#[cfg(test)]
mod tests {
    use quintain_evidence::response::Response;
    use serde_json::json;

    use crate::testing::{TestScene, flaw, passes};

    #[test]
    fn the_limit_is_still_allowed() {
        assert!(passes("[{type: max-tokens, value: 4}]", "Hello, world!"));
        assert!(passes("[{type: max-tokens, value: '4'}]", "Hello, world!"));
        let stage = TestScene::output("Hello, world!");
        assert_eq!(
            stage.judge("[{type: max-tokens, threshold: 3}]").reason,
            "4 tokens (estimated), more than 3"
        );
        assert_eq!(
            stage.judge("[{type: not-max-tokens, value: 4}]").reason,
            "4 tokens (estimated), at most 4"
        );
    }

    #[test]
    fn the_target_knows_better() {
        let token_usage = Some(json!({"completion": 9, "total": 20}));
        let stage = TestScene {
            response: Response { token_usage, ..Response::text("Hello, world!") },
            ..TestScene::default()
        };
        let verdict = stage.judge("[{type: max-tokens, value: 8}]");
        assert!(!verdict.passed());
        assert_eq!(verdict.reason, "9 tokens reported by the target, more than 8");
    }

    #[test]
    fn a_number_is_needed() {
        for value in ["", ", value: many", ", value: [1]", ", value: ''"] {
            assert_eq!(
                flaw(&format!("[{{type: max-tokens{value}}}]"), "x"),
                "\"max-tokens\" assertion must have a number as `value` or `threshold`"
            );
        }
    }
}
