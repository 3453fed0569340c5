//! All checks as one metric.

use std::collections::BTreeSet;

use quintain_content::registry::Meta;
use quintain_evidence::graded::{Level, TraceFinding};
use serde_json::{Map, Value};

use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, immediately};
use crate::checks::CHECKS;

pub(super) struct Checks;

static META: Meta = Meta {
    id: "checks",
    aliases: &[],
    summary: "no check has a finding",
    docs: "\
# What it does
Computes the share of checks that apply to the trace and have no finding of `severity` (default: error) or above. The
threshold is 1. `--metrics checks` runs the checks alone.

# Why it matters
Checks prove faults without a model; this is the metric for those who want nothing else.

# What counts as proof
The findings.

# Options
`severity`: the least severity that counts, `info`, `warning` or `error` (default).

# When it does not apply
No check applies.

# Example
```yaml
metrics:
  - type: checks
    severity: warning
```
",
    since: "0.2.0",
};

impl Metric for Checks {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn threshold(&self) -> f64 {
        1.0
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let words = Level::ALL.map(|level| (level.word(), level));
        let least = options.choice("severity", &words).unwrap_or(Level::Error);
        immediately(move |input| measure(input, least))
    }
}

fn measure(input: &MetricInput<'_>, least: Level) -> Measured {
    let silent: BTreeSet<&str> =
        input.not_applicable.iter().map(|silent| silent.check.as_str()).collect();
    let applied = CHECKS.iter().filter(|check| !silent.contains(check.meta().id)).count();
    let relevant: Vec<TraceFinding> =
        input.findings.iter().filter(|finding| finding.severity >= least).cloned().collect();
    let failed: BTreeSet<&str> = relevant.iter().map(|finding| finding.check.as_str()).collect();
    if applied == 0 && failed.is_empty() {
        return Measured::undefined("no check applies");
    }
    // A check may report under several ids, such as `policy.deny`.
    let all = applied.max(failed.len());
    let value = (all - failed.len()) as f64 / all as f64;
    let reason = if failed.is_empty() {
        format!("{applied} checks found nothing of severity {} or above", least.word())
    } else {
        format!("findings of {}", failed.iter().copied().collect::<Vec<_>>().join(", "))
    };
    let count = |level: Level| {
        Value::from(input.findings.iter().filter(|finding| finding.severity == level).count())
    };
    let counts: Map<String, Value> =
        Level::ALL.iter().map(|level| (level.word().to_owned(), count(*level))).collect();
    Measured::Score(Scored::new(value, reason).with("findings", counts))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, finding, measured_with, score_with, trace_with_tools};

    #[test]
    fn the_severity_decides_what_counts() {
        let trace = trace_with_tools(&["a"], &["a"]);
        let findings = [finding("args.extra", Level::Warning, Some(0))];
        let lenient = score_with(&compiled("checks", &json!({})), &trace, &findings);
        assert_eq!((lenient.score, lenient.success), (Some(1.0), Some(true)));
        let strict =
            score_with(&compiled("checks", &json!({"severity": "warning"})), &trace, &findings);
        assert_eq!(strict.success, Some(false));
        assert_eq!(strict.details["findings"]["warning"], 1);
    }

    #[test]
    fn clean_traces_pass() {
        let trace = trace_with_tools(&["a"], &["a"]);
        assert!(
            matches!(measured_with(&Checks, &trace, &[]), Measured::Score(scored) if scored.value > 0.99)
        );
    }
}
