//! The steps of a case: which tools were called, how often, in which order.

use quintain_content::glob;
use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use serde_json::{Map, Value};

use super::trace_spans::{expected, number, proved, trace};
use crate::check::{Builtin, Check, Spec, judging};
use crate::promptfoo_spans::{SpanTrace, TraceSpan, TrajectoryStep};

pub(super) static TOOL_USED: Builtin = Builtin {
    meta: &Meta {
        id: "trajectory:tool-used",
        aliases: &[],
        summary: "Certain tools were called",
        docs: r#"# What it does
Passes if every tool in `value` was called: a name or a list of names. In a name, `*` matches any text and
`?` one character. If `value` is a map, the number of calls of `name` (or `pattern`) must be at least `min`
(default 1) and at most `max`. `not-` passes only if none of the tools was called.

# What counts as proof
The matching calls. For a case without an MCP server the result is an error.

# Example
```yaml
- type: trajectory:tool-used
  value: { name: search_orders, min: 1, max: 2 }
- type: not-trajectory:tool-used
  value: "delete_*"
```
"#,
        since: "0.1.0",
    },
    compile: tool_used,
};

pub(super) static TOOL_SEQUENCE: Builtin = Builtin {
    meta: &Meta {
        id: "trajectory:tool-sequence",
        aliases: &[],
        summary: "Tools were called in a certain order",
        docs: r#"# What it does
`value` is a list of tools that must have been called in this order; calls of other tools in between are
allowed. With `{mode: exact, steps: [...]}`, no other tool may have been called.

# What counts as proof
The calls of the sequence. For a case without an MCP server the result is an error.

# Example
```yaml
- type: trajectory:tool-sequence
  value: { mode: exact, steps: [search_orders, "compose_*"] }
```
"#,
        since: "0.1.0",
    },
    compile: tool_sequence,
};

pub(super) static STEP_COUNT: Builtin = Builtin {
    meta: &Meta {
        id: "trajectory:step-count",
        aliases: &[],
        summary: "The number of steps of a case is in a range",
        docs: r"# What it does
Counts the steps of a `type` (`tool`, `command`, `span`, or a list of them) whose name matches `pattern`,
and compares the number with `min` and `max`.

# What counts as proof
The counted calls. For a case without an MCP server the result is an error.

# Example
```yaml
- type: trajectory:step-count
  value: { type: tool, max: 5 }
```
",
        since: "0.1.0",
    },
    compile: step_count,
};

/// The step that is expected.
#[derive(Clone, Default)]
pub(super) struct Matcher {
    kinds: Vec<String>,
    pattern: Option<String>,
}

impl Matcher {
    /// Text is a pattern; a map has `name` or `pattern`, and optionally a `type`.
    pub(super) fn read(value: &Value, kind: Option<&str>) -> Self {
        let default = || kind.map(str::to_owned).into_iter().collect();
        let map = match value {
            Value::Object(map) => map,
            Value::String(pattern) => return Self::named(pattern, default()),
            _ => return Self { kinds: default(), pattern: None },
        };
        let kinds = match map.get("type") {
            Some(Value::String(kind)) if !kind.is_empty() => vec![kind.clone()],
            Some(Value::Array(kinds)) => kinds.iter().map(js::string).collect(),
            _ => default(),
        };
        let given = ["pattern", "name"].map(|key| map.get(key).and_then(Value::as_str));
        let given = given.into_iter().flatten().find(|text| !text.is_empty());
        Self::named(given.unwrap_or_default(), kinds)
    }

    fn named(pattern: &str, kinds: Vec<String>) -> Self {
        Self { kinds, pattern: Some(pattern.to_owned()).filter(|text| !text.is_empty()) }
    }

    /// Reports an error if there is no name.
    pub(super) fn required(self, kind: &str, what: &str) -> Result<Self, String> {
        if self.pattern.is_some() {
            return Ok(self);
        }
        Err(format!("{kind} assertion {what} must include a name or pattern property"))
    }

    pub(super) fn fits(&self, step: &TraceSpan<'_>) -> bool {
        let kind = self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == step.kind());
        let pattern = self.pattern.as_ref();
        kind && pattern
            .is_none_or(|pattern| step.aliases().any(|name| glob::matches(pattern, name)))
    }

    pub(super) fn label(&self) -> &str {
        self.pattern.as_deref().unwrap_or("*")
    }
}

/// The tool calls, in order.
pub(super) fn tools<'t, 'a>(trace: &'t SpanTrace<'a>) -> Vec<&'t TraceSpan<'a>> {
    trace.steps().filter(|step| matches!(step.step, TrajectoryStep::Tool { .. })).collect()
}

/// `tool:a, tool:b`
pub(super) fn labels<'s>(steps: impl IntoIterator<Item = &'s &'s TraceSpan<'s>>) -> String {
    let labels: Vec<String> = steps.into_iter().map(|step| step.label()).collect();
    if labels.is_empty() { "(none)".to_owned() } else { labels.join(", ") }
}

fn named<'m>(matchers: impl IntoIterator<Item = &'m Matcher>) -> String {
    matchers.into_iter().map(Matcher::label).collect::<Vec<_>>().join(", ")
}

/// The bounds of a count.
fn bounds(map: &Map<String, Value>, kind: &str) -> Result<(Option<f64>, Option<f64>), String> {
    Ok((number(map, "min", kind)?, number(map, "max", kind)?))
}

#[derive(Clone)]
enum Used {
    All(Vec<Matcher>),
    Often { tool: Matcher, min: f64, max: Option<f64> },
}

fn tool_used(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    const KIND: &str = "trajectory:tool-used";
    let wanted = spec.expect(|value| {
        let all_text = |items: &[Value]| items.iter().all(Value::is_string);
        match value {
            Some(name @ Value::String(_)) => Ok(Used::All(vec![Matcher::read(name, Some("tool"))])),
            Some(Value::Array(names)) if names.is_empty() => {
                Err(format!("{KIND} assertion requires at least one expected tool"))
            }
            Some(Value::Array(names)) if all_text(names) => {
                Ok(Used::All(names.iter().map(|name| Matcher::read(name, Some("tool"))).collect()))
            }
            Some(value @ Value::Object(map)) => {
                let tool = Matcher::read(value, Some("tool")).required(KIND, "object")?;
                let (min, max) = bounds(map, KIND)?;
                Ok(Used::Often { tool, min: min.unwrap_or(1.0), max })
            }
            _ => Err(format!("{KIND} assertion must have a string, string array, or object value")),
        }
    });
    let negated = spec.negated;
    judging(move |scene| {
        let trace = trace(scene, KIND)?;
        let tools = tools(&trace);
        Ok(match &*wanted.get(scene)? {
            Used::All(matchers) => all_used(matchers, &tools, negated),
            Used::Often { tool, min, max } => often_used(tool, *min, *max, &tools, negated),
        })
    })
}

fn all_used(matchers: &[Matcher], tools: &[&TraceSpan<'_>], negated: bool) -> Verdict {
    let is_used = |matcher: &&Matcher| tools.iter().any(|tool| matcher.fits(tool));
    let (used, missing): (Vec<&Matcher>, Vec<&Matcher>) = matchers.iter().partition(is_used);
    let actual = labels(tools);
    let (pass, reason) = match (negated, used.is_empty(), missing.is_empty()) {
        (true, true, _) => (true, format!("Forbidden tool(s) were not used: {}", named(matchers))),
        (true, false, _) => {
            let used = named(used);
            (false, format!("Forbidden tool(s) were used: {used}. Actual tools: {actual}"))
        }
        (false, _, true) => {
            let all = named(matchers);
            (true, format!("Observed required tool(s): {all}. Actual tools: {actual}"))
        }
        (false, _, false) => {
            let missing = named(missing);
            (false, format!("Missing required tool(s): {missing}. Actual tools: {actual}"))
        }
    };
    let fitting = tools.iter().filter(|tool| matchers.iter().any(|matcher| matcher.fits(tool)));
    proved(Verdict::of(pass, reason), fitting.copied())
}

fn often_used(
    tool: &Matcher,
    min: f64,
    max: Option<f64>,
    tools: &[&TraceSpan<'_>],
    negated: bool,
) -> Verdict {
    let fitting: Vec<&TraceSpan<'_>> =
        tools.iter().copied().filter(|step| tool.fits(step)).collect();
    let (name, count) = (tool.label(), fitting.len());
    let held = count as f64 >= min && max.is_none_or(|max| count as f64 <= max);
    let reason = match (negated, held) {
        (true, true) => {
            format!("Tool \"{name}\" matched {count} time(s), which violates the inverse assertion")
        }
        (true, false) => format!("Tool \"{name}\" did not satisfy the forbidden match condition"),
        (false, _) => {
            let range = expected(Some(min), max);
            format!("Matched tool \"{name}\" {count} time(s) ({range}){}", matches(&fitting))
        }
    };
    proved(Verdict::of(held != negated, reason), fitting)
}

/// `. Matches: tool:a`, or nothing.
fn matches(steps: &[&TraceSpan<'_>]) -> String {
    if steps.is_empty() { String::new() } else { format!(". Matches: {}", labels(steps)) }
}

#[derive(Clone)]
struct Sequence {
    exact: bool,
    steps: Vec<Matcher>,
}

fn tool_sequence(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    const KIND: &str = "trajectory:tool-sequence";
    let wanted = spec.expect(|value| {
        let (exact, steps) = match value {
            Some(Value::Array(steps)) => (false, steps.as_slice()),
            Some(Value::Object(map)) => {
                let exact = map.get("mode").and_then(Value::as_str) == Some("exact");
                (exact, map.get("steps").and_then(Value::as_array).map_or(&[][..], Vec::as_slice))
            }
            _ => return Err(format!("{KIND} assertion must have an array or object value")),
        };
        let steps = steps.iter().enumerate().map(|(at, step)| {
            Matcher::read(step, Some("tool")).required(KIND, &format!("step {}", at + 1))
        });
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        if steps.is_empty() {
            return Err(format!("{KIND} assertion requires at least one expected step"));
        }
        Ok(Sequence { exact, steps })
    });
    let negated = spec.negated;
    judging(move |scene| {
        let trace = trace(scene, KIND)?;
        let tools = tools(&trace);
        let actual = labels(&tools);
        let (found, reason) = wanted.get(scene)?.find(&tools);
        let held = found.is_some();
        let reason = match (negated, held) {
            (false, _) => reason,
            (true, true) => format!("Forbidden tool sequence was observed. Actual tools: {actual}"),
            (true, false) => "Forbidden tool sequence was not observed".to_owned(),
        };
        Ok(proved(Verdict::of(held != negated, reason), found.unwrap_or_default()))
    })
}

impl Sequence {
    /// The calls of the sequence, if it occurs.
    fn find<'t, 'a>(
        &self,
        tools: &[&'t TraceSpan<'a>],
    ) -> (Option<Vec<&'t TraceSpan<'a>>>, String) {
        let actual = labels(tools);
        if self.exact {
            let mut pairs = self.steps.iter().zip(tools);
            if self.steps.len() == tools.len() && pairs.all(|(step, tool)| step.fits(tool)) {
                return (Some(tools.to_vec()), format!("Observed exact tool sequence: {actual}"));
            }
            let wanted = named(&self.steps);
            let reason =
                format!("Expected exact tool sequence of {wanted}, but actual tools were {actual}");
            return (None, reason);
        }
        let mut open = self.steps.iter().peekable();
        let mut found = Vec::new();
        for tool in tools {
            if open.next_if(|step| step.fits(tool)).is_some() {
                found.push(*tool);
            }
        }
        match open.next() {
            None => {
                let reason = format!(
                    "Observed tool sequence in order: {}. Actual tools: {actual}",
                    labels(&found)
                );
                (Some(found), reason)
            }
            Some(missing) => {
                let missing = missing.label();
                let reason = format!(
                    "Expected tool \"{missing}\" was not observed in order. Actual tools: {actual}"
                );
                (None, reason)
            }
        }
    }
}

#[derive(Clone)]
struct Counted {
    matcher: Matcher,
    min: Option<f64>,
    max: Option<f64>,
}

fn step_count(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    const KIND: &str = "trajectory:step-count";
    let wanted = spec.expect(|value| {
        let Some(value @ Value::Object(map)) = value else {
            return Err(format!("{KIND} assertion must have an object value"));
        };
        let (min, max) = bounds(map, KIND)?;
        if min.is_none() && max.is_none() {
            return Err(format!("{KIND} assertion must include a min or max property"));
        }
        Ok(Counted { matcher: Matcher::read(value, None), min, max })
    });
    let negated = spec.negated;
    judging(move |scene| {
        let trace = trace(scene, KIND)?;
        let wanted = wanted.get(scene)?;
        let steps: Vec<&TraceSpan<'_>> = trace.steps().filter(|s| wanted.matcher.fits(s)).collect();
        let count = steps.len() as f64;
        let held =
            wanted.min.is_none_or(|min| count >= min) && wanted.max.is_none_or(|max| count <= max);
        let reason = match (negated, held) {
            (true, true) => "Trajectory step count satisfied the forbidden range".to_owned(),
            (true, false) => "Trajectory step count did not satisfy the forbidden range".to_owned(),
            (false, _) => wanted.reason(&steps),
        };
        Ok(proved(Verdict::of(held != negated, reason), steps))
    })
}

impl Counted {
    fn reason(&self, steps: &[&TraceSpan<'_>]) -> String {
        let kinds = (!self.matcher.kinds.is_empty())
            .then(|| format!("type={}", self.matcher.kinds.join("|")));
        let pattern = self.matcher.pattern.as_ref().map(|pattern| format!("pattern={pattern}"));
        let filters: Vec<String> = kinds.into_iter().chain(pattern).collect();
        let filters = match filters.as_slice() {
            [] => String::new(),
            filters => format!(" for {}", filters.join(", ")),
        };
        let range = expected(self.min, self.max);
        let count = steps.len();
        format!("Matched {count} trajectory step(s){filters} ({range}){}", matches(steps))
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::verdict::Status;
    use serde_json::json;

    use crate::testing::{TestScene, called, flaw};

    fn judged(options: &str) -> (bool, String) {
        let mut stage = called("search", json!({}));
        stage.evidence.exchanges.extend(called("compose", json!({})).evidence.exchanges);
        let verdict = stage.judge(&format!("[{{type: {options}}}]"));
        assert_ne!(verdict.status, Status::Error, "{}", verdict.reason);
        (verdict.passed(), verdict.reason)
    }

    #[test]
    fn tools_are_found_by_pattern() {
        for (options, pass, reason) in [
            (
                "'trajectory:tool-used', value: 'sea*'",
                true,
                "Observed required tool(s): sea*. Actual tools: tool:search, tool:compose",
            ),
            (
                "'not-trajectory:tool-used', value: [pay, search]",
                false,
                "Forbidden tool(s) were used: search. Actual tools: tool:search, tool:compose",
            ),
            (
                "'trajectory:tool-used', value: {pattern: '*', max: 1}",
                false,
                "Matched tool \"*\" 2 time(s) (expected 1-1). Matches: tool:search, tool:compose",
            ),
            (
                "'not-trajectory:tool-used', value: {name: pay}",
                true,
                "Tool \"pay\" did not satisfy the forbidden match condition",
            ),
        ] {
            assert_eq!(judged(options), (pass, reason.to_owned()), "{options}");
        }
    }

    #[test]
    fn sequences_may_have_gaps_unless_exact() {
        for (value, pass) in [
            ("[search, compose]", true),
            ("[compose]", true),
            ("[compose, search]", false),
            ("{mode: exact, steps: [compose]}", false),
            ("{mode: exact, steps: [{name: search}, {pattern: 'c*'}]}", true),
            ("{mode: exact, steps: [search, compose, search]}", false),
        ] {
            let (passed, why) = judged(&format!("'trajectory:tool-sequence', value: {value}"));
            assert_eq!(passed, pass, "{value}: {why}");
            let (passed, _) = judged(&format!("'not-trajectory:tool-sequence', value: {value}"));
            assert_eq!(passed, !pass, "not {value}");
        }
    }

    #[test]
    fn steps_are_counted_by_kind_and_name() {
        assert_eq!(
            judged("'trajectory:step-count', value: {type: [tool, span], pattern: '*e*', min: 3}"),
            (
                true,
                "Matched 3 trajectory step(s) for type=tool|span, pattern=*e* (expected at least \
                 3). Matches: span:target, tool:search, tool:compose"
                    .to_owned()
            )
        );
        assert!(!judged("'not-trajectory:step-count', value: {type: tool, max: 3}").0);
    }

    #[test]
    fn without_evidence_even_a_negation_is_no_pass() {
        for kind in ["tool-used", "tool-sequence"] {
            let yaml = format!("[{{type: 'not-trajectory:{kind}', value: [a]}}]");
            let verdict = TestScene::output("x").judge(&yaml);
            assert_eq!(verdict.status, Status::Error);
            let why = format!("No trace data available for trajectory:{kind} assertion");
            assert_eq!(verdict.reason, why);
        }
    }

    #[test]
    fn mistakes_are_reported_when_the_suite_is_loaded() {
        for (kind, value) in [
            ("tool-used", "[]"),
            ("tool-used", "5"),
            ("tool-used", "{min: 1}"),
            ("tool-used", "{name: x, min: often}"),
            ("tool-sequence", "[]"),
            ("tool-sequence", "[{type: tool}]"),
            ("tool-sequence", "x"),
            ("step-count", "{type: tool}"),
            ("step-count", "tool"),
        ] {
            flaw(&format!("[{{type: 'trajectory:{kind}', value: {value}}}]"), "x");
        }
    }
}
