//! The arguments that a tool was called with.

use quintain_content::glob;
use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use serde_json::{Map, Value};

use super::trace_spans::{proved, trace};
use super::trajectory::{Matcher, labels, tools};
use crate::check::{Builtin, Check, Spec, judging};
use crate::promptfoo_spans::{TraceSpan, TrajectoryStep};

pub(super) static TOOL_ARGS_MATCH: Builtin = Builtin {
    meta: &Meta {
        id: "trajectory:tool-args-match",
        aliases: &[],
        summary: "A tool was called with certain arguments",
        docs: r#"# What it does
Passes if the tool `name` (or `pattern`) was called with the arguments `args` (or `arguments`). With
`mode: partial` (default), maps may have more keys; lists must have the same length. With `mode: exact`, the
arguments must be equal, except for those in `ignore` (names or patterns) and those whose value is the one
in `defaults`.

# What counts as proof
The matching call. For a case without an MCP server the result is an error.

# Example
```yaml
- type: trajectory:tool-args-match
  value:
    name: search_orders
    args: { order_id: "123" }
    mode: exact
    ignore: [trace_*]
```
"#,
        since: "0.1.0",
    },
    compile,
};

const KIND: &str = "trajectory:tool-args-match";

#[derive(Clone)]
struct Wanted {
    tool: Matcher,
    args: Value,
    exact: bool,
    defaults: Map<String, Value>,
    ignore: Vec<String>,
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let wanted = spec.expect(Wanted::read);
    let negated = spec.negated;
    judging(move |scene| {
        let trace = trace(scene, KIND)?;
        Ok(wanted.get(scene)?.judge(&tools(&trace), negated))
    })
}

impl Wanted {
    fn read(value: Option<&Value>) -> Result<Self, String> {
        let wrong = |what: &str| format!("{KIND} assertion {what}");
        let Some(value @ Value::Object(map)) = value else {
            return Err(wrong("must have an object value"));
        };
        let tool = Matcher::read(value, Some("tool")).required(KIND, "object")?;
        let args = map.get("args").or_else(|| map.get("arguments"));
        let args = args.ok_or_else(|| wrong("must include an args or arguments property"))?;
        let exact = match map.get("mode") {
            None => false,
            Some(mode) => match mode.as_str() {
                Some("partial") => false,
                Some("exact") => true,
                _ => return Err(wrong("mode must be \"partial\" or \"exact\"")),
            },
        };
        let defaults = match map.get("defaults") {
            None => Map::new(),
            Some(Value::Object(defaults)) => defaults.clone(),
            Some(_) => {
                let what = "defaults must be an object mapping argument names to default values";
                return Err(wrong(what));
            }
        };
        let ignore = match map.get("ignore") {
            None => Some(Vec::new()),
            Some(Value::Array(names)) => names.iter().map(name).collect(),
            Some(single) => name(single).map(|name| vec![name]),
        };
        let ignore = ignore.ok_or_else(|| {
            wrong("ignore must be a non-empty string or an array of non-empty strings")
        })?;
        Ok(Self { tool, args: args.clone(), exact, defaults, ignore })
    }

    fn judge(&self, tools: &[&TraceSpan<'_>], negated: bool) -> Verdict {
        let name = self.tool.label();
        let called: Vec<(&TraceSpan<'_>, &Value)> = tools
            .iter()
            .filter(|step| self.tool.fits(step))
            .filter_map(|step| match step.step {
                TrajectoryStep::Tool { args, .. } => Some((*step, args)),
                _ => None,
            })
            .collect();
        let found = called.iter().find(|(_, args)| self.holds(args));
        let mode = if self.exact { "exact" } else { "partial" };
        let observed = called.iter().map(|(_, args)| js::stringify(args)).collect::<Vec<_>>();
        let observed = observed.join(", ");
        let reason = match (found, negated) {
            (Some((step, args)), true) => format!(
                "Forbidden argument match for tool \"{name}\" was observed on {}. Args: {}",
                step.label(),
                js::stringify(args)
            ),
            (None, true) if called.is_empty() => format!(
                "Forbidden argument match for tool \"{name}\" was not observed because no tool \
                 call matched it"
            ),
            (None, true) => format!(
                "Forbidden argument match for tool \"{name}\" was not observed. Observed args: \
                 {observed}"
            ),
            (Some((step, args)), false) => format!(
                "Tool \"{name}\" matched expected arguments ({mode}) on {}. Args: {}{}",
                step.label(),
                js::stringify(args),
                self.left_out(args)
            ),
            (None, false) if called.is_empty() => {
                format!("No tool call matched \"{name}\". Actual tools: {}", labels(tools))
            }
            (None, false) => format!(
                "No call to tool \"{name}\" matched expected arguments ({mode}): {}. Observed \
                 args: {observed}",
                js::stringify(&self.args)
            ),
        };
        let shown = match found {
            Some((step, _)) => vec![*step],
            None => called.iter().map(|(step, _)| *step).collect(),
        };
        proved(Verdict::of(found.is_some() != negated, reason), shown)
    }

    fn holds(&self, actual: &Value) -> bool {
        let wanted = self.without_ignored(&self.args);
        let actual = match self.without_ignored(actual) {
            Value::Object(args) => {
                Value::Object(args.into_iter().filter(|(k, v)| !self.is_default(k, v)).collect())
            }
            other => other,
        };
        if self.exact { js::deep_equal(&actual, &wanted) } else { covers(&actual, &wanted) }
    }

    fn is_default(&self, key: &str, value: &Value) -> bool {
        self.defaults.get(key).is_some_and(|default| js::deep_equal(default, value))
    }

    fn is_ignored(&self, key: &str) -> bool {
        self.ignore
            .iter()
            .any(|entry| entry == key || (entry.contains(['*', '?']) && glob::matches(entry, key)))
    }

    fn without_ignored(&self, args: &Value) -> Value {
        let Value::Object(args) = args else { return args.clone() };
        let kept = args.iter().filter(|(key, _)| !self.is_ignored(key));
        Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// Lists the arguments that were ignored.
    fn left_out(&self, args: &Value) -> String {
        let entries = || args.as_object().into_iter().flatten();
        let ignored = entries().filter(|(key, _)| self.is_ignored(key));
        let defaults = entries().filter(|(k, v)| !self.is_ignored(k) && self.is_default(k, v));
        let list = |what: &str, keys: Vec<&str>| match keys.as_slice() {
            [] => String::new(),
            keys => format!(". Ignored {what}: {}", keys.join(", ")),
        };
        list("argument(s)", ignored.map(|(key, _)| key.as_str()).collect())
            + &list("default argument(s)", defaults.map(|(key, _)| key.as_str()).collect())
    }
}

fn name(value: &Value) -> Option<String> {
    value.as_str().filter(|name| !name.trim().is_empty()).map(str::to_owned)
}

/// Whether the data contains everything expected; lists must have the same length.
fn covers(actual: &Value, wanted: &Value) -> bool {
    match (actual, wanted) {
        (Value::Array(actual), Value::Array(wanted)) => {
            actual.len() == wanted.len() && actual.iter().zip(wanted).all(|(a, w)| covers(a, w))
        }
        (Value::Object(actual), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| actual.get(key).is_some_and(|actual| covers(actual, wanted))),
        _ => js::deep_equal(actual, wanted),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::verdict::Status;
    use serde_json::json;

    use crate::testing::{TestScene, called, flaw};

    fn passes(value: &str) -> bool {
        let stage = called("pay", json!({"to": "Ann", "n": 2, "o": {"k": [1, {"z": 1}]}}));
        let [yes, no] = ["", "not-"].map(|not| {
            let yaml = format!("[{{type: '{not}trajectory:tool-args-match', value: {value}}}]");
            stage.judge(&yaml).passed()
        });
        assert_ne!(yes, no, "{value}");
        yes
    }

    #[test]
    fn arguments_are_compared_in_part_or_exactly() {
        for (value, pass) in [
            ("{name: pay, args: {to: Ann}}", true),
            ("{name: 'p*', arguments: {o: {k: [1, {}]}}}", true),
            ("{name: pay, args: {o: {k: [1]}}}", false),
            ("{name: pay, args: {to: Bob}}", false),
            ("{name: pay, mode: exact, args: {to: Ann}}", false),
            ("{name: pay, mode: exact, args: {to: Ann}, ignore: [n, 'O*']}", true),
            ("{name: pay, mode: exact, args: {to: Ann}, ignore: o, defaults: {n: 2}}", true),
            ("{name: pay, mode: exact, args: {to: Ann}, ignore: o, defaults: {n: 3}}", false),
            ("{name: other, args: {}}", false),
        ] {
            assert_eq!(passes(value), pass, "{value}");
        }
    }

    #[test]
    fn mistakes_are_reported_and_nothing_is_judged_without_evidence() {
        for value in [
            "{name: a}",
            "{args: {}}",
            "{name: a, args: {}, mode: loose}",
            "{name: a, args: {}, ignore: ['']}",
            "{name: a, args: {}, defaults: [1]}",
            "text",
        ] {
            flaw(&format!("[{{type: 'trajectory:tool-args-match', value: {value}}}]"), "x");
        }
        let yaml = "[{type: 'not-trajectory:tool-args-match', value: {name: a, args: {}}}]";
        assert_eq!(TestScene::output("x").judge(yaml).status, Status::Error);
    }
}
