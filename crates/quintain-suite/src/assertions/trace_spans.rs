//! Spans in the trace of a case: their number, duration and errors.

use quintain_content::glob;
use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use quintain_source::Diagnostic;
use serde_json::{Map, Value};

use crate::check::{Builtin, Check, Scene, Spec, judging};
use crate::promptfoo_spans::{SpanFailure, SpanTrace, TraceSpan};

pub(super) static TRACE_SPAN_COUNT: Builtin = Builtin {
    meta: &Meta {
        id: "trace-span-count",
        aliases: &[],
        summary: "The number of spans with a certain name is in a range",
        docs: r#"# What it does
The recorded exchanges of a case are its trace: a tool call is a span `execute_tool NAME`, the span of any
other request has the name of its method, and one span for the whole target has the name of the target.
Counts the spans whose name matches `pattern` (with `*` and `?`, ignoring case) and compares the number
with `min` and `max`.

Unlike in promptfoo, `tracing` need not be enabled. A case without an MCP server has no trace; the result
is then an error. `not-` has no effect.

# What counts as proof
The matching exchanges.

# Example
```yaml
- type: trace-span-count
  value: { pattern: "execute_tool *", min: 1, max: 3 }
```
"#,
        since: "0.1.0",
    },
    compile: count,
};

pub(super) static TRACE_SPAN_DURATION: Builtin = Builtin {
    meta: &Meta {
        id: "trace-span-duration",
        aliases: &[],
        summary: "The spans of the trace are short",
        docs: r#"# What it does
Passes if every span whose name matches `pattern` (default: all; see `trace-span-count` for names) takes at
most `max` milliseconds. With `percentile`, only that percentile of the durations must be within `max`.
Passes if no span matches. `not-` has no effect.

# What counts as proof
The exchanges that took too long.

# Example
```yaml
- type: trace-span-duration
  value: { pattern: "execute_tool *", max: 500, percentile: 95 }
```
"#,
        since: "0.1.0",
    },
    compile: duration,
};

pub(super) static TRACE_ERROR_SPANS: Builtin = Builtin {
    meta: &Meta {
        id: "trace-error-spans",
        aliases: &[],
        summary: "The number of error spans in the trace is limited",
        docs: r"# What it does
Counts the spans whose name matches `pattern` (default: all; see `trace-span-count` for names) and that
ended with an error: a tool result with `isError`, or a request without a result. `value` is the number of
errors that is allowed (default 0), or a map with `max_count`, `max_percentage` and `pattern`. `not-` has no
effect.

# What counts as proof
The exchanges that failed.

# Example
```yaml
- type: trace-error-spans
  value: { max_percentage: 10 }
```
",
        since: "0.1.0",
    },
    compile: errors,
};

/// Spans that a reason lists or a proof points to.
const SHOWN: usize = 3;

/// The trace of the case, or an error verdict if there is none.
pub(super) fn trace<'a>(scene: &Scene<'a>, kind: &str) -> Result<SpanTrace<'a>, Box<Verdict>> {
    SpanTrace::of(scene).ok_or_else(|| {
        Box::new(Verdict::error(format!("No trace data available for {kind} assertion")))
    })
}

/// Adds the exchanges of spans as proofs.
pub(super) fn proved<'s>(
    verdict: Verdict,
    spans: impl IntoIterator<Item = &'s TraceSpan<'s>>,
) -> Verdict {
    let exchanges = spans.into_iter().filter_map(|span| span.exchange).take(SHOWN);
    exchanges.fold(verdict, |verdict, at| verdict.proof(at, ""))
}

/// promptfoo ignores `not-` on these types, so whoever writes it expects something else.
fn without_negation(spec: &mut Spec<'_, '_>) {
    if spec.negated {
        let title = format!("`not-` has no effect on `{}`", spec.kind);
        let diagnostic = Diagnostic::new(spec.strictness, "config::no-negation", title);
        spec.dx.push(diagnostic.at(spec.node.span, "evaluated without `not-`"));
    }
}

/// A number in `value`; any other type is an error.
pub(super) fn number(
    map: &Map<String, Value>,
    key: &str,
    kind: &str,
) -> Result<Option<f64>, String> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64() {
            Some(number) => Ok(Some(number)),
            None => Err(format!("{kind} assertion {key} must be a number")),
        },
    }
}

/// `pattern`; missing if empty.
fn pattern(map: &Map<String, Value>, kind: &str) -> Result<Option<String>, String> {
    match map.get("pattern") {
        Some(Value::String(pattern)) => Ok(Some(pattern.clone()).filter(|text| !text.is_empty())),
        None | Some(Value::Null) => Ok(None),
        Some(_) => Err(format!("{kind} assertion pattern must be text")),
    }
}

fn matching<'t, 'a>(trace: &'t SpanTrace<'a>, pattern: &str) -> Vec<&'t TraceSpan<'a>> {
    trace.spans().iter().filter(|span| glob::matches(pattern, &span.name)).collect()
}

#[derive(Clone)]
struct Counted {
    pattern: String,
    min: Option<f64>,
    max: Option<f64>,
}

fn count(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    const KIND: &str = "trace-span-count";
    without_negation(spec);
    let wanted = spec.expect(|value| {
        let wrong = || format!("{KIND} assertion must have a value object with pattern property");
        let map = value.and_then(Value::as_object).ok_or_else(wrong)?;
        let pattern = pattern(map, KIND)?.ok_or_else(wrong)?;
        let (min, max) = (number(map, "min", KIND)?, number(map, "max", KIND)?);
        Ok(Counted { pattern, min, max })
    });
    judging(move |scene| {
        let trace = trace(scene, KIND)?;
        let wanted = wanted.get(scene)?;
        let spans = matching(&trace, &wanted.pattern);
        let count = spans.len() as f64;
        let found = format!("Found {} spans matching pattern \"{}\"", spans.len(), wanted.pattern);
        let (pass, mut reason) = match (wanted.min, wanted.max) {
            (Some(min), _) if count < min => {
                (false, format!("{found}, expected at least {}", js::number(min)))
            }
            (_, Some(max)) if count > max => {
                (false, format!("{found}, expected at most {}", js::number(max)))
            }
            (None, None) => (true, found),
            (min, max) => (true, format!("{found} ({})", expected(min, max))),
        };
        let mut names: Vec<&str> = Vec::new();
        for span in &spans {
            if !names.contains(&span.name.as_ref()) {
                names.push(&span.name);
            }
        }
        if !names.is_empty() {
            reason = format!("{reason}. Matched spans: {}", names.join(", "));
        }
        Ok(proved(Verdict::of(pass, reason), spans))
    })
}

/// `expected 1-2`, `expected at least 1`, `expected at most 2`
pub(super) fn expected(min: Option<f64>, max: Option<f64>) -> String {
    let n = js::number;
    match (min, max) {
        (Some(min), Some(max)) => format!("expected {}-{}", n(min), n(max)),
        (Some(min), None) => format!("expected at least {}", n(min)),
        (None, Some(max)) => format!("expected at most {}", n(max)),
        (None, None) => "expected any".to_owned(),
    }
}

#[derive(Clone)]
struct Timed {
    pattern: String,
    max: f64,
    percentile: Option<f64>,
}

fn duration(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    const KIND: &str = "trace-span-duration";
    without_negation(spec);
    let wanted = spec.expect(|value| {
        let wrong = || format!("{KIND} assertion must have a value object with max property");
        let map = value.and_then(Value::as_object).ok_or_else(wrong)?;
        let max = map.get("max").and_then(Value::as_f64).ok_or_else(wrong)?;
        let percentile = match map.get("percentile") {
            None => None,
            Some(value) => {
                let at = value.as_f64().filter(|at| (0.0..=100.0).contains(at));
                let wrong = "percentile must be a number between 0 and 100";
                Some(at.ok_or_else(|| format!("{KIND} assertion {wrong}"))?)
            }
        };
        let pattern = pattern(map, KIND)?.unwrap_or_else(|| "*".to_owned());
        Ok(Timed { pattern, max, percentile })
    });
    judging(move |scene| {
        let trace = trace(scene, KIND)?;
        let wanted = wanted.get(scene)?;
        let mut spans = matching(&trace, &wanted.pattern);
        if spans.is_empty() {
            let pattern = &wanted.pattern;
            return Ok(Verdict::pass(format!(
                "No spans found matching pattern \"{pattern}\" with complete timing data"
            )));
        }
        spans.sort_by(|a, b| b.took_ms.total_cmp(&a.took_ms));
        Ok(wanted.judge(&spans))
    })
}

impl Timed {
    /// `spans` is not empty and sorted by duration, slowest first.
    fn judge(&self, spans: &[&TraceSpan<'_>]) -> Verdict {
        let max = js::number(self.max);
        let (slow, reason) = match self.percentile {
            None => {
                let slow = spans.iter().take_while(|span| span.took_ms > self.max).count();
                let reason = if slow > 0 {
                    let named = slowest(&spans[..slow]);
                    format!("{slow} span(s) exceed duration threshold {max}ms. Slowest: {named}")
                } else {
                    let (count, pattern) = (spans.len(), &self.pattern);
                    let longest = millis(spans.first().map_or(0.0, |span| span.took_ms));
                    format!(
                        "All {count} spans matching pattern \"{pattern}\" completed within {max}ms \
                         (max: {longest}ms)"
                    )
                };
                (slow, reason)
            }
            Some(percentile) => {
                let at = percentile_of(spans, percentile);
                let said =
                    format!("{}th percentile duration ({}ms)", js::number(percentile), millis(at));
                if at > self.max {
                    let slow = spans.iter().take_while(|span| span.took_ms >= at).count();
                    let named = slowest(&spans[..slow]);
                    (slow, format!("{said} exceeds threshold {max}ms. Slowest spans: {named}"))
                } else {
                    (0, format!("{said} is within threshold {max}ms"))
                }
            }
        };
        proved(Verdict::of(slow == 0, reason), spans[..slow].iter().copied())
    }
}

/// The nearest-rank percentile; the spans are sorted, slowest first.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank between 0 and the number of spans"
)]
fn percentile_of(spans: &[&TraceSpan<'_>], percentile: f64) -> f64 {
    let rank = (percentile / 100.0 * spans.len() as f64).ceil().max(1.0) as usize;
    let from_slowest = spans.len().saturating_sub(rank);
    spans.get(from_slowest).map_or(0.0, |span| span.took_ms)
}

fn slowest(spans: &[&TraceSpan<'_>]) -> String {
    let named = spans.iter().take(SHOWN).map(|s| format!("{} ({}ms)", s.name, millis(s.took_ms)));
    named.collect::<Vec<_>>().join(", ")
}

/// Milliseconds, rounded to the microsecond.
fn millis(took: f64) -> String {
    js::number((took * 1e3).round() / 1e3)
}

#[derive(Clone)]
struct Allowed {
    pattern: String,
    count: Option<f64>,
    percentage: Option<f64>,
}

fn errors(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    const KIND: &str = "trace-error-spans";
    without_negation(spec);
    let allowed = spec.expect(|value| {
        let mut allowed = Allowed { pattern: "*".to_owned(), count: None, percentage: None };
        match value {
            Some(Value::Number(number)) => allowed.count = number.as_f64(),
            Some(Value::Object(map)) => {
                allowed.count = number(map, "max_count", KIND)?;
                allowed.percentage = number(map, "max_percentage", KIND)?;
                allowed.pattern = pattern(map, KIND)?.unwrap_or(allowed.pattern);
            }
            None | Some(Value::Null) => {}
            Some(_) => return Err(format!("{KIND} assertion value must be a number or a map")),
        }
        if allowed.count.is_none() && allowed.percentage.is_none() {
            allowed.count = Some(0.0);
        }
        Ok(allowed)
    });
    judging(move |scene| {
        let trace = trace(scene, KIND)?;
        let allowed = allowed.get(scene)?;
        let spans = matching(&trace, &allowed.pattern);
        if spans.is_empty() {
            let pattern = &allowed.pattern;
            return Ok(Verdict::pass(format!("No spans found matching pattern \"{pattern}\"")));
        }
        let failed: Vec<&TraceSpan<'_>> =
            spans.iter().copied().filter(|span| span.failure.is_some()).collect();
        let (pass, reason) = allowed.judge(spans.len(), &failed);
        Ok(proved(Verdict::of(pass, reason), failed))
    })
}

impl Allowed {
    fn judge(&self, all: usize, failed: &[&TraceSpan<'_>]) -> (bool, String) {
        let count = failed.len();
        let share = count as f64 / all as f64 * 100.0;
        let percent = js::to_fixed(share, 1);
        if let Some(max) = self.count.filter(|max| count as f64 > *max) {
            let told = failed.iter().take(SHOWN).map(|span| match &span.failure {
                Some(SpanFailure::NoResult(why)) => format!("{} ({why})", span.name),
                _ => format!("{} (status: 2)", span.name),
            });
            let told = told.collect::<Vec<_>>().join(", ");
            let more = match count.saturating_sub(SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let max = js::number(max);
            let reason =
                format!("Found {count} error spans, expected at most {max}. Errors: {told}{more}");
            return (false, reason);
        }
        if let Some(max) = self.percentage.filter(|max| share > *max) {
            let max = js::number(max);
            let counts = format!("({count} errors out of {all} spans)");
            return (false, format!("Error rate {percent}% exceeds threshold {max}% {counts}"));
        }
        if count == 0 {
            let pattern = &self.pattern;
            return (
                true,
                format!("No errors found in {all} spans matching pattern \"{pattern}\""),
            );
        }
        let mut reason = format!("Found {count} error(s) in {all} spans ({percent}%)");
        for (bound, unit) in [(self.count, ""), (self.percentage, "%")] {
            if let Some(bound) = bound {
                reason = format!("{reason}, within threshold of {}{unit}", js::number(bound));
            }
        }
        (true, reason)
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Outcome;
    use quintain_evidence::verdict::Status;
    use serde_json::json;

    use crate::suite::NoFiles;
    use crate::testing::{TestScene, called, compile_with, flaw};

    fn three() -> TestScene {
        let mut stage = called("add", json!({}));
        for (tool, outcome) in [
            ("pay", Outcome::ToolError(json!({"isError": true}))),
            ("send", Outcome::Closed { why: "eof".to_owned() }),
        ] {
            let mut more = called(tool, json!({})).evidence.exchanges;
            more[0].outcome = outcome;
            more[0].took *= 3;
            stage.evidence.exchanges.append(&mut more);
        }
        stage
    }

    fn reason(options: &str) -> (bool, String) {
        let verdict = three().judge(&format!("[{{type: {options}}}]"));
        assert_ne!(verdict.status, Status::Error, "{}", verdict.reason);
        (verdict.passed(), verdict.reason)
    }

    #[test]
    fn spans_are_counted_by_name() {
        let (pass, why) = reason("trace-span-count, value: {pattern: 'execute_TOOL *', max: 2}");
        assert!(!pass);
        assert_eq!(
            why,
            "Found 3 spans matching pattern \"execute_TOOL *\", expected at most 2. Matched spans: \
             execute_tool add, execute_tool pay, execute_tool send"
        );
        let (pass, why) = reason("trace-span-count, value: {pattern: 'no*', min: 0, max: 1}");
        assert_eq!((pass, &*why), (true, "Found 0 spans matching pattern \"no*\" (expected 0-1)"));
    }

    #[test]
    fn durations_are_compared_one_by_one_or_by_percentile() {
        let (pass, why) = reason("trace-span-duration, value: {pattern: 'exe*', max: 20}");
        assert!(!pass);
        assert!(why.starts_with("2 span(s) exceed duration threshold 20ms. Slowest: "), "{why}");
        let (pass, why) =
            reason("trace-span-duration, value: {pattern: 'exe*', max: 20, percentile: 33}");
        assert_eq!(
            (pass, &*why),
            (true, "33th percentile duration (10ms) is within threshold 20ms")
        );
        let (pass, why) = reason("trace-span-duration, value: {max: 70}");
        assert_eq!(
            (pass, &*why),
            (true, "All 4 spans matching pattern \"*\" completed within 70ms (max: 70ms)")
        );
    }

    #[test]
    fn errors_are_counted_and_proved() {
        let verdict = three().judge("[{type: trace-error-spans}]");
        assert_eq!(
            verdict.reason,
            "Found 2 error spans, expected at most 0. Errors: execute_tool pay (status: 2), \
             execute_tool send (MCP tool error: eof)"
        );
        let proofs: Vec<usize> = verdict.proofs.iter().map(|proof| proof.exchange).collect();
        assert_eq!(proofs, [1, 2]);
        let (pass, why) = reason("trace-error-spans, value: {max_percentage: 40}");
        assert_eq!(
            (pass, &*why),
            (false, "Error rate 50.0% exceeds threshold 40% (2 errors out of 4 spans)")
        );
        let (pass, why) = reason("trace-error-spans, value: 2");
        assert_eq!(
            (pass, &*why),
            (true, "Found 2 error(s) in 4 spans (50.0%), within threshold of 2")
        );
    }

    #[test]
    fn without_a_trace_there_is_no_verdict() {
        for kind in ["trace-span-count", "trace-span-duration", "trace-error-spans"] {
            let yaml = format!("[{{type: {kind}, value: {{pattern: '*', max: 1}}}}]");
            let verdict = TestScene::output("x").judge(&yaml);
            assert_eq!(verdict.status, Status::Error);
            assert_eq!(verdict.reason, format!("No trace data available for {kind} assertion"));
        }
    }

    #[test]
    fn wrong_options_and_a_vain_negation_are_reported() {
        flaw("[{type: trace-span-count, value: {min: 5}}]", "x");
        flaw("[{type: trace-span-duration, value: {max: 1, percentile: 101}}]", "x");
        flaw("[{type: trace-error-spans, value: {max_count: many}}]", "x");
        let (_, told) = compile_with("[{type: not-trace-error-spans}]", &NoFiles);
        assert!(told.contains("`not-` has no effect"), "{told}");
    }
}
