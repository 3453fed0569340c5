//! Whether an application goes in circles.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use quintain_content::registry::Meta;
use quintain_evidence::trace::{Args, Role, TraceStep};
use serde_json::{Map, Value};

use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, immediately};
use crate::canonical;
use crate::view::CallView;

pub(super) struct LoopDetection;

static META: Meta = Meta {
    id: "loop-detection",
    aliases: &["AgentLoopDetectionMetric", "LoopDetectionMetric"],
    summary: "the application does not go in circles",
    docs: "\
# What it does
Computes up to three parts. *Repetition*: the same call with the same result three times costs a half, six times all.
*Stagnation*: the share of messages that say nearly the same as the one before, without a request between. *Recursion*: the
share of calls that are made inside of an equal call, where the trace records that. The score is their mean with the
weights 0.40, 0.35 and 0.25; parts without data are left out. Polling is no loop: its results differ.

# Why it matters
A loop costs money until somebody notices it.

# What counts as proof
`details` has the parts, and the position of the call that is repeated most.

# When it does not apply
Neither calls nor several messages are recorded.

# Example
```yaml
metrics:
  - type: loop-detection
    threshold: 0.8
```
",
    since: "0.2.0",
};

impl Metric for LoopDetection {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn compile(&self, _: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        immediately(measure)
    }
}

/// Two messages are nearly the same from this share of common pairs of words on.
const NEARLY: f64 = 0.85;
/// Longer messages are compared by their beginning.
const MAX_WORDS: usize = 2_000;
/// Calls inside of calls are followed this far.
const MAX_DEPTH: usize = 64;

fn measure(input: &MetricInput<'_>) -> Measured {
    let calls = &input.view.calls;
    let repetition = repetition(calls);
    let parts = [
        ("repetition", 0.40, repetition.map(|(score, _)| score)),
        ("stagnation", 0.35, stagnation(&input.view.trace.steps)),
        ("recursion", 0.25, recursion(calls)),
    ];
    let weight: f64 = parts.iter().filter(|part| part.2.is_some()).map(|part| part.1).sum();
    if weight <= 0.0 {
        return Measured::undefined("neither calls nor several messages are recorded");
    }
    let sum: f64 =
        parts.iter().filter_map(|(_, weight, score)| score.map(|score| weight * score)).sum();
    let low: Vec<&str> = parts
        .iter()
        .filter(|part| part.2.is_some_and(|score| score < 1.0))
        .map(|part| part.0)
        .collect();
    let reason = if low.is_empty() {
        "no loop".to_owned()
    } else {
        format!("signs of a loop: {}", low.join(", "))
    };
    let mut details = Map::new();
    for (name, _, score) in parts {
        details.insert(name.to_owned(), score.map_or(Value::Null, Value::from));
    }
    if let Some((_, call)) = repetition.filter(|(score, _)| *score < 1.0) {
        details.insert("repeated".to_owned(), call.into());
    }
    let mut scored = Scored::new(sum / weight, reason);
    scored.details = details;
    Measured::Score(scored)
}

/// The score, and the last position of the call that is repeated most.
fn repetition(calls: &[CallView<'_>]) -> Option<(f64, usize)> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    let mut most = (0, 0);
    for call in calls {
        let mut hasher = DefaultHasher::new();
        (key(call), call.text()).hash(&mut hasher);
        let count = counts.entry(hasher.finish()).or_default();
        *count += 1;
        if *count > most.0 {
            most = (*count, call.position);
        }
    }
    let score = match most.0 {
        0 => return None,
        1 | 2 => 1.0,
        3..=5 => 0.5,
        _ => 0.0,
    };
    Some((score, most.1))
}

/// Equal for equal calls.
fn key(call: &CallView<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (call.call.kind, call.server(), &call.call.name).hash(&mut hasher);
    match &call.call.args {
        Args::Json(value) => canonical::fingerprint(value).hash(&mut hasher),
        Args::Invalid(text) => text.hash(&mut hasher),
        Args::Unknown => {}
    }
    hasher.finish()
}

fn stagnation(steps: &[TraceStep]) -> Option<f64> {
    let mut last: Option<HashSet<(&str, &str)>> = None;
    let (mut pairs, mut same) = (0_usize, 0_usize);
    for message in steps.iter().filter_map(TraceStep::as_message) {
        match message.role {
            Role::User => last = None,
            Role::System => {}
            Role::Assistant => {
                let words: Vec<&str> = message.text.split_whitespace().take(MAX_WORDS).collect();
                if words.len() < 2 {
                    continue;
                }
                let bigrams: HashSet<(&str, &str)> =
                    words.windows(2).map(|pair| (pair[0], pair[1])).collect();
                if let Some(last) = &last {
                    pairs += 1;
                    let common = last.intersection(&bigrams).count() as f64;
                    let all = last.union(&bigrams).count() as f64;
                    same += usize::from(common / all >= NEARLY);
                }
                last = Some(bigrams);
            }
        }
    }
    (pairs > 0).then(|| 1.0 - same as f64 / pairs as f64)
}

fn recursion(calls: &[CallView<'_>]) -> Option<f64> {
    if calls.iter().all(|call| call.call.parent.is_none()) {
        return None;
    }
    let by_id: HashMap<&str, &CallView<'_>> =
        calls.iter().filter_map(|call| Some((call.call.id.as_deref()?, call))).collect();
    let inside_of_itself = |call: &&CallView<'_>| {
        let own = key(call);
        let mut parent = call.call.parent.as_deref();
        for _ in 0..MAX_DEPTH {
            let Some(outer) = parent.and_then(|id| by_id.get(id)) else { return false };
            if key(outer) == own && outer.position != call.position {
                return true;
            }
            parent = outer.call.parent.as_deref();
        }
        false
    };
    let nested = calls.iter().filter(inside_of_itself).count();
    Some(1.0 - nested as f64 / calls.len() as f64)
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, CallOutcome, Trace};
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::measured_value;

    fn polling(results: &[&str]) -> Trace {
        let mut trace = Trace::default();
        trace.say(Role::User, "wait");
        for result in results {
            let mut call = Call::tool("status", json!({"id": 1}));
            call.outcome =
                CallOutcome::Result(json!({"content": [{"type": "text", "text": result}]}));
            trace.call(call);
        }
        trace
    }

    #[test]
    fn equal_calls_with_equal_results_are_a_loop() {
        let near = |trace: &Trace, value: f64| {
            assert!((measured_value(&LoopDetection, trace) - value).abs() < 1e-9);
        };
        near(&polling(&["a", "a"]), 1.0);
        near(&polling(&["a", "a", "a"]), 0.5);
        near(&polling(&["a"; 6]), 0.0);
        near(&polling(&["10 %", "20 %", "30 %", "done"]), 1.0);
    }

    #[test]
    fn repeated_words_are_stagnation() {
        let mut trace = polling(&["a"]);
        for _ in 0..3 {
            trace.say(Role::Assistant, "Let me try this once more with the same query.");
        }
        assert!((measured_value(&LoopDetection, &trace) - 0.4 / 0.75).abs() < 1e-9);
        let mut chat = polling(&["a"]);
        for _ in 0..3 {
            chat.say(Role::Assistant, "Let me try this once more with the same query.");
            chat.say(Role::User, "once more");
        }
        assert!((measured_value(&LoopDetection, &chat) - 1.0).abs() < 1e-9, "the user wants it");
    }

    #[test]
    fn calls_inside_of_equal_calls_are_recursion() {
        let mut trace = Trace::default();
        for (id, parent) in [("1", None), ("2", Some("1")), ("3", Some("3"))] {
            let mut call = Call::tool("plan", json!({}));
            call.id = Some(id.to_owned());
            call.parent = parent.map(ToOwned::to_owned);
            call.outcome = CallOutcome::Result(json!(id));
            trace.call(call);
        }
        let value = measured_value(&LoopDetection, &trace);
        let expected = (0.40 + 0.25 * (2.0 / 3.0)) / 0.65;
        assert!(
            (value - expected).abs() < 1e-9,
            "a call that names itself as parent ends: {value}"
        );
    }
}
