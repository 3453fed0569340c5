//! How long the target takes to respond.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static LATENCY: Builtin = Builtin {
    meta: &Meta {
        id: "latency",
        aliases: &[],
        summary: "The target responds within a time limit",
        docs: r"# What it does
Measures the time from sending the request to receiving the complete response. Passes if it is at most
`threshold` milliseconds.

# What counts as proof
The time measured on this machine. A recorded or cached response has no latency; the result is then an
error.

# Example
```yaml
- type: latency
  threshold: 500
```
",
        since: "0.1.0",
    },
    compile,
};

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    let threshold =
        spec.required_threshold("Latency assertion must have a threshold in milliseconds");
    judging(move |scene| {
        let threshold = threshold.clone()?;
        let Some(latency) = scene.latency_ms else {
            return Ok(Verdict::error("Latency assertion does not support cached results"));
        };
        let relation = if negated { "less than or equal to" } else { "greater than" };
        Ok(Verdict::met((latency <= threshold) != negated, || {
            let (latency, threshold) = (js::number(latency), js::number(threshold));
            format!("Latency {latency}ms is {relation} threshold {threshold}ms")
        }))
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::verdict::Status;

    use crate::testing::{TestScene, flaw};

    fn took(ms: f64) -> TestScene {
        TestScene { latency_ms: Some(ms), ..TestScene::default() }
    }

    #[test]
    fn the_threshold_is_still_in_time() {
        assert!(took(20.0).judge("[{type: latency, threshold: 20}]").passed());
        let verdict = took(20.5).judge("[{type: latency, threshold: 20}]");
        assert_eq!(verdict.reason, "Latency 20.5ms is greater than threshold 20ms");
        let verdict = took(20.0).judge("[{type: not-latency, threshold: 20}]");
        assert_eq!(verdict.reason, "Latency 20ms is less than or equal to threshold 20ms");
    }

    #[test]
    fn unknown_times_are_no_pass() {
        let verdict = TestScene::default().judge("[{type: not-latency, threshold: 0}]");
        assert_eq!(verdict.status, Status::Error);
        assert_eq!(
            flaw("[{type: latency}]", "x"),
            "Latency assertion must have a threshold in milliseconds"
        );
    }
}
