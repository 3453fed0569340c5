//! The tokens that judges used, added up in the form of promptfoo's `tokensUsed`.

use quintain_evidence::model_reply::ModelReply;
use serde_json::{Map, Value, json};

const KEYS: [&str; 5] = ["total", "prompt", "completion", "cached", "numRequests"];

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Usage {
    sums: [f64; KEYS.len()],
    replies: usize,
}

impl Usage {
    pub(super) fn add(&mut self, reply: &ModelReply) {
        self.replies += 1;
        let reported = |name: &str| reply.token_usage.as_ref()?.get(name)?.as_f64();
        let parts = || reported("prompt").unwrap_or(0.0) + reported("completion").unwrap_or(0.0);
        for (sum, name) in self.sums.iter_mut().zip(KEYS) {
            *sum += match (reported(name), name) {
                (Some(number), _) => number,
                (None, "total") => parts(),
                (None, "numRequests") => f64::from(u8::from(!reply.cached)),
                (None, _) => 0.0,
            };
        }
    }

    /// None if no model replied.
    pub(super) fn report(&self) -> Option<Value> {
        let entry = |(name, sum): (&str, &f64)| (name.to_owned(), whole(*sum));
        let report: Map<String, Value> = KEYS.into_iter().zip(&self.sums).map(entry).collect();
        (self.replies > 0).then_some(Value::Object(report))
    }
}

/// A count without decimals.
fn whole(sum: f64) -> Value {
    if sum.fract() == 0.0 && (0.0..1e15).contains(&sum) { json!(sum as u64) } else { json!(sum) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_added_up() {
        let mut usage = Usage::default();
        assert_eq!(usage.report(), None);
        let token_usage = Some(json!({"prompt": 10, "completion": 2, "total": 12, "cached": 4}));
        usage.add(&ModelReply { token_usage, ..ModelReply::default() });
        usage.add(&ModelReply {
            token_usage: Some(json!({"prompt": 3, "completion": "x"})),
            ..ModelReply::default()
        });
        usage.add(&ModelReply { cached: true, ..ModelReply::default() });
        let wanted =
            json!({"total": 15, "prompt": 13, "completion": 2, "cached": 4, "numRequests": 2});
        assert_eq!(usage.report(), Some(wanted));
    }
}
