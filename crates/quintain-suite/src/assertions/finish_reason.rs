//! The reason why the model stopped.

use quintain_content::registry::Meta;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static FINISH_REASON: Builtin = Builtin {
    meta: &Meta {
        id: "finish-reason",
        aliases: &[],
        summary: "The model stopped for a certain reason",
        docs: r"# What it does
Compares the finish reason that the model reports (`stop`, `length`, `content_filter`, `tool_calls`, ...)
with `value`, ignoring case. MCP servers report none, so the assertion fails for them.

# Example
```yaml
- type: finish-reason
  value: stop
```
",
        since: "0.1.0",
    },
    compile,
};

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    let expected = spec.expect(|value| match value {
        Some(Value::String(text)) => Ok(text.clone()),
        _ => Err("\"finish-reason\" assertion type must have a string value".to_owned()),
    });
    judging(move |scene| {
        let expected = expected.get(scene)?;
        let Some(actual) = scene.response.finish_reason.as_deref().filter(|why| !why.is_empty())
        else {
            return Ok(Verdict::met(negated, || {
                "Provider did not supply stop/finish reason".to_owned()
            }));
        };
        let same = expected.to_lowercase() == actual.to_lowercase();
        let not = if negated { "not " } else { "" };
        Ok(Verdict::met(same != negated, || {
            format!("Expected finish reason {not}\"{expected}\" but got \"{actual}\"")
        }))
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::response::Response;

    use crate::testing::{TestScene, flaw};

    fn stopped(why: Option<&str>) -> TestScene {
        let finish_reason = why.map(str::to_owned);
        TestScene {
            response: Response { finish_reason, ..Response::text("x") },
            ..TestScene::default()
        }
    }

    #[test]
    fn case_does_not_matter() {
        let stage = stopped(Some("STOP"));
        assert!(stage.judge("[{type: finish-reason, value: stop}]").passed());
        assert_eq!(
            stage.judge("[{type: finish-reason, value: length}]").reason,
            "Expected finish reason \"length\" but got \"STOP\""
        );
        assert_eq!(
            stage.judge("[{type: not-finish-reason, value: stop}]").reason,
            "Expected finish reason not \"stop\" but got \"STOP\""
        );
    }

    #[test]
    fn without_a_reason_only_the_negation_passes() {
        for none in [None, Some("")] {
            let verdict = stopped(none).judge("[{type: finish-reason, value: stop}]");
            assert_eq!(verdict.reason, "Provider did not supply stop/finish reason");
            assert!(stopped(none).judge("[{type: not-finish-reason, value: stop}]").passed());
        }
    }

    #[test]
    fn a_value_is_needed() {
        let message = "\"finish-reason\" assertion type must have a string value";
        assert_eq!(flaw("[{type: finish-reason}]", "x"), message);
        assert_eq!(flaw("[{type: finish-reason, value: 3}]", "x"), message);
    }
}
